package scenarios

import (
	"slices"
	"time"

	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// Short names for what every race of this package is made of.
type (
	settings = race.Settings
	clients  = []race.ClientSpec
	script   = []race.Trigger
	needs    = []race.Need
)

// Events of clients on their way to the lock and back, and of servers.
var (
	c1Asks     = race.Event(history.Acquire, 1)
	c1Enters   = race.Event(history.Enter, 1)
	c1Refused  = race.Event(history.Refuse, 1)
	c1Leaves   = race.Event(history.Leave, 1)
	c1Releases = race.Event(history.Release, 1)
	c1Released = race.Event(history.Released, 1)
	c1Pauses   = race.Event(history.Pause, 1)
	c1Resumes  = race.Event(history.Resume, 1)
	c1Crashes  = race.Event(history.Crash, 1)
	c2Asks     = race.Event(history.Acquire, 2)
	c2Enters   = race.Event(history.Enter, 2)
	c2Refused  = race.Event(history.Refuse, 2)
	c2Leaves   = race.Event(history.Leave, 2)
	c2Released = race.Event(history.Released, 2)
	c3Asks     = race.Event(history.Acquire, 3)
	c3Enters   = race.Event(history.Enter, 3)
	othersAsk  = race.EventOfOther(history.Acquire, 1) // clients but the first

	failsOver  = race.AnyEvent(history.Failover)
	replicates = race.AnyEvent(history.Replicate)
	splits     = race.AnyEvent(history.Split)
	heals      = race.AnyEvent(history.Heal)
)

// withoutLock reports whether the run is one of clients that have no lock (lock.Guard).
func withoutLock(h *history.History) bool { return slices.Contains(h.Holders, history.NoLock) }

// inject is the script of one fault, d of true time after the first event that matches on.
func inject(on race.Pattern, d time.Duration, fault simulator.Choice) script {
	return script{{On: on, Do: race.Inject(d, fault)}}
}

// but returns clients with a change.
func but(of func(settings) clients, change func(s settings, all clients)) func(settings) clients {
	return func(s settings) clients {
		all := of(s)
		change(s, all)
		return all
	}
}

// injectAs is an action that injects a fault, d of true time after the event, as the event wants it.
func injectAs(d time.Duration, fault func(e *history.Event) simulator.Choice) race.Action {
	return func(st *schedule.Stage, e *history.Event) { st.Inject(d, fault(e)) }
}

// variant returns a race with the clients, faults and numbers of another one, and a change.
func variant(of race.Race, id, number string, change func(sc *race.Race)) race.Race {
	of.ID, of.Code = id, number
	change(&of)
	return of
}
