package search

import (
	"slices"
	"strings"
	"sync"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
)

// AutoUses in place of a set of uses: as written beside the lock, see lock.Search; mostly all it offers but GiveUp.
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
	p, err := runner.Profile(entry)
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

var (
	runner race.Runner // remembers profiles
	takes  sync.Map    // what runs have shown of locks, by their IDs
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

// takenBy observes, in a run without faults, which of the simulator's values for a lock it sends to its servers.
func takenBy(entry lock.Entry) (taken, error) {
	known, _ := takes.LoadOrStore(entry.ID, sync.OnceValues(func() (t taken, err error) {
		o, err := runner.Play(entry, race.Calm, race.Calm.Settings)
		if err != nil {
			return t, err
		}
		for _, e := range o.History.Events {
			if e.Kind == history.Send {
				t.see(e.Cmd)
			}
		}
		return t, nil
	}))
	return known.(func() (taken, error))()
}

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

// canTake refuses tokens that make no difference to a lock: a proof about them would prove nothing.
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
