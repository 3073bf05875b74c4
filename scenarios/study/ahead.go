package study

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"locklab/algorithms/lock"
	"locklab/simulator/explore"
)

// ahead makes the searches of one lock, each in its turn, and begins on idle cores those that follow whatever the present one comes
// to. Each has a simulator of its own, and its result counts only when its turn comes: so all that comes out is the
// same on any number of cores. What is not needed is cancelled.
type ahead struct {
	ctx   context.Context
	entry lock.Entry
	group sync.WaitGroup // of the early searches

	mu     sync.Mutex
	begun  map[string]*early // by keyOf
	turn   string            // the search whose turn it is
	follow following         // it; nil: the last one has ended
}

// following lists the searches that follow the present one, by what those that have begun have come to.
type following func(begun map[string]*early) []Bounds

// An early search was begun before its turn.
type early struct {
	drop context.CancelCauseFunc
	done chan struct{} // closed when it has ended
	s    *Search       // nil: it has not ended
	err  error
}

// earlyBytes of the whole program, or half of what it may use, end an early search. It is made again in its turn then. None
// begins beyond three quarters of them.
const earlyBytes = 1 << 30

// search makes a search, or waits for it if it has begun.
func (a *ahead) search(b Bounds, follow following) (*Search, error) {
	a.mu.Lock()
	a.turn, a.follow = keyOf(b), follow
	a.keep(append(follow(a.begun), b))
	e := a.begun[a.turn]
	a.mu.Unlock()
	if e != nil {
		a.begin()
		if <-e.done; e.s == nil || !e.s.OutOfMemory {
			return e.s, e.err
		}
	}
	return a.explore(a.ctx, b, b.MaxBytes)
}

// explore makes a search within most bytes, which its result does not show. It reports its progress when its turn has come.
func (a *ahead) explore(ctx context.Context, b Bounds, most int64) (*Search, error) {
	limits, key := b.Limits, keyOf(b)
	b.MaxBytes, b.Progress = most, func(r *explore.Result) {
		a.mu.Lock()
		present := a.turn == key
		a.mu.Unlock()
		if present && limits.Progress != nil {
			limits.Progress(r)
		}
		a.begin()
	}
	s, err := Explore(ctx, a.entry, b)
	if s != nil {
		s.Bounds.Limits = limits
	}
	return s, err
}

// begin begins the first of the searches that follow and have not begun, if a core is idle.
func (a *ahead) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.follow == nil || explore.Idle() == 0 {
		return
	}
	list := a.follow(a.begun)
	i := slices.IndexFunc(list, func(b Bounds) bool { return a.begun[keyOf(b)] == nil })
	if i < 0 {
		return
	}
	b, most := list[i], min(cmp.Or(list[i].MaxBytes/2, earlyBytes), earlyBytes)
	if explore.Memory() > most/4*3 {
		return
	}
	ctx, drop := context.WithCancelCause(a.ctx)
	e := &early{drop: drop, done: make(chan struct{})}
	a.begun[keyOf(b)] = e
	a.group.Go(func() {
		s, err := a.explore(ctx, b, most)
		a.mu.Lock()
		e.s, e.err = s, err
		a.mu.Unlock()
		close(e.done)
		a.begin()
	})
}

// keep cancels the early searches that are not in the list, and does not wait for them.
func (a *ahead) keep(list []Bounds) {
	for key, e := range a.begun {
		if !slices.ContainsFunc(list, func(b Bounds) bool { return keyOf(b) == key }) {
			e.drop(explore.ErrUnwanted)
			delete(a.begun, key)
		}
	}
}

// end cancels the early searches that were not needed, and waits for their end.
func (a *ahead) end() {
	a.mu.Lock()
	a.follow = nil
	a.keep(nil)
	a.mu.Unlock()
	a.group.Wait()
}

// keyOf names a search among those of one lock.
func keyOf(b Bounds) string { return fmt.Sprint(b.String(), b.MaxStates, b.Hopeful) }
