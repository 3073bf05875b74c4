package main

import (
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
)

// lockFlags choose the locks of a command, by name or by family.
type lockFlags struct{ strategies []string }

// add declares the flag. usual is "all" or "milestones".
func (l *lockFlags) add(f *flags, usual string) {
	l.addUsual(f, f.e.Say("help.flag.strategies."+usual))
}

// addUsual is add where other locks are usual.
func (l *lockFlags) addUsual(f *flags, usual string) {
	f.add("strategies", &l.strategies, "usual", usual, "families", strings.Join(familyNames(), ", "))
}

// pick returns the locks that were named, or the usual ones if none were. A name is that of a family, whose locks
// follow in historical order, or else of a lock. An empty list is an error: an unset variable of a script must not
// look like a grid without failures.
func (l *lockFlags) pick(usual []lock.Entry) ([]lock.Entry, error) {
	switch {
	case l.strategies == nil:
		return usual, nil
	case slices.Equal(l.strategies, []string{"all"}):
		return algorithms.All(), nil
	}
	var ids []string
	for _, name := range l.strategies {
		of := members(name)
		if _, known := algorithms.ByName(name); of == nil && !known {
			return nil, text.Errorf("error.lock", "name", name, "near", text.Near(name, append(familyNames(), lockNames()...)))
		}
		if of == nil {
			of = []string{name}
		}
		ids = append(ids, of...)
	}
	return locksNamed(ids)
}

// members returns the ids of a family's locks; nil: there is no such family.
func members(family string) (ids []string) {
	for _, e := range algorithms.All() {
		if string(e.Family) == strings.ToLower(family) {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// lockNames returns the ids of locks, and those that the articles have for them.
func lockNames() (all []string) {
	for _, e := range algorithms.All() {
		all = append(all, e.Names()...)
	}
	return all
}

func locksNamed(names []string) ([]lock.Entry, error) {
	return named("strategies", "error.locks.none", names, race.Strategy, func(e lock.Entry) string { return e.ID })
}

// named returns what a flag names: something, and nothing twice. none is the key of the error of no names.
func named[T any](flag, none string, names []string, find func(string) (T, error), id func(T) string) (all []T, err error) {
	if len(names) == 0 {
		return nil, text.Errorf(none)
	}
	for _, n := range names {
		one, err := find(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o T) bool { return id(o) == id(one) }) {
			return nil, text.Errorf("error.twice", "flag", "--"+flag, "name", id(one))
		}
		all = append(all, one)
	}
	return all, nil
}

// choose returns the index of a name, or an error with that key, which offers the nearest.
func choose(key, name string, names []string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, text.Errorf(key, "name", name, "near", text.Near(name, names), "names", strings.Join(names, ", "))
}

func familyNames() []string {
	return lists.Each(lock.Families(), func(f lock.Family) string { return string(f) })
}

// pickRaces returns the races that were named, or all if none were.
func pickRaces(names []string) ([]race.Scenario, error) {
	if names == nil {
		return scenarios.All(), nil
	}
	return named("scenarios", "error.races.none", names, scenarios.ByName, func(sc race.Scenario) string { return sc.ID })
}
