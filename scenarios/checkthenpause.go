package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// checkThenPause: Kleppmann's answer to the proposal to check before writing, which
// article 000 makes as well.
var checkThenPause = variant(gcPause, "check-then-pause", "R19", func(sc *race.Scenario) {
	sc.Needs = needsCheck
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
	confirmed := func(e *history.Event) bool { return c1Enters(e) && e.Note == client.Checking } // it still has the lock
	sc.Script = func(s settings, _ int) script { return inject(confirmed, s.Retry/20, faults.PauseOf(1, s.Pause)) }
	sc.Triggered = race.Sequence(confirmed, c1Pauses, othersAsk, c1Resumes, race.Event(history.Write, 1))
})
