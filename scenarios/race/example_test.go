package race_test

import (
	"fmt"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// A race: the holder crashes one second after it has entered, and another client waits.
func Example() {
	enter, crash := race.Event(history.Enter, 1), race.Event(history.Crash, 1)
	sc := race.Race{
		ID:       "crash",
		Settings: race.Standard(),
		Budget:   race.FixedBudget("crash=1"),
		Clients: func(s race.Settings) []race.ClientSpec {
			return []race.ClientSpec{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}}
		},
		Script: func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{{On: enter, Do: race.Inject(race.Seconds(1), faults.CrashOf(1))}}
		},
		Triggered: func(h *history.History) bool {
			return race.InOrder(h, enter, crash, race.EventOfOther(history.Acquire, 1))
		},
	}
	for _, name := range []string{"setnx", "token"} {
		lock, err := race.Lock(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		o, err := race.Play(lock, sc, sc.Settings)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, o.Triggered, o.Verdicts)
	}
	// Output:
	// setnx true [DEADLOCK]
	// token true [BLOCKED]
}
