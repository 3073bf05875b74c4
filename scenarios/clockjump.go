package scenarios

import (
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// clockJump: Kleppmann's first objection to Redlock.
var clockJump = race.Scenario{
	ID:       "clock-jump",
	Race:     "R25",
	Settings: race.StandardWith(func(s *settings) { s.Jump = race.Seconds(11) }),
	Budget:   func(nodes int) string { return "node-clock=1,client-clock=1" + loseBeyondMajorityBudget(nodes) },
	Clients:  holderAndRival,
	Script: func(s settings, nodes int) script {
		jump := func(st *schedule.Stage, _ *history.Event) {
			st.Inject(time.Second, faults.NodeClockOf(race.Quorum(nodes), s.Jump))
			st.Inject(time.Second, faults.ClientClockOf(2, s.Jump))
		}
		return append(loseBeyondMajority(nodes), race.Trigger{On: c1Enters, Do: jump})
	},
	Triggered: func(h *history.History) bool {
		server := func(e *history.Event) bool { return e.Kind == history.ClockStep && e.Node > 0 && e.D > h.TTL }
		client := func(e *history.Event) bool { return e.Kind == history.ClockStep && e.Client == 2 && e.D > h.TTL }
		return race.InOrder(h, c1Enters, server, client, race.OthersSend(1), c1Leaves)
	},
}
