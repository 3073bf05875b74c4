package search_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/simulator/explore"
	"locklab/simulator/live"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/verdict"
)

// The scripts of locks that can be taken over in a window between the ends of several keys. Whoever
// gets 1 has the lock. The arguments are the lives of KEYS[2], KEYS[3] and so on.
const (
	// Refused while fresh is there, one is seen; the lock is free when fresh is gone and seen is there.
	takeTwo = `
if redis.call('exists', KEYS[1]) == 0 then
	redis.call('set', KEYS[1], 1)
	redis.call('set', KEYS[2], 1, 'px', ARGV[1])
	return 1
end
if redis.call('exists', KEYS[2]) == 1 then
	redis.call('set', KEYS[3], 1, 'px', ARGV[2])
	return 0
end
return redis.call('exists', KEYS[3])`
	// Two keys begin and end together; the lock is free when one of them is there without the other.
	takeTogether = `
if redis.call('exists', KEYS[1]) == 0 then
	redis.call('set', KEYS[1], 1)
	redis.call('set', KEYS[2], 1, 'px', ARGV[1])
	redis.call('set', KEYS[3], 1, 'px', ARGV[2])
	return 1
end
if redis.call('exists', KEYS[2]) ~= redis.call('exists', KEYS[3]) then
	return 1
end
return 0`
)

// takenBy is a lock that a script takes, with keys of these lives.
func takenBy(script string, lives ...time.Duration) lock.Entry {
	return taking("windows", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		keys, args := []string{key}, []any{}
		for i, d := range lives {
			keys, args = append(keys, string(rune('a'+i))), append(args, d.Milliseconds())
		}
		n, err := env.Nodes[0].Eval(ctx, script, keys, args...).Int()
		return n > 0, err
	})
}

// TestOpenBounds: a key is gone at the end of its life, an open bound, so whole steps do not meet every order of
// events: that of two keys needs halves of a step. A search meets it in whole steps, since at the instant at which a
// key ends it lets that happen before or after all else.
func TestOpenBounds(t *testing.T) {
	t.Parallel()
	const step = 750 * time.Millisecond
	for _, test := range []struct {
		name     string
		entry    lock.Entry
		overlaps bool
	}{
		{"two keys", takenBy(takeTwo, 3*step, step), true},
		{"two keys, and seen for as long as no time", takenBy(takeTwo, 7*step, step), false},
		{"keys of one command", takenBy(takeTogether, 3*step, 3*step), false},
	} {
		s := completed(t, test.entry, everyTiming(test.entry, 2, 2, ""))
		par, overlaps := parsOf(s)[verdict.Overlap]
		if t.Logf("%s: %d states", test.name, s.States); overlaps != test.overlaps || par != 0 {
			t.Errorf("%s: %v, want OVERLAP@0: %t", test.name, s.Pars(), test.overlaps)
		}
	}
}

// TestOpenBoundsOnRealServer: a redis-server whose clock is set answers the run of two keys as the lab
// does, down to the take-over while the lock is held. Without redis-server or cc the test is skipped, or fails
// where the environment says CI=true.
func TestOpenBoundsOnRealServer(t *testing.T) {
	launcher, err := live.NewLauncher()
	servertest.Need(t, err)
	t.Cleanup(launcher.Close)
	entry := takenBy(takeTwo, 2250*time.Millisecond, 750*time.Millisecond)
	b := everyTiming(entry, 2, 2, "")
	s := exploring(t, entry, b)
	i := slices.IndexFunc(s.Result.Found, func(w explore.Witness) bool { return w.Verdict == verdict.Overlap })
	if i < 0 {
		t.Fatalf("%v: no OVERLAP", s.Pars())
	}
	sim, _ := searchOf(t, entry, b)
	defer sim.Close()
	run, err := live.Play(t.Context(), sim, s.Result.Found[i].Choices, live.Redis{Speed: 20, Launcher: launcher})
	if err != nil || len(run.Differences) > 0 || run.Answers < 3 {
		t.Errorf("%v, %d answers, %+v", err, run.Answers, run.Differences)
	}
}

// TestBoundary: a pause of half a lease breaks the token lock only where the holder's last deed and the end of
// its lease fall on the same instant; one of a step more breaks it beyond that.
func TestBoundary(t *testing.T) {
	t.Parallel()
	entry := racetest.Lock(t, "token")
	for budget, want := range map[string]explore.Boundary{"pause=1@4500ms": explore.BoundaryOnly,
		"pause=1@5250ms": explore.Beyond} {
		bounds := everyTiming(entry, 2, 2, budget)
		bounds.Boundary, bounds.Recheck = true, true
		s := exploring(t, entry, bounds)
		if got := s.Boundary[verdict.Overlap]; got != want || s.Boundary[verdict.Orphan] != explore.Beyond {
			t.Errorf("%s: OVERLAP %d, want %d; all: %v", budget, got, want, s.Boundary)
		}
		only := strings.Contains(certificate.Of(s, "en"), "at the boundary only")
		if only != (want == explore.BoundaryOnly) {
			t.Errorf("%s: the certificate says so: %t", budget, only)
		}
	}
}
