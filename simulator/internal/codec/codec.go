// Package codec writes plain values as bytes and reads them back: numbers,
// truths, texts, and arrays, slices and structs of these, with the fields that
// are not exported. Types and names are not written, so a reader must ask for
// what was put, in the same order.
//
// A field with the tag `codec:"derived"` follows from the others of its struct, and is not written.
//
// It exists so that new fields are kept without further code: a list of fields written by hand would
// go on without the new one, and a search that loses half a judge still comes to an end.
package codec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"unsafe"
)

// A Writer writes values. The first error stays; Flush tells it.
type Writer struct {
	w   *bufio.Writer
	buf []byte
	err error
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 1<<16)} }

// Put writes values. It panics on a type that is not plain, a map or a pointer
// for instance.
func (w *Writer) Put(values ...any) {
	for _, v := range values {
		switch list := reflect.ValueOf(v); {
		case list.Kind() != reflect.Slice:
			w.write(planOf(list.Type()).append(w.buf[:0], list))
		case list.Type().Elem() == reflect.TypeFor[uint16](), list.Type().Elem() == reflect.TypeFor[uint32]():
			w.write(binary.AppendVarint(w.buf[:0], int64(list.Len())))
			b, _ := binary.Append(w.buf[:0], binary.LittleEndian, v) // numbers of one size cannot fail
			w.write(b)
		default: // in pieces, since it may be long
			w.write(binary.AppendVarint(w.buf[:0], int64(list.Len())))
			elem := planOf(list.Type()).elem
			for i := range list.Len() {
				w.write(elem.append(w.buf[:0], list.Index(i)))
			}
		}
	}
}

// Flush hands everything on to the writer below.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// write writes b, and keeps its memory for the next value.
func (w *Writer) write(b []byte) {
	w.buf = b
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

// Key returns the encoding of a plain value, which no other value of its type has.
func Key[V any](v V) string {
	value := reflect.ValueOf(&v).Elem()
	return string(planOf(value.Type()).append(make([]byte, 0, 256), value))
}

// Parse returns the value of type V whose Key is b.
func Parse[V any](b []byte) (v V, err error) {
	r := &Reader{r: bufio.NewReaderSize(bytes.NewReader(b), 16)}
	r.Get(&v)
	return v, r.Err()
}

// A Numeral is a plain struct that may stand for a number as a text of its digits does.
type Numeral interface {
	// Numeral returns where the number is; nil: there is none.
	Numeral() *int64
}

// A plan is what a type has in common for all its values, so that no value has to be asked for it.
type plan struct {
	kind    reflect.Kind
	elem    *plan   // of slices and arrays
	fields  []*plan // of structs; nil: the field is derived
	numeral bool    // pointers to the struct are Numerals
}

var plans sync.Map // by reflect.Type

// planOf returns the plan of a type. It panics on a type that is not plain.
func planOf(t reflect.Type) *plan {
	if known, ok := plans.Load(t); ok {
		return known.(*plan)
	}
	p := &plan{kind: t.Kind()}
	switch p.kind {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Slice, reflect.Array:
		p.elem = planOf(t.Elem())
	case reflect.Struct:
		p.fields, p.numeral = make([]*plan, t.NumField()), reflect.PointerTo(t).Implements(reflect.TypeFor[Numeral]())
		for i := range p.fields {
			if f := t.Field(i); f.Tag.Get("codec") != "derived" {
				p.fields[i] = planOf(f.Type)
			}
		}
	default:
		panic(fmt.Sprintf("plain: %s is not plain", t))
	}
	known, _ := plans.LoadOrStore(t, p)
	return known.(*plan)
}

func (p *plan) append(b []byte, v reflect.Value) []byte {
	switch p.kind {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.String:
		return append(binary.AppendVarint(b, int64(v.Len())), v.String()...)
	case reflect.Slice:
		b = binary.AppendVarint(b, int64(v.Len()))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			b = p.elem.append(b, v.Index(i))
		}
	case reflect.Struct:
		for i, field := range p.fields {
			if field != nil {
				b = field.append(b, v.Field(i))
			}
		}
	}
	return b
}

// Replace returns a copy of a plain value in which f has replaced every text. Derived fields of the
// copy are zero.
func Replace[V any](v V, f func(string) string) V { return replace(v, f, func(*int64) {}) }

// ReplaceNumerals is Replace, and f has replaced the digits of every Numeral as well, by others.
func ReplaceNumerals[V any](v V, f func(string) string) V {
	return replace(v, f, func(n *int64) {
		if is, err := strconv.ParseInt(f(strconv.FormatInt(*n, 10)), 10, 64); err == nil {
			*n = is
		}
	})
}

