// Package dense is a second opinion on the proofs of package study: random runs of every
// lock in dense time. It shares none of the search's rules. The lock's own code runs on a
// go-redis client of its own, against a miniredis of its own; a scheduler that was written
// from the definitions below lets one thread run at a time, at instants of a nanosecond, off
// every grid; and its judges were written from the definitions of the verdicts. What is the
// same is the lock, the client library, the server and the form of an event; and for
// locks on a ZooKeeper the simulator's ensemble, see ensemble_test.go.
//
// The definitions, which a certificate of locklab explore prints:
//
//   - A process has one lock for as long as it lives. It wants the lock so many times,
//     whenever it likes; an attempt begins after the answers to its earlier requests. With
//     the lock it reads the resource, works for 0 to work, writes, leaves and releases.
//   - A message to or from a server takes 0 to latency; the resource answers at once.
//   - A timer fires 0 to lateness after it is due, and what became due in a pause 0 to
//     lateness after its end. A client waits for an answer for patience, 0 to lateness longer,
//     and breaks its connection then; its request may still arrive.
//   - A key with a time to live of d is gone d after the command that set it.
//   - A fault strikes between any two events; a pause also before a request that was made
//     is sent. Each strikes at most as often as the budget says, and lasts at most as long.
//   - crash: a process ends, and its requests on the way still arrive. pause, pause-thread: a
//     process, or a thread, stands still, while its clocks go on and its messages travel.
//     lose-request, lose-reply: a message vanishes. delay: one is late by that much more.
//     fail-call: a server answers with an error, and executes nothing. hang: a server stands
//     still, and executes later what arrives meanwhile. restart: a server loses its data,
//     and breaks its connections while it is down; one on which it keeps watched keys does not
//     come back. client-clock, node-clock: a clock jumps,
//     either way. evict, delete, flush: a key with a time to live, a key, all keys are removed.
//   - When all others have ended, nothing is under way and every server runs, a probe asks
//     for the lock, without delay, and again when every lease must be over.
//
// A run takes a part of what is allowed, and never more: lengths keep a little away from
// their bounds, so that no verdict hangs on two events at the same instant.
//
// The same runs attack locks that nobody has written: mutant_test.go changes each lock on Redis in
// one place, inquiry_test.go asks the lab about the same code, and no run may come to what the
// lab has proved impossible (attack_test.go). Whether runs come to what can happen, and whether
// every proof can fail, is asked in meets_test.go and break_test.go. Their tokens and dates are
// drawn of all there are; some run in lockstep.
package dense

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
)

// limits are what a run may do.
type limits struct {
	entry                       lock.Entry
	clients, attempts, nodes    int
	ttl, work, idle             time.Duration // idle 0: a client wants the lock whenever it likes
	latency, lateness, patience time.Duration
	budget                      []allowance

	lockstep bool // all begin at once, work for exactly so long, rest for between, and ask again after each of retries
	between  time.Duration
	retries  []time.Duration
	drawn    bool // tokens and dates are drawn, of all that there are
}

// An allowance is a fault, how often it may strike, and for how long (0: any).
type allowance struct {
	fault string
	times int
	most  time.Duration
}

// A question names limits: a lock, clients x attempts, and a budget.
type question struct {
	lock              string
	clients, attempts int
	budget            string
}

func (q question) String() string {
	return fmt.Sprintf("%s %dx%d %s", q.lock, q.clients, q.attempts, q.budget)
}

const (
	ttl  = 9 * time.Second
	step = ttl / 12 // the certificate's; nothing here happens in steps
	key  = "lock"
)

// limits are those of the certificate for these bounds of a search.
func (q question) limits(t testing.TB, entry lock.Entry, b search.Bounds) *limits {
	t.Helper()
	l := usual(entry)
	l.clients, l.attempts, l.nodes, l.idle, l.drawn = q.clients, q.attempts, b.Nodes, 0, false
	if b.Nodes > 1 {
		l.latency, l.patience = 0, step
	}
	if b.Idle {
		l.idle = 18 * step
	}
	l.budget = allowances(q.budget)
	return &l
}

// allowances reads what faults may strike.
func allowances(budget string) (list []allowance) {
	all, err := faults.Budget(budget).Parse()
	if err != nil {
		panic(err)
	}
	for _, a := range all {
		list = append(list, allowance{a.Fault.Name, a.Times, a.Max})
	}
	return list
}

// jumps is by how much clocks may be set wrong in all.
func (l *limits) jumps() (d time.Duration) {
	for _, a := range l.budget {
		if strings.HasSuffix(a.fault, "-clock") {
			d += time.Duration(a.times) * a.most
		}
	}
	return d
}

// A sampler draws lengths of time and choices.
type sampler struct {
	*rand.Rand
	exact bool // lengths are as long as they may be
}

// upTo is a length from 0 to most, mostly near one of the two.
func (s sampler) upTo(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	switch near := time.Duration(s.Int64N(int64(most)/50 + 1)); s.IntN(8) {
	case 0, 1:
		return near
	case 2, 3:
		return most - near
	default:
		return time.Duration(s.Int64N(int64(most)))
	}
}

// long is a length from 0 to most, mostly near most.
func (s sampler) long(most time.Duration) time.Duration {
	if s.exact {
		return most
	}
	if s.IntN(3) > 0 && most > 0 {
		return most - time.Duration(s.Int64N(int64(most)/20+1))
	}
	return s.upTo(most)
}

// jump is as long, either way.
func (s sampler) jump(most time.Duration) time.Duration {
	if s.IntN(2) == 0 {
		return -s.long(most)
	}
	return s.long(most)
}

func (s sampler) oneIn(n int) bool { return s.IntN(n) == 0 }
