package race

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// A Trigger does something when an event happens. The triggers of a script fire one after the other: each waits until
// those before it have fired, then for the first event that On matches.
type Trigger struct {
	On Pattern
	Do Action // nil: nothing, so that the next trigger waits for a later event
	// Each makes the trigger independent of the others: it fires at every event that
	// On matches, from the start of the run to its end, or Times times.
	Each  bool
	Times int // 0: any number

	fired int
}

// An Action interferes with a run, given the event that caused it.
type Action func(s *schedule.Stage, e *history.Event)

// Inject injects a fault d of true time after the event.
func Inject(d time.Duration, fault simulator.Choice) Action {
	return func(s *schedule.Stage, _ *history.Event) { s.Inject(d, fault) }
}

// Freeze holds back all requests of a client, those under way and those to come.
func Freeze(client int) Action { return func(s *schedule.Stage, _ *history.Event) { s.Freeze(client) } }

// Thaw ends Freeze d of true time after the event: the requests held back arrive.
func Thaw(client int, d time.Duration) Action {
	return func(s *schedule.Stage, _ *history.Event) { s.After(d, func() { s.Thaw(client) }) }
}

// RunTriggers returns triggers as the function schedule.Conditions.Script. They keep state: each run needs its own.
func RunTriggers(triggers []Trigger) func(s *schedule.Stage, e *history.Event) {
	next := 0
	return func(s *schedule.Stage, e *history.Event) {
		for i := range triggers {
			if t := &triggers[i]; t.Each && (t.Times == 0 || t.fired < t.Times) && t.On(e) {
				t.fire(s, e)
			}
		}
		for next < len(triggers) && triggers[next].Each {
			next++
		}
		if next < len(triggers) && triggers[next].On(e) {
			next++
			triggers[next-1].fire(s, e)
		}
	}
}

func (t *Trigger) fire(s *schedule.Stage, e *history.Event) {
	t.fired++
	if t.Do != nil {
		t.Do(s, e)
	}
}

// FollowRequests observes a client's requests. The script must contain the trigger that it returns; thread then returns
// which of the client's threads has sent the latest request to the server of an event.
func FollowRequests(client int) (t Trigger, thread func(e *history.Event) int) {
	last := map[int]int{}
	note := func(_ *schedule.Stage, e *history.Event) { last[e.Node] = e.Thread }
	thread = func(e *history.Event) int { return last[e.Node] }
	return Trigger{On: Event(history.Send, client), Do: note, Each: true}, thread
}
