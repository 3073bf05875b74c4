package locktest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/algorithms/lock"
	"locklab/algorithms/zookeeper"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/database"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// The lab's own locks come to the same in bubbles as on coroutines: the same verdicts
// with the same par. Where the code reads no clock and runs no timer, the number of
// states is the same, and the witnesses have as many steps: if clients keep all that they observe, and if they forget
// it when they have ended. Between two attempts only those on coroutines forget, whose memory is read.
func TestBothHosts(t *testing.T) {
	effort.OnlyPushed(t, "it takes seconds; one goroutine searches, and the lock is a process of its own")
	for _, test := range []struct {
		id     string
		budget string
		same   bool // number for number
	}{
		{"setnx", "crash=1,pause=1", true},
		{"setnx-expire", "crash=1,pause=1", true},
		{"token", "crash=1,pause=1", true},
		{"token", "failover=1,lose-reply=1", true},
		{"getset", "crash=1,pause=1", false},
		{"watchdog", "pause=1", false},
	} {
		t.Run(test.id+" "+test.budget, func(t *testing.T) {
			for _, attempts := range []int{2, 1} {
				b := search.Bounds{Scope: explore.Scope{Clients: 2, Attempts: attempts, TTL: 9 * time.Second, Nodes: 1},
					Budget: faults.Budget(test.budget)}
				own, s, _ := onBothHosts(t, racetest.Lock(t, test.id), b, test.same && attempts > 1)
				if diff := cmp.Diff(found(own, test.same), found(s, test.same)); diff != "" {
					t.Errorf("with %d attempts, on coroutines and in bubbles:\n%s", attempts, diff)
				}
			}
		})
	}
}

// labLock is a lock of the lab in an environment. says: it reports how it is released, if it does so.
func labLock(entry lock.Entry, says bool, in func(c *Client) (env lock.Env, done func())) func(c *Client) {
	return func(c *Client) {
		env, done := in(c)
		defer done()
		lease, err := entry.New(env).Acquire(context.Background(), client.Key)
		if err != nil {
			return
		}
		c.Critical(work)
		err = lease.Release(context.Background())
		if _, reports := lease.(lock.Reporter); says && reports && (err == nil || errors.Is(err, lock.ErrNotHeld)) {
			c.Says(err == nil)
		}
	}
}

// envOf returns environments with go-redis clients. Their tokens identify the clients for the search, so that it can
// use symmetry.
func envOf(ttl, timeout time.Duration) func(c *Client) (env lock.Env, done func()) {
	return func(c *Client) (lock.Env, func()) {
		env := lock.Env{Clock: clockwork.NewRealClock(), Tokens: c.process, TTL: ttl,
			Thread: fmt.Sprintf("c%d.0", c.process.ID())}
		for n := range c.runner.bounds.Servers {
			env.Nodes = append(env.Nodes, redis.NewClient(&redis.Options{
				Addr: c.Addr(n + 1), Dialer: c.Dial, Protocol: 2, DisableIdentity: true, MaxRetries: -1,
				ReadTimeout: timeout, ReadBufferSize: smallBuffer, WriteBufferSize: smallBuffer,
				MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			}))
		}
		return env, func() {}
	}
}

// smallBuffer is enough for the commands of a lock. The usual 32 KiB cost as much as the rest of a short run.
const smallBuffer = 1 << 10

