package faults

import (
	"time"

	"locklab/simulator"
)

// Hang has a server stand still: a slow command, a fork, swapping, SIGSTOP. What
// reaches it meanwhile is executed afterwards, also if the sender has given up by
// then. Its clock goes on, and with it the leases that it keeps. A WAIT that was
// there before is answered when its time is over.
type Hang struct{}

func (Hang) Name() string         { return "hang" }
func (Hang) Verb() simulator.Verb { return verbHang }

// Strikes offers the longest that the budget allows; a budget without a length
// offers none, since every length would be as good.
func (Hang) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	d := m.Max(verbHang)
	for n := 1; n <= m.Nodes() && d > 0; n++ {
		if !m.World().Down(n) && !m.World().Hung(n) {
			buf = append(buf, HangOf(n, d))
		}
	}
	return buf
}

func (Hang) Inject(m simulator.FaultContext, c simulator.Choice) string { return m.Hang(c.Node, c.D) }

// HangOf is the choice that stops server n, from 1, for d of true time.
func HangOf(n int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbHang, Node: int8(n), D: d}
}
