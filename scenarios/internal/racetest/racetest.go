// Package racetest is shared by the tests of the packages races, race, study and
// contract: it finds and plays locks in races and fails the test where it cannot.
package racetest

import (
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
)

// runner plays the locks of the list; each profile is observed once for all tests.
var runner race.Runner

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// PlayListed is Play of an unchanged lock of the list. It remembers the lock's profile.
func PlayListed(t testing.TB, e lock.Entry, sc race.Race, s race.Settings) *race.Outcome {
	t.Helper()
	o, err := runner.Play(e, sc, s)
	check(t, err)
	return o
}

// PlayAnyway plays one lock in one race, whether or not that applies to the lock.
func PlayAnyway(t testing.TB, e lock.Entry, sc race.Race, s race.Settings) *race.Outcome {
	t.Helper()
	p, err := sc.Prepare(e, s, nil)
	check(t, err)
	defer p.Close()
	run, err := p.Play(s)
	check(t, err)
	return p.Outcome(run, s)
}

// Lock finds a lock by name.
func Lock(t testing.TB, id string) lock.Entry {
	t.Helper()
	e, err := race.Lock(id)
	check(t, err)
	return e
}

// Cell finds a lock and a race by name.
func Cell(t testing.TB, id, raceID string) (lock.Entry, race.Race) {
	t.Helper()
	sc, err := scenarios.ByName(raceID)
	check(t, err)
	return Lock(t, id), sc
}

// Race finds a race by name. It panics if there is none.
func Race(name string) race.Race {
	sc, err := scenarios.ByName(name)
	if err != nil {
		panic(err)
	}
	return sc
}

// Must returns a value, and fails the test on an error: Must(f())(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}
