package faults

import (
	"time"

	"locklab/simulator"
)

const verbNodeClock = simulator.FaultVerb + 5

// NodeClock makes a server's clock jump. Redis expires keys by the wall clock, so a
// jump forward ends leases early and a jump back prolongs them.
type NodeClock struct{}

func (NodeClock) Name() string         { return "node-clock" }
func (NodeClock) Verb() simulator.Verb { return verbNodeClock }

// Choices offers the jumps of FaultContext.Jumps. Where a key ends at the instant to which the
// clock jumps, the jump is offered once more with that key still standing.
func (NodeClock) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= f.Nodes(); n++ {
		for d := range f.Jumps(verbNodeClock) {
			c := NodeClockOf(n, d)
			buf = append(buf, c)
			if f.JumpsToEnd(n, d) {
				c.Thread = simulator.Standing
				buf = append(buf, c)
			}
		}
	}
	return buf
}

func (NodeClock) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.StepNodeClock(c.Node, c.D, c.Thread == simulator.Standing)
}

// NodeClockOf is the choice that moves the clock of server n, from 1, by d.
func NodeClockOf(n int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbNodeClock, Node: int8(n), D: d}
}

const nodeClockTexts = `
[en]
title.fault.node-clock = a server's clock jumps, and with it the end of every lease it keeps
server.clock-step.server = CLOCK {step}
fault.clock-step.server = The clock of {node} jumps by {jump}.
painted.node-clock = CLOCK

[zh]
title.fault.node-clock = 服务器的时钟跳变，它上面所有租约的到期时刻随之改变
server.clock-step.server = 时钟跳变 {step}
fault.clock-step.server = {node} 的时钟跳变 {jump}。
painted.node-clock = 跳变
`
