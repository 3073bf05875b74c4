package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios/race"
)

// lockFlags choose the locks of a command, by name or by family.
type lockFlags struct{ strategies, families []string }

// add adds the flags to a command. usual is "all" or "milestones".
func (l *lockFlags) add(a *app, f *pflag.FlagSet, usual string) {
	l.addUsual(a, f, a.Say("help.flag.strategies."+usual))
}

// addUsual is add where other locks are usual.
func (l *lockFlags) addUsual(a *app, f *pflag.FlagSet, usual string) {
	f.StringSliceVar(&l.strategies, "strategies", nil, a.usage("")("strategies", "usual", usual))
	a.addFamilies(f, &l.families)
}

func (a *app) addFamilies(f *pflag.FlagSet, families *[]string) {
	f.StringSliceVar(families, "families", nil, a.usage("")("families", "families", strings.Join(familyNames(), ", ")))
}

// pick returns the locks that were named, or the usual ones if none were. An empty list
// is an error: an unset variable of a script must not look like a grid without failures.
func (l *lockFlags) pick(a *app, usual []lock.Entry) ([]lock.Entry, error) {
	switch {
	case l.strategies == nil && l.families == nil:
		return usual, nil
	case l.strategies != nil && l.families != nil:
		return nil, text.Errorf("error.locks.both")
	case l.families != nil:
		return a.ofFamilies(l.families)
	case slices.Equal(l.strategies, []string{"all"}):
		return algorithms.All(), nil
	}
	return a.named(l.strategies)
}

func (a *app) named(names []string) (entries []lock.Entry, err error) {
	if len(names) == 0 {
		return nil, text.Errorf("error.locks.none")
	}
	for _, n := range names {
		e, err := race.Strategy(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(o lock.Entry) bool { return o.ID == e.ID }) {
			return nil, text.Errorf("error.twice", "flag", "--strategies", "name", e.ID)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// ofFamilies returns all locks of the named families, in historical order.
func (a *app) ofFamilies(names []string) ([]lock.Entry, error) {
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
	return slices.DeleteFunc(algorithms.All(), func(e lock.Entry) bool { return !slices.Contains(families, e.Family) }), nil
}

func familyNames() (names []string) {
	for _, f := range lock.Families() {
		names = append(names, string(f))
	}
	return names
}
