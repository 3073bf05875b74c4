package faults

import (
	"iter"
	"time"

	"locklab/simulator"
)

const verbDelay = simulator.FaultVerb + 10

// Delay holds up one message in the network, on its way to a server or the resource
// or back, while all others pass: Kleppmann (2016) reports packets that were 90 s
// late. The sender may have given up, or released its lock, when its request
// arrives.
type Delay struct{}

func (Delay) Name() string         { return "delay" }
func (Delay) Verb() simulator.Verb { return verbDelay }

// Clientside implements simulator.Clientside.
func (Delay) Clientside() {}

// Choices offers the longest delay that the budget allows; a budget without a
// length offers none, since every length would be as good. With a Timing the message may
// arrive before.
func (Delay) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	d := f.Max()
	if d == 0 {
		return buf
	}
	for _, messages := range []iter.Seq[simulator.ThreadTarget]{f.Requests, f.Replies} {
		for m := range messages {
			if !m.Held() {
				buf = append(buf, DelayOf(m.Client, m.ID, d))
			}
		}
	}
	return buf
}

func (Delay) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Thread(c.Client, c.Thread).Delay(c.D)
}

// DelayOf is the choice that holds up the message that a thread (0 is the main
// one) of client c, from 1, waits for, for d of true time.
func DelayOf(c, thread int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbDelay, Client: int8(c), Thread: int8(thread), D: d}
}
