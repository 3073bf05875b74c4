package search_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// TestAgainst: the attack of a trace goes to another lock, whether or not its own lock is listed: what breaks a lock
// with a lease does not break one without.
func TestAgainst(t *testing.T) {
	token, gcPause := racetest.Cell(t, "token", "gc-pause")
	searched := exploring(t, token, within(t, token, "attempts=2 budget=pause=1")).Witnesses[0].Trace
	played := racetest.PlayListed(t, token, gcPause, gcPause.Settings).Trace
	searched.Lock, played.Lock = "TestMyLock", "TestMyLock"
	for name, want := range map[string]verdict.Word{
		"token": verdict.Overlap, "watchdog": verdict.Overlap, "setnx": verdict.Holds,
	} {
		entry := racetest.Lock(t, name)
		o := racetest.Must(search.Against(entry, searched))(t)
		if !slices.Contains(o.Verdicts, want) || len(o.NotInjected) > 0 {
			t.Errorf("the search's schedule makes of %s %v, want %s (not injected: %v)",
				name, o.Verdicts, want, o.NotInjected)
		}
		if again, err := search.ReplayOn(entry, o.Trace); err != nil || !slices.Equal(again.Verdicts, o.Verdicts) {
			t.Errorf("%s: the link of the run leads to %v, %v", name, again, err)
		}
		if o, err := search.Against(entry, played); err != nil || !slices.Contains(o.Verdicts, want) {
			t.Errorf("the race makes of %s %v, %v, want %s", name, o.Verdicts, err, want)
		}
	}
	if o, err := search.Against(racetest.Lock(t, "redlock"), searched); err != nil || o.History.Nodes != 3 {
		t.Errorf("on several servers: %v, %v", o, err)
	}
	isFault := func(c simulator.Choice) bool { return c.Verb >= simulator.FaultVerb }
	fault := slices.IndexFunc(searched.Choices, isFault)
	late := searched
	late.Choices = append(slices.Clone(searched.Choices), searched.Choices[fault]) // when all clients have ended
	o := racetest.Must(search.Against(racetest.Lock(t, "setnx"), late))(t)
	if o.NotInjected == nil || !slices.Equal(o.Verdicts, []verdict.Word{verdict.NA}) {
		t.Errorf("a fault that finds no place: %v, %v, want N/A", o.Verdicts, o.NotInjected)
	}
	early := searched
	early.Choices = searched.Choices[fault : fault+1] // when nobody has asked yet
	if o = racetest.Must(search.Against(token, early))(t); o.NotInjected == nil || o.Verdicts[0] != verdict.NA {
		t.Errorf("a pause before all is taken for the attack: %v, %v", o.Verdicts, o.NotInjected)
	}
	o = racetest.Must(search.Against(token, late))(t)
	if o.NotInjected == nil || !slices.Contains(o.Verdicts, verdict.Overlap) {
		t.Errorf("what breaks without it is broken: %v, %v", o.Verdicts, o.NotInjected)
	}
	split := racetest.Lock(t, "thread-id") // which compares and deletes in two commands
	var between simulator.Trace
	for _, w := range exploring(t, split, within(t, split, "attempts=2 budget=pause=1")).Witnesses {
		if w.Verdict == verdict.WrongDel {
			between = w.Trace
		}
	}
	for want, trace := range map[string]simulator.Trace{"token": searched, "": late, "thread-id": between} {
		if is := search.Rival(trace); is != want {
			t.Errorf("the attack is made on %q first, want %q", is, want)
		}
	}
	setnx := racetest.Lock(t, "setnx")
	dead := exploring(t, setnx, within(t, setnx, "attempts=2 budget=crash=1")).Witnesses[0].Trace
	for _, name := range []string{"token", "watchdog", "constant", "redlock", "zk-protected", "redislock-fence"} {
		o := racetest.Must(search.Against(racetest.Lock(t, name), dead))(t)
		if is, want := o.Verdicts[0], verdict.Blocked; is != want && is != verdict.Holds { // its probe gets in at last
			t.Errorf("a crash that bars setnx for ever makes of %s %s, want %s or HOLDS", name, is, want)
		}
	}
	searched.Settings = "nonsense"
	if _, err := search.Against(token, searched); err == nil {
		t.Error("settings that make no sense are accepted")
	}
}

// TestRealTime: code that waits otherwise than by its Env, as a library does that tries again, is named, and nothing is
// proved.
func TestRealTime(t *testing.T) {
	sleepy := taking("sleepy", func(context.Context, lock.Env, string) (bool, error) {
		time.Sleep(30 * time.Millisecond)
		return true, nil
	})
	s, err := search.Explore(t.Context(), sleepy, search.DefaultBounds())
	if waits := (*process.WaitError)(nil); !errors.As(err, &waits) || waits.State != "sleep" || s != nil {
		t.Errorf("%v, %v: want a WaitError", s, err)
	}
}