// onBothHosts searches a lock of the lab on its own host and in bubbles. keeps: its clients keep all that they
// observe, on both.
func onBothHosts(t *testing.T, entry lock.Entry, bounds search.Bounds, keeps bool) (own, s *search.Search, p *plan) {
	t.Helper()
	b := Bounds{Clients: bounds.Clients, Attempts: bounds.Attempts, Budget: string(bounds.Budget), TTL: bounds.TTL,
		Key: client.Key, AnyTiming: bounds.Timing == search.AnyTiming}
	p, err := newPlan(t, b, labLock(entry, false, envOf(b.TTL, 3*time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	p.study.Plain.Rests = keeps
	start := time.Now()
	if s, err = p.search(t.Context()); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	if own, err = search.Explore(t.Context(), entry, settled(bounds, p.Timed, p.Dated)); err != nil {
		t.Fatal(err)
	}
	if keeps {
		own.Result = keeping(t, entry, own.Bounds)
	}
	t.Logf("%v, timed %t, states %d and %d, histories %d and %d", took, p.Timed, own.States, s.States, own.Histories,
		s.Histories)
	return own, s, p
}

// TestBothHostsAtAnyTiming: the same at any timing, with as many histories and steps where the
// code need not be timed.
func TestBothHostsAtAnyTiming(t *testing.T) {
	effort.OnlyPushed(t, "it takes seconds; one goroutine searches, and the lock is a process of its own")
	for _, test := range []struct {
		id, budget string
		timed      bool
	}{
		{"setnx", "crash=1", false},
		{"setnx-expire", "crash=1,pause=1", false},
		{"token", "pause=1", false},
		{"token", "lose-reply=1", false},
		{"client-expiry", "", true},
	} {
		t.Run(test.id+" "+test.budget, func(t *testing.T) {
			bounds := search.Bounds{Scope: explore.Scope{Clients: 2, Attempts: 1, TTL: 9 * time.Second, Nodes: 1},
				Budget: faults.Budget(test.budget), Timing: search.AnyTiming}
			own, s, p := onBothHosts(t, racetest.Lock(t, test.id), bounds, !test.timed)
			want, got := found(own, !test.timed), found(s, !test.timed)
			// in a bubble a crash or a pause may strike before the client wants the lock
			for _, counted := range []string{"states", "transitions"} {
				delete(want, counted)
				delete(got, counted)
			}
			if diff := cmp.Diff(want, got); diff != "" || !s.Complete || p.Timed != test.timed {
				t.Errorf("complete %t, timed %t; on coroutines and in bubbles:\n%s", s.Complete, p.Timed, diff)
			}
			bounds.Lateness = 750 * time.Millisecond
			_, err := p.searchWithin(t.Context(), bounds)
			if late := err != nil && strings.Contains(text.SayError("en", err), "lateness=750ms"); late != test.timed {
				t.Errorf("late timers: %v", err) // those of code that looks at its clock are exact
			}
			for _, w := range s.Witnesses {
				if o, err := p.play(w.Trace); err != nil || !slices.Contains(o.Verdicts, w.Verdict) {
					t.Errorf("the witness of %s comes to %v, %v", w.Verdict, o, err)
				}
			}
		})
	}
}

// keeping is a search in which clients keep all that they observe.
func keeping(t *testing.T, entry lock.Entry, b search.Bounds) *explore.Result {
	search := racetest.Must(b.Model(entry))(t)
	sim, err := search.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	opt := search.Options()
	opt.Plain.Rests = true
	r := racetest.Must(explore.Exhaust(t.Context(), sim, opt))(t)
	return r
}

// found is what a search has come to. Verdicts that need a lock's own report (LIE) are
// left out: a client of locktest reports nothing.
func found(s *search.Search, figures bool) map[string]int {
	m := map[string]int{}
	if figures {
		m["states"], m["transitions"], m["histories"], m["depth"] = s.States, s.Transitions, s.Histories, s.Depth
	}
	for _, w := range s.Witnesses {
		if w.Verdict == verdict.Lie {
			continue
		}
		m[string(w.Verdict)] = w.Par
		if figures {
			m[string(w.Verdict)+" steps"] = w.Steps
		}
	}
	return m
}

// The lab's locks on a ZooKeeper and in a database come to the same on connections of their own as on the lab's
// session and pool.
func TestBothHostsElsewhere(t *testing.T) {
	effort.OnlyExhaustive(t,
		"TestBothHosts shows the same on Redis; one goroutine searches, and the lock is a process of its own")
	for _, test := range []struct {
		id, budget string
		attempts   int
	}{
		{"zk-naive", "crash=1", 1}, {"zk-naive", "expire-session=1", 1}, {"zk-naive", "pause=1", 1},
		{"zk-protected", "lose-reply=1", 1}, {"zk-recheck", "expire-session=1", 1},
		{"db-row", "crash=1", 2}, {"db-deadline-now", "pause=1", 2}, {"db-deadline-now", "lose-reply=1", 2},
		{"db-for-update", "expire-session=1", 2}, {"db-get-lock", "crash=1", 2}, {"db-advisory", "lose-request=1", 2},
		{"db-advisory-xact", "restart=1", 2},
	} {
		t.Run(test.id+" "+test.budget, func(t *testing.T) {
			entry := racetest.Lock(t, test.id)
			scope := explore.Scope{Clients: 2, Attempts: test.attempts, TTL: ttl, Nodes: 1}
			own := racetest.Must(search.Explore(t.Context(), entry,
				search.Bounds{Scope: scope, Budget: faults.Budget(test.budget)}))(t)
			b := Bounds{Clients: 2, Attempts: test.attempts, Budget: test.budget, TTL: ttl}
			if entry.Database != "" {
				server := client.Servers(entry, ttl, simulator.NodeConfig{}, 1)[0]
				on := server.Contents.(database.Contents)
				on.Idle = server.Session
				b.Database = &on
			}
			_, s := searched(t, b, labLock(entry, true, func(c *Client) (lock.Env, func()) {
				env := lock.Env{Clock: clockwork.NewRealClock(), Tokens: c.process, TTL: ttl,
					Thread: fmt.Sprintf("c%d.0", c.process.ID())}
				if entry.Database != "" {
					env.DB = sql.OpenDB(c.Connector(1))
					return env, func() { env.DB.Close() }
				}
				conn := session(c)
				env.ZooKeeper = zookeeper.OnConn(conn, env.Clock)
				return env, conn.Close
			}))
			if diff := cmp.Diff(own.Pars(), s.Pars()); diff != "" || !own.Complete || !s.Complete {
				t.Errorf("complete %t, %t; on the lab's own and on connections of its own:\n%s",
					own.Complete, s.Complete, diff)
			}
		})
	}
}
