package scenarios

import (
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// checkThenPause: Kleppmann's answer to the proposal to check before writing, which
// article 000 makes as well.
var checkThenPause = race.Scenario{
	ID:       "check-then-pause",
	Race:     "R19",
	Settings: gcPause.Settings,
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needsCheck,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
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
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: confirmed(client.Checking), Do: race.Inject(s.Retry/20, faults.PauseOf(1, s.Pause))}}
	},
	Triggered: race.Sequence(
		confirmed(client.Checking), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1),
		race.Event(history.Resume, 1), race.Event(history.Write, 1)),
}

// confirmed matches the answer by which c1 still has the lock.
func confirmed(what string) race.Pattern {
	return func(e *history.Event) bool {
		return e.Kind == history.Enter && e.Client == 1 && e.Note == what
	}
}
