package simulator

import (
	"errors"

	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Tables are the tables of a simulator.
type Tables struct{ s *Simulator }

// Tables returns the simulator's tables.
func (s *Simulator) Tables() Tables { return Tables{s} }

// errUnknown is a number in what was read from a file that no table has.
var errUnknown = errors.New("simulator: a saved number names nothing")

func (ts Tables) hasOp(o *process.Op) bool {
	request := o.Kind == process.Request
	return o.Kind <= process.Listed && (!request || o.Node >= 1 && int(o.Node) <= len(ts.s.config.Nodes) && ts.s.clients.words.Requests.Has(o.Arg))
}

// CheckClient reports whether a part of client c, from 1, that was read from a file names
// only what there is.
func (ts Tables) CheckClient(c int, part *ClientPart) error {
	p := ts.s.clients.procs[c-1]
	if int(part.s.At) >= p.Len() {
		return errUnknown
	}
	for t := range part.s.Threads {
		th, o := &part.s.Threads[t], &p.At(part.s.At).Ops[t]
		answered := th.Phase == node.Answered && o.Kind == process.Request && th.Reply != node.LostConn
		if th.Phase > node.Unsent || answered && !ts.s.clients.words.Answers.Has(th.Reply) {
			return errUnknown
		}
	}
	return nil
}

// CheckRest is CheckClient for what belongs to no client and no server.
func (ts Tables) CheckRest(part *RestPart) error {
	if !ts.s.orphans.Has(part.orphans) {
		return errUnknown
	}
	for i, f := range ts.s.config.Faults {
		if int(part.budget[i]) > f.Times {
			return errUnknown
		}
	}
	return nil
}