func replace[V any](v V, f func(string) string, number func(*int64)) V {
	value := reflect.ValueOf(&v).Elem()
	planOf(value.Type()).replace(value, f, number)
	return v
}

func (p *plan) replace(v reflect.Value, f func(string) string, number func(*int64)) {
	v = settable(v)
	if p.numeral {
		if n := v.Addr().Interface().(Numeral).Numeral(); n != nil {
			number(n)
		}
	}
	switch p.kind {
	case reflect.String:
		v.SetString(f(v.String()))
	case reflect.Slice:
		if !v.IsNil() {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			p.elem.replace(v.Index(i), f, number)
		}
	case reflect.Struct:
		for i, field := range p.fields {
			if field == nil {
				settable(v.Field(i)).SetZero()
			} else {
				field.replace(v.Field(i), f, number)
			}
		}
	}
}

// settable is a value that can be set, also if it is a field that is not exported.
func settable(v reflect.Value) reflect.Value {
	if v.CanSet() {
		return v
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// A Reader reads what a Writer wrote. After the first error it reads zeros;
// Err tells it.
type Reader struct {
	r   *bufio.Reader
	buf []byte
	err error
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 1<<16)} }

// Err is the first error: the input came to an end, or does not fit.
func (r *Reader) Err() error { return r.err }

// Get reads values to where pointers point. It panics on types that are not plain. A list of numbers is read into the
// room that it has, if that is enough. What was empty comes back as nil.
func (r *Reader) Get(pointers ...any) {
	for _, p := range pointers {
		switch p := p.(type) {
		case *[]uint32:
			*p = list(r, *p, 4)
		case *[]uint16:
			*p = list(r, *p, 2)
		default:
			value := reflect.ValueOf(p).Elem()
			r.get(planOf(value.Type()), value)
		}
	}
}

// chunk is the number of elements for which memory is allocated in one step: a length that does not
// fit ends with the input, and takes hardly more memory than the input.
const chunk = 1 << 16

// list reads a list of numbers of so many bytes each into room, if that is enough.
func list[E any](r *Reader, room []E, size int) []E {
	n := r.length()
	if n <= cap(room) {
		room = room[:n]
		r.fixed(room, size*n)
		return room
	}
	var all []E
	for len(all) < n && r.err == nil {
		from := len(all)
		all = slices.Grow(all, min(chunk, n-from))[:from+min(chunk, n-from)]
		r.fixed(all[from:], size*(len(all)-from))
	}
	return all
}

func (r *Reader) room(size int) []byte {
	r.buf = slices.Grow(r.buf[:0], size)[:size]
	return r.buf
}

func (r *Reader) fixed(list any, size int) {
	r.bytes(r.room(size))
	if r.err == nil {
		_, r.err = binary.Decode(r.buf, binary.LittleEndian, list)
	}
}

func (r *Reader) bytes(b []byte) {
	if r.err == nil {
		_, r.err = io.ReadFull(r.r, b)
	}
	if r.err != nil {
		clear(b)
	}
}

func (r *Reader) uint() (n uint64) {
	if r.err == nil {
		n, r.err = binary.ReadUvarint(r.r)
	}
	return n
}

func (r *Reader) int() (n int64) {
	if r.err == nil {
		n, r.err = binary.ReadVarint(r.r)
	}
	return n
}

// maxLength is more than any list that is put.
const maxLength = 1 << 32

func (r *Reader) length() int {
	n := r.int()
	if n < 0 || n > maxLength {
		r.fail("a list of %d", n)
		return 0
	}
	return int(n)
}

func (r *Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("plain: "+format+" does not fit", args...)
	}
}

func (r *Reader) get(p *plan, v reflect.Value) {
	v = settable(v)
	switch p.kind {
	case reflect.Bool:
		var b [1]byte
		r.bytes(b[:])
		v.SetBool(b[0] != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := r.int()
		if v.OverflowInt(n) {
			r.fail("%d as %s", n, v.Type())
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n := r.uint()
		if v.OverflowUint(n) {
			r.fail("%d as %s", n, v.Type())
		}
		v.SetUint(n)
	case reflect.String:
		var b []byte
		for n := r.length(); len(b) < n && r.err == nil; {
			part := r.room(min(chunk, n-len(b)))
			r.bytes(part)
			b = append(b, part...)
		}
		v.SetString(string(b))
	case reflect.Slice:
		n := r.length()
		v.SetZero()
		for i := 0; i < n && r.err == nil; i++ {
			if i == v.Cap() {
				v.Grow(min(chunk, n-i))
			}
			v.SetLen(i + 1)
			r.get(p.elem, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			r.get(p.elem, v.Index(i))
		}
	case reflect.Struct:
		for i, field := range p.fields {
			if field != nil {
				r.get(field, v.Field(i))
			}
		}
	}
}
