// Package codec encodes plain values as bytes and reads them back: numbers, truths, texts, and arrays, slices and
// structs of these, with the fields that are not exported. Types and names are not written.
//
// A field with the tag `codec:"derived"` follows from the others of its struct, and is not written.
//
// It exists so that new fields are kept without further code: a list of fields written by hand would
// go on without the new one, and values that differ in it would count as equal.
package codec

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"unsafe"
)

// Key returns the encoding of a plain value, which no other value of its type has.
func Key[V any](v V) string {
	value := reflect.ValueOf(&v).Elem()
	return string(planOf(value.Type()).append(make([]byte, 0, 256), value))
}

// Parse returns the value of type V whose Key is b. What was empty comes back as nil.
func Parse[V any](b []byte) (v V, err error) {
	r, value := &reader{rest: b}, reflect.ValueOf(&v).Elem()
	r.get(planOf(value.Type()), value)
	return v, r.err
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

// Replace returns a copy of a plain value in which f has replaced every text. Derived fields of the copy are zero.
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

// reader reads values from the rest of an encoding. After the first error it reads zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.rest = nil; r.err == nil {
		r.err = fmt.Errorf("plain: "+format+" does not fit", args...)
	}
}

// take returns the next n bytes, or none if there are fewer.
func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.fail("a length of %d", n)
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail("a number")
	}
	r.take(max(size, 0))
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail("a number")
	}
	r.take(max(size, 0))
	return n
}

func (r *reader) get(p *plan, v reflect.Value) {
	v = settable(v)
	switch p.kind {
	case reflect.Bool:
		v.SetBool(slices.Contains(r.take(1), 1))
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
		v.SetString(string(r.take(int(r.int()))))
	case reflect.Slice:
		n := int(r.int())
		v.SetZero()
		if n < 0 || n > len(r.rest) { // every element takes a byte at least
			r.fail("a list of %d", n)
		}
		for i := 0; i < n && r.err == nil; i++ {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
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
