package redis_test

import (
	"testing"
	"time"
)

// Article 001's spin waits until its limit, on the client's clock.
func TestSpin(t *testing.T) {
	_, _, a, b := pair(t, "spin")
	lease := must(a.Acquire(t.Context(), "lock"))(t)
	start := b.clock.Now()
	if mustRefuse(t, b, "lock"); b.clock.Since(start) != time.Second {
		t.Errorf("gave up after %v", b.clock.Since(start))
	}
	tries := 0
	b.conns[0].AddHook(&fault{command: "set", before: func() {
		if tries++; tries == 3 {
			mustRelease(t, lease, nil)
		}
	}})
	if must(b.Acquire(t.Context(), "lock"))(t); tries != 3 {
		t.Errorf("acquired at try %d, want the one after the release", tries)
	}
}
