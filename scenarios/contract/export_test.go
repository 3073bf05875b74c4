package contract

import (
	"sync"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
)

// JudgeRace compares a race of e that was played already.
func (e Expectation) JudgeRace(o *race.Outcome) *Result {
	r := &Result{Expectation: e, Status: Met, Outcome: o}
	r.compareRace()
	return r
}

// JudgeSearch compares a search of e that was made already. runs are those of its
// witnesses.
func (e Expectation) JudgeSearch(s *search.Search, runs []*race.Outcome) *Result {
	r := &Result{Expectation: e, Status: Met, Search: s, runs: runs}
	r.CompareSearch()
	return r
}

// ProfileOf is the profile that the own contract has for a lock under [locks]; false: the lock is not listed there. It
// is written down, not observed; see [race.ProfileOf] for what a lock does.
func ProfileOf(entry lock.Entry) (race.Profile, bool) {
	for _, l := range ownLocks() {
		if l.entry.ID == entry.ID {
			return l.profile, true
		}
	}
	return race.Profile{}, false
}

var ownLocks = sync.OnceValue(func() []contractedLock {
	p, err := parse("contract.txt", contractText)
	if err != nil {
		panic(err)
	}
	return p.locks
})
