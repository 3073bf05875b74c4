package zookeeper_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"

	"locklab/algorithms/lock"
	onzookeeper "locklab/algorithms/zookeeper"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/zookeeper"
)

// TestLostCreate is R39: the answer to create is lost, but the place exists. A client
// that cannot find it waits for its own place as long as its session lives.
func TestLostCreate(t *testing.T) {
	play := func(t *testing.T, h *testbed, id string, protected bool) {
		a := h.process(t, entry(t, id), "A")
		mustRelease(t, must(a.Acquire(t.Context(), "lock"))(t), nil) // the parents are there
		a.loseCreate()
		lease, err := a.Acquire(t.Context(), "lock")
		if protected {
			if err != nil {
				t.Fatalf("a protected place was not found: %v", err)
			}
			mustRelease(t, lease, nil)
			return
		}
		if err == nil || errors.Is(err, lock.ErrNotAcquired) {
			t.Fatalf("Acquire: %v", err)
		}
		refused(t, a, "lock", time.Millisecond)
		refused(t, h.process(t, entry(t, id), "B"), "lock", time.Millisecond)
		a.expire()
		mustRelease(t, must(h.process(t, entry(t, id), "B").Acquire(t.Context(), "lock"))(t), nil)
	}
	type kind struct {
		id        string
		protected bool
	}
	kinds := []kind{
		{"zk-naive", false}, {"zk-herd", false}, {"zk-recheck", false},
		{"zk-protected", true}, {"zk-reentrant", true}, {"zk-write", true},
	}
	for _, k := range kinds {
		t.Run(k.id, func(t *testing.T) { play(t, newEnsemble().testbed(), k.id, k.protected) })
	}
	t.Run("real", func(t *testing.T) {
		addr := servertest.ZooKeeper(t, t.TempDir())
		for _, k := range kinds {
			t.Run(k.id, func(t *testing.T) { play(t, realTestbed(t, addr), k.id, k.protected) })
		}
	})
}

// TestEveryAnswerLost loses each answer of an Acquire and a Release in turn. A place
// that still exists afterwards is unknown to its owner: only an unprotected create
// leaves one.
func TestEveryAnswerLost(t *testing.T) {
	for _, e := range onzookeeper.All() {
		inBubble(t, e.ID, func(t *testing.T) {
			orphans, n := 0, 0
			for lost := 1; ; lost++ {
				ens := newEnsemble()
				h := ens.testbed()
				mustRelease(t, must(h.process(t, e, "Z").Acquire(t.Context(), "lock"))(t), nil)
				a := h.process(t, e, "A")
				s := a.env.ZooKeeper.(*memorySession)
				s.lose = func(zookeeper.Request) bool { return s.asked == lost }
				lease, err := a.Acquire(t.Context(), "lock")
				synctest.Wait()
				if err == nil {
					err = lease.Release(t.Context())
					synctest.Wait()
					if s.asked < lost {
						break // that was all
					}
					if errors.Is(err, lock.ErrNotHeld) {
						t.Errorf("answer %d lost: Release: %v", lost, err)
					}
				} else if errors.Is(err, lock.ErrNotAcquired) {
					t.Errorf("answer %d lost: refused by nobody: %v", lost, err)
				}
				n++
				orphans += len(h.places(t, "/locks"))
			}
			want := 0
			if slices.Contains([]string{"zk-naive", "zk-herd", "zk-recheck"}, e.ID) {
				want = 1
			}
			if orphans != want || n < 3 {
				t.Errorf("%d answers lost, %d orphans, want %d", n, orphans, want)
			}
		})
	}
}

