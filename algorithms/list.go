package algorithms

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// All returns the strategies: those on Redis, and then those on a ZooKeeper, which
// were meant to do better. The caller may change the slice.
func All() []Entry { return slices.Concat(OnRedis(), OnZooKeeper()) }

// OnRedis returns the strategies that lock on Redis, or did before there was one, in
// the order in which one was meant to mend another, the oldest first. The caller may
// change the slice.
func OnRedis() []Entry {
	return []Entry{
		mutex,
		setNX,
		setNXExpire,
		takeoverDel,
		getSetTimeout,
		getSetTimeoutMS,
		getSetNil,
		getSetRetry,
		getSetRetryMS,
		getSetCheck,
		getSet,
		cronV2,
		cronV3,
		setNXEX,
		threadID,
		threadIDLua,
		tokenLock,
		naiveWake,
		watchMulti,
		threadLocal,
		reentrant,
		reentrantIncrement,
		reentrantDecrement,
		reentrantForget,
		reentrantRefused,
		reentrantKeyed,
		reentrantAsking,
		reentrantCounted,
		spinning,
		spinReentrant,
		daemon20,
		daemon29,
		daemon10,
		daemon20Owned,
		daemon29Owned,
		daemon10Owned,
		watchDel,
		watchdog,
		redissonLease,
		redissonLock,
		redlock,
		redlockDrift,
		redlockExtend,
		redlockParallel,
		lockDelay,
		tokenWait,
		evalSHA,
		evalSHAOrEval,
		queue,
		atLeastFor,
		redissonWait,
		redissonEntry,
		clientExpiry,
		redlockFailFast,
		redissonRearm,
		redlockTopUp,
		delIfEq,
		delEx,
		setIfEq,
	}
}

// Milestones returns the locks on which the story turns, each the answer to a
// fall of one before it. The caller may change the slice.
func Milestones() []Entry {
	return []Entry{setNX, setNXExpire, getSet, tokenLock, watchdog, redlock}
}

// OnZooKeeper returns the strategies that lock on a ZooKeeper, in the order in
// which one was meant to mend another. The caller may change the slice.
func OnZooKeeper() []Entry {
	return []Entry{
		naiveQueue,
		herdQueue,
		checkedQueue,
		protectedQueue,
		reentrantMutex,
		nonReentrantMutex,
		semaphore,
		writeLock,
		readLock,
		multiLock,
	}
}

// ByName finds a strategy by one of its Names, in any case of letters.
func ByName(name string) (Entry, bool) {
	for _, e := range All() {
		if slices.ContainsFunc(e.Names(), func(n string) bool { return strings.EqualFold(name, n) }) {
			return e, true
		}
	}
	return Entry{}, false
}

// Names are the ID and all ids that the articles have for the strategy.
func (e Entry) Names() []string {
	names := []string{e.ID}
	if e.Article != "" {
		names = append(names, e.Article)
	}
	return append(names, e.Also...)
}

// variant is a lock like e, but for what is given: no other article has it.
func (e Entry) variant(id string, year int, title Text, create func(Env) Strategy) Entry {
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
