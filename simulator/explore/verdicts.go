package explore

import (
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Words are the verdicts that a search looks for, in their order. ORPHAN counts when it refused another client.
// DEADLOCK is what the probe reports. STARVED means that every attempt of every client was refused without cause,
// although no fault was injected: a bounded search has no further rounds. DEADLOCK is also a client that waits for its
// turn when nothing is left to happen.
func Words() []verdict.Word { return Scope{}.Words() }

// lookedFor are the verdicts that any search looks for; the last two only within a bound.
var lookedFor = verdict.SetOf(verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie,
	verdict.Orphan, verdict.Deadlock, verdict.Starved, verdict.Slow, verdict.Noisy)

// Words are those of [Words], and SLOW and NOISY if their bounds are given.
func (s Scope) Words() []verdict.Word {
	return slices.DeleteFunc(lookedFor.Words(), func(w verdict.Word) bool {
		return w == verdict.Slow && s.Slow == 0 || w == verdict.Noisy && s.Noisy == 0
	})
}

// Verdicts are those of Words that a search finds in a run of m, in their order.
func (m *Model) Verdicts(h *history.History, choices []simulator.Choice) (words []verdict.Word) {
	var judges verdict.Safety
	var found verdict.Set
	inVain := true
	c := verdict.CaseOf(h)
	stuck := m.Waiting(h) != nil
	if stuck {
		found.Add(verdict.Deadlock)
	}
	for i := range h.Events {
		if stuck && h.Events[i].Client > m.Clients && judges.Unanswered() {
			found.Add(verdict.Slow)
		}
		found |= observe(&judges, &c, m.Clients+1, i, &h.Events[i])
		if h.Events[i].Client <= m.Clients { // not the probe
			inVain = judges.InVain()
		}
	}
	judges.Pass(&c, len(h.Events)-1, h.End, nil)
	found |= judges.Found()
	if inVain && m.allRefused(h) && simulator.FaultsIn(choices) == 0 {
		found.Add(verdict.Starved)
	}
	return found.Words()
}

// Waiting are the clients that were not done when the probe began: it begins then only if they wait without end.
func (m *Model) Waiting(h *history.History) (clients []int) {
	for i := range h.Events {
		if h.Events[i].Client > m.Clients {
			return m.unended(h.Events[:i])
		}
	}
	return nil
}

// unended are the clients that have not come to their end.
func (m *Model) unended(events []history.Event) (clients []int) {
	for c := range m.Clients {
		ended := false
		for i := range events {
			switch e := &events[i]; {
			case e.Client != c+1:
			case e.Kind == history.Done || e.Kind == history.Crash:
				ended = true
			case e.Kind == history.Return:
				ended = false
			}
		}
		if !ended {
			clients = append(clients, c+1)
		}
	}
	return clients
}

// allRefused reports whether every client came to its end and none was ever given the lock.
func (m *Model) allRefused(h *history.History) bool {
	done := 0
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Client > m.Clients: // the probe
		case e.Kind == history.Enter:
			return false
		case e.Kind == history.Done:
			done++
		}
	}
	return done == m.Clients
}

// observe tells the judges one event, and says what a search finds besides what
// they remember: a refusal by an orphan, and the report of the probe, or that its asking keeps the lock.
func observe(judges *verdict.Safety, c *verdict.Case, probe, i int, e *history.Event) (found verdict.Set) {
	if judges.RefusedByOrphan(e) {
		found.Add(verdict.Orphan)
	}
	if e.Client == probe && ReportsDeadlock(e) || judges.Reading().KeptByAsking(c, e) {
		found.Add(verdict.Deadlock)
	}
	judges.Observe(c, i, e, nil)
	return found
}
