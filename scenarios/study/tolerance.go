package study

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Hazard is a fault that may strike once.
type Hazard struct {
	Fault string // name as in package faults
	Sized bool   // a strike has a size, up to which the lock may hold
}

// Hazards are the faults that a frontier is drawn against. The last two have no
// size: a search cannot say how long a replica lags, only that it had not yet
// heard of a write when it was made master.
func Hazards() []Hazard {
	return []Hazard{{"pause", true}, {"client-clock", true}, {"node-clock", true}, {"failover", false}, {"restart", false}}
}

// The sizes that a frontier looks at: 1 to FrontierSteps parts of a lease, of
// which FrontierParts make a whole one.
const (
	LeaseParts = 20
	MaxParts   = 2 * LeaseParts
)

// A Limit is how large one strike of a fault may be before two clients are
// inside at once. Sizes count in parts of a lease (FrontierParts).
type Limit struct {
	Hazard Hazard
	// Told: all searches that Holds and Falls rest on came to their end.
	Complete bool
	// Holds is the largest size that was searched in full and let nobody in; 0:
	// not even the smallest did. Sizes below it were not all searched.
	Holds int
	// Falls is the smallest size that let two in; 0: none was found. It is 1 for
	// a fault without a size that let two in.
	Falls int
	// Trace shows the fall at that size: one way to it, not the shortest.
	Trace simulator.Trace

	Searches, States, Transitions int
}

// FrontierNodes is how many servers a frontier gives a lock: as many as it
// wants, but no more than three, the least that have a majority worth the name.
func FewServers(entry lock.Entry) int { return min(entry.Servers(), 3) }

// Frontier is, for each lock and each of Hazards, the limit up to which the lock
// excludes, found by bisection. Each answer is that of a complete search of all
// interleavings of two clients, of which one at most is struck, once.
//
// The two are alike. Each asks at once; refused, it asks again a millisecond
// after two fifths of a lease, a whole one, and so on, until two leases and two fifths.
// When it has the lock it works for two fifths of a lease and a millisecond,
// gives it back and is done. So one asks at the very end of the other's work, and
// just after a lease has ended; who asked all the time would see no more.
//
// done and ctx are as for Matrix; a limit that was not finished is nil.
func Tolerance(ctx context.Context, locks []lock.Entry, done func(n int)) ([][]*Limit, error) {
	return frontier(ctx, locks, UsualRivals(), done)
}

// FrontierCells is how often done is called at most, for progress.
func ToleranceCells(locks int) int { return locks * len(Hazards()) }

func frontier(ctx context.Context, locks []lock.Entry, r rivals, done func(n int)) ([][]*Limit, error) {
	hazards := Hazards()
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

// rivals are the two clients of a frontier.
type rivals struct {
	ttl  time.Duration
	Asks []int // when one asks, in parts of a lease; all but the first a moment later
}

func UsualRivals() rivals {
	return rivals{9 * time.Second, RetryTimes()}
}

func (r rivals) bounds(entry lock.Entry) Bounds {
	return Bounds{Clients: 2, Attempts: 1, Asks: len(RetryTimes()), Nodes: FewServers(entry), TTL: r.ttl}
}

// limit bisects.
func (r rivals) Limit(ctx context.Context, entry lock.Entry, h Hazard) (*Limit, error) {
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

// falls searches for two clients inside at once, with one strike of the fault at
// a size. It ends when it has found them.
func (r rivals) Falls(ctx context.Context, entry lock.Entry, out *Limit, size int) (bool, error) {
	budget := out.Hazard.Fault + "=1"
	if size > 0 {
		budget += fmt.Sprintf("@%v", r.ttl*time.Duration(size)/LeaseParts)
	}
	sim, err := r.lab(entry, budget)
	if err != nil {
		return false, err
	}
	defer sim.Close()
	b := r.bounds(entry)
	found := atomic.Bool{}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	result, err := explore.Run(inner, sim, explore.Options{
		Case:      history.History{Strategy: entry.ID, Scenario: SearchID, Clients: b.Clients, Nodes: b.Nodes, Key: client.Key, ZooKeeper: entry.OnZooKeeper(), Holders: client.Holders(entry, b.Clients), TTL: r.ttl},
		Symmetric: b.Clients,
		MaxStates: frontierStates,
		Progress: func(r *explore.Result) {
			if overlap(r) != nil {
				found.Store(true)
				cancel()
			}
		},
	})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil && !(found.Load() && errors.Is(err, context.Canceled)):
		return false, fmt.Errorf("%s: %w", entry.ID, err)
	}
	out.Searches++
	out.States += result.States
	out.Transitions += result.Transitions
	way := overlap(result)
	if way != nil {
		b.Budget = budget
		out.Trace = simulator.Trace{Strategy: entry.ID, Scenario: SearchID, Settings: b.String(), Choices: way.Choices}
	}
	out.Complete = out.Complete && (way != nil || result.Complete)
	return way != nil, nil
}

// frontierStates is when a search is given up, some hundred megabytes on.
const frontierStates = 3_000_000

func overlap(r *explore.Result) *explore.Witness {
	for i := range r.Found {
		if r.Found[i].Verdict == verdict.Overlap {
			return &r.Found[i]
		}
	}
	return nil
}

func (r rivals) lab(entry lock.Entry, budget string) (*simulator.Simulator, error) {
	allowed, err := faults.ParseBudget(budget)
	if err != nil {
		return nil, err
	}
	b := r.bounds(entry)
	setup := simulator.Config{Faults: allowed}
	if b.Nodes > 1 {
		setup.Timeout = 50 * time.Millisecond
	}
	for range b.Clients {
		setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: b.contender(entry, r.Asks)})
	}
	replicas := entry.Replicas
	if _, ok := allowed[0].Fault.(faults.Failover); ok {
		replicas = max(replicas, 1)
	}
	setup.Nodes = client.Servers(entry, b.TTL, simulator.NodeConfig{Replicas: replicas}, b.Nodes)
	return simulator.New(setup)
}
