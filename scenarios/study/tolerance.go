package study

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// A Hazard is a fault that is injected at most once.
type Hazard struct {
	Fault string // name as in package faults
	Sized bool   // the fault has a size, up to which the lock may tolerate it
}

// Hazards are the faults that a tolerance is measured against. The last two have no
// size: a search cannot say how long a replica lags, only that it had not yet
// received a write when it was made master.
func Hazards() []Hazard {
	return []Hazard{{"pause", true}, {"client-clock", true}, {"node-clock", true}, {"failover", false}, {"restart", false}}
}

// The sizes that a tolerance looks at: 1 to MaxParts parts of a lease, of which
// LeaseParts make a whole one.
const (
	LeaseParts = 20
	MaxParts   = 2 * LeaseParts
)

// A Limit is how large a single fault may be before two clients are inside at
// once. Sizes count in parts of a lease (LeaseParts).
type Limit struct {
	Hazard Hazard
	// Complete: all searches that Holds and Falls rest on came to their end.
	Complete bool
	// Holds is the largest size that was searched in full and let nobody in; 0:
	// not even the smallest did. Not all sizes below it were searched.
	Holds int
	// Falls is the smallest size that let two in; 0: none was found. It is 1 for
	// a fault without a size that let two in.
	Falls int
	// Trace shows two clients inside at that size: one way to it, not the shortest.
	Trace simulator.Trace

	Searches, States, Transitions int
}

// FewServers is how many servers a tolerance gives a lock: as many as it wants, but
// no more than three, the least number that makes a majority of more than one.
func FewServers(entry lock.Entry) int { return min(entry.Servers(), 3) }

// Tolerance is, for each lock and each of Hazards, the limit up to which the lock
// excludes, found by bisection. Each answer is that of a complete search of all
// interleavings of two clients and at most one fault.
//
// The two run the same code. Each asks at once; refused, it asks again with all
// retries of explore.RetrySleeps. When it has the lock it works for two fifths of a
// lease and a millisecond, gives it back and is done. So the other asks at the very
// end of that work, and just after a lease has ended; asking all the time would find
// no more.
//
// done and ctx are as for Matrix; a limit that was not finished is nil.
func Tolerance(ctx context.Context, locks []lock.Entry, done func(n int)) ([][]*Limit, error) {
	r, hazards := UsualRivals(), Hazards()
	cells := make([][]*Limit, len(locks))
	for i := range cells {
		cells[i] = make([]*Limit, len(hazards))
	}
	n := len(locks) * len(hazards)
	err := Each(ctx, n, done, func(i int) error {
		i = n - 1 - i // the locks that came last are the longest to search
		l, h := i/len(hazards), i%len(hazards)
		limit, err := r.Limit(ctx, locks[l], hazards[h])
		if err == nil {
			cells[l][h] = limit
		}
		return err
	})
	return cells, err
}

// ToleranceCells is how often done is called at most, for progress.
func ToleranceCells(locks int) int { return locks * len(Hazards()) }

// Rivals are the two clients of a tolerance.
type Rivals struct {
	TTL     time.Duration
	Retries []time.Duration // as in explore.Bounds
}

// UsualRivals are those of Tolerance.
func UsualRivals() Rivals {
	const ttl = 9 * time.Second
	return Rivals{ttl, explore.RetrySleeps(ttl, explore.MaxRetries)}
}

func (r Rivals) bounds(entry lock.Entry) Bounds {
	return Bounds{Clients: 2, Attempts: 1, Retries: explore.MaxRetries, Nodes: FewServers(entry), TTL: r.TTL}
}

// Limit bisects.
func (r Rivals) Limit(ctx context.Context, entry lock.Entry, h Hazard) (*Limit, error) {
	if err := r.bounds(entry).Check(entry); err != nil {
		return nil, err
	}
	out := &Limit{Hazard: h, Complete: true}
	if !h.Sized {
		fell, err := r.Falls(ctx, entry, out, 0)
		if fell {
			out.Falls = 1
		}
		return out, err
	}
	low, high := 0, MaxParts+1 // low holds, high falls
	for size := MaxParts; high-low > 1; size = (low + high) / 2 {
		fell, err := r.Falls(ctx, entry, out, size)
		switch {
		case err != nil:
			return nil, err
		case !out.Complete:
			return out, nil
		case fell:
			high, out.Falls = size, size
		default:
			low, out.Holds = size, size
		}
	}
	return out, nil
}

// toleranceStates is when a search is given up: it needs some hundred megabytes.
const toleranceStates = 3_000_000

// Falls searches for two clients inside at once, with one fault of out.Hazard of a
// size. The search ends when it has found them. What it took is added to out.
func (r Rivals) Falls(ctx context.Context, entry lock.Entry, out *Limit, size int) (bool, error) {
	b := r.bounds(entry)
	b.Budget = out.Hazard.Fault + "=1"
	if size > 0 {
		b.Budget += fmt.Sprintf("@%v", r.TTL*time.Duration(size)/LeaseParts)
	}
	search, err := b.Of(entry)
	if err != nil {
		return false, err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	found := atomic.Bool{}
	search.Retries, search.NoProbe, search.MaxStates = r.Retries, true, toleranceStates
	search.Progress = func(r *explore.Result) {
		if overlap(r) != nil {
			found.Store(true)
			cancel()
		}
	}
	sim, err := search.Simulator()
	if err != nil {
		return false, err
	}
	defer sim.Close()
	result, err := explore.Run(inner, sim, search.Options())
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil && !(found.Load() && errors.Is(err, context.Canceled)):
		return false, text.Errorf("error.cause", "of", entry.ID, "cause", err)
	}
	out.Searches++
	out.States += result.States
	out.Transitions += result.Transitions
	way := overlap(result)
	if way != nil {
		out.Trace = b.trace(entry, way.Choices)
	}
	out.Complete = out.Complete && (way != nil || result.Complete)
	return way != nil, nil
}

func overlap(r *explore.Result) *explore.Witness {
	for i := range r.Found {
		if r.Found[i].Verdict == verdict.Overlap {
			return &r.Found[i]
		}
	}
	return nil
}
