package contract

import (
	"locklab/algorithms/lock"
	"locklab/scenarios/race"
)

// ProfileOf is the profile that the own contract has for a lock under [locks]; false:
// the lock is not listed there. It is written down, not observed; see [race.ProfileOf]
// for what a lock does. The tests demand that the two agree.
func ProfileOf(entry lock.Entry) (race.Profile, bool) {
	p, err := parse("contract.txt", contractText, nil)
	if err != nil {
		panic(err)
	}
	for _, l := range p.locks {
		if l.entry.ID == entry.ID {
			return l.profile, true
		}
	}
	return race.Profile{}, false
}
