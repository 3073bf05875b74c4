package simulator_test

import (
	"errors"
	"testing"

	"locklab/simulator"
	"locklab/simulator/history"
)

// TestGuards: what the resource refuses if a client has read and then writes, while
// another has read as well, and perhaps written.
func TestGuards(t *testing.T) {
	for _, test := range []struct {
		guard     history.Guard
		other     func(c *simulator.Client) // between the read and the write
		token     uint64                    // of the one who comes back
		refuses   bool
		rationale string
	}{
		{history.Naive, readWrite(2), 1, false, "it takes all"},
		{history.Fenced, read(2), 1, true, "a higher token has been seen, if only by a read"},
		{history.Fenced, readWrite(1), 2, false, "his is the highest token, however old what he read"},
		{history.CompareAndSet, read(2), 1, false, "nobody has written: his version is the newest"},
		{history.CompareAndSet, readWrite(0), 9, true, "the version that he read is not the newest, and tokens are no matter"},
	} {
		s := newStage(t, simulator.Config{Guard: test.guard, Clients: []simulator.ClientConfig{
			{Program: func(c *simulator.Client) {
				base, _ := c.Read(test.token)
				c.Clock().Sleep(2 * sec)
				note(c, errors.Is(c.Write(base, test.token), simulator.ErrRefused))
			}},
			{Program: func(c *simulator.Client) {
				c.Clock().Sleep(sec)
				test.other(c)
			}},
		}})
		s.settle(5 * sec)
		want := "2s:false"
		if test.refuses {
			want = "2s:true"
		}
		t.Logf("%q: %s", test.guard, test.rationale)
		s.wantNotes(want)
	}
}

func read(token uint64) func(*simulator.Client) {
	return func(c *simulator.Client) { _, _ = c.Read(token) } // the history has what it saw
}

func readWrite(token uint64) func(*simulator.Client) {
	return func(c *simulator.Client) {
		base, _ := c.Read(token)
		_ = c.Write(base, token) // as it has whether it was taken
	}
}
