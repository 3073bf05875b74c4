// Package codec writes plain values as bytes and reads them back: numbers,
// truths, texts, and arrays, slices and structs of these, with the fields that
// are not exported. Types and names are not written, so a reader must ask for
// what was put, in the same order.
//
// It exists so that what a type gains is kept without anybody thinking of it: a
// list of fields written by hand would go on without the new one, and a search
// that forgets half a judge still comes to an end.
package codec

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
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
		switch v := v.(type) {
		case []uint32:
			w.put(reflect.ValueOf(len(v)))
			w.fixed(v)
		case []uint16:
			w.put(reflect.ValueOf(len(v)))
			w.fixed(v)
		default:
			w.put(reflect.ValueOf(v))
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

// fixed writes a list of numbers in their own size, which takes no thought for
// each.
func (w *Writer) fixed(list any) {
	w.buf, _ = binary.Append(w.buf[:0], binary.LittleEndian, list) // numbers of one size cannot fail
	w.bytes(w.buf)
}

func (w *Writer) bytes(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

func (w *Writer) put(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			w.bytes([]byte{1})
		} else {
			w.bytes([]byte{0})
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.buf = binary.AppendVarint(w.buf[:0], v.Int())
		w.bytes(w.buf)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.buf = binary.AppendUvarint(w.buf[:0], v.Uint())
		w.bytes(w.buf)
	case reflect.String:
		w.put(reflect.ValueOf(v.Len()))
		if w.err == nil {
			_, w.err = w.w.WriteString(v.String())
		}
	case reflect.Slice:
		w.put(reflect.ValueOf(v.Len()))
		for i := range v.Len() {
			w.put(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			w.put(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.put(v.Field(i))
		}
	default:
		panic(fmt.Sprintf("plain: %s is not plain", v.Type()))
	}
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

// Get reads values to where pointers point. A list of numbers is read into the
// room that it has, if that is enough. What was empty comes back as nil.
func (r *Reader) Get(pointers ...any) {
	for _, p := range pointers {
		switch p := p.(type) {
		case *[]uint32:
			*p = list(r, *p, 4)
		case *[]uint16:
			*p = list(r, *p, 2)
		default:
			r.get(reflect.ValueOf(p).Elem())
		}
	}
}

// chunk is how many elements are made room for at once: a length that does not fit then
// ends with the input, and takes no more memory than that has.
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

func (r *Reader) get(v reflect.Value) {
	if !v.CanSet() { // a field that is not exported
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	switch v.Kind() {
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
			r.get(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			r.get(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.get(v.Field(i))
		}
	default:
		r.fail("%s", v.Type())
	}
}
