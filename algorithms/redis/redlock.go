package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var _ lock.Strategy = (*Redlock)(nil)

var redlock = lock.Entry{
	ID:      "redlock",
	Family:  lock.Majority,
	Article: "002-E",
	Also:    []string{"003-D"},
	Year:    2014,
	Title:   lock.Text{EN: "Redlock: a majority of independent servers, without a drift term", ZH: "Redlock：多个独立节点过半即加锁成功，有效期不减时钟漂移"},
	Nodes:   5,
	TTL:     30 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryServer,
	New:     func(env lock.Env) lock.Strategy { return newRedlock(env) },
}

// redlockDrift subtracts what the clocks may drift apart from the validity: 1 % of
// the TTL and 2 ms. (2014: in antirez's first implementation, and in the manual.)
//
// It was meant to mend clocks that run at different rates, up to that much.
var redlockDrift = redlock.Variant("redlock-drift", 2014,
	lock.Text{EN: "Redlock with the drift term: 1 % of the TTL and 2 ms", ZH: "Redlock，有效期再减去时钟漂移：TTL 的 1% 加 2 毫秒"},
	drifting(func(*Redlock, lock.Env) {}))

// redlockExtend is redlock-drift whose holder can prolong its lease, on a majority
// and within the validity. (2014: the manual, "making the algorithm more reliable".)
//
// It was meant to mend work that takes longer than the validity. It prolongs only
// what it still has: a key that is gone stays gone, and nothing is taken back when
// the majority is missed, since the lease may still be whole.
//
// The manual bounds how often one may prolong, or a holder that hangs holds for
// ever. Here that is the caller's business, who calls Renew.
var redlockExtend = redlock.Variant("redlock-extend", 2014,
	lock.Text{EN: "Redlock with extension of the lease on a majority", ZH: "Redlock，可在过半节点上续期"},
	drifting(func(s *Redlock, _ lock.Env) { s.extends = true }))

// redlockTopUp is redlock-drift that, having a majority, asks the other servers
// once more. (2025: proposed in issue 186 of redsync, in July.)
//
// It was meant to mend the bare majority: the holder of three out of five keys loses
// its majority to the restart of one server. With five it takes three.
//
// How it falls: servers that are held by somebody else, or down, at that moment
// are not topped up.
var redlockTopUp = redlock.Variant("redlock-topup", 2025,
	lock.Text{EN: "Redlock that asks the missing servers again once it has a majority", ZH: "Redlock，过半之后向没答应的节点再要一次"},
	drifting(func(s *Redlock, _ lock.Env) { s.topsUp = true }))

// redlockParallel is redlock-drift that asks all servers at once, and takes back
// from all at once. (2014: the manual, "retry on failure": ideally the SET commands
// go out at the same time, by multiplexing.)
//
// It was meant to mend two things: that an attempt takes as long as all servers
// together, and not as long as the slowest of them, which leaves less of the validity
// and holds up whoever shares the majority; and that slow attempts of several
// clients collide, since all are half-way for so long.
//
// How it falls: as redlock-drift. And asked in one order the first server is a gate,
// since who is refused there seldom gets a majority; asked at once, servers are won
// in any order, so that two clients already can split the votes when one server is
// down, and three can without.
var redlockParallel = redlock.Variant("redlock-parallel", 2014,
	lock.Text{EN: "Redlock that asks all servers at once", ZH: "Redlock 同时询问所有节点"},
	drifting(func(s *Redlock, env lock.Env) { s.together = env.Parallel }))

// redlockFailFast is redlock-drift that asks no further once a majority cannot be
// reached any more. (2023: the option WithFailFast of redsync, pull request 133.)
//
// It was meant to mend attempts that are lost and go on all the same: with servers
// that do not answer, each costs its time-out, and what the attempt has collected
// keeps others from their majority for as long.
//
// It falls as redlock-drift does. redsync asks all servers at once and goes on
// early with a majority as well; here they are asked in turn, and a holder still
// wants more than the least.
var redlockFailFast = redlock.Variant("redlock-failfast", 2023,
	lock.Text{EN: "Redlock that gives up as soon as a majority cannot be reached", ZH: "Redlock 一旦凑不够过半就立即放弃"},
	drifting(func(s *Redlock, _ lock.Env) { s.spare = len(s.nodes) - s.quorum() }))

