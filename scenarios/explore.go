package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
)

// Bounds are what an exhaustive search covers.
type Bounds struct {
	Clients  int    // 1 to 6; a probe that looks for deadlocks comes on top
	Attempts int    // how often each client asks for the lock, 1 to 9
	Budget   string // faults that may strike, as in crash=1,pause=1@5s
	Nodes    int    // servers; 0: as many as the lock wants
	TTL      time.Duration
	Fenced   bool
	// MaxStates and Progress are as in explore.Options.
	MaxStates int
	Progress  func(r *explore.Result)
}

// DefaultBounds are those of the smallest search that shows most of what there
// is to see.
func DefaultBounds() Bounds {
	return Bounds{Clients: 2, Attempts: 2, Budget: "crash=1,pause=1", TTL: 9 * time.Second}
}

// The numbers of a search, in parts of a lease: a client works for less than a
// lease, and one that was refused, or is done, asks again after more than one.
// A lease of nine seconds makes all of them, and a third of a lease, whole
// milliseconds: states recur that way.
func (b Bounds) work() time.Duration  { return b.TTL * 2 / 5 }
func (b Bounds) retry() time.Duration { return b.TTL + b.TTL/10 }

// Check says what is wrong with the bounds, with what would do.
func (b Bounds) Check(entry algorithms.Entry) error {
	switch {
	case b.Clients < 1 || b.Clients > simulator.MaxClients-2:
		return fmt.Errorf("clients=%d: give 1 to %d", b.Clients, simulator.MaxClients-2)
	case b.Attempts < 1 || b.Attempts > 9:
		return fmt.Errorf("attempts=%d: give 1 to 9", b.Attempts)
	case b.Nodes < 0 || b.Nodes > simulator.MaxNodes:
		return fmt.Errorf("nodes=%d: give 1 to %d, or 0 for what the lock wants", b.Nodes, simulator.MaxNodes)
	case b.Nodes > 1 && entry.Nodes == 1:
		return fmt.Errorf("nodes=%d: %s locks on one server", b.Nodes, entry.ID)
	case b.MaxStates < 0:
		return fmt.Errorf("max-states=%d: give a number above 0, or 0 for no limit", b.MaxStates)
	}
	if _, err := faults.ParseBudget(b.Budget); err != nil {
		return err
	}
	env := dummyEnv(entry, b.TTL)
	if b.Nodes > 0 {
		env.Nodes = env.Nodes[:min(b.Nodes, len(env.Nodes))]
	}
	return entry.Check(env)
}

// Explore searches everything that a lock can come to within the bounds.
func Explore(ctx context.Context, entry algorithms.Entry, b Bounds) (*explore.Result, error) {
	if err := b.Check(entry); err != nil {
		return nil, err
	}
	if b.Nodes == 0 {
		b.Nodes = entry.Nodes
	}
	lab, err := b.lab(entry)
	if err != nil {
		return nil, err
	}
	defer lab.Close()
	return explore.Run(ctx, lab, explore.Options{
		Head:  *b.head(entry),
		Probe: b.Clients + 1, Alike: b.Clients, MaxStates: b.MaxStates, Progress: b.Progress,
	})
}

func (b Bounds) head(entry algorithms.Entry) *history.History {
	return &history.History{Strategy: entry.ID, Scenario: "search", Clients: b.Clients + 1, Nodes: b.Nodes, Key: key, TTL: b.TTL, Fenced: b.Fenced}
}

func (b Bounds) lab(entry algorithms.Entry) (*simulator.Lab, error) {
	budget, err := faults.ParseBudget(b.Budget)
	if err != nil {
		return nil, err
	}
	setup := simulator.Setup{Faults: budget, Fenced: b.Fenced}
	if b.Nodes > 1 {
		setup.Timeout = 50 * time.Millisecond
	}
	for range b.Clients {
		setup.Clients = append(setup.Clients, simulator.ClientSetup{Program: b.contender(entry)})
	}
	setup.Clients = append(setup.Clients, simulator.ClientSetup{Program: b.probe(entry)})
	replicas := false
	for _, a := range budget {
		replicas = replicas || a.Fault.Name() == faults.Failover{}.Name()
	}
	for range b.Nodes {
		setup.Nodes = append(setup.Nodes, simulator.NodeSetup{Replica: replicas})
	}
	return simulator.New(setup)
}

func (b Bounds) lock(entry algorithms.Entry, c *simulator.Client) algorithms.Strategy {
	env := environment(c, b.TTL, b.Nodes)
	lock := entry.New(env)
	if b.Fenced {
		lock = algorithms.Fence(lock, env)
	}
	return lock
}

// contender asks for the lock so many times, and does its work when it gets it.
func (b Bounds) contender(entry algorithms.Entry) func(*simulator.Client) {
	return func(c *simulator.Client) {
		lock := b.lock(entry, c)
		for range b.Attempts {
			if lease, err := try(c, lock); err == nil {
				work(c, lease, Role{Work: b.work()})
				release(c, lease)
			}
			c.Clock().Sleep(b.retry())
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// give is a visit without work.
func give(c *simulator.Client, lease algorithms.Lease) {
	c.Record(history.Event{Kind: history.Leave})
	release(c, lease)
}

// probe asks when everybody else is at an end, and once more after every lease
// must have ended. Refused again, it reports a deadlock.
func (b Bounds) probe(entry algorithms.Entry) func(*simulator.Client) {
	return func(c *simulator.Client) {
		lock := b.lock(entry, c)
		if lease, err := try(c, lock); err == nil {
			give(c, lease)
			return
		}
		for {
			c.Clock().Sleep(2 * b.retry())
			c.Record(history.Event{Kind: history.Acquire})
			lease, err := lock.Acquire(context.Background(), key)
			switch {
			case errors.Is(err, algorithms.ErrNotAcquired):
				c.Record(history.Event{Kind: history.Refuse, Note: explore.Stuck})
				return
			case err == nil:
				c.Record(history.Event{Kind: history.Enter})
				give(c, lease)
				return
			}
			c.Record(history.Event{Kind: history.Refuse, Note: note(err)}) // no answer is no refusal
		}
	}
}
