// Package jute is how ZooKeeper writes its messages: integers with the highest byte first,
// and the length before texts and lists.
package jute

import "encoding/binary"

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

// Everything is the permission of an access control list to do everything.
const Everything int32 = 31

// PutInt, PutLong, PutBool, PutText and PutTexts append a value.
func PutInt(b []byte, v int32) []byte   { return binary.BigEndian.AppendUint32(b, uint32(v)) }
func PutLong(b []byte, v int64) []byte  { return binary.BigEndian.AppendUint64(b, uint64(v)) }
func PutText(b []byte, s string) []byte { return append(PutInt(b, int32(len(s))), s...) }

func PutBool(b []byte, is bool) []byte {
	if is {
		return append(b, 1)
	}
	return append(b, 0)
}

func PutTexts(b []byte, all []string) []byte {
	b = PutInt(b, int32(len(all)))
	for _, s := range all {
		b = PutText(b, s)
	}
	return b
}

// Framed is a message with its length before it.
func Framed(message []byte) []byte {
	return append(PutInt(make([]byte, 0, 4+len(message)), int32(len(message))), message...)
}

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

// Int, Long, Bool, Text and Texts take a value.
func (r *Reader) Int() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *Reader) Long() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *Reader) Bool() bool {
	b := r.take(1)
	return b != nil && b[0] != 0
}

// Text: bytes are texts too, and those that are absent are empty.
func (r *Reader) Text() string {
	n := r.Int()
	if n == -1 {
		return ""
	}
	return string(r.take(int(n)))
}

// Each calls f for each element of a list.
func (r *Reader) Each(f func()) {
	for range r.Int() {
		if r.Short {
			return
		}
		f()
	}
}

func (r *Reader) Texts() (all []string) {
	r.Each(func() { all = append(all, r.Text()) })
	return all
}
