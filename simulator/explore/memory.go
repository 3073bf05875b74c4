package explore

import (
	"cmp"
	"database/sql"
	"encoding/binary"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"locklab/simulator"
	"locklab/simulator/database"
	"locklab/simulator/process"
)

// memoryOf writes down all that v reaches: locks of equal memory do the same from then on. The text is the same in
// every execution. plain is false if something is reached whose memory cannot be read, as a closure or a channel. Of
// what the simulator gives to a client only the name is written: a connection that is idle remembers nothing.
func memoryOf(c *simulator.Client, v any) (memory string, plain bool) {
	m := &memoryWriter{
		of: c, client: reflect.ValueOf(c).Pointer(), code: reflect.ValueOf(c.Code).Pointer(),
		seen: map[place]int{}, objects: map[uintptr]int{}, plain: true,
	}
	m.write(reflect.ValueOf(v))
	return string(m.out), m.plain
}

type memoryWriter struct {
	out     []byte
	seen    map[place]int   // numbers, in the order in which they were reached
	objects map[uintptr]int // the numbers of structs
	of      *simulator.Client
	client  uintptr // whose lock it is, the address of of
	code    uintptr // of that client, which has most of its methods
	inMaps  bool    // in the key of a map: nothing that points, because maps have no order
	plain   bool
}

// place locates a value.
type place struct {
	at uintptr
	t  reflect.Type
}

// maxMemory bounds what is written of one lock, in bytes.
const maxMemory = 1 << 16

func (m *memoryWriter) number(n uint64) { m.out = binary.AppendUvarint(m.out, n) }

func (m *memoryWriter) text(s string) {
	m.number(uint64(len(s)))
	m.out = append(m.out, s...)
}

func (m *memoryWriter) write(v reflect.Value) {
	if len(m.out) > maxMemory {
		m.plain = false
	}
	if !m.plain || !v.IsValid() {
		m.number(0)
		return
	}
	if v.CanAddr() && m.again(place{v.UnsafeAddr(), v.Type()}) {
		return
	}
	m.number(uint64(v.Kind()))
	switch v.Kind() {
	case reflect.Slice, reflect.Interface, reflect.Pointer, reflect.Map, reflect.Func:
		// None is another memory than an empty one.
		if v.IsNil() {
			m.number(0)
			return
		}
		m.number(1)
	}
	switch v.Kind() {
	case reflect.Bool:
		m.text(map[bool]string{true: "true"}[v.Bool()])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		m.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		m.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		m.number(math.Float64bits(v.Float()))
	case reflect.String:
		m.text(v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			m.write(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			m.write(v.Index(i))
		}
	case reflect.Slice:
		m.number(uint64(v.Len()))
		for i := range v.Cap() { // what is behind its end can come back
			m.write(v.Slice(0, v.Cap()).Index(i))
		}
		m.plain = m.plain && !(m.inMaps && v.Cap() > 0)
	case reflect.Interface:
		m.text(v.Elem().Type().String())
		m.write(v.Elem())
	case reflect.Pointer:
		m.pointer(v)
	case reflect.Map:
		m.entries(v)
	case reflect.Func:
		m.function(v)
	default:
		m.plain = v.IsZero()
	}
}

// again reports whether a value was written before, and then writes which one it is.
func (m *memoryWriter) again(p place) bool {
	if p.t.Size() == 0 {
		return false
	}
	n, known := m.seen[p]
	if !known {
		n = len(m.seen)
		m.seen[p] = n
		if p.t.Kind() == reflect.Struct {
			m.objects[p.at] = n
		}
	}
	m.number(uint64(n))
	return known
}

func (m *memoryWriter) pointer(v reflect.Value) {
	switch {
	case m.inMaps:
		m.plain = false
	case m.environment(v):
	default:
		m.write(v.Elem())
	}
}

// environment writes what v points to if the simulator gives it to a client, or if it never changes, and reports
// whether it is such. Its contents are the same in every execution; of a timer they are not.
func (m *memoryWriter) environment(v reflect.Value) bool {
	at := v.UnsafePointer()
	switch v.Type() {
	case reflect.TypeFor[*simulator.Client]():
		m.text("client")
		m.plain = m.plain && v.Pointer() == m.client
	case reflect.TypeFor[*process.Process](), reflect.TypeFor[*process.Code](): // a client has one
		m.text(v.Type().String())
	case reflect.TypeFor[*redis.Client]():
		m.text((*redis.Client)(at).Options().Addr)
	case reflect.TypeFor[*sql.DB](): // what its pool remembers its library says
		m.text("database")
		pool, ok := m.of.Library().(*database.Pool)
		m.plain = m.plain && ok && pool.DB() == (*sql.DB)(at)
	case reflect.TypeFor[*redis.Script]():
		m.text((*redis.Script)(at).Hash())
	default:
		if v.Type().Implements(reflect.TypeFor[process.Library]()) { // as well
			m.text(v.Type().String())
			return true
		}
		m.plain = m.plain && v.Type().String() != "*process.timer"
		return !m.plain
	}
	return true
}

// entries writes a map in the order of its keys, which must hold nothing that points.
func (m *memoryWriter) entries(v reflect.Value) {
	type entry struct {
		key   string
		value reflect.Value
	}
	var list []entry
	for it := v.MapRange(); it.Next(); {
		w := &memoryWriter{
			of: m.of, client: m.client, code: m.code,
			seen: map[place]int{}, objects: map[uintptr]int{}, inMaps: true, plain: true,
		}
		w.write(it.Key())
		m.plain = m.plain && w.plain
		list = append(list, entry{string(w.out), it.Value()})
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	m.number(uint64(len(list)))
	for _, e := range list {
		m.text(e.key)
		m.write(e.value)
	}
}

// function writes a package's function, or a method of what is written itself. What other closures keep cannot be seen.
func (m *memoryWriter) function(v reflect.Value) {
	name := runtime.FuncForPC(v.Pointer()).Name()
	m.text(name)
	of, method, bound := strings.Cut(strings.TrimSuffix(name[strings.LastIndex(name, "/")+1:], "-fm"), ".")
	bound = bound && strings.HasSuffix(name, "-fm")
	switch {
	case !bound && !strings.Contains(method, "."):
		return
	case !bound || !v.CanAddr():
		m.plain = false
		return
	}
	// A method value is its code and its receiver.
	words := *(**[3]uintptr)(unsafe.Pointer(v.UnsafeAddr()))
	switch {
	case of+"."+method == "lock.Tokens.Token": // an interface
		m.write(reflect.ValueOf(m.client == words[2]))
		m.plain = m.plain && m.client == words[2]
	case strings.HasPrefix(method, "(*"):
		n, known := m.objects[words[1]]
		m.plain = m.plain && (known || words[1] == m.client || words[1] == m.code)
		m.number(uint64(n))
	default:
		m.plain = false
	}
}
