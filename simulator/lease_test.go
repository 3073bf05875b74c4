package simulator_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"locklab/simulator"
	"locklab/simulator/history"
)

// TestChangesNothing: a command that gives a key the time to live that it has is no Change.
func TestChangesNothing(t *testing.T) {
	s := solo(t, func(c *simulator.Client) {
		do(c, 1, "SET", "lock", "x", "PX", 10_000)
		do(c, 1, "PEXPIRE", "lock", 10_000)
		c.Clock().Sleep(sec)
		do(c, 1, "PEXPIRE", "lock", 10_000)
		do(c, 1, "PEXPIRE", "lock", 10_000)
	})
	s.settle(5 * sec)
	var at []string
	for _, e := range s.told {
		if e.Kind == history.Change {
			at = append(at, fmt.Sprint(e.At, " until ", e.Until))
		}
	}
	if want := []string{"0s until 10.001s", "1s until 11.001s"}; !slices.Equal(at, want) {
		t.Errorf("the key changed at %q, want %q", at, want)
	}
}

// TestAttempts: what a client does belongs to its present attempt, and what a timer does to
// the attempt in which it was armed. To ask again while inside, or about the lease that it
// has, is no new attempt.
func TestAttempts(t *testing.T) {
	s := solo(t, func(c *simulator.Client) {
		record := func(k history.EventKind, note string) { c.Record(history.Event{Kind: k, Note: note}) }
		do(c, 1, "SET", "before", "x")
		record(history.Acquire, "")
		do(c, 1, "SET", "first", "x")
		record(history.Enter, "")
		c.Clock().AfterFunc(2*sec, func() { c.Redis(1).Do(context.Background(), "SET", "timer", "x") })
		record(history.Acquire, "")
		do(c, 1, "SET", "inner", "x")
		record(history.Enter, "")
		record(history.Leave, "")
		record(history.Acquire, "renew")
		do(c, 1, "SET", "renewal", "x")
		record(history.Refuse, "")
		record(history.Acquire, "")
		c.Clock().Sleep(3 * sec)
		do(c, 1, "SET", "second", "x")
		_ = c.Write(0, 0) // whether it is accepted does not matter
	})
	s.settle(5 * sec)
	var got []string
	for _, e := range s.told {
		switch e.Kind {
		case history.Change:
			got = append(got, fmt.Sprint(e.Key, " ", e.Lease))
		case history.Write:
			got = append(got, fmt.Sprint("write ", e.Lease))
		}
	}
	if want := []string{"before 0", "first 1", "inner 1", "renewal 1", "timer 1", "second 2", "write 2"}; !slices.Equal(got, want) {
		t.Errorf("the changes belong to %q, want %q", got, want)
	}
}
