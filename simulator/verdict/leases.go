package verdict

import (
	"time"

	"locklab/simulator/history"
)

// leases are until when the key exists on each node if no command changes it, and
// which client prolonged it last. They are needed at the end of a run only.
type leases struct {
	until   [MaxNodes]time.Duration
	renewer [MaxNodes]client8 // who last prolonged this value; 0: it stands as it was made
}

func (l *leases) observe(in *input) {
	e := in.event
	if e.Kind == history.Return { // the process that prolonged it has died
		for n := range l.renewer {
			if l.renewer[n] == client8(e.Client) {
				l.renewer[n] = 0
			}
		}
	}
	if e.Kind != history.Change && e.Kind != history.Expire || e.Key != in.run.key {
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
		l.renewer[n] = client8(e.Client)
	}
	l.until[n] = e.Until
}

// timeless are the nodes on which the key has no time to live.
func (l *leases) timeless() nodes {
	var s nodes
	for n := range l.until {
		if l.until[n] == history.Forever {
			s |= 1 << n
		}
	}
	return s
}

// prolonged are the nodes on which the key's time to live was last prolonged
// by a process that still lives.
func (l *leases) prolonged(f *Reading) nodes {
	var s nodes
	for n, r := range l.renewer {
		if r != 0 && !f.dead.Has(r) {
			s |= 1 << n
		}
	}
	return s
}
