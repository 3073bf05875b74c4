package faults

import "locklab/simulator"

// Restart crashes a server and brings it back at once, empty: it kept its data
// in memory only. Whoever waited for its answer sees the connection break.
type Restart struct{}

func (Restart) Name() string         { return "restart" }
func (Restart) Verb() simulator.Verb { return verbRestart }

func (Restart) Strikes(m simulator.Moment, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= m.Nodes(); n++ {
		buf = append(buf, simulator.Choice{Verb: verbRestart, Node: int8(n)})
	}
	return buf
}

func (Restart) Strike(m simulator.Moment, c simulator.Choice) string { return m.Wipe(c.Node) }

// RestartOf is the choice that restarts server n, from 1.
func RestartOf(n int) simulator.Choice { return simulator.Choice{Verb: verbRestart, Node: int8(n)} }
