package scenarios

import (
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// lateRelease: redis-py before 3.0 and Spring's RedisLockRegistry until 2023 had this
// race. The requests of c1 are frozen from the one that deletes on.
var lateRelease = race.Scenario{
	ID:       "late-release",
	Race:     "R04",
	Settings: race.StandardWith(func(s *settings) { s.Clients, s.Timeout = 3, race.Seconds(20) }),
	Needs:    needs("release-without-check", func(p race.Profile) bool { return p.ChecksOwner }),
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL*19/20 - s.Retry/100},
			{Start: s.Retry / 2, Work: s.TTL / 5, Tail: s.TTL / 5},
			{Start: s.TTL + s.Retry*13/20, Work: s.Retry},
		}
	},
	Script: func(s settings, _ int) script {
		return script{{On: c1Releases}, {On: sendsDelete, Do: race.Freeze(1)}, {On: c2Enters, Do: race.Thaw(1, 0)}}
	},
	Triggered: race.Sequence(c1Releases, c2Enters, func(e *history.Event) bool {
		return e.Kind == history.Apply && e.Client == 1
	}),
}

// sendsDelete matches the request of c1 that may delete. In a release that checks first,
// it is the one after the check.
func sendsDelete(e *history.Event) bool {
	return e.Kind == history.Send && e.Client == 1 && e.Node != history.Resource && !race.Sends(1, "WATCH", "GET")(e)
}
