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

// program is a client's whole life: the strategy's code in the middle, and
// around it what every user of a lock does. It testifies to nothing but what it
// does itself.
func Program(entry lock.Entry, s Settings, r Client, nodes int, fence bool) func(*simulator.Client) {
	if r.Retry == 0 {
		r.Retry = s.Retry
	}
	return func(c *simulator.Client) {
		env := client.Environment(c, s.TTL, nodes)
		if r.Thread != "" {
			env.Thread = r.Thread
		}
		if len(env.Nodes) > 0 {
			env.Nodes = slices.Concat(env.Nodes[r.First%nodes:], env.Nodes[:r.First%nodes])
		}
		if r.Token != "" {
			env.Tokens = stuck(r.Token)
		}
		a := ClientRun{Client: c, Lock: entry.New(env), Def: r}
		a.Bare = a.Lock
		if q, ok := a.Bare.(lock.Queuer); ok && r.Patience > 0 {
			a.Lock = PatientLock{q, r.Patience}
		}
		if fence && !entry.OnZooKeeper() { // there a lease brings its own token
			a.Lock = lock.Fence(a.Lock, env)
		}
		if r.Play != nil {
			r.Play(&a)
		} else {
			a.Play()
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// stuck is a source of tokens that gives the same one each time.
type stuck string

func (s stuck) Token() string { return string(s) }

// patientLock is one whose every attempt stands in line for so long.
type PatientLock struct {
	lock.Queuer
	Patience time.Duration
}

func (l PatientLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return l.Await(ctx, key, l.Patience)
}

// An actor plays a role.
type ClientRun struct {
	*simulator.Client
	Lock lock.Strategy
	Bare lock.Strategy // the lock without its fencing: what optional powers are looked for on
	Def  Client
}

// play is what roles do that have no other play.
func (a *ClientRun) Play() {
	lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
	client.Work(a.Client, lease, a.Def.Section())
	if !a.Def.Fails {
		_ = client.Release(a.Client, lease) // an error is recorded, and nothing is left to do
	}
}

// once is the play of a job that a timetable starts: refused, it does not ask
// again before the next time.
func (a *ClientRun) Once() {
	lease, err := client.Try(a.Client, a.Lock)
	if err != nil {
		return
	}
	client.Work(a.Client, lease, a.Def.Section())
	client.Release(a.Client, lease)
}

// wary is play, but after Work it looks whether it still has the lock, if the lock
// lets it, and does not write when it is told that it has not.
func (a *ClientRun) Wary() {
	lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
	base, err := a.Read(client.FencingToken(lease))
	a.Clock().Sleep(a.Def.Work)
	if c, ok := lease.(lock.Checker); ok && err == nil {
		err = c.Check(context.Background())
	}
	if err == nil {
		_ = a.Write(base, client.FencingToken(lease)) // a refusal is the resource's to record
	}
	a.Record(history.Event{Kind: history.Leave})
	client.Release(a.Client, lease)
}

// shutDown is what the runtime does with a process that is told to end.
func (a *ClientRun) ShutDown() {
	if c, ok := a.Bare.(lock.Closer); ok {
		_ = c.Close(context.Background()) // there is nobody left to hear of an error
	}
}

// renew asks the lease to be prolonged, and says whether the client goes on: what
// it was told, or true where the lease has no such power and nobody is asked.
func (a *ClientRun) Renew(lease lock.Lease) bool {
	r, ok := lock.As[lock.Renewer](lease)
	return !ok || a.Ask(client.Renewing, r.Renew)
}

// check asks the lease whether it still stands, and says whether the client goes on.
func (a *ClientRun) Check(lease lock.Lease) bool {
	c, ok := lock.As[lock.Checker](lease)
	return !ok || a.Ask(client.Checking, c.Check)
}

// ask is an attempt of one who has the lock to be told that it still has it.
func (a *ClientRun) Ask(what string, power func(context.Context) error) bool {
	a.Record(history.Event{Kind: history.Acquire, Note: what})
	if err := power(context.Background()); err != nil {
		a.Record(history.Event{Kind: history.Refuse, Note: client.Note(err)})
		return false
	}
	a.Record(history.Event{Kind: history.Enter, Note: what})
	return true
}

func (r Client) Section() client.Section {
	return client.Section{Work: r.Work, Tail: r.Tail, Fails: r.Fails}
}
