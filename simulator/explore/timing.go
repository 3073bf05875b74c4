package explore

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// A Timing bounds a search of every timing: within it, everything takes any whole number
// of steps. Guards that compare sums of steps with closed bounds cannot tell that from
// every real time (Henzinger, Manna, Pnueli, What Good Are Digital Clocks?, ICALP 1992); how the ends of keys
// count as closed is said in doc.go.
// All are lengths of true time.
type Timing struct {
	Step     time.Duration // above 0; all else is best a multiple of it
	Work     time.Duration // a client is inside for at most so long, if nothing delays it
	Latency  time.Duration // a message is on its way for at most so long
	Lateness time.Duration // a timer fires, or a client that was paused goes on, at most so late
	Timeout  time.Duration // how long a client waits for an answer, above 0
	Idle     time.Duration // a client wants the lock at most so long after its start or its last attempt; simulator.Never: whenever it likes
}

func (m *Model) step() time.Duration {
	if m.Timing == nil {
		return 0
	}
	return m.Timing.Step
}

// anytime is the program of a client that wants the lock when it likes, so many times,
// and works as long as it likes when it has it. It begins with a rest.
func (m *Model) anytime(c *simulator.Client) {
	u := m.user(c)
	for attempt := c.Stage(); attempt <= m.Attempts; attempt++ {
		if attempt > c.Stage() {
			c.Rest(attempt, m.Timing.Idle, u.memory(c))
		}
		if attempt == 0 {
			continue
		}
		if lease, err := client.Attempt(c, u.strategy, u.line, m.Uses); err == nil {
			client.Work(c, lease, client.Section{Work: m.Timing.Work, Idle: true, Uses: m.Uses, Lock: u.strategy})
			client.Release(c, lease)
		}
	}
	c.Record(history.Event{Kind: history.Done})
}
