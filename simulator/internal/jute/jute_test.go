package jute

import (
	"fmt"
	"testing"
)

// What is written is read again, and what is cut short is noticed.
func TestReader(t *testing.T) {
	written := Put(nil, int32(7), int64(-1), true, "lock", []string{"a", "bc"}, []ACL{Open})
	message, rest, whole := Frame(append(Framed(written), 1))
	if len(rest) != 1 || !whole {
		t.Errorf("a frame leaves %d bytes, whole: %t", len(rest), whole)
	}
	r := Reader{B: message}
	var (
		number int32
		long   int64
		is     bool
		text   string
		texts  []string
		acl    []ACL
	)
	r.Get(&number, &long, &is, &text, &texts, &acl)
	if got := fmt.Sprintln(number, long, is, text, texts, acl,
		r.Short); got != "7 -1 true lock [a bc] [{31 world anyone}] false\n" {
		t.Error(got)
	}
	if r.Get(&long); long != 0 || !r.Short {
		t.Error("more was read than there is")
	}
	r = Reader{B: Put(nil, int32(1<<30))}
	if r.Get(&texts); len(texts) > 0 || !r.Short {
		t.Error("a list without its entries is none")
	}
}
