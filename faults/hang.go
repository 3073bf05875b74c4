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
	d := f.Max(verbHang)
	for n := 1; n <= f.Nodes() && d > 0; n++ {
		if !f.World().Down(n) && !f.World().Hung(n) {
			buf = append(buf, HangOf(n, d))
		}
	}
	return buf
}

func (Hang) Inject(f simulator.FaultContext, c simulator.Choice) string { return f.Hang(c.Node, c.D) }

// HangOf is the choice that stops server n, from 1, for d of true time.
func HangOf(n int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbHang, Node: int8(n), D: d}
}

const hangTexts = `
[en]
title.fault.hang = a server stands still: what reaches it meanwhile is executed afterwards
server.hang = HANGS {span}
server.hang.open = HANGS
fault.hang = {node} stands still for {time}; what reaches it waits.
fault.hang.open = {node} stands still from now on; what reaches it waits.

[zh]
title.fault.hang = 服务器卡住：其间到达的命令之后才执行
server.hang = 停顿 {span}
server.hang.open = 停顿
fault.hang = {node} 停顿 {time}，到达的请求都在排队。
fault.hang.open = {node} 从此刻起停顿，到达的请求都在排队。
`
