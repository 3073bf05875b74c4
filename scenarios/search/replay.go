package search

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
)

// Replay plays a trace again, choice by choice. Its lock must be listed. The error says
// what the trace names that does not exist, or that it does not fit this version.
func Replay(t simulator.Trace) (*race.Outcome, error) {
	entry, err := race.Lock(t.Lock)
	if err != nil {
		return nil, err
	}
	return ReplayOn(entry, t)
}

// ReplayOn is Replay with the lock of the trace, which need not be listed.
func ReplayOn(entry lock.Entry, t simulator.Trace) (*race.Outcome, error) {
	return replay(entry, t, "")
}

// ReplayWithCodeOn is ReplayOn with the lines of the lock's code in the history, see history.Event.Code.
func ReplayWithCodeOn(entry lock.Entry, t simulator.Trace) (*race.Outcome, error) {
	return replay(entry, t, path.Dir(reflect.TypeFor[lock.Entry]().PkgPath()))
}

// replay plays a trace and records the lines of code in the package watched; "": none.
func replay(entry lock.Entry, t simulator.Trace, watched string) (*race.Outcome, error) {
	if err := playedBy(entry, t); err != nil {
		return nil, err
	}
	if t.Race != SearchID && len(t.Choices) == 0 {
		sc, s, err := resolve(entry, t)
		if err != nil {
			return nil, err
		}
		return race.Play(entry, sc, s)
	}
	o, err := Open(entry, t)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	o.Simulator.ShowCode(watched)
	run, err := schedule.Replay(o.Simulator, t.Choices)
	if err != nil {
		key := "error.replay.race"
		if t.Race == SearchID {
			key = "error.replay.search"
		}
		return nil, i18n.Errorf(key, "lock", entry.ID, "race", t.Race, "cause", err)
	}
	return o.Outcome(run), nil
}

// playedBy reports whether a trace is one of this lock: the choices of one lock mean nothing for another.
func playedBy(entry lock.Entry, t simulator.Trace) error {
	if !slices.ContainsFunc(entry.Names(), func(n string) bool { return strings.EqualFold(n, t.Lock) }) {
		return i18n.Errorf("error.replay.lock", "lock", t.Lock, "given", entry.ID)
	}
	return nil
}

// An Opened is a trace with the simulator in which it can be played. Close frees it.
type Opened struct {
	Simulator *simulator.Simulator
	// Outcome returns what the judges, and the rules of a search, say of a run of the trace.
	Outcome func(run *schedule.Run) *race.Outcome
}

// Close frees the simulator.
func (o *Opened) Close() { o.Simulator.Close() }

// Open makes the simulator of a trace, whose lock need not be listed.
func Open(entry lock.Entry, t simulator.Trace) (*Opened, error) {
	if err := playedBy(entry, t); err != nil {
		return nil, err
	}
	if t.Race == SearchID {
		return openSearch(entry, t)
	}
	sc, s, err := resolve(entry, t)
	if err != nil {
		return nil, err
	}
	p, err := sc.Prepare(entry, s, nil)
	if err != nil {
		return nil, err
	}
	return &Opened{p.Simulator, func(run *schedule.Run) *race.Outcome { return p.Outcome(run, s) }}, nil
}

// resolve finds the race and the settings that a trace names.
func resolve(entry lock.Entry, t simulator.Trace) (sc race.Race, s race.Settings, err error) {
	if sc, err = scenarios.ByName(t.Race); err != nil {
		return
	}
	if s, err = sc.Settings.With(t.Settings); err != nil {
		return
	}
	return sc, s, sc.Check(entry, s)
}
