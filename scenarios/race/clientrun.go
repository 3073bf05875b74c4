package race

import (
	"context"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// Program returns the code of a client: it creates the lock and does what c.Run says.
// With fence, the lock is wrapped so that each lease has a fencing token.
func Program(entry lock.Entry, s Settings, c ClientSpec, nodes int, fence bool) func(*simulator.Client) {
	if c.Retry == 0 {
		c.Retry = s.Retry
	}
	return func(process *simulator.Client) {
		env := client.Environment(process, s.TTL, nodes)
		if c.Thread != "" {
			env.Thread = c.Thread
		}
		if len(env.Nodes) > 0 {
			env.Nodes = slices.Concat(env.Nodes[c.First%nodes:], env.Nodes[:c.First%nodes])
		}
		if c.Token != "" {
			env.Tokens = constantToken(c.Token)
		}
		a := ClientRun{Client: process, Unwrapped: entry.New(env), Spec: c}
		a.Lock = a.Unwrapped
		if q, ok := a.Unwrapped.(lock.Queuer); ok && c.Patience > 0 {
			a.Lock = PatientLock{q, c.Patience}
		}
		if fence && !entry.Fences() {
			a.Lock = lock.Fence(a.Lock, env)
		}
		switch {
		case c.Run != nil:
			c.Run(&a)
		case c.Once:
			a.TryOnce()
		default:
			a.AcquireWorkRelease()
		}
		process.Record(history.Event{Kind: history.Done})
	}
}

// constantToken is a source of tokens that returns the same one each time.
type constantToken string

func (t constantToken) Token() string { return string(t) }

// PatientLock waits in the lock's queue at each Acquire, for at most Patience.
type PatientLock struct {
	lock.Queuer
	Patience time.Duration
}

func (l PatientLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return l.Await(ctx, key, l.Patience)
}

// A ClientRun is a client in a run: its simulated process with its lock. The methods are
// what clients do in races; they record Acquire, Enter, Leave and Release.
type ClientRun struct {
	*simulator.Client
	Lock      lock.Lock  // to be used: with fencing tokens and patience, where the race wants them
	Unwrapped lock.Lock  // the lock itself, for its optional interfaces such as lock.Closer
	Spec      ClientSpec // how the race describes the client, with Retry filled in
}

// AcquireWorkRelease is the default client: it acquires, works and releases.
func (a *ClientRun) AcquireWorkRelease() {
	lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
	client.Work(a.Client, lease, a.Spec.Section())
	if !a.Spec.Fails {
		_ = client.Release(a.Client, lease) // an error is recorded, and nothing is left to do
	}
}

// TryOnce is AcquireWorkRelease of a scheduled job: after a refusal it does not retry.
func (a *ClientRun) TryOnce() {
	lease, err := client.Try(a.Client, a.Lock)
	if err != nil {
		return
	}
	client.Work(a.Client, lease, a.Spec.Section())
	client.Release(a.Client, lease)
}

// CheckThenWrite is AcquireWorkRelease with a check of the lease before the write, if the
// lease has one: the client does not write if the lock is lost.
func (a *ClientRun) CheckThenWrite() {
	a.Update(func(lease lock.Lease, err error) bool {
		a.Clock().Sleep(a.Spec.Work)
		if c, ok := lease.(lock.Checker); ok && err == nil {
			err = c.Check(context.Background())
		}
		return err == nil
	})
}

// Update acquires the lock, reads the resource, writes if work, which gets the error of that, is true, and releases.
func (a *ClientRun) Update(work func(lease lock.Lease, read error) bool) {
	lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
	base, err := a.Read(client.FencingToken(lease))
	if work(lease, err) {
		_ = a.Write(base, client.FencingToken(lease)) // a refusal is recorded by the resource
	}
	a.Record(history.Event{Kind: history.Leave})
	client.Release(a.Client, lease)
}

// StayForLease is a client that stays inside as long as it may: for a lease by its own
// clock, counted from before the acquire, or until a check of the lease fails.
func (a *ClientRun) StayForLease(ttl time.Duration) {
	for {
		end := a.Clock().Now().Add(ttl)
		lease, err := client.Try(a.Client, a.Lock)
		if err != nil {
			a.Clock().Sleep(a.Spec.Retry)
			continue
		}
		checker, asks := lease.(lock.Checker)
		for a.Clock().Sleep(ttl * 49 / 50); a.Clock().Now().Before(end); a.Clock().Sleep(ttl / 1000) {
			if asks && checker.Check(context.Background()) != nil {
				break
			}
		}
		a.Record(history.Event{Kind: history.Leave})
		client.Release(a.Client, lease)
		return
	}
}

// AcquireRenewRelease is AcquireWorkRelease for work, during which the client renews its lease each time every has
// passed. If a renewal fails it does not write.
func (a *ClientRun) AcquireRenewRelease(work, every time.Duration) {
	a.Update(func(lease lock.Lease, read error) bool {
		holds := true
		for left := work; holds && left > 0; left -= every {
			a.Clock().Sleep(min(left, every))
			holds = left <= every || a.Renew(lease)
		}
		return holds && read == nil
	})
}

// ShutDown is an orderly end of the process: it runs the lock's shutdown hook, if there is one.
func (a *ClientRun) ShutDown() {
	if c, ok := a.Unwrapped.(lock.Closer); ok {
		_ = c.Close(context.Background()) // the process ends, whatever the error
	}
}

// Renew renews the lease and returns whether the client goes on: if that succeeded, or its holder cannot renew it.
func (a *ClientRun) Renew(lease lock.Lease) bool {
	r, ok := lock.As[lock.Renewer](lease)
	return !ok || client.Ask(a.Client, client.Renewing, r.Renew)
}

// Check checks the lease. It returns whether the client goes on: the lock is still held, or the lease has no check.
func (a *ClientRun) Check(lease lock.Lease) bool {
	c, ok := lock.As[lock.Checker](lease)
	return !ok || client.Ask(a.Client, client.Checking, c.Check)
}

// Section returns what the client does while it holds the lock.
func (c ClientSpec) Section() client.Section {
	return client.Section{Work: c.Work, Tail: c.Tail, Fails: c.Fails}
}
