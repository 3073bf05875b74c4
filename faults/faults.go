// Package faults is what goes wrong. Each fault is one file: a small value with a
// verb of its own that adds choices to a world while its budget lasts, and acts on
// the world through a simulator.FaultContext when one of them is made.
//
// A fault that is not in a run's budget cannot happen in it. That goes for delays
// beyond the ordinary, too (Pause, Delay): without a bound on them every lock with a
// time to live would fall to an endless sleep, and nothing would be learned.
//
// # To add a fault
//
// One file, say migrate.go:
//
//   - the type Migrate, a simulator.Fault with the name that budgets have, "migrate";
//   - its verb, simulator.FaultVerb plus its place in the list from 0. It stands in saved
//     traces: it never changes, and new faults go to the end;
//   - Choices, every way in which it can strike now. What the budget says after the @ is
//     f.Max, and means here what the fault makes of it;
//   - Inject, which calls f.Tell if the fault is more than its effects, and then these;
//   - its texts in every language, title.fault.migrate and those of its events, in the
//     format of package text; reports/text/en/events.txt explains the keys.
//
// And one line: its Entry, at the end of list. The contract then wants a search that
// allows it (scenarios/contract/proofs.txt).
package faults

import (
	"slices"

	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/i18n"
)

// An Entry is a fault with its texts, as text.Add reads them.
type Entry struct {
	simulator.Fault
	Texts string
}

// All is every fault, in the order of their verbs.
func All() []Entry { return slices.Clone(list) }

// The catalogues have the texts of the faults in every program with this package.
var list = withTexts([]Entry{
	{Crash{}, crashTexts},
	{Pause{}, pauseTexts},
	{LoseReply{}, loseReplyTexts},
	{LoseRequest{}, loseRequestTexts},
	{ClientClock{}, clientClockTexts},
	{NodeClock{}, nodeClockTexts},
	{Restart{}, restartTexts},
	{Failover{}, failoverTexts},
	{Split{}, splitTexts},
	{Hang{}, hangTexts},
	{Delay{}, delayTexts},
	{FailCall{}, failCallTexts},
	{Evict{}, evictTexts},
	{Flush{}, flushTexts},
	{Delete{}, deleteTexts},
	{ExpireSession{}, expireSessionTexts},
	{PauseThread{}, pauseThreadTexts},
	{Return{}, returnTexts},
})

func withTexts(list []Entry) []Entry {
	for _, e := range list {
		text.Add("the texts of "+e.Name(), e.Texts)
	}
	return list
}

// ByName finds a fault. The error names the one that was probably meant.
func ByName(name string) (Entry, error) {
	var names []string
	for _, e := range All() {
		if e.Name() == name {
			return e, nil
		}
		names = append(names, e.Name())
	}
	return Entry{}, i18n.Errorf("error.fault", "name", name, "near", i18n.Near(name, names))
}
