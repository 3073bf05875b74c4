package simulator_test

import (
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
