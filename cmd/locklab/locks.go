package main

import (
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
)

// lockFlags choose the locks of a command, by name or by family.
type lockFlags struct{ strategies, families []string }

// add declares the flags. usual is "all" or "milestones".
func (l *lockFlags) add(f *flags, usual string) {
	l.addUsual(f, f.e.Say("help.flag.strategies."+usual))
}

// addUsual is add where other locks are usual.
func (l *lockFlags) addUsual(f *flags, usual string) {
	f.add("strategies", &l.strategies, "usual", usual)
	addFamilies(f, &l.families)
}

func addFamilies(f *flags, families *[]string) {
	f.add("families", families, "families", strings.Join(familyNames(), ", "))
}

// pick returns the locks that were named, or the usual ones if none were. An empty list
// is an error: an unset variable of a script must not look like a grid without failures.
func (l *lockFlags) pick(usual []lock.Entry) ([]lock.Entry, error) {
	switch {
	case l.strategies == nil && l.families == nil:
		return usual, nil
	case l.strategies != nil && l.families != nil:
		return nil, text.Errorf("error.locks.both")
	case l.families != nil:
		return locksOf(l.families)
	case slices.Equal(l.strategies, []string{"all"}):
		return algorithms.All(), nil
	}
	return locksNamed(l.strategies)
}

func locksNamed(names []string) (entries []lock.Entry, err error) {
	if len(names) == 0 {
		return nil, text.Errorf("error.locks.none")
	}
	for _, n := range names {
		entry, err := race.Strategy(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(o lock.Entry) bool { return o.ID == entry.ID }) {
			return nil, text.Errorf("error.twice", "flag", "--strategies", "name", entry.ID)
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// ofFamilies returns all locks of the named families, in historical order.
func locksOf(names []string) ([]lock.Entry, error) {
	if len(names) == 0 {
		return nil, text.Errorf("error.families.none")
	}
	var families []lock.Family
	for _, n := range names {
		f := lock.Family(strings.ToLower(n))
		switch {
		case !slices.Contains(lock.Families(), f):
			return nil, text.Errorf("error.family", "name", n, "near", text.Near(n, familyNames()), "names", strings.Join(familyNames(), ", "))
		case slices.Contains(families, f):
			return nil, text.Errorf("error.twice", "flag", "--families", "name", string(f))
		}
		families = append(families, f)
	}
	return slices.DeleteFunc(algorithms.All(), func(entry lock.Entry) bool { return !slices.Contains(families, entry.Family) }), nil
}

func familyNames() (names []string) {
	for _, f := range lock.Families() {
		names = append(names, string(f))
	}
	return names
}

// pickRaces returns the races that were named, or all if none were.
func pickRaces(names []string) (scs []race.Scenario, err error) {
	if names == nil {
		return scenarios.All(), nil
	}
	if len(names) == 0 {
		return nil, text.Errorf("error.races.none")
	}
	for _, n := range names {
		sc, err := scenarios.ByName(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(scs, func(o race.Scenario) bool { return o.ID == sc.ID }) {
			return nil, text.Errorf("error.twice", "flag", "--scenarios", "name", sc.ID)
		}
		scs = append(scs, sc)
	}
	return scs, nil
}
