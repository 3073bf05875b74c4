package lock

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Names are the ID and all ids that the articles have for the strategy.
func (e Entry) Names() []string {
	names := []string{e.ID}
	if e.Article != "" {
		names = append(names, e.Article)
	}
	return append(names, e.Also...)
}

// variant is a lock like e, but for what is given: no other article has it.
func (e Entry) Variant(id string, year int, title Text, create func(Env) Strategy) Entry {
	e.ID, e.Article, e.Also, e.Year, e.Title, e.New = id, "", nil, year, title, create
	return e
}

// Heading is the ID, with the article's id for it in brackets, if one has it.
func (e Entry) Heading() string {
	if e.Article == "" {
		return e.ID
	}
	return e.ID + " (" + e.Article + ")"
}

// Check says whether e.New can work with env: a nil means that it can. Call it
// before New, which looks at nothing: there a wrong number of servers ends in a
// panic or a lock on too few, and a TTL that the strategy cannot express is
// rounded or refused by the server. The error names the value and what to give
// instead.
//
// A quorum strategy takes any number of servers from 3 on, since fewer survive no
// failure. That they are independent, Check cannot see.
func (e Entry) Check(env Env) error {
	switch n := len(env.Nodes); {
	case e.Expiry == ExpirySession && env.ZooKeeper == nil:
		return fmt.Errorf("algorithms: %s locks on a ZooKeeper, and Env.ZooKeeper is nil: use OnConn", e.ID)
	case e.Nodes == 1 && n != 1:
		return fmt.Errorf("algorithms: %s locks on one server, got %d: pass exactly one node", e.ID, n)
	case e.Nodes > 1 && n < 3:
		return fmt.Errorf("algorithms: %s needs a majority of at least 3 servers, got %d: its article uses %d", e.ID, n, e.Nodes)
	}
	if i := slices.Index(env.Nodes, redis.UniversalClient(nil)); i >= 0 {
		return fmt.Errorf("algorithms: node %d is nil: pass a connected client", i+1)
	}
	switch {
	case env.Clock == nil:
		return errors.New("algorithms: Env.Clock is nil: use clockwork.NewRealClock, or Production")
	case env.Tokens == nil:
		return errors.New("algorithms: Env.Tokens is nil: use RandomTokens{}, or Production")
	}
	return e.checkTTL(env)
}

// checkTTL says whether the strategy can express env.TTL.
func (e Entry) checkTTL(env Env) error {
	switch {
	case e.Unit == 0: // it asks for no lease
		return nil
	case env.TTL <= 0:
		return fmt.Errorf("algorithms: TTL %v is not above 0: the article of %s uses %v", env.TTL, e.ID, e.TTL)
	case env.TTL%e.Unit != 0:
		return fmt.Errorf("algorithms: TTL %v is not a whole multiple of %v, which %s sends: try %v",
			env.TTL, e.Unit, e.ID, env.TTL.Truncate(e.Unit)+e.Unit)
	}
	return nil
}

// An Entry is a strategy's place in the timeline.
type Entry struct {
	ID      string   // short name, as typed on a command line
	Family  Family   // by which mechanism it excludes
	Article string   // id of the variant in the articles, for example "003-A"; "": none of them has it
	Also    []string // ids of the same lock in other articles
	Year    int      // when the idea, in its first form, was released or described in public
	Title   Text     // one line, in the words that people search for
	Nodes   int      // how many independent servers it wants: 1, or the article's number for a quorum; 0: a ZooKeeper
	// Replicas is how many replicas it wants each server to have, and to hear of
	// the lock; 0: it does not ask.
	Replicas int
	TTL      time.Duration // the lease that its article uses; 0: its article sets none
	Unit     time.Duration // Env.TTL must be a whole number of these; 0: the strategy ignores Env.TTL
	Expiry   Expiry        // what ends a lease that nobody releases
	Holders  int           // how many may hold it at a time: 0 is one, AnyNumber is that of a reader among readers
	// Line is, of a lock on a ZooKeeper, the znode at which its holders stand first
	// in line, given the key; of a lock of several, that of the first. nil: the lock
	// is on a Redis.
	Line func(key string) string
	New  func(Env) Strategy
}

// Text is the same in English and in Chinese, both in plain text.
type Text struct{ EN, ZH string }

// A Family is the mechanism that locks have in common, by its short name, as
// typed on a command line.
type Family string

const (
	OneProcess Family = "one-process"
	TwoSteps   Family = "two-steps"
	Stamps     Family = "stamps"
	OneStep    Family = "one-step"
	Reentrant  Family = "reentrant"
	Renewed    Family = "renewed"
	Redisson   Family = "redisson"
	Majority   Family = "majority"
	Line       Family = "line"
)

// Families returns all families, in the order in which their first locks came.
func Families() []Family {
	return []Family{OneProcess, TwoSteps, Stamps, OneStep, Reentrant, Renewed, Redisson, Majority, Line}
}

// Title is what the family's locks do, in a few words; empty: there is no such
// family.
func (f Family) Title() Text {
	return map[Family]Text{
		OneProcess: {EN: "one process", ZH: "单个进程"},
		TwoSteps:   {EN: "SETNX, and what follows", ZH: "先 SETNX，再做其他"},
		Stamps:     {EN: "a time stamp as value", ZH: "值是时间戳"},
		OneStep:    {EN: "SET NX with a time to live", ZH: "SET NX 带过期时间，一步到位"},
		Reentrant:  {EN: "reentrant by ThreadLocal", ZH: "用 ThreadLocal 实现可重入"},
		Renewed:    {EN: "renewed by a daemon", ZH: "守护线程续期"},
		Redisson:   {EN: "Redisson's hash", ZH: "Redisson 的 hash"},
		Majority:   {EN: "a majority of servers", ZH: "多个节点过半"},
		Line:       {EN: "a line on a ZooKeeper", ZH: "在 ZooKeeper 上排队"},
	}[f]
}

// AnyNumber of holders may have a lock at a time.
const AnyNumber = -1

// Expiry names what ends a lease that nobody releases.
type Expiry int

const (
	ExpiryNone    Expiry = iota // nothing: the key stays until somebody deletes it
	ExpiryServer                // the server's clock: the key carries a TTL
	ExpiryClients               // the clients' clocks: the key carries a time that they compare with
	ExpirySession               // the server's clock: the holder's session ends when nothing is heard of it
)

// OnZooKeeper says whether the strategy locks on a ZooKeeper.
func (e Entry) OnZooKeeper() bool { return e.Line != nil }

// Servers is how many servers the strategy wants; an ensemble counts as one.
func (e Entry) Servers() int { return max(e.Nodes, 1) }
