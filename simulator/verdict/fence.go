package verdict

import "locklab/simulator/history"

// FENCED: there was an OVERLAP, the resource refused at least one write, and it
// accepted no stale one. It is reported beside OVERLAP and does not excuse it: the
// lock let two in, and only the resource saved the data.
//
// An overlap without any refused write is not FENCED: the clients were lucky. Only
// the end of a run can tell, so Judge adds the finding, with the first refused write
// as evidence. Clients: its writer.
type fence struct {
	refused bool // a write was refused
}

func (f *fence) observe(in *input) {
	if in.event.Kind == history.Write && !in.event.OK {
		f.refused = true
	}
}

// fenced says whether the run is FENCED if it ends now.
func (s *Safety) fenced() bool {
	return s.fence.refused && s.words.has(Overlap) && !s.words.has(StaleWrite)
}

// fencedBy makes the finding of a history that has a refused write.
func fencedBy(h *history.History) Finding {
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Write && !e.OK {
			return Finding{Verdict: Fenced, Clients: []int{e.Client}, From: e.At, To: e.At, Event: i}
		}
	}
	panic("verdict: a fence without a refused write")
}
