package faults

import (
	"time"

	"locklab/simulator"
)

const verbHang = simulator.FaultVerb + 9

// Hang stops a server for a while: a slow command, a fork, swapping, SIGSTOP. What
// reaches it meanwhile is executed afterwards, also if the sender has given up by
// then. Its clock goes on, and so do the times to live of its keys. A WAIT that was
// there before is answered when its time is over.
type Hang struct{}

func (Hang) Name() string         { return "hang" }
func (Hang) Verb() simulator.Verb { return verbHang }

// Choices offers the longest that the budget allows; a budget without a length
// offers none, since every length would be as good. With a Timing it may end before, by a
// Resume.
func (Hang) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	d := f.Max()
	for n := range f.Servers {
		if d > 0 && n.Running() {
			buf = append(buf, HangOf(n.ID, d))
		}
	}
	return buf
}

func (Hang) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Server(c.Node).Hang(c.D)
}

// HangOf is the choice that stops server n, from 1, for d of true time.
func HangOf(n int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbHang, Node: int8(n), D: d}
}
