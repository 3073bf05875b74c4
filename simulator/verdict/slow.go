package verdict

import "locklab/simulator/history"

// SLOW, only where history.History.Slow is above 0: a client has asked for the lock and has had no answer for longer
// than that. Clients: that one. It lasts from the Acquire to the answer, the client's death or the end of the run.
//
// Rules:
//
//   - Exactly the bound is not longer. The time is true time, whatever the client's clock shows.
//   - Whatever it waits for counts: a server that is hung, a reply that is lost, its own sleeps, and
//     a holder, too. Who lets clients wait for their turn gives a bound that allows for it.
//   - A pause of the process is not the lock's doing: the time counts anew when it ends. (That of one
//     thread counts: another one could have given the attempt up.)
//   - To renew or check (an Acquire with a Note) is no attempt. The probe of a search is not judged.
//
// In a search an attempt is SLOW once the time has passed, and if no answer can come because nothing is left to happen.
func slow(in *input) {
	if in.run.Slow == 0 {
		return
	}
	tooSlow(in)
	switch e, me := in.event, in.me(); {
	case in.run.begins(e):
		me.ask(in)
	case ends(e.Kind):
		me.unset(unanswered | paused)
		me.until = 0
	case e.Kind == history.Pause && me.is(unanswered):
		me.turn(unanswered, paused)
		me.until = 0
	case e.Kind == history.Resume && me.is(paused):
		me.unset(paused)
		me.ask(in)
	}
}

func (me *client) ask(in *input) {
	me.set(unanswered)
	me.until = in.at + in.run.Slow
}

// tooSlow reports the attempts that have lasted too long at in.at, each once.
func tooSlow(in *input) {
	for c := range in.reading.clients {
		if me := &in.reading.clients[c]; me.is(unanswered) && me.until < in.at {
			in.report(Finding{Verdict: Slow, Clients: []int{c + 1}, From: me.until - in.run.Slow, To: in.at})
			me.unset(unanswered)
			me.until = 0
		}
	}
}

// begins reports whether e begins an attempt of a client that is judged by its length and its requests.
func (c *Case) begins(e *history.Event) bool {
	return e.Kind == history.Acquire && e.Note == "" && e.Client != c.Probe
}

// ends reports whether an attempt of a client ends by an event of kind k.
func ends(k history.EventKind) bool {
	return k == history.Enter || k == history.Refuse || k == history.Crash || k == history.Done
}
