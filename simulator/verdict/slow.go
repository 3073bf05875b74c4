package verdict

import (
	"time"

	"locklab/simulator/history"
)

// SLOW, only where history.History.Slow is above 0: a client has asked for the lock and has had no
// answer for longer than that. Clients: that one. It lasts from the Acquire to the answer, or to the death
// of the client or the end of the run.
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
// In a search an attempt is SLOW as soon as the time has passed, and also if no answer can ever come
// because nothing is left to happen.
type slow struct {
	asking history.ClientSet
	paused history.ClientSet         // while they were asking
	until  [MaxClients]time.Duration // of those that are asking: the true time up to which it is not SLOW
}

func (s *slow) observe(in *input) {
	if in.run.slow == 0 {
		return
	}
	s.pass(in)
	c := client8(in.event.Client)
	switch {
	case in.run.begins(in.event):
		s.ask(in, c)
	case ends(in.event.Kind):
		s.stop(c)
		s.paused.Remove(c)
	case in.event.Kind == history.Pause && s.asking.Has(c):
		s.stop(c)
		s.paused.Add(c)
	case in.event.Kind == history.Resume && s.paused.Has(c):
		s.paused.Remove(c)
		s.ask(in, c)
	}
}

func (s *slow) ask(in *input, c client8) {
	s.asking.Add(c)
	s.until[c-1] = in.at + in.run.slow
}

func (s *slow) stop(c client8) {
	s.asking.Remove(c)
	s.until[c-1] = 0
}

// pass reports the attempts that have lasted too long at in.at, each once.
func (s *slow) pass(in *input) {
	for asking := s.asking; asking != 0; asking &= asking - 1 {
		if c := asking.First(); s.until[c-1] < in.at {
			in.report(Finding{Verdict: Slow, Clients: []int{int(c)}, From: s.until[c-1] - in.run.slow, To: in.at})
			s.stop(c)
		}
	}
}

// rebase makes now the zero of times.
func (s *slow) rebase(now time.Duration) {
	for asking := s.asking; asking != 0; asking &= asking - 1 {
		s.until[asking.First()-1] -= now
	}
}

func (s *slow) rename(to *history.Names) {
	s.asking, s.paused = s.asking.Renamed(to), s.paused.Renamed(to)
	for c, until := range s.until { // of a copy
		s.until[to[c+1]-1] = until
	}
}

// begins reports whether e begins an attempt of a client that is judged by its length and its requests.
func (c *Case) begins(e *history.Event) bool {
	return e.Kind == history.Acquire && e.Note == "" && e.Client != c.probe
}

// ends reports whether an attempt of a client ends by an event of kind k.
func ends(k history.EventKind) bool {
	return k == history.Enter || k == history.Refuse || k == history.Crash || k == history.Done
}