// Redlock asks several servers that know nothing of each other, and holds the
// lock when more than half of them said yes in time. (2014: antirez published
// the first implementation in May. Article 002-E; 003-D tells the same with a
// TTL of 10 s.)
//
// It was meant to mend the failover: with the token lock or [Watchdog] on a master
// and its replica, a master that dies before the key was copied grants the lock
// twice. Here any two majorities share a server, and that one says yes only once.
//
// The five steps: read the clock; send SET NX PX with one token to each server in
// turn, going on at once after a failure of any kind; read the clock again; hold
// the lock if at least N/2+1 servers agreed and less than the TTL has passed, and
// then only for what is left of the TTL, its validity; otherwise take the token
// back from all servers, also from those that did not answer.
//
// How it falls: a server that restarts without its keys, or whose clock jumps
// ahead, says yes twice. Clocks that run at different rates shorten the lease
// below its validity, since the article subtracts nothing for drift. A pause
// after the second look at the clock is no better than with one server, and
// there is no counter to make a fencing token of. With three clients on five
// servers the votes may split 2, 2, 1, and nobody wins.
//
// The time-out of one server is that of its client. The article asks for some
// tens of milliseconds, against a TTL of 30 s: set ReadTimeout, WriteTimeout and
// DialTimeout to it, and DialerRetries to 1 (the package go-redis tries a dial
// five times by default). With time-outs of seconds a dead server spends the
// validity of every lease.
//
// Our form is the article's: N is Env's number of nodes, elapsed times are
// differences of Unix milliseconds (so a step of the client's clock counts as
// time, and up to 1 ms goes unseen), and nothing is retried, or sent in parallel as
// redlock-parallel does.
type Redlock struct {
	nodes  []redis.UniversalClient
	clock  lock.Clock
	tokens lock.Tokens
	ttl    time.Duration

	// What the variants change.
	drift   time.Duration // taken off each validity
	spare   int           // how many servers Acquire can miss; with one more it asks no further
	topsUp  bool
	extends bool
	// together asks several servers at once; nil: one after the other.
	together func(tasks ...func())
}

// drifting makes a Redlock with the drift term and changes it.
func drifting(change func(s *Redlock, env lock.Env)) func(lock.Env) lock.Strategy {
	return func(env lock.Env) lock.Strategy {
		s := newRedlock(env)
		s.drift = env.TTL/100 + 2*time.Millisecond
		change(s, env)
		return s
	}
}

func newRedlock(env lock.Env) *Redlock {
	return &Redlock{nodes: env.Nodes, clock: env.Clock, tokens: env.Tokens, ttl: env.TTL, spare: len(env.Nodes)}
}

// Acquire asks every server once, or until it can miss no more. Without a lock it returns
//   - ErrNotAcquired, when so many servers refused that the others, whatever
//     became of their answers, are no majority;
//   - ErrNotAcquired, wrapped, when a majority agreed but too late;
//   - the servers' errors, joined, when those decided it. The lock is not held
//     then either, but keys that could not be taken back stay for one TTL, and so
//     does one whose SET was late and arrived after it was taken back.
func (s *Redlock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	start := s.now()
	l := &redlockLease{lock: s, key: key, token: s.tokens.Token()}
	set := func(node redis.UniversalClient) error {
		return setIfFree(ctx, node, key, l.token, s.ttl)
	}
	votes := s.poll(s.nodes, s.spare, set, lock.ErrNotAcquired)
	end := s.now()

	validity := s.validity(start, end)
	if votes.yes >= s.quorum() && validity > 0 {
		l.validUntil = end + validity
		if s.topsUp {
			s.poll(votes.missing, len(votes.missing), set, lock.ErrNotAcquired)
		}
		if s.extends {
			return &extendableLease{l}, nil
		}
		return l, nil
	}
	// A caller who gave up still wants his tokens back.
	l.takeBack(context.WithoutCancel(ctx), s.nodes[:votes.asked()])
	switch {
	case votes.no > len(s.nodes)-s.quorum():
		return nil, lock.ErrNotAcquired
	case votes.yes >= s.quorum():
		return nil, fmt.Errorf("%w: the servers took %d ms of a TTL of %v", lock.ErrNotAcquired, end-start, s.ttl)
	}
	return nil, s.undecided("SET NX PX", key, votes)
}

// quorum is the least number of servers that is more than half of them.
func (s *Redlock) quorum() int { return len(s.nodes)/2 + 1 }

// now reads the client's clock in Unix milliseconds.
func (s *Redlock) now() int64 { return s.clock.Now().UnixMilli() }

// validity is what is left of the TTL, in ms, of a poll from start to end. The
// servers began to count at start or later.
func (s *Redlock) validity(start, end int64) int64 {
	return (s.ttl - s.drift).Milliseconds() - (end - start)
}

// votes are the answers of all servers to one question.
type votes struct {
	yes, no int
	errs    []error                 // of the servers whose answer is not known
	missing []redis.UniversalClient // the servers that did not say yes
}

// asked is how many servers were asked.
func (v *votes) asked() int { return v.yes + len(v.missing) }

