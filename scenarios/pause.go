package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// gcPause: the picture of Kleppmann's article of 2016. HBase had this bug.
var gcPause = race.Race{
	ID: "gc-pause", Code: "R18", Group: "pause",
	Data:      true,
	Settings:  race.StandardWith(func(s *settings) { s.Pause = race.Seconds(12.5) }),
	Budget:    race.FixedBudget("pause=1"),
	Clients:   pauseClients,
	Script:    pauseInside,
	Triggered: paused,
}

// gcPauseFenced: fencing tokens, which Kleppmann's article made known.
var gcPauseFenced = variant(gcPause, "gc-pause-fenced", "R18F", fenced)

// fenced gives a race a resource that refuses old fencing tokens.
func fenced(sc *race.Race) {
	sc.Guard, sc.Needs = history.Fenced, needs{race.FencingCounter, race.LeaseNumber}
}

// gcPauseCAS: antirez's answer to Kleppmann, a store with compare-and-set.
var gcPauseCAS = variant(gcPause, "gc-pause-cas", "R18C", comparing)

// comparing gives a race a resource that compares versions.
func comparing(sc *race.Race) { sc.Guard = history.CompareAndSet }

// pauseClients: c2 writes before the paused c1 does, and is inside when c1 leaves.
func pauseClients(s settings) clients {
	return clients{
		{Work: s.Retry * 3 / 2, Tail: s.Retry * 3 / 2},
		{Start: s.Retry / 2, Work: s.Retry * 5 / 2, Tail: s.Retry * 5 / 2},
	}
}

// pauseInside pauses c1 one Retry after it has entered, or at a random moment of its work.
func pauseInside(s settings, _ int) script {
	begin := s.Retry
	if s.Seed != 0 {
		begin = time.Duration(race.Stream(s.Seed, "pause begins").Int64N(int64(s.Retry * 3)))
	}
	return inject(c1Enters, begin, faults.PauseOf(1, s.Pause))
}

// paused reports whether c1 was paused inside while another client asked, or wrote without a lock. The length of the
// pause does not matter: a pause that is shorter than the lease is the race too.
func paused(h *history.History) bool {
	others := othersAsk
	if withoutLock(h) {
		others = race.EventOfOther(history.Write, 1)
	}
	return race.InOrder(h, c1Enters, c1Pauses, others, c1Resumes, c1Leaves)
}

// checkThenPause: Kleppmann's answer to the proposal to check before writing, which article 000 makes as well.
var checkThenPause = variant(gcPause, "check-then-pause", "R19", func(sc *race.Race) {
	sc.Needs = needs{race.Checkable}
	sc.Clients = func(s settings) clients {
		return clients{
			{Work: s.Retry, Tail: s.Retry, Run: func(a *race.ClientRun) {
				lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
				base, err := a.Read(client.FencingToken(lease))
				a.Clock().Sleep(a.Spec.Work)
				if a.Check(lease) && err == nil {
					a.Clock().Sleep(s.Retry / 10)
					_ = a.Write(base, client.FencingToken(lease)) // a refusal is recorded by the resource
					a.Clock().Sleep(a.Spec.Tail)
				}
				a.Record(history.Event{Kind: history.Leave})
				client.Release(a.Client, lease)
			}},
			{Start: s.Retry / 2, Work: s.Retry * 3 / 2, Tail: s.Retry * 5 / 2},
		}
	}
	confirmed := func(e *history.Event) bool { return c1Enters(e) && e.Note == client.Checking } // it still has it
	sc.Script = func(s settings, _ int) script { return inject(confirmed, s.Retry/20, faults.PauseOf(1, s.Pause)) }
	sc.Triggered = race.Sequence(confirmed, c1Pauses, othersAsk, c1Resumes, race.Event(history.Write, 1))
})

