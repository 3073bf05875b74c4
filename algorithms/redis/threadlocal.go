package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// threadLocal draws a token for each Acquire, keeps it in a ThreadLocal of the
// lock object, and compares before DEL. (2013. Article 001-D.)
//
// It was meant to mend the DEL of a successor's key by constant.
//
// How it falls: GET and DEL are two commands, as in thread-id. And there is one
// place for the token of all keys, filled before the SET has succeeded: a refused
// Acquire, or one of another key, overwrites the token of a lock that is held, and
// its Release then leaves the key until the TTL ends.
var threadLocal = lock.Entry{
	ID:      "threadlocal",
	Family:  lock.OneStep,
	Article: "001-D",
	Year:    2013,
	Title:   lock.Text{EN: "SET NX EX with a UUID in a ThreadLocal, GET and DEL", ZH: "SET NX EX，UUID 存在 ThreadLocal 里，释放时先 GET 再 DEL"},
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New:     func(env lock.Env) lock.Strategy { return &ThreadLocal{env: env, threads: map[string]*local{}} },
}

// reentrant is threadlocal with a counter, so that a thread may acquire again what
// it holds. (2013. Article 001-E.)
//
// It was meant to mend that a section which needs the lock cannot be called by one
// that has it.
//
// How it falls, in six ways that the entries after this one mend one at a time:
//
//	a  set(count++) stores the old count, so that the inner Release deletes the key
//	b  --count is stored nowhere, so that with a mended, no Release ever deletes it
//	c  the token is not removed on Release, so that the next Acquire believes to
//	   hold the lock, and asks nobody
//	d  nor after a refusal, so that the second try always succeeds
//	e  one token stands for all keys, so that a second key is never asked for
//	f  an Acquire of what is held asks nobody, so that a lease which has ended goes on
//
// And as threadlocal does, by GET and DEL. To acquire again does not prolong the
// lease.
var reentrant = reentrantEntry("reentrant", "001-E", lock.Text{EN: "a reentrant lock with a counter in a ThreadLocal, as printed", ZH: "可重入锁，计数放在 ThreadLocal 里，照文章原样"}, 0)

// The variants of reentrant with one defect mended, and with all six.
var (
	reentrantIncrement = reentrantEntry("reentrant-increment", "001-Ea", lock.Text{EN: "reentrant whose counter is incremented", ZH: "reentrant，修好计数加一"}, increments)
	reentrantDecrement = reentrantEntry("reentrant-decrement", "001-Eb", lock.Text{EN: "reentrant whose counter is decremented", ZH: "reentrant，修好计数减一"}, decrements)
	reentrantForget    = reentrantEntry("reentrant-forget", "001-Ec", lock.Text{EN: "reentrant that forgets its token on release", ZH: "reentrant，释放时清掉令牌"}, forgets)
	reentrantRefused   = reentrantEntry("reentrant-refused", "001-Ed", lock.Text{EN: "reentrant that forgets its token when refused", ZH: "reentrant，加锁失败时清掉令牌"}, forgetsRefused)
	reentrantKeyed     = reentrantEntry("reentrant-keyed", "001-Ee", lock.Text{EN: "reentrant with a token for each key", ZH: "reentrant，每个 key 各用一个令牌"}, perKey)
	reentrantAsking    = reentrantEntry("reentrant-asking", "001-Ef", lock.Text{EN: "reentrant that looks at the key before it enters again", ZH: "reentrant，重入之前先看 key 还在不在自己手里"}, asks)
	reentrantCounted   = reentrantEntry("reentrant-counted", "001-Eall", lock.Text{EN: "reentrant with all six defects mended", ZH: "reentrant，六处缺陷全部修好"},
		increments|decrements|forgets|forgetsRefused|perKey|asks)
)

func reentrantEntry(id, article string, title lock.Text, m mending) lock.Entry {
	return lock.Entry{
		ID:      id,
		Family:  lock.Reentrant,
		Article: article,
		Year:    2013,
		Title:   title,
		Nodes:   1,
		TTL:     30 * time.Second,
		Unit:    time.Second,
		Expiry:  lock.ExpiryServer,
		New: func(env lock.Env) lock.Strategy {
			return &ThreadLocal{env: env, threads: map[string]*local{}, reentrant: true, mended: m}
		},
	}
}

