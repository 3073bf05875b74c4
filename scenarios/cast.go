package scenarios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/simulator"
	"locklab/simulator/history"
)

// key is what everybody locks.
const key = "lock"

// program is a client's whole life: the strategy's code in the middle, and
// around it what every user of a lock does. It testifies to nothing but what it
// does itself.
func program(entry algorithms.Entry, s Settings, r Role, nodes int, fence bool) func(*simulator.Client) {
	if r.Retry == 0 {
		r.Retry = s.Retry
	}
	return func(c *simulator.Client) {
		env := environment(c, s.TTL, nodes)
		if r.Thread != "" {
			env.Thread = r.Thread
		}
		if len(env.Nodes) > 0 {
			env.Nodes = slices.Concat(env.Nodes[r.First%nodes:], env.Nodes[:r.First%nodes])
		}
		if r.Token != "" {
			env.Tokens = stuck(r.Token)
		}
		a := actor{Client: c, lock: entry.New(env), r: r}
		a.bare = a.lock
		if fence && !onZooKeeper(entry) { // there a lease brings its own token
			a.lock = algorithms.Fence(a.lock, env)
		}
		if r.Play != nil {
			r.Play(&a)
		} else {
			a.play()
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// stuck is a source of tokens that gives the same one each time.
type stuck string

func (s stuck) Token() string { return string(s) }

// An actor plays a role.
type actor struct {
	*simulator.Client
	lock algorithms.Strategy
	bare algorithms.Strategy // the lock without its fencing: what optional powers are looked for on
	r    Role
}

// play is what roles do that have no other play.
func (a *actor) play() {
	lease := acquire(a.Client, a.lock, a.r)
	work(a.Client, lease, a.r)
	if !a.r.Dies {
		_ = release(a.Client, lease) // an error is recorded, and nothing is left to do
	}
}

// once is the play of a job that a timetable starts: refused, it does not ask
// again before the next time.
func (a *actor) once() {
	lease, err := try(a.Client, a.lock)
	if err != nil {
		return
	}
	work(a.Client, lease, a.r)
	release(a.Client, lease)
}

// await is play, but it waits for its turn as the lock itself does it, for as long as
// it takes.
func (a *actor) await(patience time.Duration) {
	q, ok := a.bare.(algorithms.Queuer)
	if !ok {
		a.play()
		return
	}
	a.Record(history.Event{Kind: history.Acquire})
	lease, err := q.Await(context.Background(), key, patience)
	if err != nil {
		a.Record(history.Event{Kind: history.Refuse, Note: note(err)})
		return
	}
	a.Record(history.Event{Kind: history.Enter, Token: token(lease)})
	work(a.Client, lease, a.r)
	_ = release(a.Client, lease) // an error is recorded, and nothing is left to do
}

// wary is play, but after Work it looks whether it still has the lock, if the lock
// lets it, and does not write when it is told that it has not.
func (a *actor) wary() {
	lease := acquire(a.Client, a.lock, a.r)
	base, err := a.Read(token(lease))
	a.Clock().Sleep(a.r.Work)
	if c, ok := lease.(algorithms.Checker); ok && err == nil {
		err = c.Check(context.Background())
	}
	if err == nil {
		_ = a.Write(base, token(lease)) // a refusal is the resource's to record
	}
	a.Record(history.Event{Kind: history.Leave})
	release(a.Client, lease)
}

// shutDown is what the runtime does with a process that is told to end.
func (a *actor) shutDown() {
	if c, ok := a.bare.(algorithms.Closer); ok {
		_ = c.Close(context.Background()) // there is nobody left to hear of an error
	}
}

// environment is all that a strategy sees of the lab.
func environment(c *simulator.Client, ttl time.Duration, nodes int) algorithms.Env {
	env := algorithms.Env{Clock: c.Clock(), Together: c.Together, Tokens: c, TTL: ttl, Thread: fmt.Sprintf("c%d.0", c.ID())}
	if session := c.ZooKeeper(); session != nil {
		env.ZooKeeper = zooSession{session}
		return env
	}
	for n := range nodes {
		env.Nodes = append(env.Nodes, redis.UniversalClient(c.Redis(n+1)))
	}
	return env
}

func acquire(c *simulator.Client, lock algorithms.Strategy, r Role) algorithms.Lease {
	for {
		lease, err := try(c, lock)
		if err == nil {
			return lease
		}
		c.Clock().Sleep(r.Retry)
	}
}

// try is one attempt.
func try(c *simulator.Client, lock algorithms.Strategy) (algorithms.Lease, error) {
	c.Record(history.Event{Kind: history.Acquire})
	lease, err := lock.Acquire(context.Background(), key)
	if err != nil {
		c.Record(history.Event{Kind: history.Refuse, Note: note(err)})
		return nil, err
	}
	c.Record(history.Event{Kind: history.Enter, Token: token(lease)})
	return lease, nil
}

// What a client that has the lock may ask of its lease, as the history notes it.
const (
	renewing = "renew"
	checking = "check"
	waiting  = "wait"
)

// renew asks the lease to be prolonged, and says whether the client goes on: what
// it was told, or true where the lease has no such power and nobody is asked.
func (a *actor) renew(lease algorithms.Lease) bool {
	r, ok := algorithms.As[algorithms.Renewer](lease)
	return !ok || a.ask(renewing, r.Renew)
}

// check asks the lease whether it still stands, and says whether the client goes on.
func (a *actor) check(lease algorithms.Lease) bool {
	c, ok := algorithms.As[algorithms.Checker](lease)
	return !ok || a.ask(checking, c.Check)
}

// ask is an attempt of one who has the lock to be told that it still has it.
func (a *actor) ask(what string, power func(context.Context) error) bool {
	a.Record(history.Event{Kind: history.Acquire, Note: what})
	if err := power(context.Background()); err != nil {
		a.Record(history.Event{Kind: history.Refuse, Note: note(err)})
		return false
	}
	a.Record(history.Event{Kind: history.Enter, Note: what})
	return true
}

// work is the critical section. Errors of the resource end it early: there is
// nothing left to do.
func work(c *simulator.Client, lease algorithms.Lease, r Role) {
	base, err := c.Read(token(lease))
	c.Clock().Sleep(r.Work)
	if r.Dies {
		c.Record(history.Event{Kind: history.Leave, Note: history.Exception})
		return
	}
	if err == nil {
		_ = c.Write(base, token(lease)) // a refusal is the resource's to record
		c.Clock().Sleep(r.Tail)
	}
	c.Record(history.Event{Kind: history.Leave})
}

func release(c *simulator.Client, lease algorithms.Lease) error {
	c.Record(history.Event{Kind: history.Release})
	err := lease.Release(context.Background())
	_, claims := lease.(algorithms.Reporter)
	e := history.Event{Kind: history.Released, Claims: claims, OK: err == nil, Note: note(err)}
	if err != nil && !errors.Is(err, algorithms.ErrNotHeld) {
		e.Claims = false // the outcome is open
	}
	c.Record(e)
	return err
}

func token(lease algorithms.Lease) uint64 {
	if f, ok := lease.(algorithms.Fencer); ok {
		return f.FencingToken()
	}
	return 0
}

func note(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
