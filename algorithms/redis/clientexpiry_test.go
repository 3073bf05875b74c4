package redis_test

import (
	"testing"
	"time"
)

// The client's clock says when the lease ends. If it is a TTL behind, the server
// answers OK and stores no key: every client holds the lock.
func TestClientExpiryBehindTheServer(t *testing.T) {
	e := entry(t, "client-expiry")
	s := newTestbed(t, 1)
	s.pass(e.TTL + time.Millisecond)
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	must(a.Acquire(t.Context(), "lock"))(t)
	if n := s.holding(t, "lock"); n != 0 {
		t.Error("there is a key")
	}
	must(b.Acquire(t.Context(), "lock"))(t)
}
