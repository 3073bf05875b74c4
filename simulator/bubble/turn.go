package bubble

import "locklab/simulator/process"

// A Turn is that of the one execution that is alive; see Host.Turn. Its goroutines have ended, or are such that nothing can wake, before
// the next one begins: they do not meet what that puts into the variables of packages.
type Turn struct{ of *execution }

// take gives the turn to an execution that begins, and ends the one that had it.
func (t *Turn) take(x *execution) {
	if t == nil {
		return
	}
	if t.of != nil {
		t.of.Stop()
	}
	t.of = x
}

// takingTurns is x, if need be as one that can be ended in between.
func (h *Host) takingTurns(x *execution) process.Execution {
	if h.Turn == nil {
		return x
	}
	return &interrupted{x}
}

// interrupted is an execution that goes on in another one when it has lost its turn.
type interrupted struct{ *execution }

// Observe implements process.Execution.
func (i *interrupted) Observe(s process.TimedObservation, known *process.Entry) (process.Entry, error) {
	if x := i.execution; x.lost {
		again, err := x.another(x.extra)
		if err != nil {
			return process.Entry{}, err
		}
		again.steps, again.timer, again.ops = x.steps, x.timer, x.ops
		i.execution = again
	}
	return i.execution.Observe(s, known)
}