// twoPauses was found by exhaustive search, see proofs.txt.
var twoPauses = race.Race{
	ID: "two-pauses", Code: "S2", Group: "search",
	Settings: race.StandardWith(func(s *settings) { s.Pause = race.Seconds(6) }),
	Budget:   race.FixedBudget("pause=2"),
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry * 3 / 2, Tail: s.Retry},
			{Start: s.Retry / 2, Work: s.Retry * 2, Tail: s.Retry * 2},
		}
	},
	Script: func(s settings, _ int) script {
		return script{
			{On: c1Enters, Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: c1Resumes, Do: race.Inject(s.Retry, faults.PauseOf(1, s.Pause))},
		}
	},
	Triggered: race.Sequence(c1Enters, c1Pauses, othersAsk, c1Resumes, c1Pauses, othersAsk, c1Resumes, c1Leaves),
}

// lateAnswer was found by exhaustive search, see proofs.txt. The timeout is injected as
// soon as the process wakes, before it reads the answer.
var lateAnswer = race.Race{
	ID: "late-answer", Code: "S1", Group: "search",
	Settings: race.StandardWith(func(s *settings) { s.Pause = race.Seconds(5) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needs{race.NoSessionTimeout, race.NoPatientDatabase},
	Clients: func(s settings) clients {
		return clients{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.TTL / 2, Tail: s.Retry}}
	},
	Script: func(s settings, _ int) script {
		return script{
			{On: race.CreatesKey(1), Do: race.Inject(0, faults.PauseOf(1, s.Pause))},
			{On: c1Resumes, Do: race.Inject(0, simulator.Choice{Verb: simulator.GiveUp, Client: 1})},
		}
	},
	Triggered: race.Sequence(race.CreatesKey(1), c1Pauses, othersAsk, c1Resumes, race.Event(history.Timeout, 1)),
}

// lateWrite: Kleppmann tells of packets that GitHub's network delayed by 90 s. c1's first write is
// delayed for most of a lease, and c2 is at work when it arrives.
var lateWrite = race.Race{
	ID: "late-write", Code: "R20", Group: "pause",
	Data:     true,
	Settings: race.Standard(),
	Budget:   race.FixedBudget("delay=1"),
	Needs:    needs{race.WriteApart},
	Clients: func(s settings) clients {
		return clients{{Work: s.Retry}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.TTL * 3 / 5}} // until it arrives
	},
	Script: func(s settings, _ int) script {
		writes := func(e *history.Event) bool {
			return e.Kind == history.Send && e.Client == 1 && e.Node == history.Resource
		}
		return script{
			{On: writes}, // the read
			{On: writes, Do: race.Inject(0, faults.DelayOf(1, 0, s.TTL*3/5))},
		}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, wroteLate(accepted)...) ||
			withoutLock(h) &&
				race.InOrder(h, race.Event(history.Delay, 1), c2Writes, c1Released, race.Event(history.Write, 1))
	},
}

// lateWriteFenced is lateWrite with fencing tokens.
var lateWriteFenced = variant(lateWrite, "late-write-fenced", "R20F", func(sc *race.Race) {
	fenced(sc)
	sc.Triggered = race.Sequence(wroteLate(race.AnyEvent(history.Write))...)
})

// lateWriteCAS is lateWrite with a resource that compares versions.
var lateWriteCAS = variant(lateWriteFenced, "late-write-cas", "R20C", func(sc *race.Race) {
	comparing(sc)
	sc.Needs = needs{race.WriteApart}
})

// wroteLate are the events of a write of c1 that arrives after c2's.
func wroteLate(arrives race.Pattern) []race.Pattern {
	return []race.Pattern{
		race.Event(history.Delay, 1), c1Released, c2Enters, c2Writes,
		func(e *history.Event) bool { return arrives(e) && e.Client == 1 },
	}
}

// c2Writes matches a write of c2 that the resource accepts.
func c2Writes(e *history.Event) bool { return accepted(e) && e.Client == 2 }

// accepted matches writes that the resource accepts.
func accepted(e *history.Event) bool { return e.Kind == history.Write && e.OK }
