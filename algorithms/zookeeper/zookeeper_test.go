package zookeeper_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/algorithms/zookeeper"
	"locklab/simulator/effort"
	"locklab/simulator/realserver/servertest"
)

// rules hold for every lock on a ZooKeeper. Each uses the key "lock" of an empty
// ensemble.
var rules = []struct {
	name  string
	why   string
	check func(*testing.T, *testbed, lock.Entry)
}{
	{
		name: "Entry.Holders clients hold the lock; one more is refused and leaves nothing behind",
		why:  "what a refused client leaves behind blocks others",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			fill(t, h, e)
			before := h.places(t, "/locks")
			refused(t, h.process(t, rival(t, e), "Z"), "lock", 0)
			if after := h.places(t, "/locks"); !slices.Equal(sorted(before), sorted(after)) {
				t.Errorf("the refusal turned %v into %v", before, after)
			}
		},
	},
	{
		name: "a released lock can be acquired again, by others and by the same",
		why:  "a Lock is used repeatedly",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			a, b := h.process(t, e, "A"), h.process(t, e, "B")
			for _, m := range []*process{a, b, a} {
				mustRelease(t, must(m.Acquire(t.Context(), "lock"))(t), nil)
				if left := h.places(t, "/locks"); len(left) > 0 {
					t.Fatalf("left behind: %v", left)
				}
			}
		},
	},
	{
		name: "two keys are two locks",
		why:  "a key may be any text",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			fill(t, h, e)
			for _, key := range []string{"other", "lock/1", "锁"} {
				mustRelease(t, must(h.process(t, e, "B").Acquire(t.Context(), key))(t), nil)
			}
		},
	},
	{
		name: "a waiter gets the lock when a holder releases it",
		why:  "after a missed wake-up it would wait for ever",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			held := fill(t, h, e)
			b := h.process(t, rival(t, e), "Z")
			h.waiting(func() { releaseAll(t, e, held) }, func() {
				mustRelease(t, await(t, b, "lock", time.Minute), nil)
			})
		},
	},
	{
		name: "a waiter whose patience ends leaves the queue",
		why:  "its place would block all that come after it",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			held := fill(t, h, e)
			refused(t, h.process(t, rival(t, e), "Z"), "lock", time.Millisecond)
			for _, l := range held {
				mustRelease(t, l, nil)
			}
			if left := h.places(t, "/locks"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		},
	},
	{
		name: "a waiter that is cancelled leaves the queue",
		why:  "the request that deletes its place must survive the end of the caller's context",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			fill(t, h, e)
			before := h.places(t, "/locks")
			b := h.process(t, rival(t, e), "Z")
			ctx, cancel := context.WithCancel(t.Context())
			h.waiting(cancel, func() {
				if _, err := b.Await(ctx, "lock", time.Minute); !errors.Is(err, context.Canceled) {
					t.Errorf("Await: %v, want %v", err, context.Canceled)
				}
			})
			if after := h.places(t, "/locks"); !slices.Equal(sorted(before), sorted(after)) {
				t.Errorf("giving up turned %v into %v", before, after)
			}
		},
	},
	{
		name: "the lock ends with the holder's session",
		why:  "Entry.Expiry says so",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			a := h.process(t, e, "A")
			stale := must(a.Acquire(t.Context(), "lock"))(t)
			a.expire()
			must(h.process(t, rival(t, e), "Z").Acquire(t.Context(), "lock"))(t)
			if c, ok := stale.(lock.Checker); ok {
				if err := c.Check(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
					t.Errorf("Check: %v", err)
				}
			}
			before := h.places(t, "/locks")
			mustRelease(t, stale, lock.ErrNotHeld)
			if after := h.places(t, "/locks"); !slices.Equal(sorted(before), sorted(after)) {
				t.Errorf("the late release turned %v into %v", before, after)
			}
		},
	},
	{
		name: "without an answer of the ensemble the outcome is unknown",
		why:  "taken, or not held, would be a guess",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			a := h.process(t, e, "A")
			lease := must(a.Acquire(t.Context(), "lock"))(t)
			a.cut()
			if err := lease.Release(t.Context()); err == nil || errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("Release: %v", err)
			}
			if _, err := a.Acquire(t.Context(), "other"); err == nil || errors.Is(err, lock.ErrNotAcquired) {
				t.Errorf("Acquire: %v", err)
			}
		},
	},
	{
		name: "an attempt that was cancelled before it began changes nothing",
		why:  "every request gets the context",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := h.process(t, e, "A").Acquire(ctx, "lock"); !errors.Is(err, context.Canceled) {
				t.Errorf("Acquire: %v, want %v", err, context.Canceled)
			}
			if _, err := h.admin.Exists(t.Context(), "/locks"); !errors.Is(err, lock.ErrNoNode) {
				t.Errorf("something was created: %v", err)
			}
		},
	},
	{
		name: "fencing tokens increase, across sessions and waits",
		why:  "Fencer promises it",
		check: func(t *testing.T, h *testbed, e lock.Entry) {
			last := uint64(0)
			higher := func(l lock.Lease) {
				if f, ok := l.(lock.Fencer); ok {
					if f.FencingToken() <= last {
						t.Errorf("token %d after %d", f.FencingToken(), last)
					}
					last = f.FencingToken()
				}
			}
			a := must(h.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
			higher(a)
			b := h.process(t, e, "B")
			h.waiting(func() { mustRelease(t, a, nil) }, func() {
				l := await(t, b, "lock", time.Minute)
				higher(l)
				mustRelease(t, l, nil)
			})
			c := h.process(t, e, "C")
			higher(must(c.Acquire(t.Context(), "lock"))(t))
			c.expire()
			higher(must(h.process(t, e, "D").Acquire(t.Context(), "lock"))(t))
		},
	},
}

