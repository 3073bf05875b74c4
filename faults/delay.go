package faults

import (
	"time"

	"locklab/simulator"
)

// Delay holds one message up in the network, on its way to a server or the
// resource or back, while all others pass: Kleppmann (2016) tells of packets that
// were 90 s late. The sender may have given up, or given its lock back, when its
// request arrives.
type Delay struct{}

func (Delay) Name() string         { return "delay" }
func (Delay) Verb() simulator.Verb { return verbDelay }

// Strikes offers the longest delay that the budget allows; a budget without a
// length offers none, since every length would be as good.
func (Delay) Choices(m simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	d := m.Max(verbDelay)
	if d == 0 {
		return buf
	}
	hold := func(c simulator.Choice) {
		if !m.Held(c.Client, c.Thread) {
			buf = append(buf, DelayOf(int(c.Client), int(c.Thread), d))
		}
	}
	m.Requests(hold)
	m.Replies(hold)
	return buf
}

func (Delay) Inject(m simulator.FaultContext, c simulator.Choice) string {
	return m.Delay(c.Client, c.Thread, c.D)
}

// DelayOf is the choice that holds up the message that a thread (0 is the main
// one) of client c, from 1, waits for, for d of true time.
func DelayOf(c, thread int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbDelay, Client: int8(c), Thread: int8(thread), D: d}
}
