package jute

import (
	"fmt"
	"testing"
)

// What is written is read again, and what is cut short is noticed.
func TestReader(t *testing.T) {
	written := PutTexts(PutText(PutBool(PutLong(PutInt(nil, 7), -1), true), "lock"), []string{"a", "bc"})
	message, rest, whole := Frame(append(Framed(written), 1))
	if len(rest) != 1 || !whole {
		t.Errorf("a frame leaves %d bytes, whole: %t", len(rest), whole)
	}
	r := Reader{B: message}
	if got := fmt.Sprintln(r.Int(), r.Long(), r.Bool(), r.Text(), r.Texts(), r.Short); got != "7 -1 true lock [a bc] false\n" {
		t.Error(got)
	}
	if r.Long(); !r.Short {
		t.Error("more was read than there is")
	}
	r = Reader{B: PutInt(nil, 1<<30)}
	if r.Texts(); !r.Short {
		t.Error("a list without its entries is none")
	}
}
