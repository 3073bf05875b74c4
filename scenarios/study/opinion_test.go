package study_test

import (
	"testing"
	"time"

	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/promela"
)

// TestSecondOpinion: SPIN comes to the same verdicts, pars and numbers of states and transitions
// as the search. CI asks about all milestones by "make second-opinion", and about a lock that reads its
// clock at any timing; here are other faults, and locks on ZooKeeper whose clients wait for watches.
func TestSecondOpinion(t *testing.T) {
	effort.OnlyExhaustive(t, "so does make second-opinion; one goroutine judges")
	t.Parallel()
	effort.Need(t, promela.Installed())
	ask := func(id, budget string, timing study.Mode, change ...func(b *study.Bounds)) {
		t.Run(id+"/"+budget+"/"+timing.String(), func(t *testing.T) {
			b := study.DefaultBounds()
			b.Budget, b.Timing, b.Retries, b.Nodes = faults.Budget(budget), timing, 0, min(3, racetest.Lock(t, id).Servers())
			for _, c := range change {
				c(&b)
			}
			o, err := study.SecondOpinion(t.Context(), racetest.Lock(t, id), b, false)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(o.Lab(), o.Plain.States, o.Plain.Transitions)
			if !o.Agrees() {
				t.Errorf("SPIN finds %v in %d states, %d transitions; the lab %v in %d, %d", o.Spins(), o.Spin.States, o.Spin.Transitions, o.Lab(), o.Plain.States, o.Plain.Transitions)
			}
		})
	}
	once := func(b *study.Bounds) { b.Attempts = 1 }
	inLine := func(b *study.Bounds) { b.Attempts, b.Uses = 1, client.Check|client.Wait }
	ask("getset", "lose-reply=1", study.Lockstep)
	ask("zk-naive", "expire-session=1", study.Lockstep, inLine)
	ask("zk-recheck", "lose-reply=1", study.Lockstep, inLine)
	// Its client deletes in the background what it could not delete, while it asks for more: several
	// threads wait on one session.
	ask("zk-multi", "expire-session=1", study.Lockstep, once, func(b *study.Bounds) { b.Clients = 1 })
	ask("token", "pause=1", study.AnyTiming, func(b *study.Bounds) { b.Latency, b.Lateness = 1500*time.Millisecond, study.AtOnce })
	if !effort.Exhaustive() {
		return
	}
	ask("watchdog", "pause=1@5s,lose-request=1", study.Lockstep)
	ask("redlock", "lose-reply=1", study.Lockstep)
	ask("setnx", "lose-reply=1,crash=1", study.AnyTiming)
	ask("zk-herd", "crash=1,expire-session=1", study.Lockstep)
	ask("zk-protected", "lose-reply=1", study.AnyTiming, once)
	ask("zk-naive", "pause=1", study.AnyTiming, once)
	ask("zk-multi", "expire-session=1", study.Lockstep) // a session that ends moves two lines
	ask("zk-naive", "crash=1", study.Lockstep, inLine, func(b *study.Bounds) { b.Clients = 3 })
}
