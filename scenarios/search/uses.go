package search

import (
	"slices"
	"strings"
	"sync"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
)

// AutoUses in place of a set of uses: as it is written beside the lock, see lock.Search; mostly all that it offers
// but GiveUp.
const AutoUses client.Uses = 1 << 7

// parseUses reads "renew,check", "none", "all" or "auto".
func parseUses(written string) (uses client.Uses, err error) {
	switch written {
	case "none":
		return 0, nil
	case "all":
		return client.AllUses, nil
	case "auto":
		return AutoUses, nil
	}
	for _, name := range strings.Split(written, ",") {
		use, ok := client.UseOf(name)
		if !ok {
			return 0, i18n.Errorf("error.uses", "value", name, "near", i18n.Near(name, client.UseNames()), "uses",
				strings.Join(client.UseNames(), ", "))
		}
		uses |= use
	}
	return uses, nil
}

// formatUses writes a set of uses as parseUses reads it.
func formatUses(uses client.Uses) string {
	switch uses {
	case 0:
		return "none"
	case client.AllUses:
		return "all"
	case AutoUses:
		return "auto"
	}
	return strings.Join(uses.Names(), ",")
}

// Offered returns what clients may do with a lock besides acquiring, working and releasing, as
// race.ProfileOf observes it. An attempt can be given up with any lock.
func Offered(entry lock.Entry) (client.Uses, error) {
	p, err := profiles.of(entry, func() (race.Profile, error) { return race.ProfileOf(entry) })
	uses := client.GiveUp
	for _, one := range []struct {
		has bool
		use client.Uses
	}{{p.Extends, client.Renew}, {p.Checks, client.Check}, {p.Reenters, client.Reenter}, {p.WaitsInLine, client.Wait}} {
		if one.has {
			uses |= one.use
		}
	}
	return uses, err
}

// observed remembers what runs have shown of locks, by their IDs.
type observed[T any] struct{ known sync.Map }

func (o *observed[T]) of(entry lock.Entry, observe func() (T, error)) (T, error) {
	known, _ := o.known.LoadOrStore(entry.ID, sync.OnceValues(observe))
	return known.(func() (T, error))()
}

var (
	profiles observed[race.Profile]
	takes    observed[taken]
)

// canUse refuses a use that a lock does not offer: a proof about it would prove nothing.
func (b Bounds) canUse(entry lock.Entry) error {
	if b.Uses == 0 || b.Uses == client.AllUses {
		return nil
	}
	offered, err := Offered(entry)
	if lacks := b.Uses &^ offered; err == nil && lacks != 0 {
		return i18n.Errorf("error.bound.uses", "lock", entry.ID, "uses", strings.Join(lacks.Names(), ", "), "offered",
			strings.Join(offered.Names(), ", "))
	}
	return err
}

// settledUses are those of the uses that the lock offers.
func (b Bounds) settledUses(entry lock.Entry) client.Uses {
	uses := b.Uses
	if uses == 0 {
		return 0
	}
	offered, err := Offered(entry)
	if err != nil {
		return 0 // Explore fails for the same reason
	}
	if b.Timing == Lockstep {
		uses &^= client.GiveUp
	}
	return uses & offered
}

// LeftOut returns the names of the uses that a lock offers and the bounds do not have.
func (b Bounds) LeftOut(entry lock.Entry) []string {
	offered, _ := Offered(entry)
	return slices.Clip((offered &^ b.Uses).Names())
}

// taken is the value that a lock takes as a client's own.
type taken struct {
	token  bool // a token
	thread bool // the id of its thread
}

// takenBy observes, in a run with one client and without faults, which of the values that
// the simulator gives to a lock the lock sends to its servers.
func takenBy(entry lock.Entry) (taken, error) {
	return takes.of(entry, func() (t taken, err error) {
		one := Bounds{Scope: explore.Scope{Clients: 1, Attempts: 1, TTL: DefaultBounds().TTL}}
		search, sim, err := one.Simulator(entry)
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
	})
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
