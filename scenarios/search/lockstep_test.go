package search_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// everyFault are budgets of one fault each, of every kind. Lengths are whole steps of a lease of 9 s.
var everyFault = []string{
	"crash=1", "pause=1@5250ms", "pause=1@9750ms", "pause-thread=1@9s", "lose-request=1", "lose-reply=1",
	"delay=1@9750ms", "hang=1@9s", "hang=1@9750ms", "restart=1", "failover=1", "split=1@9s", "client-clock=1@9s",
	"node-clock=1@9s", "evict=1", "flush=1", "delete=1", "fail-call=1", "expire-session=1", "return=1,crash=1",
}

// A lockstepCase is one question: a lock, and the faults.
type lockstepCase struct{ id, budget string }

// lockstepQuick are the locks that keep something between two attempts, and one of each other kind, in two seconds each
// at most.
var lockstepQuick = []lockstepCase{
	{"reentrant", ""}, {"reentrant-increment", "crash=1"}, {"reentrant-decrement", ""}, {"reentrant-forget", ""},
	{"reentrant-refused", ""}, {"reentrant-keyed", ""}, {"queue", "crash=1"}, {"evalsha", "restart=1"}, {"cron-v2", ""},
	{"mutex", ""}, {"spin-reentrant", ""}, {"setnx", "crash=1"}, {"setnx-expire", "pause=1@9750ms"},
	{"token", "lose-reply=1"},
	{"thread-id-lua", "pause=1@9750ms"}, {"constant", "failover=1"}, {"zk-naive", "expire-session=1"},
	{"zk-recheck", "lose-reply=1"},
}

// lockstepSlow are further ones, by the faults that bring a late request to their second lease.
var lockstepSlow = []lockstepCase{
	{"watchdog", "hang=1@9s"}, {"watchdog", "delay=1@9750ms"}, {"redisson-lease", "hang=1@9s"},
	{"redisson-rearm", "delay=1@9750ms"},
}

// TestLockstepIsOneOfAllTimings: lockstep is one of all timings, so whatever a search in lockstep finds, one of every
// timing must find with as few faults, if its clients ask as often and everything may take as long.
// What lockstep does with one instance of a lock for each process showed that proofs at any
// timing, with a new one for each attempt, were wrong.
func TestLockstepIsOneOfAllTimings(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	cases := lockstepQuick
	if effort.Exhaustive() {
		cases = append(cases, lockstepSlow...)
		for _, id := range []string{"setnx", "setnx-expire", "token", "thread-id-lua", "constant", "redisson-lease"} {
			for _, budget := range []string{"", "crash=1", "pause=1", "lose-reply=1", "lose-request=1", "failover=1"} {
				cases = append(cases, lockstepCase{id, budget})
			}
		}
		for i, entry := range algorithms.All() { // each fault strikes some of them
			cases = append(cases, lockstepCase{entry.ID, ""}, lockstepCase{entry.ID, everyFault[i%len(everyFault)]})
		}
	}
	for _, c := range cases {
		entry, b := racetest.Lock(t, c.id), search.DefaultBounds()
		if b.MaxStates = 60_000; slices.Contains(lockstepQuick, c) || slices.Contains(lockstepSlow, c) {
			b.MaxStates = 600_000 // most need fewer
		}
		if b.Budget, b.Nodes = faults.Budget(c.budget), search.FewServers(entry); b.Check(entry) != nil {
			continue // as of a fault of servers that no lock of this kind has
		}
		t.Run(c.id+"/"+c.budget, func(t *testing.T) {
			t.Parallel()
			lockstepAgainstAll(t, entry, b)
		})
	}
}

// lockstepAgainstAll searches a lock in lockstep with 0 to 5 retries, and at any timing with as
// many attempts as the clients of what that has found have made.
func lockstepAgainstAll(t *testing.T, entry lock.Entry, b search.Bounds) {
	wanted := map[int]map[verdict.Word]int{} // by attempts: pars
	for b.Retries = range explore.MaxRetries + 1 {
		s := exploring(t, entry, b)
		for _, w := range s.Witnesses {
			n := attemptsOf(t, w)
			if wanted[n] == nil {
				wanted[n] = map[verdict.Word]int{}
			}
			if par, ok := wanted[n][w.Verdict]; !ok || w.Par < par {
				wanted[n][w.Verdict] = w.Par
			}
		}
		if entry.OnZooKeeper() {
			break // whose clients wait in a line
		}
	}
	b.Timing, b.Retries, b.Work = search.AnyTiming, search.AutoRetries, 3750*time.Millisecond // lockstep: 3.6 s
	// with so many attempts or fewer
	found := map[verdict.Word]int{}
	for _, b.Attempts = range slices.Sorted(maps.Keys(wanted)) {
		complete := false
		if b.Attempts <= 3 && weaker(found, wanted[b.Attempts]) != nil {
			s := exploring(t, entry, b)
			for w, par := range parsOf(s) {
				if own, ok := found[w]; !ok || par < own {
					found[w] = par
				}
			}
			complete = s.Complete
		}
		for _, w := range weaker(found, wanted[b.Attempts]) {
			switch {
			case w == verdict.Starved: // with more attempts some may succeed first, but by no more faults
			case !complete:
				t.Logf("not decided with %d attempts and %d states: %s@%d",
					b.Attempts, b.MaxStates, w, wanted[b.Attempts][w])
			default:
				t.Errorf("with %d attempts lockstep finds %s@%d, and any timing %v",
					b.Attempts, w, wanted[b.Attempts][w], found)
			}
		}
	}
}

// attemptsOf returns the largest number of requests for the lock by one client in a witness.
func attemptsOf(t *testing.T, w search.Witness) int {
	o := racetest.Must(search.Replay(w.Trace))(t)
	asked := map[int]int{}
	for _, e := range o.History.Events {
		if e.Kind == history.Acquire && e.Client != o.History.Probe {
			asked[e.Client]++
		}
	}
	return slices.Max(append(slices.Collect(maps.Values(asked)), 1))
}
