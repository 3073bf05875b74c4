package verdict

import (
	"time"

	"locklab/simulator/history"
)

// leases are until when the key exists on each node if no command changes it, and
// which client prolonged it last. They are needed at the end of a run only.
type leases struct {
	until   [MaxNodes]time.Duration
	renewer [MaxNodes]uint8 // who last prolonged this value; 0: it stands as it was made
}

func (l *leases) observe(in *input) {
	e := in.event
	if e.Kind == history.Return { // the process that prolonged it has died
		for n, c := range l.renewer {
			if c == in.client() {
				l.renewer[n] = 0
			}
		}
	}
	if !in.ofKey() {
		return
	}
	n := e.Node - 1
	switch {
	case e.Kind == history.Expire || e.After == "":
		l.until[n], l.renewer[n] = 0, 0
		return
	case e.Before != e.After:
		l.renewer[n] = 0
	case e.Until > l.until[n]:
		l.renewer[n] = in.client()
	}
	l.until[n] = e.Until
}

// timeless are the nodes on which the key has no time to live.
func (l *leases) timeless() (s nodes) {
	for n, until := range l.until {
		if until == history.Forever {
			s |= 1 << n
		}
	}
	return s
}

// prolonged are the nodes on which the key's time to live was last prolonged
// by a process that still lives.
func (l *leases) prolonged(r *Reading) (s nodes) {
	for n, c := range l.renewer {
		if c != 0 && !r.those(dead).Has(c) {
			s |= 1 << n
		}
	}
	return s
}
