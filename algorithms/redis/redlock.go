package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

var redlock = lock.Entry{
	ID:      "redlock",
	Family:  lock.Majority,
	Article: "002-E",
	Also:    []string{"003-D"},
	Year:    2014,
	Server:  lock.OnRedis(5),
	TTL:     30 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryServer,
	New:     func(env lock.Env) lock.Lock { return newRedlock(env) },
}

// Redlock asks several independent servers, and holds the lock if more than half of them agree in time. (2014: antirez
// published the first implementation in May. Article 002-E; 003-D describes the same with a TTL of 10 s.)
//
// It was meant to fix the failover: with token or [Watchdog] on a master and its replica, a master that fails before
// the key was replicated grants the lock twice. Here any two majorities share a server, which grants it only once.
//
// The five steps: read the clock; send SET NX PX with one token to each server in turn, and continue with the next one
// immediately after any kind of failure; read the clock again; hold the lock if at least N/2+1 servers have agreed and
// less than the TTL has passed, and only for the rest of the TTL, the validity; otherwise delete the token on all
// servers, including those that did not answer.
//
// How it fails: a server that restarts without its keys, or whose clock jumps ahead, grants the lock twice. Clocks that
// run at different rates end the lease before its validity, since the article subtracts nothing for drift. A pause
// after the second reading of the clock does the same harm as with one server, and there is no counter from which to
// make a fencing token. With three clients on five servers the votes may split 2, 2, 1, and no client gets the lock.
//
// The time-out of one server is that of its client. The article recommends some tens of milliseconds, for a TTL of 30
// s: set ReadTimeout, WriteTimeout and DialTimeout to it, and DialerRetries to 1 (go-redis dials up to five times by
// default). With time-outs of seconds one dead server uses up most of the validity of every lease.
//
// Ours is the article's. N is the number of nodes in Env. Elapsed times are differences of Unix
// milliseconds, so that a step of the client's clock counts as time, and up to 1 ms goes
// unnoticed. Nothing is retried, and nothing is sent in parallel; see redlock-parallel.
type Redlock struct {
	nodes  []redis.UniversalClient
	clock  lock.Clock
	tokens lock.Tokens
	ttl    time.Duration

	// What the variants change.
	drift    time.Duration         // subtracted from each validity
	spare    int                   // after more than so many servers that did not agree, Acquire stops asking
	topsUp   bool                  // asks the servers that did not agree once more
	extends  bool                  // its leases are Renewers
	parallel func(tasks ...func()) // asks all servers at once; nil: one after the other
}

func newRedlock(env lock.Env) *Redlock {
	return &Redlock{nodes: env.Nodes, clock: env.Clock, tokens: env.Tokens, ttl: env.TTL, spare: len(env.Nodes)}
}

// Acquire asks every server once, or stops as spare says. Without success it returns
//   - ErrNotAcquired, if so many servers refused that the others are no majority, whatever
//     their answers were;
//   - ErrNotAcquired, wrapped, if a majority agreed but too late;
//   - the servers' errors, joined, if they made the difference. The lock is not held then
//     either, but keys that could not be deleted stay for one TTL, and so does a key whose
//     delayed SET arrives after the deletion.
func (s *Redlock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	start := s.now()
	l := &redlockLease{lock: s, key: key, token: s.tokens.Token()}
	set := func(node redis.UniversalClient) error {
		return setNXPX(ctx, node, key, l.token, s.ttl)
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
	// Delete the keys of the servers that were asked, even if the caller has cancelled ctx.
	l.takeBack(context.WithoutCancel(ctx), s.nodes[:votes.yes+len(votes.missing)])
	switch {
	case votes.no > len(s.nodes)-s.quorum():
		return nil, lock.ErrNotAcquired
	case votes.yes >= s.quorum():
		return nil, fmt.Errorf("%w: the servers took %d ms of a TTL of %v", lock.ErrNotAcquired, end-start, s.ttl)
	}
	return nil, s.undecided("SET NX PX", key, votes)
}

// quorum is the smallest number of servers that is more than half of them.
func (s *Redlock) quorum() int { return len(s.nodes)/2 + 1 }

// now reads the client's clock in Unix milliseconds.
func (s *Redlock) now() int64 { return s.clock.Now().UnixMilli() }

// validity is the rest of the TTL, in ms, after a poll from start to end on the client's clock.
// The servers began to count at start or later.
func (s *Redlock) validity(start, end int64) int64 {
	return (s.ttl - s.drift).Milliseconds() - (end - start)
}

// votes are the answers of the servers to one question.
type votes struct {
	yes, no int
	errs    []error                 // of the servers whose answer is unknown
	missing []redis.UniversalClient // the servers that did not agree
}

// poll asks nodes in turn, until more than spare of them did not agree; or all of them at once.
// refusal as an answer counts as no, any other error as unknown.
func (s *Redlock) poll(nodes []redis.UniversalClient, spare int,
	ask func(redis.UniversalClient) error, refusal error) (v votes) {
	answer := func(i int) error { return ask(nodes[i]) }
	if s.parallel != nil {
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

// askAtOnce asks all nodes in parallel. The answers are in the order of nodes.
func (s *Redlock) askAtOnce(nodes []redis.UniversalClient, ask func(redis.UniversalClient) error) []error {
	answers := make([]error, len(nodes))
	tasks := make([]func(), len(nodes))
	for i, node := range nodes {
		tasks[i] = func() { answers[i] = ask(node) }
	}
	s.parallel(tasks...)
	return answers
}

// undecided is the error of a poll whose result depends on unknown answers.
func (s *Redlock) undecided(command, key string, v votes) error {
	return fmt.Errorf("redis: %s %q: %d of %d servers agreed, want %d: %w",
		command, key, v.yes, len(s.nodes), s.quorum(), errors.Join(v.errs...))
}
