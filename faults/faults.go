// Package faults is what goes wrong. Each fault is one file: a small value with a verb of its own that adds choices to
// a world while its budget lasts, and acts on the world through a simulator.FaultContext when one of them is made.
//
// A fault that is not in a run's budget cannot happen in it. That goes for delays beyond the ordinary, too (Pause,
// Delay): without a bound on them every lock with a time to live would fall to an endless sleep, which teaches nothing.
//
// # To add a fault
//
// One file, say migrate.go:
//
//   - the variable Migrate, a simulator.Fault with the name that budgets have, "migrate";
//   - its verb, simulator.FaultVerb plus its place in the list from 0. It stands in saved
//     traces: it never changes, and new faults go to the end;
//   - Choices, every way in which it can strike now. What the budget says after the @ is
//     f.Max, and means here what the fault makes of it;
//   - Inject, which calls f.Record if the fault is more than its effects, and then these.
//
// Its texts in every language, title.fault.migrate and those of its events, in
// reports/text/faults/migrate.txt; reports/text/en/events.txt explains the keys. And one line, at
// the end of All. The contract then wants a search that allows it (scenarios/contract/proofs.txt).
package faults

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/i18n"
)

// All returns every fault, in the order of their verbs.
func All() []*simulator.Fault {
	return []*simulator.Fault{
		Crash,
		Pause,
		LoseReply,
		LoseRequest,
		ClientClock,
		NodeClock,
		Restart,
		Failover,
		Split,
		Hang,
		Delay,
		FailCall,
		Evict,
		Flush,
		Delete,
		ExpireSession,
		PauseThread,
		Return,
		ServerList,
	}
}

// ByName finds a fault. The error names the one that was probably meant.
func ByName(name string) (*simulator.Fault, error) {
	var names []string
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, i18n.Errorf("error.fault", "name", name, "near", i18n.Near(name, names))
}

// choices appends every way in which a fault can be injected: simulator.Fault.Choices.
type choices = func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice

// A target is a client, a thread with its message, a server, or a key. Choice is what strikes it.
type target interface {
	Choice(v simulator.Verb) simulator.Choice
}

// each offers to strike all targets that may be struck, for each of the lengths.
func each[T target](
	v simulator.Verb,
	all func(simulator.FaultContext, func(T) bool),
	may func(T) bool,
	lengths func(simulator.FaultContext, func(time.Duration) bool),
) choices {
	return func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		all(f, func(t T) bool {
			if may(t) {
				c := t.Choice(v)
				lengths(f, func(d time.Duration) bool {
					c.D = d
					buf = append(buf, c)
					return true
				})
			}
			return true
		})
		return buf
	}
}

// once is the length of a fault that has none, most the longest that the budget allows, 0 if it
// names none, and longest is most of faults for which every length would be as good without one.
func once(_ simulator.FaultContext, yield func(time.Duration) bool) { yield(0) }
func most(f simulator.FaultContext, yield func(time.Duration) bool) { yield(f.Max()) }
func longest(f simulator.FaultContext, yield func(time.Duration) bool) {
	if f.Max() > 0 {
		yield(f.Max())
	}
}

// passes reports whether nothing holds up a message, and anyMessage of each that it may be struck.
func passes(m simulator.ThreadTarget) bool   { return !m.Held() }
func anyMessage(simulator.ThreadTarget) bool { return true }
