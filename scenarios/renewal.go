package scenarios

import (
	"strings"
	"time"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// lateRenewal: article 004 renews a lease of 30 s after 29 s, for 20 s. The pause begins just before the first is due.
var lateRenewal = race.Race{
	ID: "late-renewal", Code: "R14", Group: "renewal",
	Settings: race.StandardWith(func(s *settings) { s.Pause = race.Seconds(6) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needs{race.Renewals},
	Clients:  func(s settings) clients { return clients{{Work: s.TTL * 3 / 2}, {Start: s.Retry / 2, Work: s.Retry}} },
	Script: func(s settings, _ int) script {
		waits := func(e *history.Event) bool { return e.Kind == history.Sleep && e.Client == 1 && e.Thread > 0 }
		return script{{On: waits, Do: func(st *schedule.Stage, e *history.Event) {
			st.Inject(e.D-s.Retry/50, faults.PauseOf(1, s.Pause))
		}}}
	},
	Triggered: func(h *history.History) bool {
		var resumed time.Duration
		resumes := func(e *history.Event) bool {
			resumed = e.At
			return c1Resumes(e)
		}
		overdue := func(e *history.Event) bool { return race.SendsBeside(1)(e) && e.At == resumed }
		return race.InOrder(h, c1Enters, c1Pauses, othersAsk, resumes, overdue)
	},
}

// failedRenewal: Redisson 3.12.5, which article 003 reads, logs a failed renewal and does not try again.
var failedRenewal = race.Race{
	ID: "failed-renewal", Code: "R15", Group: "renewal",
	Settings: race.Standard(),
	Budget:   race.FixedBudget("lose-reply=1"),
	Needs:    needs{race.Renewals},
	Clients: func(s settings) clients {
		return clients{{Work: s.TTL * 5 / 2}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.Retry}}
	},
	Script: func(s settings, _ int) script {
		var r renewal
		return script{{On: r.applied, Do: func(st *schedule.Stage, _ *history.Event) {
			st.Inject(s.Latency/2, faults.LoseReplyTo(1, r.sent.Thread)) // on its way, also if a replica is waited for
		}}}
	},
	Triggered: func(h *history.History) bool {
		var r renewal
		lost := func(e *history.Event) bool { return e.Kind == history.LoseReply && e.Msg == r.sent.Msg }
		unanswered := func(e *history.Event) bool {
			return race.Event(history.Timeout, 1)(e) || race.Event(history.Broken, 1)(e)
		}
		return race.InOrderWithout(h, c1Leaves, c1Enters, r.applied, lost, unanswered, othersAsk)
	},
}

// A renewal follows the requests of c1's timers.
type renewal struct {
	sent history.Event // the latest
}

// applied matches the moment at which a renewal takes effect. A script that the server
// does not know yet is refused and sent again; the refusal is no renewal.
func (r *renewal) applied(e *history.Event) bool {
	if e.Kind == history.Send && e.Client == 1 && e.Thread > 0 {
		r.sent = *e
	}
	return e.Kind == history.Apply && e.Client == 1 && e.Msg == r.sent.Msg && !strings.HasPrefix(e.Reply, "(error)")
}

// mainSends matches requests that c1's main thread sends.
func mainSends(e *history.Event) bool {
	return e.Kind == history.Send && e.Client == 1 && e.Thread == 0
}

// renewalInFlight: Redisson issue 7272. All of c1's renewals are frozen; what its main thread sends goes through.
var renewalInFlight = race.Race{
	ID: "renewal-in-flight", Code: "R17", Group: "renewal",
	Settings: race.Standard(),
	Needs:    needs{race.Renewals},
	Clients: func(s settings) clients {
		return clients{{Work: s.TTL*49/50 - s.Retry/100}, {Start: s.Retry / 2, Work: s.Retry, Tail: s.Retry}}
	},
	Script: func(s settings, _ int) script {
		held := false
		return script{
			{Each: true, On: mainSends, Do: func(st *schedule.Stage, _ *history.Event) {
				if held {
					st.Inject(s.Latency, simulator.Choice{Verb: simulator.Arrive, Client: 1})
				}
			}},
			{On: race.SendsBeside(1), Do: func(st *schedule.Stage, _ *history.Event) { st.Freeze(1); held = true }},
			{On: c2Enters, Do: func(st *schedule.Stage, _ *history.Event) {
				st.After(0, func() { st.Thaw(1); held = false })
			}},
		}
	},
	Triggered: func(h *history.History) bool {
		sent := 0
		sends := func(e *history.Event) bool {
			sent = e.Msg
			return race.SendsBeside(1)(e)
		}
		arrives := func(e *history.Event) bool { return e.Kind == history.Apply && e.Msg == sent }
		return race.InOrderWithout(h, c2Leaves, sends, c1Released, c2Enters, arrives)
	},
}

// Races of a renewal that goes on after its lease has ended and hits another's lease. What
// a daemon that is never stopped does to its own key is dead-business.

// zombieDaemon: article 001's renewing thread has neither a check of the owner nor an end.
var zombieDaemon = race.Race{
	ID: "zombie-daemon", Code: "R14C", Group: "renewal",
	Settings: race.StandardWith(func(s *settings) { s.Clients, s.Pause = 3, race.Seconds(10) }),
	Budget:   race.FixedBudget("pause=1"),
	Needs:    needs{race.Renewals},
	// c1's business fails, c2 is inside when c1's daemon wakes, and c3 waits.
	Clients: func(s settings) clients {
		return clients{
			{Work: s.TTL / 10, Fails: true},
			{Start: s.TTL + s.Retry/2, Work: s.TTL * 19 / 20},
			{Start: s.TTL + s.Retry*5/2, Work: s.Retry},
		}
	},
	Script:    func(s settings, _ int) script { return inject(race.Throws(1), s.Retry, faults.PauseOf(1, s.Pause)) },
	Triggered: race.SequenceWithout(c2Leaves, race.Throws(1), c1Pauses, c2Enters, c1Resumes, race.SendsBeside(1)),
}

// zombieKeeps is zombieDaemon with a second client that crashes.
var zombieKeeps = variant(zombieDaemon, "zombie-keeps", "R14D", func(sc *race.Race) {
	sc.Budget, sc.Needs = race.FixedBudget("pause=1,crash=1"), needs{race.Renewals, race.LeftBehind}
	sc.Script = func(s settings, nodes int) script {
		return append(zombieDaemon.Script(s, nodes), inject(c2Enters, s.Retry, faults.CrashOf(2))...)
	}
	sc.Triggered = race.SequenceWithout(c2Leaves, race.Throws(1), c1Pauses, c2Enters, race.Event(history.Crash, 2),
		c1Resumes, race.SendsBeside(1), c3Asks)
})
