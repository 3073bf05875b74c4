package scenarios

import (
	"errors"
	"fmt"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

var releaseAgain = race.Scenario{
	ID:       "release-again",
	Race:     "R33",
	Settings: race.StandardWith(func(s *race.Settings) { s.Clients = 3 }),
	Budget:   func(nodes int) string { return fmt.Sprintf("lose-reply=%d", race.Quorum(nodes)) },
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.TTL * 3 / 10, Play: insist},
			{Start: s.Retry / 2, Work: s.TTL / 2, Tail: s.Retry},
			{Start: s.Retry * 4 / 5, Work: s.Retry},
		}
	},
	Script: func(s race.Settings, nodes int) []race.Trigger {
		lost, releasing := 0, false
		follow, thread := race.FollowRequests(1)
		return []race.Trigger{
			follow,
			{On: race.Event(history.Release, 1), Each: true, Do: func(*schedule.Stage, *history.Event) { releasing = true }},
			{Each: true,
				On: func(e *history.Event) bool { return releasing && lost < race.Quorum(nodes) && removes(1)(e) },
				Do: func(st *schedule.Stage, e *history.Event) {
					lost++
					st.Inject(s.Latency/2, faults.LoseReplyTo(1, thread(e)))
				}},
		}
	},
	Triggered: func(h *history.History) bool {
		steps := []func(*history.Event) bool{race.Event(history.Release, 1)}
		unheard := race.GivenUp(history.LoseReply, 1)
		for range race.Quorum(h.Nodes) {
			steps = append(steps, unheard)
		}
		again := []func(*history.Event) bool{race.Event(history.Release, 1), race.Event(history.Leave, 2)}
		return race.InOrder(h, append(steps, again...)...) && race.InOrder(h, append([]func(*history.Event) bool{race.Event(history.LoseReply, 1), race.Event(history.Enter, 2)}, again...)...)
	},
}

// insist plays the role of one who releases until the server has answered.
func insist(a *race.ClientRun) {
	lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
	client.Work(a.Client, lease, a.Def.Section())
	for {
		err := client.Release(a.Client, lease)
		if err == nil || errors.Is(err, lock.ErrNotHeld) {
			return
		}
		a.Clock().Sleep(a.Def.Retry)
	}
}
