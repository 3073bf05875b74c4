package study

import (
	"strings"
	"sync"

	"locklab/algorithms/lock"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
)

// ParseTokens reads "unique", "thread", "prefix", "constant" or "clock".
func ParseTokens(name string) (client.Tokens, error) {
	t, ok := client.TokensOf(name)
	if !ok {
		return 0, i18n.Errorf("error.tokens", "value", name, "near", i18n.Near(name, client.TokensNames()), "tokens", strings.Join(client.TokensNames(), ", "))
	}
	return t, nil
}

// taken is the value that a lock takes as a client's own.
type taken struct {
	token  bool // a token
	thread bool // the id of its thread
}

// takes remembers what takenBy has observed, by lock.
var takes sync.Map

// takenBy observes, in a run with one client and without faults, which of the values that
// the simulator gives to a lock the lock sends to its servers.
func takenBy(entry lock.Entry) (taken, error) {
	known, _ := takes.LoadOrStore(entry.ID, sync.OnceValues(func() (t taken, err error) {
		search, sim, err := Bounds{Scope: explore.Scope{Clients: 1, Attempts: 1, TTL: DefaultBounds().TTL}}.simulator(entry)
		if err != nil {
			return t, err
		}
		defer sim.Close()
		run := schedule.Record(sim)
		for range maxQuietSteps {
			next := sim.Enabled(run.World(), nil)
			for len(next) > 0 && int(next[0].Client) > search.Clients { // the probe
				next = next[1:]
			}
			if len(next) == 0 {
				break
			}
			events, err := run.Step(next[0])
			if err != nil {
				return t, err
			}
			for i := range events {
				if events[i].Kind == history.Send {
					t.see(events[i].Cmd)
				}
			}
		}
		return t, nil
	}))
	return known.(func() (taken, error))()
}

// maxQuietSteps is more than a client needs for one attempt at a lock that no other client wants.
const maxQuietSteps = 1000

func (t *taken) see(cmd []string) {
	for _, arg := range cmd {
		for rest := arg; ; {
			_, after, found := strings.Cut(rest, "c1.")
			if !found {
				break
			}
			t.thread = t.thread || strings.HasPrefix(after, "0")
			t.token = t.token || after != "" && after[0] >= '1' && after[0] <= '9'
			rest = after
		}
	}
}

// canTake refuses tokens that make no difference to a lock: a proof about them would prove
// nothing.
func (b Bounds) canTake(entry lock.Entry) error {
	if b.Tokens == client.Unique {
		return nil
	}
	t, err := takenBy(entry)
	switch {
	case err != nil:
		return err
	case t.token || t.thread && (b.Tokens == client.Thread || b.Tokens == client.Constant):
		return nil
	case t.thread:
		return i18n.Errorf("error.bound.tokens.thread", "tokens", b.Tokens, "lock", entry.ID)
	}
	return i18n.Errorf("error.bound.tokens", "tokens", b.Tokens, "lock", entry.ID)
}
