package race

import (
	"slices"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// A Beat is one thing that a script does: once the beats before it are done, it
// waits for the first event that On names, and then acts.
type Trigger struct {
	On func(e *history.Event) bool
	Do func(s *schedule.Stage, e *history.Event)
	// Each lets the beat act on every event that On names, from the start of
	// the run to its end, beside the others.
	Each bool
}

// direct makes the hand that plays the beats.
func RunTriggers(beats []Trigger) func(s *schedule.Stage, e *history.Event) {
	next := 0
	return func(s *schedule.Stage, e *history.Event) {
		for i := range beats {
			if b := &beats[i]; b.Each && b.On(e) {
				b.Do(s, e)
			}
		}
		for next < len(beats) && beats[next].Each {
			next++
		}
		if next < len(beats) && beats[next].On(e) {
			next++
			beats[next-1].Do(s, e)
		}
	}
}

// strike is a beat's action: after d the fault happens.
func Inject(d time.Duration, c simulator.Choice) func(*schedule.Stage, *history.Event) {
	return func(s *schedule.Stage, _ *history.Event) { s.Inject(d, c) }
}

// kind names the events of one kind of one client.
func Event(k history.Kind, client int) func(*history.Event) bool {
	return func(e *history.Event) bool { return e.Kind == k && e.Client == client }
}

// sends names a client's requests whose command is one of those named.
func Sends(client int, commands ...string) func(*history.Event) bool {
	return request(history.Send, client, commands)
}

// applies names the moments at which a server executes them.
func Applies(client int, commands ...string) func(*history.Event) bool {
	return request(history.Apply, client, commands)
}

// askers follows a client's requests: the beat takes note of them, and thread is
// the one that has asked a server last, which waits for what the server executes.
func FollowRequests(client int) (beat Trigger, thread func(e *history.Event) int) {
	last := map[int]int{}
	note := func(_ *schedule.Stage, e *history.Event) { last[e.Node] = e.Thread }
	return Trigger{On: Event(history.Send, client), Do: note, Each: true}, func(e *history.Event) int { return last[e.Node] }
}

// givenUp names the moments at which a client stops waiting for a message that was
// lost, as k says: its patience ends, or the connection was lost with it.
func GivenUp(k history.Kind, client int) func(*history.Event) bool {
	lost := map[int]bool{}
	return func(e *history.Event) bool {
		if Event(k, client)(e) {
			lost[e.Msg] = true
		}
		return (Event(history.Timeout, client)(e) || Event(history.Broken, client)(e)) && lost[e.Msg]
	}
}

func request(k history.Kind, client int, commands []string) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Kind == k && e.Client == client && len(e.Cmd) > 0 &&
			slices.ContainsFunc(commands, func(c string) bool { return strings.EqualFold(e.Cmd[0], c) })
	}
}

// then says whether events that the conditions name follow one another in this
// order, with others in between.
func InOrder(h *history.History, is ...func(e *history.Event) bool) bool {
	for i := range h.Events {
		if len(is) > 0 && is[0](&h.Events[i]) {
			is = is[1:]
		}
	}
	return len(is) == 0
}

// unless is as then, but the search starts over with every event that broken
// names: what follows one another must do so without it.
func InOrderWithout(h *history.History, broken func(e *history.Event) bool, is ...func(e *history.Event) bool) bool {
	left := is
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case len(left) == 0:
			return true
		case left[0](e):
			left = left[1:]
		case broken(e):
			left = is
		}
	}
	return len(left) == 0
}

// other names the events of one kind of everybody but client.
func EventOfOther(k history.Kind, client int) func(*history.Event) bool {
	return func(e *history.Event) bool { return e.Kind == k && e.Client != client }
}
