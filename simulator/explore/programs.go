package explore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/process"
)

// The lengths of a client's program, in parts of a lease: a client works for less than a lease, and waits for more
// between attempts. A lease of nine seconds makes both, and a third of a lease, whole milliseconds: states recur.

// Work is the time that a client works while it has the lock.
func (m *Model) Work() time.Duration {
	work := cmp.Or(m.Inside, m.TTL*2/5)
	if len(m.Retries) > 0 {
		return work + moment // a client that retries does so at its very end
	}
	return work
}

// Between is the time that a client waits between two attempts.
func (m *Model) Between() time.Duration { return m.TTL + max(m.TTL/10, 2*moment) }

// MaxRetries is the most that RetrySleeps knows.
const MaxRetries = 5

// retryAt is the time at which a client asks that is refused each time, in twentieths of a lease after it asked first,
// and a moment later: as two clients work for two fifths of a lease, the second asks when the first one's work ends,
// and just after a lease has ended. Asking all the time would find nothing else.
var retryAt = [MaxRetries + 1]int{0, 8, 20, 28, 40, 48}

// moment keeps clients from asking at the very instant at which a lease ends, when some servers would still refuse.
const moment = time.Millisecond

// RetrySleeps are the sleeps before n retries, 0 to MaxRetries: a client that was refused asks again 2/5, 1, 7/5, 2 and
// 12/5 leases, and a millisecond, after it asked first.
func RetrySleeps(ttl time.Duration, n int) []time.Duration { return sleepsUntil(ttl, retryAt[:n+1]) }

// sleepsUntil are the sleeps between requests at the given times, in twentieths of a lease.
func sleepsUntil(ttl time.Duration, at []int) (sleeps []time.Duration) {
	for i := 1; i < len(at); i++ {
		sleeps = append(sleeps, ttl*time.Duration(at[i]-at[i-1])/20)
	}
	if sleeps != nil {
		sleeps[0] += moment
	}
	return sleeps
}

// RetrySpan is the time from the first request of an attempt to its last, if the
// lock refuses at once, without the moment; 0 without retries.
func (m *Model) RetrySpan() (d time.Duration) {
	for _, sleep := range m.Retries {
		d += sleep
	}
	return max(d-moment, 0)
}

// contender is the program of a client: it wants the lock so many times, and works when it has it.
func (m *Model) contender(c *simulator.Client) {
	if m.Timing != nil {
		m.anytime(c)
		return
	}
	u := m.user(c)
	for i := c.Stage(); i < m.Attempts; i++ {
		if i > c.Stage() {
			c.RestFor(i, m.Between(), u.memory(c))
		}
		if lease, err := m.try(c, u.lock, u.line); err == nil {
			client.Work(c, lease, client.Section{Work: m.Work(), Uses: m.Uses, Lock: u.lock})
			client.Release(c, lease)
		}
	}
	c.Record(history.Event{Kind: history.Done})
}

// A user is a process that uses the lock: one Lock for its whole life.
type user struct {
	lock  lock.Lock
	line  *client.Line
	fresh string // what the Lock's memory held when it was new, if the program may rest
	asks  bool   // to make it is something that a server or a clock sees
}

// user makes the lock of a process, wherever its program begins.
func (m *Model) user(c *simulator.Client) (u user) {
	used := c.Uses()
	c.Anew(func() { u.lock, u.line = m.lock(c) })
	u.asks = c.Uses() != used
	if c.Stage() < m.Attempts { // it may rest
		u.fresh, _ = memoryOf(c, u.lock)
	}
	return u
}

// memory returns what the process keeps between two attempts.
func (u *user) memory(c *simulator.Client) process.Memory {
	switch now, plain := memoryOf(c, u.lock); {
	case !plain:
		return process.Unreadable
	case now == u.fresh && !u.asks: // it can be made anew
		return process.NoMemory
	default:
		return process.MemoryOf(now)
	}
}

// try is one attempt with its retries.
func (m *Model) try(c *simulator.Client, l lock.Lock, line *client.Line) (lock.Lease, error) {
	lease, err := client.Attempt(c, l, line, m.Uses)
	for _, sleep := range m.Retries {
		if err == nil {
			break
		}
		c.Clock().Sleep(sleep)
		lease, err = client.Try(c, l)
	}
	return lease, err
}

// mostFailed is how many of the probe's attempts may end in an error, longer than any lease apart: a lock may need one
// to mend itself. A further one would be no other: no fault is injected, every server runs, and nothing is under way.
const mostFailed = 3

// probe is the program of the probe, which begins when all other clients have finished or died: it asks for the lock,
// and once more after every lease must have ended. If the lock is refused even then no client can ever have it again;
// nor can any if all attempts end in errors.
func (m *Model) probe(c *simulator.Client) {
	l, _ := m.lock(c)
	lease, err := client.Try(c, l)
	if err == nil {
		LeaveAndRelease(c, lease)
		return
	}
	for failed := 0; failed < mostFailed; failed++ {
		if failed > 0 {
			c.Record(client.Refusal(err)) // an error is no refusal
		}
		c.Clock().Sleep(2*m.Between() + m.ClockJumps)
		c.Record(history.Event{Kind: history.Acquire})
		lease, err = l.Acquire(context.Background(), client.Key)
		switch {
		case errors.Is(err, lock.ErrNotAcquired):
			c.Record(history.Event{Kind: history.Refuse, Claims: true, Note: ProbeRefused})
			return
		case err == nil:
			c.Record(history.Event{Kind: history.Enter})
			LeaveAndRelease(c, lease)
			return
		}
	}
	c.Record(history.Event{Kind: history.Refuse, Note: ProbeFailed})
}

// LeaveAndRelease ends a critical section without work.
func LeaveAndRelease(c *simulator.Client, lease lock.Lease) {
	c.Record(history.Event{Kind: history.Leave})
	client.Release(c, lease)
}

// make is how a client's lock is made.
func (m *Model) make(c *simulator.Client) func(lock.Env) lock.Lock {
	if c.ID() > m.alike() && m.Entry.Writer != nil {
		return m.Entry.Writer
	}
	return m.Entry.New
}

// lock makes a client's lock, and its line, if it has one and clients may wait.
func (m *Model) lock(c *simulator.Client) (l lock.Lock, line *client.Line) {
	env := m.Tokens.In(client.Environment(c, m.TTL, m.Nodes), c)
	l = m.make(c)(env)
	if q, ok := l.(lock.Queuer); ok && m.Uses.Has(client.Wait) {
		line = &client.Line{Queuer: q}
		l = line
	}
	if m.Fenced && !m.Entry.Fences() {
		l = lock.Fence(l, env)
	}
	return l, line
}
