package verdict

import (
	"time"

	"locklab/simulator/history"
)

// STARVED, of one client (of all: starved.go): it was refused again and again, and at least
// ten times another client entered between two of its refusals. Clients: the one that waited.
// It lasts from its first refusal to its Enter, its death, or the end of the run.
//
// No run can show that a client waits without bound. Ten is more than any order of arrival explains: in a queue a
// client is overtaken at most once by each that was there before it, and a run has no more than seven others.
//
// Several entries between two refusals count once, because a client that seldom asks
// has to expect them. A holder that takes its lock again overtakes no other client.
type overtaken struct {
	waiting, passed history.ClientSet // refused and not yet inside; …and another has entered since the last refusal
	rounds          [MaxClients]int
	since           [MaxClients]time.Duration
}

func (o *overtaken) observe(in *input) {
	c := in.client()
	switch in.event.Kind {
	case history.Refuse:
		switch {
		case !o.waiting.Has(c):
			o.waiting.Add(c)
			o.since[c-1] = in.at
		case o.passed.Has(c):
			o.rounds[c-1]++
		}
		o.passed.Remove(c)
	case history.Enter:
		o.close(in, c)
		if !in.was.those(inside).Has(c) {
			o.passed |= o.waiting
		}
	case history.Crash, history.Done:
		o.close(in, c)
	}
}

// close ends the wait of c, and reports it if it was overtaken too often.
func (o *overtaken) close(in *input, c uint8) {
	if o.rounds[c-1] >= starvedAfter {
		in.report(Finding{Verdict: Starved, Clients: []int{int(c)}, From: o.since[c-1], To: in.at})
	}
	o.waiting.Remove(c)
	o.passed.Remove(c)
	o.rounds[c-1], o.since[c-1] = 0, 0
}

func (o *overtaken) finish(in *input) {
	for s := o.waiting; s != 0; s &= s - 1 {
		o.close(in, s.First())
	}
}
