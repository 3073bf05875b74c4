package verdict

import (
	"time"

	"locklab/simulator/history"
)

// leases are those of the key on each node. They are needed at the end of a run only.
type leases [MaxNodes]lease

// A lease is until when the key exists if no command changes it, and which client prolonged it last.
type lease struct {
	until   time.Duration
	renewer uint8 // who last prolonged this value; 0: it stands as it was made
}

func (ls *leases) observe(in *input) {
	e := in.event
	if e.Kind == history.Return { // the process that prolonged it has died
		for n := range ls {
			if ls[n].renewer == in.client() {
				ls[n].renewer = 0
			}
		}
	}
	if !in.ofKey() {
		return
	}
	switch l := &ls[e.Node-1]; {
	case in.turn.free:
		*l = lease{}
	case in.turn.made:
		*l = lease{until: e.Until}
	case e.Until > l.until:
		*l = lease{e.Until, in.client()}
	default:
		l.until = e.Until
	}
}

// timeless are the nodes on which the key has no time to live.
func (ls *leases) timeless() (s nodes) {
	for n, l := range ls {
		if l.until == history.Forever {
			s |= 1 << n
		}
	}
	return s
}

// prolonged are the nodes on which the key's time to live was last prolonged by a process that still lives.
func (ls *leases) prolonged(r *Reading) (s nodes) {
	for n, l := range ls {
		if l.renewer != 0 && !r.those(dead).Has(l.renewer) {
			s |= 1 << n
		}
	}
	return s
}
