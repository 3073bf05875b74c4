package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
)

// flagSet is what a command's flags are to those that are common to several.
type flagSet interface {
	StringSliceVar(p *[]string, name string, value []string, usage string)
}

// lockFlags choose the locks of a command, by name or by family.
type lockFlags struct{ strategies, families []string }

func (l *lockFlags) add(f flagSet, usual string) {
	f.StringSliceVar(&l.strategies, "strategies", nil, "these locks, as in token,redlock, or all; else "+usual)
	addFamilies(f, &l.families)
}

func addFamilies(f flagSet, families *[]string) {
	f.StringSliceVar(families, "families", nil, "the locks of these families, of "+strings.Join(familyNames(), ", "))
}

// pick finds the locks that were named, or the usual ones where nobody named any.
// A list that is there and empty is a mistake: an unset variable must not pass for
// a grid in which everything is well.
func (l *lockFlags) pick(usual []lock.Entry) ([]lock.Entry, error) {
	switch {
	case l.strategies == nil && l.families == nil:
		return usual, nil
	case l.strategies != nil && l.families != nil:
		return nil, errors.New("--strategies and --families both say which locks: give one of them")
	case l.families != nil:
		return ofFamilies(l.families)
	case slices.Equal(l.strategies, []string{"all"}):
		return algorithms.All(), nil
	}
	return named(l.strategies)
}

func named(names []string) (entries []lock.Entry, err error) {
	if len(names) == 0 {
		return nil, errors.New("--strategies names no lock: leave it out for the usual ones, or write for example token,redlock")
	}
	for _, n := range names {
		e, err := race.Strategy(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(entries, func(o lock.Entry) bool { return o.ID == e.ID }) {
			return nil, fmt.Errorf("--strategies names %s twice", e.ID)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// ofFamilies are all locks of the named families, in historical order.
func ofFamilies(names []string) ([]lock.Entry, error) {
	if len(names) == 0 {
		return nil, errors.New("--families names no family: leave it out for all, or write for example redisson,majority")
	}
	var families []lock.Family
	for _, n := range names {
		f := lock.Family(strings.ToLower(n))
		switch {
		case !slices.Contains(lock.Families(), f):
			return nil, fmt.Errorf("there is no family %q:%s they are %s", n, faults.DidYouMean(n, familyNames()), strings.Join(familyNames(), ", "))
		case slices.Contains(families, f):
			return nil, fmt.Errorf("--families names %s twice", f)
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
