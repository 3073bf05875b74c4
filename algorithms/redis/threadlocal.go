package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// threadLocal keeps an Acquire's token in a ThreadLocal of the lock, and compares it before DEL. (Article 001-D, 2013.)
//
// It was meant to fix the DEL of a successor's key by constant.
//
// How it fails: GET and DEL are two commands, as in thread-id. And there is one variable for the token of all keys, set
// before SET has succeeded: a refused Acquire, or an Acquire of another key, overwrites the token of a lock that is
// held. The Release of that lock then leaves the key until the TTL ends.
var threadLocal = constant.Variant("threadlocal", 2013,
	func(env lock.Env) lock.Lock { return &ThreadLocal{env: env, threads: map[string]*local{}} }).InArticle("001-D")

// reentrant is threadlocal with a counter, so that a thread may acquire again what it holds. (2013. Article 001-E.)
//
// It was meant to fix that code which needs the lock cannot be called by code that holds it.
//
// How it fails: in six ways, and each of the entries after this one fixes one of them:
//
//	a  set(count++) stores the old count, so that the inner Release deletes the key
//	b  --count is not stored, so that with a fixed no Release ever deletes the key
//	c  Release does not remove the token, so that the next Acquire believes that it holds
//	   the lock, and sends nothing
//	d  a refusal does not remove it either, so that the second attempt always succeeds
//	e  one token stands for all keys, so that Acquire of a second key sends nothing
//	f  Acquire of a held key sends nothing, so that a lease that has ended continues
//
// And as threadlocal does, with GET and DEL. To acquire again does not extend the lease.
var reentrant = threadLocal.Variant("reentrant", 2013, withFixes(0)).
	InArticle("001-E").Changed(func(e *lock.Entry) { e.Family = lock.Reentrant })

// The variants of reentrant with one defect fixed, and with all six.
var (
	reentrantIncrement = reentrantVariant("reentrant-increment", "001-Ea", increments)
	reentrantDecrement = reentrantVariant("reentrant-decrement", "001-Eb", decrements)
	reentrantForget    = reentrantVariant("reentrant-forget", "001-Ec", forgetsReleased)
	reentrantRefused   = reentrantVariant("reentrant-refused", "001-Ed", forgetsRefused)
	reentrantKeyed     = reentrantVariant("reentrant-keyed", "001-Ee", perKey)
	reentrantAsking    = reentrantVariant("reentrant-asking", "001-Ef", checksOwner)
	reentrantCounted   = reentrantVariant("reentrant-counted", "001-Eall",
		increments|decrements|forgetsReleased|forgetsRefused|perKey|checksOwner)
)

func reentrantVariant(id, article string, fixed fixes) lock.Entry {
	return reentrant.Variant(id, 2013, withFixes(fixed)).InArticle(article)
}

func withFixes(fixed fixes) func(lock.Env) lock.Lock {
	return func(env lock.Env) lock.Lock {
		return &ThreadLocal{env: env, threads: map[string]*local{}, reentrant: true, fixed: fixed}
	}
}

// fixes is a set of defects that are fixed.
type fixes uint8

const (
	increments      fixes = 1 << iota // a
	decrements                        // b
	forgetsReleased                   // c
	forgetsRefused                    // d
	perKey                            // e
	checksOwner                       // f
)

// ThreadLocal is the class RedisLockImpl of article 001, in its first form (threadlocal) and in its second (reentrant).
// A Lock is used by one thread, so the contents of the ThreadLocal are a field here.
//
// Where Java throws a NullPointerException, on a Release without a token, ours returns an error.
type ThreadLocal struct {
	env       lock.Env
	reentrant bool
	fixed     fixes
	threads   map[string]*local // by key; without perKey one for all keys
}

// A local is the contents of the ThreadLocal.
type local struct {
	token string // "": none
	count *int   // nil: none
}

// local returns the variable in which the thread keeps its token for key.
func (s *ThreadLocal) local(key string) *local {
	if s.fixed&perKey == 0 {
		key = ""
	}
	if s.threads[key] == nil {
		s.threads[key] = &local{}
	}
	return s.threads[key]
}

// Acquire sends SET key token NX EX ttl; but if it is reentrant and the thread has a token,
// it sends nothing. After an error it is unknown whether the key was created.
func (s *ThreadLocal) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	t := s.local(key)
	if t.token != "" && s.fixed&checksOwner != 0 {
		if err := s.forgetLost(ctx, key, t); err != nil {
			return nil, err
		}
	}
	if !s.reentrant || t.token == "" {
		t.token = s.env.Tokens.Token() // before SET has succeeded, as printed
		if err := setNXEX(ctx, s.node(), key, t.token, s.env.TTL); err != nil {
			if s.fixed&forgetsRefused != 0 {
				*t = local{}
			}
			return nil, err
		}
	}
	t.enter(s.fixed)
	return &threadLocalLease{s, key}, nil
}

// forgetLost removes the thread's token if the key no longer holds it: the lease has ended.
func (s *ThreadLocal) forgetLost(ctx context.Context, key string, t *local) error {
	err := checkValue(ctx, s.node(), key, t.token)
	if errors.Is(err, lock.ErrNotHeld) {
		*t = local{}
		return nil
	}
	return err
}

// enter counts an Acquire. As printed, count++ in an argument is the value before.
func (t *local) enter(fixed fixes) {
	count := 0
	if t.count != nil {
		count = *t.count
	}
	if fixed&increments != 0 {
		count++
	}
	t.count = &count
}

// leave counts a Release, and reports whether it was the last one.
func (t *local) leave(fixed fixes) bool {
	if t.count == nil {
		return true
	}
	count := *t.count - 1
	if fixed&decrements != 0 {
		*t.count = count
	}
	return count <= 0
}

func (s *ThreadLocal) node() redis.UniversalClient { return s.env.Nodes[0] }

// A threadLocalLease has no token: the thread has it, or another one by now.
type threadLocalLease struct {
	lock *ThreadLocal
	key  string
}

// Release checks whether the key holds the thread's token and, if the counter says that this is the last Release,
// deletes the key. It returns ErrNotHeld if the key is gone or holds another value.
func (l *threadLocalLease) Release(ctx context.Context) error {
	s, t := l.lock, l.lock.local(l.key)
	if t.token == "" {
		return fmt.Errorf("redis: release of %q: the thread keeps no token: %w", l.key, lock.ErrNotHeld)
	}
	if err := checkValue(ctx, s.node(), l.key, t.token); err != nil {
		return err
	}
	if s.reentrant && !t.leave(s.fixed) {
		return nil
	}
	// The weak point: from here on the key may belong to another client.
	err := delBlind(ctx, s.node(), l.key, "")
	if s.fixed&forgetsReleased != 0 {
		*t = local{}
	}
	return err
}
