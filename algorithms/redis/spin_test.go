package redis_test

import (
	"testing"
	"time"
)

// Article 001's spin waits until its limit, on the client's clock. Around the
// reentrant lock of the same article the second attempt succeeds.
func TestSpin(t *testing.T) {
	for id, bothHold := range map[string]bool{"spin": false, "spin-reentrant": true} {
		e := entry(t, id)
		s := newTestbed(t, 1)
		a, b := s.process(t, e, "A"), s.process(t, e, "B")
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		start := b.clock.Now()
		_, err := b.Acquire(t.Context(), "lock")
		if (err == nil) != bothHold {
			t.Fatalf("%s: %v, want both to hold: %v", id, err, bothHold)
		}
		if bothHold {
			continue
		}
		if waited := b.clock.Since(start); waited != time.Second {
			t.Errorf("%s: gave up after %v", id, waited)
		}
		tries := 0
		b.conns[0].AddHook(&fault{command: "set", before: func() {
			if tries++; tries == 3 {
				mustRelease(t, lease, nil)
			}
		}})
		must(b.Acquire(t.Context(), "lock"))(t)
		if tries != 3 {
			t.Errorf("%s: acquired at try %d, want the one after the release", id, tries)
		}
	}
}
