package study

import (
	"slices"
	"strings"
	"sync"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/i18n"
)

// AutoUses in place of a set of uses: as it is written beside the lock, see lock.Search; mostly all that it offers but GiveUp.
const AutoUses client.Uses = 1 << 7

// ParseUses reads "renew,check", "none", "all" or "auto".
func ParseUses(written string) (uses client.Uses, err error) {
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
			return 0, i18n.Errorf("error.uses", "value", name, "near", i18n.Near(name, client.UseNames()), "uses", strings.Join(client.UseNames(), ", "))
		}
		uses |= use
	}
	return uses, nil
}

// FormatUses writes a set of uses as ParseUses reads it.
func FormatUses(uses client.Uses) string {
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

// profiles remembers what Offered has observed, by lock.
var profiles sync.Map

// Offered returns what clients may do with a lock besides acquiring, working and releasing, as
// race.ProfileOf observes it. An attempt can be given up with any lock.
func Offered(entry lock.Entry) (client.Uses, error) {
	known, _ := profiles.LoadOrStore(entry.ID, sync.OnceValues(func() (race.Profile, error) { return race.ProfileOf(entry) }))
	p, err := known.(func() (race.Profile, error))()
	uses := client.GiveUp
	for use, has := range map[client.Uses]bool{client.Renew: p.Extends, client.Check: p.Checks, client.Reenter: p.Reenters, client.Wait: p.WaitsInLine} {
		if has {
			uses |= use
		}
	}
	return uses, err
}

// canUse refuses a use that a lock does not offer: a proof about it would prove nothing.
func (b Bounds) canUse(entry lock.Entry) error {
	if b.Uses == 0 || b.Uses == client.AllUses {
		return nil
	}
	offered, err := Offered(entry)
	if lacks := b.Uses &^ offered; err == nil && lacks != 0 {
		return i18n.Errorf("error.bound.uses", "lock", entry.ID, "uses", strings.Join(lacks.Names(), ", "), "offered", strings.Join(offered.Names(), ", "))
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
