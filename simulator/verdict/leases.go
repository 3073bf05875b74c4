package verdict

import (
	"time"

	"locklab/simulator/history"
)

// Leases are how long the key will stand on each node if nobody touches it, and
// who touched it last to that end. Only the end of a run asks.
type leases struct {
	until   [MaxNodes]time.Duration
	renewer [MaxNodes]client8 // who last prolonged this value; 0: it stands as it was made
}

func (l *leases) observe(h *hearing) {
	e := h.e
	if e.Kind != history.Change && e.Kind != history.Expire || e.Key != h.c.key {
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
func (l *leases) prolonged(f *facts) nodes {
	var s nodes
	for n, r := range l.renewer {
		if r != 0 && !f.dead.has(r) {
			s |= 1 << n
		}
	}
	return s
}
