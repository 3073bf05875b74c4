package zookeeper

import "encoding/binary"

// Jute is how ZooKeeper writes its messages: integers with the highest byte first, and the
// length before texts and lists.

func putInt(b []byte, v int32) []byte   { return binary.BigEndian.AppendUint32(b, uint32(v)) }
func putLong(b []byte, v int64) []byte  { return binary.BigEndian.AppendUint64(b, uint64(v)) }
func putText(b []byte, s string) []byte { return append(putInt(b, int32(len(s))), s...) }

// framed is a message with its length before it.
func framed(message []byte) []byte {
	return append(putInt(make([]byte, 0, 4+len(message)), int32(len(message))), message...)
}

// maxMessage bounds a message, as ZooKeeper's jute.maxbuffer does.
const maxMessage = 1 << 20

// frame takes the first message off b; whole is false if its end is still to come.
func frame(b []byte) (message, rest []byte, whole bool) {
	if len(b) < 4 {
		return nil, b, false
	}
	n := int(binary.BigEndian.Uint32(b))
	if n > len(b)-4 {
		return nil, b, false
	}
	return b[4 : 4+n], b[4+n:], true
}

// tooLong says whether b begins with a length that no message has.
func tooLong(b []byte) bool { return len(b) >= 4 && binary.BigEndian.Uint32(b) > maxMessage }

// A reader reads a message. What it reads beyond its end is zero, and short is set.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.b, r.short = nil, true
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) int() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) long() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) bool() bool {
	b := r.take(1)
	return b != nil && b[0] != 0
}

// text is a text or bytes; those that are absent are empty.
func (r *reader) text() string {
	n := r.int()
	if n == -1 {
		return ""
	}
	return string(r.take(int(n)))
}

// each calls f for each element of a list.
func (r *reader) each(f func()) {
	for range r.int() {
		if r.short {
			return
		}
		f()
	}
}

func (r *reader) texts() (all []string) {
	r.each(func() { all = append(all, r.text()) })
	return all
}
