package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

// Programs and random walks that external tests of the package share.

// lockUser is a client that acquires a lock again and again, like any user of it.
func lockUser(entry lock.Entry, ttl time.Duration, rounds int) func(*simulator.Client) {
	return func(c *simulator.Client) {
		ctx := context.Background()
		env := lock.Env{Clock: c.Clock(), Tokens: c, TTL: ttl}
		for n := range entry.Nodes {
			env.Nodes = append(env.Nodes, c.Redis(n+1))
		}
		l := entry.New(env)
		for range rounds {
			c.Record(history.Event{Kind: history.Acquire})
			lease, err := l.Acquire(ctx, "lock")
			if err != nil {
				c.Record(history.Event{Kind: history.Refuse, Note: err.Error()})
				c.Clock().Sleep(ttl / 10)
				continue
			}
			c.Record(history.Event{Kind: history.Enter})
			if base, err := c.Read(0); err == nil {
				c.Clock().Sleep(ttl / 2)
				_ = c.Write(base, 0) // whether it was accepted stands in the history
			}
			c.Record(history.Event{Kind: history.Leave})
			if err := lease.Release(ctx); err != nil {
				c.Record(history.Event{Kind: history.Released, Note: err.Error()})
			}
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// do sends one command and records the answer, so that the history of the
// program shows all that it has observed.
func do(c *simulator.Client, node int, args ...any) any {
	v, err := c.Redis(node).Do(context.Background(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		v = err.Error()
	}
	c.Record(history.Event{Kind: history.Refuse, Note: fmt.Sprint(v)})
	return v
}

// ttlReader reads TTLs in every way there is, and changes them.
func ttlReader(c *simulator.Client) {
	for i := range 4 {
		do(c, 1, "SET", "a", i, "PX", 2000+i)
		do(c, 1, "PTTL", "a")
		do(c, 1, "SET", "b", i, "EX", 3)
		do(c, 1, "RENAME", "a", "b")
		do(c, 1, "COPY", "b", "a")
		do(c, 1, "PEXPIRE", "b", 1500, "GT")
		do(c, 1, "EVAL",
			`local left = redis.call("pttl", KEYS[1]); if left > 700 then `+
				`redis.call("pexpire", KEYS[1], left - 700) end; return left`, 1, "a")
		c.Clock().Sleep(300 * time.Millisecond)
		do(c, 1, "GETSET", "b", "x")
		do(c, 1, "PTTL", "b")
	}
}

// clockReader looks at its own clock and at the server's, and sets deadlines by
// both.
func clockReader(c *simulator.Client) {
	for range 4 {
		now := c.Clock().Now()
		do(c, 1, "SET", "a", now.UnixNano(), "PXAT", now.Add(2*time.Second).UnixMilli())
		do(c, 1, "TIME")
		do(c, 1, "PEXPIRETIME", "a")
		do(c, 1, "GETEX", "a", "PXAT", now.Add(time.Second).UnixMilli())
		do(c, 1, "EVAL",
			`local t = redis.call("time"); redis.call("set", KEYS[1], t[1]); `+
				`redis.call("expireat", KEYS[1], t[1] + 2); return t`, 1, "b")
		c.Clock().Sleep(c.Clock().Now().Sub(now) + 700*time.Millisecond)
	}
}

// scriptUser sends its script by name and, where the server does not know it, in
// full; only the names of the others.
func scriptUser(c *simulator.Client) {
	count := redis.NewScript(`return redis.call("incr", KEYS[1]) + ` + fmt.Sprint(c.ID()))
	others := redis.NewScript(`return redis.call("incr", KEYS[1]) + ` + fmt.Sprint(3-c.ID()))
	for range 4 {
		n, err := count.Run(context.Background(), c.Redis(1), []string{"n"}).Result()
		c.Record(history.Event{Kind: history.Refuse, Note: fmt.Sprint(n, err)})
		do(c, 1, "EVALSHA", others.Hash(), 1, "n")
		do(c, 1, "SCRIPT", "EXISTS", count.Hash(), others.Hash())
		c.Clock().Sleep(300 * time.Millisecond)
	}
	do(c, 1, "SCRIPT", "LOAD", `return 1`)
}

// watchUser acquires a lock and releases it by a transaction, every other time on two
// connections at once.
func watchUser(c *simulator.Client) {
	for i := range 3 {
		token := c.Token()
		do(c, 1, "SET", "lock", token, "NX", "PX", 2000)
		do(c, 1, "SET", "other", token)
		c.Clock().Sleep(1500 * time.Millisecond)
		tell := func(err error) { c.Record(history.Event{Kind: history.Refuse, Note: fmt.Sprint(err)}) }
		if i%2 == 1 {
			tell(releaseByWatch(c, "other", token, func() { tell(releaseByWatch(c, "lock", token, nil)) }))
		} else {
			tell(releaseByWatch(c, "lock", token, nil))
		}
	}
}

// releaseByWatch deletes key if it holds token: WATCH, GET, MULTI, DEL, EXEC.
// What is to happen between GET and MULTI may be nil.
func releaseByWatch(c *simulator.Client, key, token string, between func()) error {
	ctx := context.Background()
	return c.Redis(1).Watch(ctx, func(tx *redis.Tx) error {
		if got, err := tx.Get(ctx, key).Result(); err != nil || got != token {
			return fmt.Errorf("not held: %q %v", got, err)
		}
		if between != nil {
			between()
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Del(ctx, key); return nil })
		return err
	}, key)
}

// timerUser arms, stops and resets timers whose threads talk to the server.
func timerUser(c *simulator.Client) {
	ping := func(key string) func() { return func() { do(c, 1, "INCR", key) } }
	for range 3 {
		t := c.Clock().AfterFunc(400*time.Millisecond, ping("t"))
		u := c.Clock().AfterFunc(700*time.Millisecond, ping("u"))
		do(c, 1, "GET", "t")
		c.Clock().Sleep(300 * time.Millisecond)
		note := fmt.Sprint(t.Reset(500*time.Millisecond), u.Stop())
		c.Record(history.Event{Kind: history.Refuse, Note: note})
		c.Clock().Sleep(600 * time.Millisecond)
		do(c, 1, "GET", "t")
		t.Stop()
	}
}

// waiter writes, waits for replicas in every way there is, and notes how many replied.
func waiter(c *simulator.Client) {
	for i := range 4 {
		do(c, 1, "SET", "a", i, "PX", 1500)
		do(c, 1, "WAIT", 1, 400)
		do(c, 1, "INCR", "n")
		pipe := c.Redis(1).Pipeline()
		pipe.Do(context.Background(), "INCR", "n")
		count := pipe.Do(context.Background(), "WAIT", 2, 300*i)
		_, _ = pipe.Exec(context.Background()) // told by the next line
		c.Record(history.Event{Kind: history.Refuse, Note: fmt.Sprint(count.Result())})
		c.Clock().Sleep(200 * time.Millisecond)
	}
}

// listener subscribes, listens in several ways, and publishes to others.
func listener(c *simulator.Client) {
	ctx, r := context.Background(), c.Redis(1)
	for i := range 3 {
		s := r.Subscribe(ctx, "news", "other")
		receive(c, s, time.Second)
		receive(c, s, time.Second)
		do(c, 1, "PUBLISH", "news", c.Token())
		do(c, 1, "SET", "a", i, "PX", 500)
		receive(c, s, 700*time.Millisecond)
		do(c, 1, "EVAL", `return redis.call("publish", KEYS[1], ARGV[1])`, 1, "other", i)
		c.Clock().Sleep(300 * time.Millisecond)
		receive(c, s, 900*time.Millisecond)
		_ = s.Unsubscribe(ctx, "other") // answered by the next line
		receive(c, s, time.Second)
		if i == 1 {
			receive(c, s, time.Second)
		}
		_ = s.Close() // nothing is left to do
	}
}

// budget allows every fault, with a bound on those that have a size.
func budget(t testing.TB) []simulator.FaultBudget {
	b, err := faults.Budget("crash=1,pause=2@1500ms,lose-reply=2,lose-request=2,client-clock=2@1s," +
		"node-clock=2@900ms,restart=2@700ms,failover=2,split=2,hang=1@1100ms,delay=2@1900ms," +
		"fail-call=1,evict=1,flush=1").Parse()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// casts are the setups on which optimised code is compared with simple code.
func casts(t testing.TB) map[string]simulator.Config {
	cast := func(nodes int, programs ...func(*simulator.Client)) simulator.Config {
		s := simulator.Config{Faults: budget(t), Timeout: 800 * time.Millisecond}
		for i, p := range programs {
			s.Clients = append(s.Clients, simulator.ClientConfig{
				Program: p, Offset: time.Duration(i) * -300 * time.Microsecond, PPM: int32(i) * 20_000,
			})
		}
		for i := range nodes {
			s.Nodes = append(s.Nodes, simulator.NodeConfig{
				Replicas: max(1-i, 0), Offset: time.Duration(i) * -700300 * time.Microsecond, PPM: int32(i) * -7_000,
			})
		}
		return s
	}
	all := map[string]simulator.Config{
		"ttl readers":   cast(1, ttlReader, ttlReader),
		"clock readers": cast(1, clockReader, clockReader),
		"script users":  cast(1, scriptUser, scriptUser),
		"timers":        cast(1, timerUser, timerUser),
		"watchers":      cast(1, watchUser, watchUser),
		"joiners":       cast(2, joiner, joiner),
		"listeners":     cast(1, listener, listener),
	}
	waiters := cast(1, waiter, waiter)
	waiters.Nodes[0].Replicas = simulator.MaxReplicas
	all["waiters"] = waiters
	savers := cast(2, ttlReader, lockUser(algorithms.Milestones()[0], 3*time.Second, 3))
	savers.Nodes[0].AOF, savers.Nodes[1].AOF = simulator.EverySecond, simulator.Always
	all["savers"] = savers
	for _, e := range algorithms.Milestones() {
		user := lockUser(e, 3*time.Second, 3)
		all[e.ID] = cast(e.Nodes, user, user, user)
	}
	return all
}

// step is the result of one choice.
type step struct {
	events []history.Event
	err    string
}

// take makes a choice and keeps its result. It keeps the first line of an error: the
// trace of a panic contains addresses.
func take(l *simulator.Simulator, w *simulator.World, c simulator.Choice) step {
	events, err := l.Step(w, c)
	s := step{events: slices.Clone(events)}
	if err != nil {
		s.err, _, _ = strings.Cut(err.Error(), "\n")
	}
	return s
}

// walk plays one random run from w on: at most n choices, mostly without faults; now and
// then less time passes than could.
func walk(rng *rand.Rand, l *simulator.Simulator, w *simulator.World, n int, look func(c simulator.Choice, s step)) {
	var enabled []simulator.Choice
	for range n {
		if enabled = l.Enabled(w, enabled[:0]); len(enabled) == 0 {
			return
		}
		c := enabled[rng.IntN(len(enabled))]
		if c.Verb >= simulator.FaultVerb && rng.IntN(4) > 0 {
			c = enabled[0]
		}
		if c.Verb == simulator.Pass && rng.IntN(3) == 0 {
			c.D = 1 + time.Duration(rng.Int64N(int64(c.D)))
		}
		s := take(l, w, c)
		look(c, s)
		if s.err != "" {
			return
		}
	}
}

// run is a walk from the start, kept.
func run(rng *rand.Rand, l *simulator.Simulator, n int) (choices []simulator.Choice, steps []step) {
	w := l.NewWorld()
	walk(rng, l, &w, n, func(c simulator.Choice, s step) {
		choices = append(choices, c)
		steps = append(steps, s)
	})
	return choices, steps
}

// again makes the choices of a run in w and compares the results.
func again(t *testing.T, l *simulator.Simulator, w *simulator.World, choices []simulator.Choice, want []step) {
	t.Helper()
	for i, c := range choices {
		if got := take(l, w, c); !reflect.DeepEqual(got, want[i]) {
			t.Fatalf("choice %d, %s:\ngot  %+v\nwant %+v", i, l.Describe(c), got, want[i])
		}
	}
}