// inBubble is a subtest in which synctest.Wait waits until nothing goes on in the background.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// TestReentry counts holds. A process whose session has ended is let in again.
func TestReentry(t *testing.T) {
	h := newEnsemble().testbed()
	e := entry(t, "zk-reentrant")
	a, b := h.process(t, e, "A"), h.process(t, e, "B")
	outer := must(a.Acquire(t.Context(), "lock"))(t)
	inner := must(a.Acquire(t.Context(), "lock"))(t)
	mustRelease(t, inner, nil)
	mustRelease(t, inner, lock.ErrNotHeld) // once is enough
	refused(t, b, "lock", 0)
	a.expire()
	must(b.Acquire(t.Context(), "lock"))(t)
	again := must(a.Acquire(t.Context(), "lock"))(t) // its own count says so
	if err := again.(lock.Checker).Check(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("Check: %v", err)
	}
	mustRelease(t, again, nil)
	mustRelease(t, outer, lock.ErrNotHeld)

	if _, err := h.process(t, entry(t, "zk-mutex"), "C").Acquire(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	c := h.process(t, entry(t, "zk-mutex"), "C")
	must(c.Acquire(t.Context(), "third"))(t)
	refused(t, c, "third", 0) // it is not reentrant
}

// TestPatience: the patience of a waiter does not start again when it is woken.
func TestPatience(t *testing.T) {
	e := newEnsemble()
	h := e.testbed()
	for _, name := range []string{"A", "B", "C"} {
		m := h.process(t, entry(t, "zk-naive"), name)
		must(m.env.ZooKeeper.Create(t.Context(), "/locks", lock.Persistent))
		must(m.env.ZooKeeper.Create(t.Context(), "/locks/lock", lock.Persistent))
		must(m.env.ZooKeeper.Create(t.Context(), "/locks/lock/lock-", lock.EphemeralSequential))(t)
	}
	m := h.process(t, entry(t, "zk-recheck"), "D")
	clock := m.env.Clock.(*clockwork.FakeClock)
	for _, place := range []string{"lock-0000000002", "lock-0000000001"} {
		e.pending = append(e.pending, func() {
			clock.Advance(600 * time.Millisecond)
			if err := h.admin.Delete(t.Context(), "/locks/lock/"+place); err != nil {
				t.Error(err)
			}
		})
	}
	refused(t, m, "lock", time.Second)
	if waited := clock.Since(epoch); waited != 1200*time.Millisecond {
		t.Errorf("it waited for %v", waited)
	}
}

// TestReadersTogether lets readers in together, but no reader before a waiting writer.
func TestReadersTogether(t *testing.T) {
	e := newEnsemble()
	h := e.testbed()
	read, write := entry(t, "zk-read"), entry(t, "zk-write")
	r1 := must(h.process(t, read, "R1").Acquire(t.Context(), "lock"))(t)
	r2 := must(h.process(t, read, "R2").Acquire(t.Context(), "lock"))(t)
	w := h.process(t, write, "W")
	e.pending = append(e.pending, func() {
		refused(t, h.process(t, read, "R3"), "lock", 0) // the writer is before it
		mustRelease(t, r1, nil)
		mustRelease(t, r2, nil)
	})
	alone := await(t, w, "lock", time.Minute)
	refused(t, h.process(t, read, "R4"), "lock", 0)
	refused(t, h.process(t, write, "W2"), "lock", 0)
	mustRelease(t, alone, nil)
	must(h.process(t, read, "R5").Acquire(t.Context(), "lock"))(t)
}

// TestAllOrNone: the second lock is held, so the first one is released again.
func TestAllOrNone(t *testing.T) {
	h := newEnsemble().testbed()
	protected := entry(t, "zk-protected")
	second := must(h.process(t, protected, "B").Acquire(t.Context(), "lock/2"))(t)
	a := h.process(t, entry(t, "zk-multi"), "A")
	refused(t, a, "lock", 0)
	mustRelease(t, must(h.process(t, protected, "C").Acquire(t.Context(), "lock/1"))(t), nil)
	mustRelease(t, second, nil)
	all := must(a.Acquire(t.Context(), "lock"))(t)
	refused(t, h.process(t, protected, "C"), "lock/1", 0)
	refused(t, h.process(t, protected, "C"), "lock/2", 0)
	mustRelease(t, all, nil)
}

// A timerClock keeps what its timers are to do until the test does it.
type timerClock struct {
	*clockwork.FakeClock
	due []func()
}

func (c *timerClock) AfterFunc(_ time.Duration, f func()) clockwork.Timer {
	c.due = append(c.due, f)
	return nil
}

// ring does what is due now, and not what that begins.
func (c *timerClock) ring() {
	due := c.due
	c.due = nil
	for _, f := range due {
		f()
	}
}

// Curator's locks go on with a deletion that has failed, in the background: Release has an
// error, and the place goes all the same. The recipe's stays until the session ends.
func TestGuaranteedDeletion(t *testing.T) {
	for id, goes := range map[string]bool{"zk-protected": false, "zk-reentrant": true, "zk-mutex": true,
		"zk-semaphore": true, "zk-write": true, "zk-read": true, "zk-multi": true} {
		h := newEnsemble()
		clock := &timerClock{FakeClock: clockwork.NewFakeClockAt(epoch)}
		s := h.connect(clock.FakeClock)
		a := newProcess(t, entry(t, id), &process{}, s, clock, "A")
		lease := must(a.Acquire(t.Context(), "lock"))(t)
		s.unsent[zookeeper.Delete] = 3 // the release, and two deletions behind it
		if err := lease.Release(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%s: Release: %v", id, err)
		}
		mustEnd(t, id, clock, 3, h, goes)
	}
}

// mustEnd rings a clock so often, then nothing goes on in the background, and the places are
// gone or not.
func mustEnd(t *testing.T, id string, clock *timerClock, rings int, h *ensemble, goes bool) {
	t.Helper()
	for range rings {
		clock.ring()
	}
	if len(clock.due) > 0 {
		t.Errorf("%s: the background does not end", id)
	}
	if left := h.testbed().places(t, "/locks"); (len(left) == 0) != goes {
		t.Errorf("%s: %q is left", id, left)
	}
}

// A place that could be created and not be found is found and deleted in the background.
func TestLostCreateIsFoundLater(t *testing.T) {
	for id, goes := range map[string]bool{"zk-protected": false, "zk-reentrant": true} {
		h := newEnsemble()
		clock := &timerClock{FakeClock: clockwork.NewFakeClockAt(epoch)}
		s := h.connect(clock.FakeClock)
		a := newProcess(t, entry(t, id), &process{}, s, clock, "A")
		mustRelease(t, must(a.Acquire(t.Context(), "lock"))(t), nil) // the parents are there
		s.lose, s.unsent[zookeeper.GetChildren] = func(r zookeeper.Request) bool { return r.Op == zookeeper.Create }, 2
		if _, err := a.Acquire(t.Context(), "lock"); !errors.Is(err, errBroken) {
			t.Errorf("%s: Acquire: %v", id, err)
		}
		mustEnd(t, id, clock, 2, h, goes)
	}
}