func TestRules(t *testing.T) {
	for _, e := range zookeeper.All() {
		for _, rule := range rules {
			t.Run(e.ID+"/"+rule.name, func(t *testing.T) {
				rule.check(t, newEnsemble().testbed(), e)
				if t.Failed() {
					t.Log("reason for the rule:", rule.why)
				}
			})
		}
	}
}

// Without an ensemble Check of every lock returns an error that says so.
func TestNoEnsemble(t *testing.T) {
	for _, e := range zookeeper.All() {
		if err := e.Check(lock.Production(0)); err == nil || !strings.Contains(err.Error(), "OnConn") {
			t.Errorf("%s: Check: %v", e.ID, err)
		}
	}
}

// TestRulesOnRealServer checks the rules with the real client.
func TestRulesOnRealServer(t *testing.T) {
	effort.OnlyPushed(t, "it starts ZooKeepers")
	addr := servertest.ZooKeeper(t, t.TempDir())
	for _, e := range zookeeper.All() {
		for _, rule := range rules {
			t.Run(e.ID+"/"+rule.name, func(t *testing.T) { rule.check(t, realTestbed(t, addr), e) })
		}
	}
}

// fill lets as many processes acquire "lock" as may hold it, or two readers.
func fill(t *testing.T, h *testbed, e lock.Entry) (held []lock.Lease) {
	t.Helper()
	n := max(1, e.Holders)
	if e.Holders == lock.AnyNumber {
		n = 2
	}
	for i := range n {
		held = append(held, must(h.process(t, e, string(rune('A'+i))).Acquire(t.Context(), "lock"))(t))
	}
	return held
}

// rival is the lock that the holders of e exclude.
func rival(t *testing.T, e lock.Entry) lock.Entry {
	if e.Holders == lock.AnyNumber {
		return entry(t, "zk-write")
	}
	return e
}

// releaseAll releases holds until one more client may enter.
func releaseAll(t *testing.T, e lock.Entry, held []lock.Lease) {
	if e.Holders != lock.AnyNumber {
		held = held[:1]
	}
	for _, l := range held {
		mustRelease(t, l, nil)
	}
}

func refused(t *testing.T, m *process, key string, patience time.Duration) {
	t.Helper()
	if _, err := m.Await(t.Context(), key, patience); !errors.Is(err, lock.ErrNotAcquired) {
		t.Fatalf("Await: %v, want %v", err, lock.ErrNotAcquired)
	}
}

func await(t *testing.T, m *process, key string, patience time.Duration) lock.Lease {
	t.Helper()
	return must(m.Await(t.Context(), key, patience))(t)
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
