package zookeeper_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/simulator/zookeeper/realserver"
)

// houseRules hold for every lock on a ZooKeeper. Each plays on the key "lock" of an
// empty ensemble.
var houseRules = []struct {
	name string
	why  string
	play func(*testing.T, *house, lock.Entry)
}{
	{
		name: "as many hold as may, and one more is refused and leaves nothing",
		why:  "what a loser leaves behind keeps others out",
		play: func(t *testing.T, h *house, e lock.Entry) {
			fill(t, h, e)
			before := h.places(t, "/locks")
			refused(t, h.join(t, rival(t, e), "Z"), "lock", 0)
			if after := h.places(t, "/locks"); !slices.Equal(sorted(before), sorted(after)) {
				t.Errorf("the refusal turned %v into %v", before, after)
			}
		},
	},
	{
		name: "what is released is free, for others and for the same",
		why:  "a Strategy is used again and again",
		play: func(t *testing.T, h *house, e lock.Entry) {
			a, b := h.join(t, e, "A"), h.join(t, e, "B")
			for _, m := range []*member{a, b, a} {
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
		play: func(t *testing.T, h *house, e lock.Entry) {
			fill(t, h, e)
			for _, key := range []string{"other", "lock/1", "锁"} {
				mustRelease(t, must(h.join(t, e, "B").Acquire(t.Context(), key))(t), nil)
			}
		},
	},
	{
		name: "who waits has its turn when a holder leaves",
		why:  "a wake-up that is missed is a wait without end",
		play: func(t *testing.T, h *house, e lock.Entry) {
			held := fill(t, h, e)
			b := h.join(t, rival(t, e), "Z")
			h.waiting(func() { releaseAll(t, e, held) }, func() {
				mustRelease(t, await(t, b, "lock", time.Minute), nil)
			})
		},
	},
	{
		name: "who has lost patience leaves the line",
		why:  "its place would keep out all that come after",
		play: func(t *testing.T, h *house, e lock.Entry) {
			held := fill(t, h, e)
			refused(t, h.join(t, rival(t, e), "Z"), "lock", time.Millisecond)
			for _, l := range held {
				mustRelease(t, l, nil)
			}
			if left := h.places(t, "/locks"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		},
	},
	{
		name: "who gives up while it waits leaves the line",
		why:  "the request that takes its place back must outlive the caller's context",
		play: func(t *testing.T, h *house, e lock.Entry) {
			fill(t, h, e)
			before := h.places(t, "/locks")
			b := h.join(t, rival(t, e), "Z")
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
		name: "a session that ends takes its lock along",
		why:  "Entry.Expiry says so",
		play: func(t *testing.T, h *house, e lock.Entry) {
			a := h.join(t, e, "A")
			stale := must(a.Acquire(t.Context(), "lock"))(t)
			a.expire()
			must(h.join(t, rival(t, e), "Z").Acquire(t.Context(), "lock"))(t)
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
		name: "an ensemble that does not answer leaves the outcome open",
		why:  "to say taken, or not held, would be a guess",
		play: func(t *testing.T, h *house, e lock.Entry) {
			a := h.join(t, e, "A")
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
		name: "an attempt that was cancelled before it began touches nothing",
		why:  "the context reaches every request",
		play: func(t *testing.T, h *house, e lock.Entry) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := h.join(t, e, "A").Acquire(ctx, "lock"); !errors.Is(err, context.Canceled) {
				t.Errorf("Acquire: %v, want %v", err, context.Canceled)
			}
			if _, err := h.look.Exists(t.Context(), "/locks"); !errors.Is(err, lock.ErrNoNode) {
				t.Errorf("something was created: %v", err)
			}
		},
	},
	{
		name: "fencing tokens rise, over sessions and waits",
		why:  "Fencer promises it",
		play: func(t *testing.T, h *house, e lock.Entry) {
			last := uint64(0)
			higher := func(l lock.Lease) {
				if f, ok := l.(lock.Fencer); ok {
					if f.FencingToken() <= last {
						t.Errorf("token %d after %d", f.FencingToken(), last)
					}
					last = f.FencingToken()
				}
			}
			a := must(h.join(t, e, "A").Acquire(t.Context(), "lock"))(t)
			higher(a)
			b := h.join(t, e, "B")
			h.waiting(func() { mustRelease(t, a, nil) }, func() {
				l := await(t, b, "lock", time.Minute)
				higher(l)
				mustRelease(t, l, nil)
			})
			c := h.join(t, e, "C")
			higher(must(c.Acquire(t.Context(), "lock"))(t))
			c.expire()
			higher(must(h.join(t, e, "D").Acquire(t.Context(), "lock"))(t))
		},
	},
}

func TestHouseRules(t *testing.T) {
	for _, e := range algorithms.OnZooKeeper() {
		for _, rule := range houseRules {
			t.Run(e.ID+"/"+rule.name, func(t *testing.T) {
				rule.play(t, newEnsemble().house(), e)
				if t.Failed() {
					t.Log("the rule is there because", rule.why)
				}
			})
		}
	}
}

// Every one of them says that it has no ensemble, before it is used.
func TestNoEnsemble(t *testing.T) {
	for _, e := range algorithms.OnZooKeeper() {
		if err := e.Check(lock.Production(0)); err == nil || !strings.Contains(err.Error(), "OnConn") {
			t.Errorf("%s: Check: %v", e.ID, err)
		}
	}
}

// TestHouseRulesOnRealServer plays the rules through the real client.
func TestHouseRulesOnRealServer(t *testing.T) {
	addr := realserver.Start(t, t.TempDir())
	for _, e := range algorithms.OnZooKeeper() {
		for _, rule := range houseRules {
			t.Run(e.ID+"/"+rule.name, func(t *testing.T) { rule.play(t, realHouse(t, addr), e) })
		}
	}
}

// fill lets as many processes acquire "lock" as may hold it, or two readers.
func fill(t *testing.T, h *house, e lock.Entry) (held []lock.Lease) {
	t.Helper()
	n := max(1, e.Holders)
	if e.Holders == lock.AnyNumber {
		n = 2
	}
	for i := range n {
		held = append(held, must(h.join(t, e, string(rune('A'+i))).Acquire(t.Context(), "lock"))(t))
	}
	return held
}

// rival is the strategy that holders of e keep out.
func rival(t *testing.T, e lock.Entry) lock.Entry {
	if e.Holders == lock.AnyNumber {
		return entry(t, "zk-write")
	}
	return e
}

// releaseAll lets holders go until one more may come in.
func releaseAll(t *testing.T, e lock.Entry, held []lock.Lease) {
	if e.Holders != lock.AnyNumber {
		held = held[:1]
	}
	for _, l := range held {
		mustRelease(t, l, nil)
	}
}

func refused(t *testing.T, m *member, key string, patience time.Duration) {
	t.Helper()
	if _, err := m.Await(t.Context(), key, patience); !errors.Is(err, lock.ErrNotAcquired) {
		t.Fatalf("Await: %v, want %v", err, lock.ErrNotAcquired)
	}
}

func await(t *testing.T, m *member, key string, patience time.Duration) lock.Lease {
	t.Helper()
	return must(m.Await(t.Context(), key, patience))(t)
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
