package study

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/schedule"
)

// Replay plays a trace again, choice by choice. It finds the lock in the list.
func Replay(t simulator.Trace) (*race.Outcome, error) {
	entry, err := race.Strategy(t.Strategy)
	if err != nil {
		return nil, err
	}
	return ReplayOn(entry, t)
}

// ReplayOn is Replay of a trace whose lock the caller has, be it in the list or not.
func ReplayOn(entry lock.Entry, t simulator.Trace) (*race.Outcome, error) {
	return replay(entry, t, "")
}

// Watch is Replay with an eye on the lock's code: the history names its lines, see
// history.Event.Code.
func ReplayWithCode(t simulator.Trace) (*race.Outcome, error) {
	entry, err := race.Strategy(t.Strategy)
	if err != nil {
		return nil, err
	}
	return ReplayWithCodeOn(entry, t)
}

// WatchOn is to Watch what ReplayOn is to Replay.
func ReplayWithCodeOn(entry lock.Entry, t simulator.Trace) (*race.Outcome, error) {
	return replay(entry, t, path.Dir(reflect.TypeFor[lock.Entry]().PkgPath()))
}

// replay plays a trace, and notes the lines of a package, or none. The choices of
// one lock say nothing about another.
func replay(entry lock.Entry, t simulator.Trace, watched string) (*race.Outcome, error) {
	if !slices.ContainsFunc(entry.Names(), func(n string) bool { return strings.EqualFold(n, t.Strategy) }) {
		return nil, fmt.Errorf("this trace is one of %s, and the lock given is %s", t.Strategy, entry.ID)
	}
	if t.Scenario == SearchID {
		return replaySearch(entry, t, watched)
	}
	sc, s, err := resolve(entry, t)
	if err != nil {
		return nil, err
	}
	if len(t.Choices) == 0 {
		return race.Play(entry, sc, s)
	}
	p, err := sc.Prepare(entry, s)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	p.Simulator.ShowCode(watched)
	run, err := schedule.Replay(p.Simulator, t.Choices)
	if err != nil {
		return nil, fmt.Errorf("this trace does not fit this version of %s in %s: %w", entry.ID, sc.ID, err)
	}
	return p.Outcome(run, s), nil
}

// Resolve finds what a trace names.
func Resolve(t simulator.Trace) (entry lock.Entry, sc race.Scenario, s race.Settings, err error) {
	if entry, err = race.Strategy(t.Strategy); err != nil {
		return
	}
	sc, s, err = resolve(entry, t)
	return
}

// resolve finds what a trace of a lock names besides.
func resolve(entry lock.Entry, t simulator.Trace) (sc race.Scenario, s race.Settings, err error) {
	if sc, err = scenarios.ByName(t.Scenario); err != nil {
		return
	}
	if s, err = sc.Settings.With(t.Settings); err != nil {
		return
	}
	return sc, s, sc.Check(entry, s)
}

// Demo is the run that introduces the lab: the lock that most people would
// write, in the race that most people forget.
func Demo() (*race.Outcome, error) {
	entry, err := race.Strategy("token")
	if err != nil {
		return nil, err
	}
	sc, err := scenarios.ByName("gc-pause")
	if err != nil {
		return nil, err
	}
	return race.Play(entry, sc, sc.Settings)
}
