package scenarios

import (
	"strings"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// renews is what the renewal scenarios need.
func renews(p race.Profile) race.Reason {
	if !p.Renews {
		return "no-watchdog"
	}
	return ""
}

var lateRenewal = race.Scenario{
	ID:       "late-renewal",
	Race:     "R14",
	Settings: race.StandardWith(func(s *race.Settings) { s.Pause = race.Seconds(6) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    renews,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 3 / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		waits := func(e *history.Event) bool { return e.Kind == history.Sleep && e.Client == 1 && e.Thread > 0 }
		return []race.Trigger{{On: waits, Do: func(st *schedule.Stage, e *history.Event) {
			st.Inject(e.D-s.Retry/50, faults.PauseOf(1, s.Pause))
		}}}
	},
	Triggered: func(h *history.History) bool {
		var resumed time.Duration
		return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Pause, 1), race.EventOfOther(history.Acquire, 1), func(e *history.Event) bool {
			resumed = e.At
			return e.Kind == history.Resume && e.Client == 1
		}, func(e *history.Event) bool { // overdue: it leaves as soon as it can
			return e.Kind == history.Send && e.Client == 1 && e.Thread > 0 && e.At == resumed
		})
	},
}

var failedRenewal = race.Scenario{
	ID:       "failed-renewal",
	Race:     "R15",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("lose-reply=1"),
	Needs:    renews,
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL * 5 / 2}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.Retry}}
	},
	Script: func(s race.Settings, _ int) []race.Trigger {
		var r renewal
		return []race.Trigger{{On: r.applied, Do: func(st *schedule.Stage, _ *history.Event) {
			st.Inject(s.Latency/2, faults.LoseReplyTo(1, r.sent.Thread)) // on its way, also where a replica is waited for
		}}}
	},
	Triggered: func(h *history.History) bool {
		var r renewal
		lost := func(e *history.Event) bool { return e.Kind == history.LoseReply && e.Msg == r.sent.Msg }
		return race.InOrderWithout(h, race.Event(history.Leave, 1), race.Event(history.Enter, 1), r.applied, lost, race.Event(history.Timeout, 1), race.EventOfOther(history.Acquire, 1))
	},
}

// A renewal follows the requests of c1's timers.
type renewal struct {
	sent history.Event // the latest
}

// applied names the moment at which a renewal takes effect. A script that the
// server does not know yet is refused and sent once more, and the refusal is no
// renewal.
func (r *renewal) applied(e *history.Event) bool {
	if e.Kind == history.Send && e.Client == 1 && e.Thread > 0 {
		r.sent = *e
	}
	return e.Kind == history.Apply && e.Client == 1 && e.Msg == r.sent.Msg && !strings.HasPrefix(e.Reply, "(error)")
}

// Told of locks that renew, whose daemon keeps the key of a dead business for ever.
// Two more outcomes follow from the same run: a lock without a time to live stands for
// ever with no daemon at all; and daemon-29, which is told as one of those that hold
// for ever, does not get that far: its second renewal is due when the lease ends,
// so the key goes by itself.
var DeadBusiness = race.Scenario{
	ID:       "dead-business",
	Race:     "R16",
	Settings: race.Standard(),
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{{Work: s.TTL / 10, Fails: true}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, race.Event(history.Enter, 1), func(e *history.Event) bool {
			return e.Kind == history.Leave && e.Client == 1 && e.Note == history.Exception
		}, race.EventOfOther(history.Acquire, 1))
	},
}

var deadProcess = race.Scenario{
	ID:       "dead-process",
	Race:     "R16B",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("crash=1"),
	Needs:    renews,
	Clients:  DeadBusiness.Clients,
	Script: func(s race.Settings, _ int) []race.Trigger {
		return []race.Trigger{{On: race.Event(history.Leave, 1), Do: race.Inject(s.TTL*6/5, faults.CrashOf(1))}}
	},
	Triggered: func(h *history.History) bool {
		return race.InOrder(h, func(e *history.Event) bool {
			return e.Kind == history.Leave && e.Client == 1 && e.Note == history.Exception
		}, race.EventOfOther(history.Acquire, 1), race.Event(history.Crash, 1), race.EventOfOther(history.Acquire, 1))
	},
}