// mending is a set of defects that are mended.
type mending uint8

const (
	increments     mending = 1 << iota // a
	decrements                         // b
	forgets                            // c
	forgetsRefused                     // d
	perKey                             // e
	asks                               // f
)

var _ lock.Strategy = (*ThreadLocal)(nil)

// ThreadLocal is the class RedisLockImpl of article 001, in its first form
// (threadlocal) and in its second (reentrant). A Strategy is used by one thread, so
// that what a ThreadLocal keeps for the thread is a field here.
//
// Where Java throws a NullPointerException, on a Release without a token, ours
// returns an error.
type ThreadLocal struct {
	env       lock.Env
	reentrant bool
	mended    mending
	threads   map[string]*local // by key; as printed there is one for all
}

// local is what the thread keeps.
type local struct {
	token string // "": none
	count *int   // nil: none
}

// local returns where the thread keeps its token for key.
func (s *ThreadLocal) local(key string) *local {
	if s.mended&perKey == 0 {
		key = ""
	}
	if s.threads[key] == nil {
		s.threads[key] = &local{}
	}
	return s.threads[key]
}

// Acquire sends SET key token NX EX ttl, unless it is reentrant and the thread has
// a token, and then asks nobody. An error leaves open whether the key was created.
func (s *ThreadLocal) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	t := s.local(key)
	if t.token != "" && s.mended&asks != 0 {
		if err := s.forgetLost(ctx, key, t); err != nil {
			return nil, err
		}
	}
	if !s.reentrant || t.token == "" {
		t.token = s.env.Tokens.Token() // before anybody knows whether it will count
		if err := setIfFreeEX(ctx, s.node(), key, t.token, s.env.TTL); err != nil {
			if s.mended&forgetsRefused != 0 {
				*t = local{}
			}
			return nil, err
		}
	}
	t.enter(s.mended)
	return &threadLocalLease{s, key}, nil
}

// forgetLost lets the thread forget its token when the key does not hold it any
// more: the lease has ended.
func (s *ThreadLocal) forgetLost(ctx context.Context, key string, t *local) error {
	value, there, err := get(ctx, s.node(), key)
	switch {
	case err != nil:
		return err
	case !there || value != t.token:
		*t = local{}
	}
	return nil
}

// enter counts an Acquire: count++ in an argument is the value before.
func (t *local) enter(m mending) {
	count := 0
	if t.count != nil {
		count = *t.count
	}
	if m&increments != 0 {
		count++
	}
	t.count = &count
}

// leave counts a Release, and says whether it was the last.
func (t *local) leave(m mending) bool {
	if t.count == nil {
		return true
	}
	count := *t.count - 1
	if m&decrements != 0 {
		*t.count = count
	}
	return count <= 0
}

func (s *ThreadLocal) node() redis.UniversalClient { return s.env.Nodes[0] }

// A threadLocalLease has no token: the thread has it, or has another one by now.
type threadLocalLease struct {
	lock *ThreadLocal
	key  string
}

// Release looks whether the key holds the thread's token and, if the counter says
// that it is the last one, deletes the key. It returns ErrNotHeld when the key
// holds another value.
func (l *threadLocalLease) Release(ctx context.Context) error {
	s, t := l.lock, l.lock.local(l.key)
	if t.token == "" {
		return fmt.Errorf("algorithms: release of %q: the thread keeps no token: %w", l.key, lock.ErrNotHeld)
	}
	value, there, err := get(ctx, s.node(), l.key)
	switch {
	case err != nil:
		return err
	case !there || value != t.token:
		return lock.ErrNotHeld
	case s.reentrant && !t.leave(s.mended):
		return nil
	}
	// The weak place: from here on the key may be another's.
	err = del(ctx, s.node(), l.key, "")
	if s.mended&forgets != 0 {
		*t = local{}
	}
	return err
}
