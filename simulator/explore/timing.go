package explore

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// Durations bound a search of every timing: within it, everything takes any whole number
// of steps. Guards that compare sums of steps with closed bounds cannot tell that from
// every real time (Henzinger, Manna, Pnueli, What Good Are Digital Clocks?, ICALP 1992); how the ends of keys
// count as closed is said in doc.go.
// All are lengths of true time.
type Durations struct {
	simulator.Timing // Step above 0; all else is best a multiple of it

	Work    time.Duration // a client is inside for at most so long, if nothing delays it
	Timeout time.Duration // how long a client waits for an answer, above 0
	// Idle is the longest time from a client's start or last attempt until it wants the lock;
	// simulator.Never: whenever it likes.
	Idle time.Duration
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
