package study

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// AutoAttempts in place of a number of attempts: as it is written beside the lock, see lock.Search; usualAttempts if nothing is.
const AutoAttempts = -1

const usualAttempts = 2

const (
	// UsualStates are the limit of states of a search that says how much it does.
	UsualStates = 20_000_000
	// autoStates are, in place of UsualStates, that of one which leaves timing and attempts open: those of every lock within the usual
	// bounds have fewer, and it ends within a minute within others.
	autoStates = 8_000_000
)

// ErrBeside comes with a search beside which another one is not finished.
var ErrBeside = errors.New("study: what was searched beside it is not finished")

// open reports whether b leaves anything to what is written beside a lock.
func (b Bounds) open() bool {
	return b.Timing == AutoTiming || b.Uses == AutoUses || b.Attempts == AutoAttempts
}

// as is b with what it leaves open as w has it, which is written beside a lock. What is written for one timing says nothing about the
// other one: that is searched as usual.
func (b Bounds) as(w lock.Search, entry lock.Entry) Bounds {
	if !b.open() {
		return b
	}
	b = b.at(w, entry)
	if w.Lockstep != (b.Timing == Lockstep) {
		w = lock.Search{}
	}
	switch {
	case b.Attempts != AutoAttempts:
	case w.Once:
		b.Attempts = 1
	default:
		b.Attempts = usualAttempts
	}
	switch {
	case b.Uses != AutoUses:
	case w.NoUses:
		b.Uses = 0
	default:
		b.Uses = client.AllUses &^ client.GiveUp
		b.Uses = b.settledUses(entry)
	}
	if w.NoFaults {
		b.Budget = ""
	}
	b.Clients = max(b.Clients, w.Clients)
	if w.Few {
		b.Nodes = min(cmp.Or(b.Nodes, entry.Servers()), FewServers(entry))
	}
	return b
}

// exploreOpen searches what is left open as it is written beside the lock; where all is, also what is written as a second search.
func exploreOpen(ctx context.Context, entry lock.Entry, b Bounds) (*Search, error) {
	all := b.Timing == AutoTiming && b.Attempts == AutoAttempts
	search := func(w lock.Search) (*Search, error) {
		b := b.as(w, entry)
		if all && b.MaxStates == UsualStates {
			b.MaxStates = cmp.Or(w.Most, autoStates)
		}
		return Explore(ctx, entry, b)
	}
	s, err := search(entry.Search)
	second := entry.Search.Beside
	if err != nil || second == nil || !all || b.Uses != AutoUses {
		return s, err
	}
	b.Boundary = false
	o, err := search(*second)
	if o != nil {
		s.Add(o)
	}
	if err != nil {
		err = errors.Join(ErrBeside, err)
	}
	return s, err
}

// CheckSearch says what is wrong with the bounds of a search of this lock, and what would be right.
func CheckSearch(entry lock.Entry, b Bounds) error {
	if err := checkAgain(b, entry); err != nil || b.Attempts == AnyAttempts {
		return err
	}
	if b.Recheck && b.Causes {
		return i18n.Errorf("error.recheck.all")
	}
	return b.as(entry.Search, entry).Check(entry)
}

// Add adds a search of the same lock that was made beside s, and what it has found.
func (s *Search) Add(o *Search) {
	if o.Complete {
		s.Beside = append(s.Beside, o)
	} else {
		s.Cut = append(s.Cut, o)
	}
	s.addWitnesses(o)
}

// addWitnesses adds to the witnesses what another search of the same lock has found and s has
// not, or not by as few faults, in place of what s has found. With Causes nothing is replaced.
// What s has found itself stays in Result.Found.
func (s *Search) addWitnesses(other *Search) {
	for _, w := range other.Witnesses {
		if s.hasAsGood(w) {
			continue
		}
		if !s.Bounds.Causes {
			s.Witnesses = slices.DeleteFunc(s.Witnesses, func(own Witness) bool { return own.Verdict == w.Verdict })
		}
		s.Witnesses = append(s.Witnesses, w)
	}
	order := s.Bounds.Words()
	slices.SortStableFunc(s.Witnesses, func(a, b Witness) int { return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict) })
}

func (s *Search) hasAsGood(w Witness) bool {
	return slices.ContainsFunc(s.Witnesses, func(own Witness) bool { return own.Verdict == w.Verdict && own.Par <= w.Par })
}

// Certainty is the moment of a race's run from which its harm was certain: nothing
// more had to go wrong after it. A race has a single future, since a clock decides what
// comes next, and nothing to count as [DoomOn] does for the run of a search. Certainty
// is found by playing the race with only the first triggers of its script, until they
// suffice for the harm.
type Certainty struct {
	Harm verdict.Word // the first of the run's verdicts
	// Event is the first event of the run's history, from 1, that the last necessary
	// trigger changes; 0: none is necessary, the race's settings suffice.
	Event int
}

// ErrNoHarm is returned for a run without harm.
var ErrNoHarm = errors.New("scenarios: this run comes to no harm")

// CertainFrom finds the certainty of a run that race.Play has made. The error is
// ErrNoHarm, or about code that the simulator cannot run.
func CertainFrom(o *race.Outcome) (Certainty, error) {
	c := Certainty{}
	harm := slices.IndexFunc(o.Verdicts, verdict.Word.Broken)
	if harm < 0 || o.History == nil {
		return c, ErrNoHarm
	}
	c.Harm = o.Verdicts[harm]
	triggers := func() []race.Trigger { // made anew for each run
		if o.Race.Script == nil {
			return nil
		}
		return o.Race.Script(o.Settings, o.Lock.Nodes)
	}
	p, err := o.Race.Prepare(o.Lock, o.Settings, nil)
	if err != nil {
		return c, err
	}
	defer p.Close()
	for n := range len(triggers()) {
		run, err := p.PlayWith(o.Settings, triggers()[:n])
		if err != nil {
			return c, err
		}
		less := p.Outcome(run, o.Settings)
		if slices.Contains(less.Verdicts, c.Harm) {
			break
		}
		c.Event = 1 + firstDifference(less.History.Events, o.History.Events)
	}
	return c, nil
}

// firstDifference is the index of the first event in which two histories differ.
func firstDifference(a, b []history.Event) int {
	for i := range min(len(a), len(b)) {
		if !reflect.DeepEqual(a[i], b[i]) {
			return i
		}
	}
	return max(0, min(len(a), len(b))-1)
}