// poll asks nodes in turn, until more than spare of them did not say yes; or all
// of them at once. An answer of refusal counts as no, any other error as unknown.
func (s *Redlock) poll(nodes []redis.UniversalClient, spare int, ask func(redis.UniversalClient) error, refusal error) (v votes) {
	answer := func(i int) error { return ask(nodes[i]) }
	if s.together != nil {
		answers := s.askAtOnce(nodes, ask)
		answer, spare = func(i int) error { return answers[i] }, len(nodes)
	}
	for i, node := range nodes {
		if len(v.missing) > spare {
			return v
		}
		err := answer(i)
		switch {
		case err == nil:
			v.yes++
			continue
		case errors.Is(err, refusal):
			v.no++
		default:
			v.errs = append(v.errs, fmt.Errorf("node %d: %w", i+1, err))
		}
		v.missing = append(v.missing, node)
	}
	return v
}

// askAtOnce asks all nodes side by side. The answers are in the order of nodes.
func (s *Redlock) askAtOnce(nodes []redis.UniversalClient, ask func(redis.UniversalClient) error) []error {
	answers := make([]error, len(nodes))
	tasks := make([]func(), len(nodes))
	for i, node := range nodes {
		tasks[i] = func() { answers[i] = ask(node) }
	}
	s.together(tasks...)
	return answers
}

// undecided is the error of a poll that could have gone either way.
func (s *Redlock) undecided(command, key string, v votes) error {
	return fmt.Errorf("algorithms: %s %q: %d of %d servers agreed, want %d: %w",
		command, key, v.yes, len(s.nodes), s.quorum(), errors.Join(v.errs...))
}

var (
	_ lock.Reporter = (*redlockLease)(nil)
	_ lock.Checker  = (*redlockLease)(nil)
)

type redlockLease struct {
	reports
	lock       *Redlock
	key, token string
	validUntil int64 // on the client's clock, Unix milliseconds; not valid any more then
}

// Check returns ErrNotHeld once the validity is over by the client's own clock.
// It asks no server: a nil is wrong when a server lost its keys or the clocks run
// at different rates.
func (l *redlockLease) Check(context.Context) error {
	if l.lock.now() >= l.validUntil {
		return lock.ErrNotHeld
	}
	return nil
}

// Release takes the token back from all servers, also from those that never had
// it, and says how the lock stood when the release began. A token that is gone
// from a server does not come back, so
//   - nil: a majority still had it, and nobody else can have had the lock;
//   - ErrNotHeld: no majority had it, even if every server that failed to answer did;
//   - the servers' errors, joined: it depends on those.
//
// Validity plays no part: a lease whose validity is over may still be whole.
func (l *redlockLease) Release(ctx context.Context) error {
	votes := l.takeBack(ctx, l.lock.nodes)
	quorum := l.lock.quorum()
	switch {
	case votes.yes >= quorum:
		return nil
	case votes.yes+len(votes.errs) < quorum:
		return lock.ErrNotHeld
	}
	return l.lock.undecided("compare and delete", l.key, votes)
}

// takeBack deletes the token on each of nodes that has it.
func (l *redlockLease) takeBack(ctx context.Context, nodes []redis.UniversalClient) votes {
	return l.lock.poll(nodes, len(nodes), func(node redis.UniversalClient) error {
		return deleteIfMine(ctx, node, l.key, l.token)
	}, lock.ErrNotHeld)
}

var _ lock.Renewer = (*extendableLease)(nil)

type extendableLease struct{ *redlockLease }

// Renew resets the TTL on every server that still has the token. The lease is
// prolonged if these are a majority and some of the new validity is left; otherwise
// it ends when it would have ended. Renew then returns
//   - ErrNotHeld, when the validity was over, or when so many servers had lost the
//     token that the others are no majority;
//   - ErrNotHeld, wrapped, when a majority agreed but too late;
//   - the servers' errors, joined, when those decided it.
func (l *extendableLease) Renew(ctx context.Context) error {
	s := l.lock
	start := s.now()
	if start >= l.validUntil {
		return lock.ErrNotHeld // in between, somebody may have had the lock and given it back
	}
	votes := s.poll(s.nodes, len(s.nodes), func(node redis.UniversalClient) error {
		return expireIfMine(ctx, node, l.key, l.token, s.ttl)
	}, lock.ErrNotHeld)
	end := s.now()

	validity := s.validity(start, end)
	switch {
	case votes.yes >= s.quorum() && end >= l.validUntil, votes.yes >= s.quorum() && validity <= 0:
		return fmt.Errorf("%w: the servers took %d ms", lock.ErrNotHeld, end-start)
	case votes.yes >= s.quorum():
		l.validUntil = end + validity
		return nil
	case votes.no > len(s.nodes)-s.quorum():
		return lock.ErrNotHeld
	}
	return s.undecided("compare and expire", l.key, votes)
}
