package bubble

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"locklab/simulator/lists"
	"locklab/simulator/process"
	"locklab/simulator/resp"
)

// Drawn has the values that code draws by chance and sends to Redis servers: tokens, mostly. Two executions of one
// history draw different ones. So each gets a name, c2.1001 for the first one of client 2, like the tokens of
// [Handle.Token]: the server and the search see the name, and the code sees its value, or for a name of another client
// one that looks like those that were drawn.
//
// Where requests have such values is found by comparing executions. That code does the same whatever it has drawn, but
// for names, is checked by executing each history once more. The simulator checks what servers do: see [Drawn.Value].
type Drawn struct {
	// Arguments are those that are drawn, each with a value that was seen there.
	Arguments map[Argument]string
	// Constants are values of these arguments that two executions had: they are not drawn.
	Constants map[string]bool
	// Like has for each name a value of the same argument.
	Like map[string]string

	mu         sync.Mutex
	executions int
	drawnBy    map[string]executionID // values
	sent       map[uint32]string      // by Op.Arg, the commands for which it stands
}

// An executionID is an execution of a client's code by its number, from 1. In another search with the same Drawn, one
// with that number draws the same.
type executionID struct{ client, number int }

// An Argument is one of a command of Redis.
type Argument struct {
	Command string // in capitals
	Index   int    // from 1
}

// arguments returns Arguments in their order.
func (d *Drawn) arguments() []Argument {
	return slices.SortedFunc(maps.Keys(d.Arguments), func(a, b Argument) int {
		return cmp.Or(cmp.Compare(a.Command, b.Command), cmp.Compare(a.Index, b.Index))
	})
}

// Where names the arguments, each with the length of what was drawn there; "": there are none.
func (d *Drawn) Where() string {
	return strings.Join(lists.Each(d.arguments(), func(a Argument) string {
		return fmt.Sprintf("%s %d: %d bytes", a.Command, a.Index, len(d.Arguments[a]))
	}), ", ")
}

// NewDrawn returns one without values.
func NewDrawn() *Drawn {
	return &Drawn{
		Arguments: map[Argument]string{}, Constants: map[string]bool{}, Like: map[string]string{},
		drawnBy: map[string]executionID{}, sent: map[uint32]string{},
	}
}

// Add adds what another one has found.
func (d *Drawn) Add(o *Drawn) {
	maps.Copy(d.Arguments, o.Arguments)
	maps.Copy(d.Constants, o.Constants)
	maps.Copy(d.Like, o.Like)
}

// nameOf returns the name of the n-th value, from 1, that an execution draws; drawnName finds such names. The numbers
// of Handle.Token have fewer digits.
func nameOf(client, n int) string { return fmt.Sprintf("c%d.1%03d", client, n) }

var drawnName = regexp.MustCompile(`\bc[1-8]\.1[0-9]{3,}\b`)

// Value returns a text with a value like those that are drawn in the place of each name.
func (d *Drawn) Value(text string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.Arguments) == 0 || !strings.Contains(text, ".1") {
		return text
	}
	return drawnName.ReplaceAllStringFunc(text, func(name string) string { return d.value(name, 0) })
}

// Values returns the values that executions have drawn, sorted.
func (d *Drawn) Values() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.drawnBy))
}

// classes are the characters that stand for each other.
var classes = []string{"0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ"}

// value returns a value for a name, like those of its argument: digits in the place of digits, letters in that of
// letters. It differs from execution to execution. mu is held.
func (d *Drawn) value(name string, execution int) string {
	like := d.Like[name]
	if like == "" { // drawn in another process
		like = d.Arguments[d.arguments()[0]]
	}
	out := []byte(like)
	for i, c := range out {
		h := fnv.New32a()
		fmt.Fprint(h, name, " ", i, " ", execution)
		if i < 4 {
			continue // a number may not become larger than numbers are
		}
		for _, class := range classes {
			if strings.IndexByte(class, c) >= 0 {
				out[i] = class[h.Sum32()>>8%uint32(len(class))]
			}
		}
	}
	return string(out)
}

// explains adds arguments in which requests of two executions of a history differ, and reports if nothing else does.
func (d *Drawn) explains(was, is *process.Entry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := map[Argument]string{}
	for t := range was.Ops {
		a, b := was.Ops[t], is.Ops[t]
		if a == b {
			continue
		}
		of, with := d.sent[a.Arg], d.sent[b.Arg]
		if b.Arg = a.Arg; a != b || a.Kind != process.Request || !compare(of, with, found) {
			return false
		}
	}
	for argument, value := range found {
		if _, known := d.Arguments[argument]; known || d.Constants[value] {
			return false // by its name it differs, too
		}
	}
	maps.Copy(d.Arguments, found)
	return len(found) > 0
}

// compare adds the arguments in which two texts of commands differ. It reports whether nothing else differs, and no
// argument of the one text is a different one of the other.
func compare(of, with string, found map[Argument]string) bool {
	for of != "" && with != "" {
		a, restOf, err1 := resp.Command(of)
		b, restWith, err2 := resp.Command(with)
		if err1 != nil || err2 != nil || len(a) != len(b) || a[0] != b[0] {
			return false
		}
		for i := range a {
			if a[i] == b[i] {
				continue
			}
			if slices.Contains(b, a[i]) || slices.Contains(a, b[i]) {
				return false
			}
			found[Argument{strings.ToUpper(a[0]), i}] = a[i]
		}
		of, with = restOf, restWith
	}
	return of == with
}

// unmistakable is the length of values known by themselves. Shorter ones are looked for only in drawn arguments.
const unmistakable = 8

// maxConstants bounds how often everything begins again.
const maxConstants = 20
