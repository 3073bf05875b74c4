package dense

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// Locks on a ZooKeeper run on the simulator's own ensemble and sessions: there is no other
// one in Go. What is enabled, and for how long, is the simulator's word, so a mistake there
// is shared with the search. The program of a client, the choice among what is enabled, the
// instants and the judges are those of this package.

// An ensemble makes runs of a lock on a ZooKeeper.
type ensemble struct {
	*limits
	sim *simulator.Simulator
}

func newEnsemble(t testing.TB, l *limits, budget string) *ensemble {
	t.Helper()
	allowed, err := faults.Budget(budget).Parse()
	if err != nil {
		t.Fatal(err)
	}
	config := simulator.Config{
		Nodes: client.Servers(l.entry, l.ttl, simulator.NodeConfig{}, 1), Timeout: l.patience, Faults: allowed,
		Timing: &simulator.Timing{Latency: l.latency, Lateness: l.lateness}, // no step
	}
	for range l.clients {
		config.Clients = append(config.Clients, simulator.ClientConfig{Program: l.contend})
	}
	config.Clients = append(config.Clients, simulator.ClientConfig{Program: l.probe, Near: true})
	e := &ensemble{limits: l}
	if e.sim, err = simulator.New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.sim.Close)
	return e
}

// contend is what a client does in its life.
func (l *limits) contend(c *simulator.Client) {
	made := l.entry.New(client.Environment(c, l.ttl, 0))
	for range l.attempts {
		c.Clock().Idle(2*l.ttl, 0)
		if lease, err := attempt(c, made); err == nil {
			base, err := c.Read(0)
			c.Clock().Idle(l.work, 0)
			if err == nil {
				_ = c.Write(base, 0)
			}
			giveUpTo(c, lease)
		}
	}
	c.Record(history.Event{Kind: history.Done})
}

func attempt(c *simulator.Client, made lock.Lock) (lock.Lease, error) {
	c.Record(history.Event{Kind: history.Acquire})
	lease, err := made.Acquire(context.Background(), key)
	if err != nil {
		c.Record(history.Event{Kind: history.Refuse, Claims: errors.Is(err, lock.ErrNotAcquired), Note: err.Error()})
		return nil, err
	}
	c.Record(history.Event{Kind: history.Enter})
	return lease, nil
}

// giveUpTo leaves the section and releases the lock.
func giveUpTo(c *simulator.Client, lease lock.Lease) {
	c.Record(history.Event{Kind: history.Leave})
	c.Record(history.Event{Kind: history.Release})
	err := lease.Release(context.Background())
	_, claims := lease.(lock.Reporter)
	c.Record(history.Event{Kind: history.Released, Claims: err == nil && claims || errors.Is(err, lock.ErrNotHeld),
		OK: err == nil})
}

// barredNote is what the probe says when it is refused for good.
const barredNote = "barred"

func (l *limits) probe(c *simulator.Client) {
	made := l.entry.New(client.Environment(c, l.ttl, 0))
	lease, err := attempt(c, made)
	if err != nil {
		c.Clock().Sleep(2*(l.ttl+l.ttl/10) + l.jumps())
		if lease, err = attempt(c, made); errors.Is(err, lock.ErrNotAcquired) {
			c.Record(history.Event{Kind: history.Done, Note: barredNote})
			return
		}
	}
	if err == nil {
		giveUpTo(c, lease)
	}
	c.Record(history.Event{Kind: history.Done})
}

// play makes one run, and returns the verdicts with the faults that they took.
func (e *ensemble) play(t testing.TB, seed, number uint64, told *[]string) map[string]int {
	w := e.sim.NewWorld()
	r := &world{limits: e.limits, sampler: sampler{Rand: rand.New(rand.NewPCG(seed, number))}, told: told}
	r.hazard = []int{10, 40, 150}[r.IntN(3)]
	probe, ended := e.clients+1, map[int]bool{}
	for range maxEvents {
		alone := len(ended) == e.clients && e.settled(&w)
		choice, ok := r.choose(e.sim.Enabled(&w, nil), int8(probe), alone)
		if !ok || ended[probe] {
			break
		}
		events, err := e.sim.Step(&w, choice)
		if err != nil {
			t.Fatalf("%s: %v", e.sim.Describe(choice), err)
		}
		if choice.Verb >= simulator.FaultVerb {
			r.strikes++
			r.tell("%s", e.sim.Describe(choice))
		}
		for _, event := range events {
			r.now = event.At
			r.record(event)
			if event.Kind == history.Done || event.Kind == history.Crash {
				ended[event.Client] = true
			}
			r.barred = r.barred || event.Note == barredNote
		}
	}
	return r.verdicts()
}

// settled says whether no client is paused, and no request under way that nobody waits for.
func (e *ensemble) settled(w *simulator.World) bool {
	for c := range e.clients {
		if w.Paused(c + 1) {
			return false
		}
	}
	return e.sim.Orphans(w) == 0
}

// choose picks what happens next; false: nothing can.
func (w *world) choose(enabled []simulator.Choice, probe int8, alone bool) (simulator.Choice, bool) {
	var calls, strikes []simulator.Choice
	passes, prompt := simulator.Choice{}, false
	for _, c := range enabled {
		switch {
		case c.Client == probe && (c.Verb == simulator.Start && !alone || c.Verb >= simulator.FaultVerb):
		case c.Verb >= simulator.FaultVerb:
			if !alone {
				strikes = append(strikes, c)
			}
		case c.Verb == simulator.Pass:
			passes = c
		default:
			prompt = prompt || slices.Contains(
				[]simulator.Verb{simulator.Reconnect, simulator.Deliver, simulator.Unblock}, c.Verb)
			calls = append(calls, c)
		}
	}
	if prompt { // what comes without being asked for, and a new connection, take as long as a message
		if w.waits == 0 {
			w.waits = w.now + 1
		}
		passes.D = min(passes.D, w.waits+w.latency-w.now)
	} else {
		w.waits = 0
	}
	if len(strikes) > 0 && w.oneIn(w.hazard) {
		return strikes[w.IntN(len(strikes))], true
	}
	if passes.D > 0 && (len(calls) == 0 || w.oneIn(3)) {
		if w.oneIn(2) && len(calls) > 0 {
			passes.D = max(1, w.upTo(passes.D))
		}
		return passes, true
	}
	if len(calls) == 0 {
		return simulator.Choice{}, false
	}
	return calls[w.IntN(len(calls))], true
}

var zookeeperBudgets = []string{"crash=0", "crash=1", "pause=1@5s", "pause=1@12s", "lose-request=1", "lose-reply=1",
	"delay=1@10s", "expire-session=1"}
