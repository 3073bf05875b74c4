// Package jute is how ZooKeeper writes messages: integers with the highest byte first, lengths before texts and lists.
package jute

import (
	"encoding/binary"
	"fmt"
	"reflect"
)

// What a request asks for.
const (
	Create       int32 = 1
	Delete       int32 = 2
	Exists       int32 = 3
	GetData      int32 = 4
	SetData      int32 = 5
	GetChildren  int32 = 8
	Sync         int32 = 9
	Ping         int32 = 11
	GetChildren2 int32 = 12 // with a stat
	SetWatches   int32 = 101
	Close        int32 = -11
)

// An ACL is an entry of an access control list, and Open is one by which everybody may do everything.
type ACL struct {
	May        int32
	Scheme, ID string
}

var Open = ACL{31, "world", "anyone"}

// A Connect is the first message of a connection, and Connected the answer. Of a new session Session is 0
// and Password 16 bytes of 0; of one that has ended, the Timeout that is granted is 0.
type (
	Connect struct {
		Version  int32
		Seen     int64 // the last transaction that the client has seen
		Timeout  int32 // milliseconds
		Session  int64
		Password string
	}
	Connected struct {
		Version, Timeout int32
		Session          int64
		Password         string
	}
)

// A Header begins every other message to a client, and News that of an event.
type Header struct {
	XID  int32
	Zxid int64
	Code int32
}

var News = Header{-1, -1, 0}

// Put appends values: integers of 32 and 64 bits, bools, texts, and lists and structs of them.
func Put(b []byte, values ...any) []byte {
	for _, v := range values {
		b = put(b, reflect.ValueOf(v))
	}
	return b
}

func put(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Int32:
		return binary.BigEndian.AppendUint32(b, uint32(v.Int()))
	case reflect.Int64:
		return binary.BigEndian.AppendUint64(b, uint64(v.Int()))
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.String:
		return append(Put(b, int32(v.Len())), v.String()...)
	case reflect.Slice:
		b = Put(b, int32(v.Len()))
		for _, e := range v.Seq2() {
			b = put(b, e)
		}
		return b
	case reflect.Struct:
		for i := range v.NumField() {
			b = put(b, v.Field(i))
		}
		return b
	}
	panic(fmt.Sprintf("jute: a value of type %s", v.Type()))
}

// Framed is a message with its length before it.
func Framed(message []byte) []byte { return append(Put(nil, int32(len(message))), message...) }

// maxMessage bounds a message, as ZooKeeper's jute.maxbuffer does.
const maxMessage = 1 << 20

// Frame takes the first message off b; whole is false if its end is still to come.
func Frame(b []byte) (message, rest []byte, whole bool) {
	if len(b) < 4 {
		return nil, b, false
	}
	n := int(binary.BigEndian.Uint32(b))
	if n > len(b)-4 {
		return nil, b, false
	}
	return b[4 : 4+n], b[4+n:], true
}

// TooLong reports whether b begins with a length above that of any message.
func TooLong(b []byte) bool { return len(b) >= 4 && binary.BigEndian.Uint32(b) > maxMessage }

// A Reader reads a message. What it reads beyond its end is zero, and Short is set.
type Reader struct {
	B     []byte // the rest
	Short bool
}

func (r *Reader) take(n int) []byte {
	if n < 0 || n > len(r.B) {
		r.B, r.Short = nil, true
		return nil
	}
	taken := r.B[:n]
	r.B = r.B[n:]
	return taken
}

// Get takes values off the message, into what the arguments point to.
func (r *Reader) Get(into ...any) *Reader {
	for _, v := range into {
		r.get(reflect.ValueOf(v).Elem())
	}
	return r
}

func (r *Reader) get(v reflect.Value) {
	v.SetZero()
	switch v.Kind() {
	case reflect.Int32:
		if b := r.take(4); b != nil {
			v.SetInt(int64(int32(binary.BigEndian.Uint32(b))))
		}
	case reflect.Int64:
		if b := r.take(8); b != nil {
			v.SetInt(int64(binary.BigEndian.Uint64(b)))
		}
	case reflect.Bool:
		b := r.take(1)
		v.SetBool(b != nil && b[0] != 0)
	case reflect.String: // bytes are texts too, and those that are absent are empty
		if n := r.length(); n != -1 {
			v.SetString(string(r.take(n)))
		}
	case reflect.Slice:
		for range r.length() {
			e := reflect.New(v.Type().Elem()).Elem()
			if r.get(e); r.Short {
				return
			}
			v.Set(reflect.Append(v, e))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			r.get(v.Field(i))
		}
	default:
		panic(fmt.Sprintf("jute: a value of type %s", v.Type()))
	}
}

func (r *Reader) length() int {
	var n int32
	r.Get(&n)
	return int(n)
}
