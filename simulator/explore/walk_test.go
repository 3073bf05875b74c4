package explore

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// attempts is a client that asks for a lock twice, by SET NX PX and a script.
func attempts(c *simulator.Client) {
	note := func(k history.Kind) { c.Record(history.Event{Kind: k}) }
	for range 2 {
		note(history.Acquire)
		token := c.Token()
		if err := c.Redis(1).Do(context.Background(), "SET", "lock", token, "NX", "PX", 9000).Err(); err != nil {
			note(history.Refuse)
		} else {
			note(history.Enter)
			base, err := c.Read(0)
			c.Clock().Sleep(4 * time.Second)
			if err == nil {
				_ = c.Write(base, 0) // the judges see what became of it
			}
			note(history.Leave)
			note(history.Release)
			script := `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
			err = c.Redis(1).Eval(context.Background(), script, []string{"lock"}, token).Err()
			c.Record(history.Event{Kind: history.Released, Claims: err == nil, OK: true})
		}
		c.Clock().Sleep(10 * time.Second)
	}
	note(history.Done)
}

// probing asks once, and once more after all leases.
func probing(c *simulator.Client) {
	for i := range 2 {
		c.Record(history.Event{Kind: history.Acquire})
		err := c.Redis(1).Do(context.Background(), "SET", "lock", c.Token(), "NX", "PX", 9000).Err()
		if err == nil {
			c.Record(history.Event{Kind: history.Enter})
			return
		}
		e := history.Event{Kind: history.Refuse}
		if i == 1 && errors.Is(err, redis.Nil) {
			e.Note = Stuck
		}
		c.Record(e)
		c.Clock().Sleep(20 * time.Second)
	}
}

// TestWalks: whoever walks at random by the rules of a search comes to no state
// that it has not visited, and sees no harm that it has not found.
func TestWalks(t *testing.T) {
	const walks = 400
	for _, text := range []string{"", "crash=1", "pause=1@5s,lose-reply=1", "failover=1,crash=1", "node-clock=1@10s,pause=1"} {
		budget, err := faults.ParseBudget(text)
		if err != nil {
			t.Fatal(err)
		}
		setup := simulator.Setup{Faults: budget, Nodes: []simulator.NodeSetup{{Replica: true}}}
		setup.Clients = []simulator.ClientSetup{{Program: attempts}, {Program: attempts}, {Program: probing}}
		lab, err := simulator.New(setup)
		if err != nil {
			t.Fatal(err)
		}
		defer lab.Close()
		opt := Options{Head: history.History{Clients: 3, Nodes: 1, Key: "lock", TTL: 9 * time.Second}, Probe: 3, Alike: 2, Plain: true}
		s := newSearch(lab, opt)
		if err := s.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		states := s.states.n
		longest := 0
		for seed := range uint64(walks) {
			longest = max(longest, s.walk(t, text, rand.New(rand.NewPCG(seed, 0))))
		}
		if s.states.n != states {
			t.Errorf("%q: %d states visited, and walks came to %d others", text, states, s.states.n-states)
		}
		if longest < s.deepest/2 {
			t.Errorf("%q: the longest walk has %d steps, the farthest state is %d away", text, longest, s.deepest)
		}
	}
}

// walk goes at random to the end of a run and says how long it was.
func (s *search) walk(t *testing.T, budget string, rng *rand.Rand) (steps int) {
	t.Helper()
	w, judges := s.lab.NewWorld(), verdict.Safety{}
	words := make([]uint32, s.states.width)
	for ; ; steps++ {
		choices := s.lawful(&w)
		if len(choices) == 0 {
			return steps
		}
		c := choices[rng.IntN(len(choices))]
		events, err := s.lab.Step(&w, c)
		if err != nil {
			t.Fatal(err)
		}
		if c.Verb == simulator.Pass {
			judges.Rebase(c.D)
		}
		for i := range events {
			e := events[i]
			e.At -= w.Now()
			if e.Until != 0 && e.Until != history.Forever {
				e.Until -= w.Now()
			}
			judges.Observe(&s.judge, i, &e, func(f verdict.Finding) {
				if s.found[f.Verdict] == nil {
					t.Fatalf("%q: a walk meets %s, which the search calls impossible", budget, f.Verdict)
				}
			})
		}
		judges.Forget()
		s.take(&w, s.judges(judges), words)
		if err := s.settle(words); err != nil {
			t.Fatal(err)
		}
		s.states.add(words, 0, 0, 0) // a state that was not visited makes one more
	}
}

// lawful is what may happen next, by whole worlds: nothing that can happen waits
// while time passes, but for a pause without an end; the probe comes last and is
// no target.
func (s *search) lawful(w *simulator.World) (allowed []simulator.Choice) {
	alone, over := true, true
	for c := 1; c <= s.clients; c++ {
		part := w.ClientPart(c)
		alone = alone && (c == s.probe || part.Finished())
		over = over && part.Finished()
	}
	if over {
		return nil
	}
	waits := true
	for _, c := range s.lab.Enabled(w, nil) {
		mine := int(c.Client) == s.probe
		switch {
		case mine && (c.Verb == simulator.Start && !alone || c.Verb >= simulator.FaultVerb), c.Verb == simulator.Pass && !waits:
			continue
		case c.Verb != simulator.Resume && c.Verb < simulator.FaultVerb:
			waits = false
		}
		allowed = append(allowed, c)
	}
	return allowed
}
