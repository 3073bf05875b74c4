//go:debug randseednop=0
package locktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/bubble"
	"locklab/simulator/effort"
	"locklab/simulator/i18n"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

const ttl = 9 * time.Second

// prepare makes the plan of a test, and readies it.
func prepare(t *testing.T, b Bounds, client func(*Client), finds ...string) (*plan, []claim) {
	t.Helper()
	p, err := newPlan(t, b, client)
	must(t, err)
	return p, ready(p, finds)
}

func dial(c *Client) *redis.Client { return redisOn(c, 1) }

func redisOn(c *Client, server int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: c.Addr(server), Dialer: c.Dial, MaxRetries: -1})
}

// onRedis is code with a client of its own.
func onRedis(code func(c *Client, rdb *redis.Client)) func(*Client) {
	return func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		code(c, rdb)
	}
}

// search makes the search of the plan, and nothing beside it.
func (p *plan) search(ctx context.Context) (*search.Search, error) {
	return p.searchUpTo(ctx, p.study.Attempts)
}

// searched is the search of a test, and its plan.
func searched(t *testing.T, b Bounds, code func(*Client)) (*plan, *search.Search) {
	t.Helper()
	p, _ := prepare(t, b, code)
	s, err := p.search(t.Context())
	if err != nil {
		t.Fatal(explain(err))
	}
	return p, s
}

func work(r *Resource) { r.Write(r.Read() + 1) }

// setNX locks with SET NX PX, and unlocks with DEL, as many people do.
func setNX(c *Client) {
	rdb := dial(c)
	defer rdb.Close()
	if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err != nil || !ok {
		return
	}
	c.Critical(work)
	rdb.Del(c.Context(), "k")
}

// take locks by SET NX PX with a token, and reports whether it has the lock.
func take(c *Client, rdb *redis.Client, token string) bool {
	taken, err := rdb.SetNX(c.Context(), "k", token, ttl).Result()
	return err == nil && taken
}

// withToken is the lock of the Redis manual.
var withToken = locking(func(*Client, *redis.Client, string) bool { return false })

// locking takes the lock with a token, and gives it back. refused reports whether the client goes in without having
// got it at once.
func locking(refused func(c *Client, rdb *redis.Client, token string) bool) func(*Client) {
	return onRedis(func(c *Client, rdb *redis.Client) {
		token := c.Token()
		if !take(c, rdb, token) && !refused(c, rdb, token) {
			return
		}
		c.Critical(work)
		compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
	})
}

// compareAndDelete is the script of the Redis manual.
var compareAndDelete = redis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then ` +
	`return redis.call("del", KEYS[1]) else return 0 end`)

func TestCheck(t *testing.T) {
	Check(t, Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl}, setNX, "OVERLAP STALE-WRITE WRONG-DEL ORPHAN")
}

// A lock that waits inside: it polls with time.After until its context ends.
func TestPolling(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	b := Bounds{Clients: 2, Attempts: 1, Budget: "crash=1,pause=1", TTL: ttl}
	Check(t, b, locking(func(c *Client, rdb *redis.Client, token string) bool {
		ctx, cancel := context.WithTimeout(c.Context(), ttl*3/2)
		defer cancel()
		for {
			select {
			case <-ctx.Done():
				return false
			case <-time.After(ttl / 3):
			}
			if take(c, rdb, token) {
				return true
			}
		}
	}), "OVERLAP STALE-WRITE ORPHAN")
}

// Fencing tokens: the resource refuses what comes too late. But a token that is drawn by a
// second command, after a pause, is higher than that of the rightful holder.
func TestFenced(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	Check(t, Bounds{Clients: 2, Budget: "pause=1", TTL: ttl, Key: "k", Fenced: true},
		onRedis(func(c *Client, rdb *redis.Client) {
			token := c.Token()
			if ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result(); err != nil || !ok {
				return
			}
			fence, err := rdb.Incr(c.Context(), "k:fence").Uint64()
			if err == nil {
				c.CriticalWithToken(fence, work)
			}
			compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
		}), "OVERLAP STALE-WRITE FENCED ORPHAN")
}

// What a search finds is shown with the run, the lines of the code, and how to play it
// again; and the link plays it.
func TestBroken(t *testing.T) {
	p, s := searched(t, Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}, setNX)
	for _, w := range s.Witnesses {
		out := p.broken(w, "because")
		for _, want := range []string{"because", "PAUSE", "locktest/locktest_test.go:",
			"-locklab.replay=" + w.Trace.Link()} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing in\n%s", w.Verdict, want, out)
			}
		}
		o := racetest.Must(p.play(w.Trace))(t)
		if !strings.Contains(joined(o.Verdicts), string(w.Verdict)) {
			t.Errorf("its trace leads to %s, want %s", joined(o.Verdicts), w.Verdict)
		}
	}
}

func joined(words []verdict.Word) (s string) {
	for _, w := range words {
		s += string(w) + " "
	}
	return s
}

// A test speaks the language of -locklab.lang, or that of the environment.
func TestLanguage(t *testing.T) {
	p, s := searched(t, Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}, setNX)
	broken := func() string { return p.broken(s.Witnesses[0], tell("locktest.judge.breaks")) }
	bad := func() string { return explain(&bubble.StallError{Client: 2, Stuck: true, State: "chan receive"}) }
	for _, test := range []struct{ flag, own, locale, want, not string }{
		{"", "", "zh_CN.UTF-8", "测试断言它不会发生", "the code at each step"},
		{"", "en", "zh_CN.UTF-8", "the code at each step", "每一步"},
		{"zh", "en", "", "重放这次运行", "play it again"},
		{"both", "", "", "play it again: / 重放这次运行", "no such text"},
		{"", "", "fr_FR.UTF-8", "the code at each step", "每一步"},
	} {
		t.Setenv("LOCKLAB_LANG", test.own)
		t.Setenv("LC_ALL", test.locale)
		*langFlag = test.flag
		out := broken()
		if !strings.Contains(out, test.want) || strings.Contains(out, test.not) {
			t.Errorf("%+v:\n%s", test, out)
		}
		if test.flag == "zh" && !strings.Contains(bad(), "c2 的代码没有结束") {
			t.Error(bad())
		}
		*langFlag = ""
	}
}

// The second search of the same code finds the same, number for number.
func TestTwice(t *testing.T) {
	told := ""
	for range 2 {
		_, s := searched(t, Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}, setNX)
		now := fmt.Sprintln(s.States, s.Transitions, s.Histories, len(s.Witnesses) > 0)
		for _, w := range s.Witnesses {
			now += w.Trace.Link() + "\n"
		}
		if told != "" && now != told {
			t.Errorf("%s\nand before\n%s", now, told)
		}
		told = now
	}
}

// Each of these ends within seconds, with a sentence of its own, and never in a proof.
func TestCannotBeCarried(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches, and the lock is a process of its own")
	var global sync.Mutex
	global.Lock()
	defer global.Unlock()
	locked := func(rdb *redis.Client, c *Client) bool {
		ok, err := rdb.SetNX(c.Context(), "k", c.Token(), ttl).Result()
		return err == nil && ok
	}
	for name, test := range map[string]struct {
		code func(*Client)
		want string
	}{
		"nobody enters": {func(c *Client) { rdb := dial(c); defer rdb.Close(); locked(rdb, c) },
			"nobody ever entered: one process alone, without any fault, does not get the lock. " +
				"Does your code call Critical"},
		"twice": {onRedis(func(c *Client, rdb *redis.Client) {
			locked(rdb, c)
			c.Critical(work)
			c.Critical(work)
		}), "Critical is called twice in one attempt"},
		"nested": {onRedis(func(c *Client, rdb *redis.Client) {
			locked(rdb, c)
			c.Critical(func(*Resource) { c.Critical(work) })
		}), "Critical is called inside Critical"},
		"write of nothing": {onRedis(func(c *Client, rdb *redis.Client) {
			locked(rdb, c)
			c.Critical(func(r *Resource) { r.Write(0) })
		}), "write one more than Read has returned"},
		"panic": {func(c *Client) { panic("oh no") }, "the code of c1 panicked: oh no"},
		"never ends": {onRedis(func(c *Client, rdb *redis.Client) {
			for c.Context().Err() == nil {
				rdb.Get(c.Context(), "k")
				time.Sleep(time.Second)
			}
		}), "a client that never ends"},
		"two keys": {onRedis(func(c *Client, rdb *redis.Client) {
			rdb.Set(c.Context(), "other", "1", ttl)
			locked(rdb, c)
			c.Critical(work)
		}), `the code writes the keys ["other" "k"] before it enters: say in Bounds.Key`},
		"no key": {func(c *Client) { rdb := dial(c); defer rdb.Close(); rdb.Get(c.Context(), "k"); c.Critical(work) },
			"the code writes no key before it enters"},
		"unknown server": {func(c *Client) { c.Addr(2) }, "there is no server 2: the setup has 1"},
		"a dead channel": {func(c *Client) { <-make(chan int) },
			"waits for no server and no time: a goroutine is in [chan receive]"},
		"a read of nothing": {func(c *Client) {
			conn, _ := c.Dial(c.Context(), "tcp", c.Addr(1))
			conn.Read(make([]byte, 1))
		}, "waits for no server and no time"},
		"a mutex from outside": {func(c *Client) { global.Lock() }, "a goroutine is in [sync.Mutex.Lock]"},
		"busy": {func(c *Client) {
			busy.Store(true)
			for busy.Load() {
				runtime.Gosched()
			}
		}, "of processor time"},
		"inline commands": {func(c *Client) {
			conn, _ := c.Dial(c.Context(), "tcp", c.Addr(1))
			conn.Write([]byte("SET k 1\r\n"))
		}, "only commands as arrays of bulk strings are understood"},
		"a command that cannot be simulated": {onRedis(func(c *Client, rdb *redis.Client) {
			rdb.BLPop(c.Context(), time.Second, "list")
		}), "BLPOP"},
	} {
		t.Run(name, func(t *testing.T) {
			before := bubble.Worked()
			p, err := newPlan(t, Bounds{Clients: 2, TTL: ttl}, test.code)
			if err == nil {
				err = p.alone()
			}
			busy.Store(false)
			if err == nil {
				t.Fatal("it was carried")
			}
			if got := explain(err); !strings.Contains(got, test.want) {
				t.Errorf("it says %q, want %q", got, test.want)
			}
			if took := bubble.Worked() - before; took > 10*time.Second {
				t.Errorf("it took %v of processor time", took)
			}
		})
	}
}

// Code that panics, or is not deterministic, only after what others have done is shown
// with the run that has led there.
func TestScheduleOfErrors(t *testing.T) {
	samples(t, 1)
	drawn := 0
	for name, refused := range map[string]func(rdb *redis.Client){
		"panic":  func(*redis.Client) { panic("somebody else has it") },
		"random": func(rdb *redis.Client) { drawn++; rdb.Set(context.Background(), "k2", drawn%7, ttl) },
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := prepare(t, Bounds{Clients: 2, TTL: ttl}, onRedis(func(c *Client, rdb *redis.Client) {
				ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result()
				if err != nil {
					return
				}
				if !ok {
					refused(rdb)
					return
				}
				c.Critical(work)
			}))
			_, err := p.search(t.Context())
			if err == nil {
				t.Fatal("it was carried")
			}
			out := explain(err)
			for _, want := range []string{"locktest/locktest_test.go:", "until then:", "c2's SET EX NX lands",
				"next: answer c1"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in\n%s", want, out)
				}
			}
			if name == "panic" && !strings.Contains(out, "TestScheduleOfErrors.func1(") {
				t.Errorf("no stack of the panic in\n%s", out)
			}
		})
	}
}

// A certificate names no flag of locklab explore, which Bounds lack.
func TestNoForeignFlags(t *testing.T) {
	for _, b := range []Bounds{
		{Clients: 1, Attempts: 1, Budget: "crash=1,return=1", TTL: ttl},
		{Clients: 1, Attempts: 1, TTL: ttl, Servers: 3, AnyTiming: true},
	} {
		p, _ := prepare(t, b, setNX)
		s := racetest.Must(p.search(t.Context()))(t)
		s.Result.Limit = i18n.New("limit.search", "n", 1, "what", i18n.New("limit.of.states"))
		for _, lang := range []string{"en", "zh"} {
			if got := p.certificate(s, lang); strings.Contains(got, "--") {
				t.Errorf("%+v:\n%s", b, got)
			}
		}
	}
}

// Code may look a name up by Client.ID: the probe has one of the numbers, and a witness and an error call it a probe.
func TestProbe(t *testing.T) {
	names := [...]string{"alice", "bob"}
	lock := onRedis(func(c *Client, rdb *redis.Client) {
		if ok, err := rdb.SetNX(c.Context(), "k", names[c.ID()-1], 0).Result(); err != nil || !ok {
			return
		}
		c.Critical(work)
		rdb.Del(c.Context(), "k")
	})
	p, s := searched(t, Bounds{Clients: len(names), Budget: "crash=1", TTL: ttl}, lock)
	if len(s.Witnesses) != 1 || s.Witnesses[0].Verdict != verdict.Deadlock {
		t.Fatalf("found %v", s.Witnesses)
	}
	if out := p.broken(s.Witnesses[0], ""); !strings.Contains(out, "c3 probe") {
		t.Errorf("no probe in\n%s", out)
	}
	if got := p.certificate(s, "en"); !strings.Contains(got, "is c2 started again") {
		t.Errorf("no number of the probe in\n%s", got)
	}
	p, _ = prepare(t, Bounds{Clients: len(names), Budget: "crash=1", TTL: ttl}, func(c *Client) {
		if c.probe {
			panic("a bug")
		}
		lock(c)
	})
	if _, err := p.search(t.Context()); err == nil || !strings.Contains(explain(err), "c3, the probe") {
		t.Errorf("got %v", err)
	}
}

// A search that is cut short says by what: the states, the time or the memory. What it leaves open is sampled.
func TestCutShort(t *testing.T) {
	usual := Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}
	few, short, small := usual, usual, Bounds{Clients: 3, Budget: "crash=1,pause=1", TTL: ttl, AnyTiming: true}
	few.MaxStates, short.MaxTime, small.MaxBytes = 100, time.Nanosecond, 8<<20
	for want, b := range map[string]Bounds{
		"Bounds.MaxStates is 100": few, "states): raise Bounds.MaxTime": short, "more than 8388608 bytes": small,
	} {
		if p, s := searched(t, b, setNX); s.Complete || !strings.Contains(headline(p, s, "en"), want) {
			t.Errorf("complete %t, %s", s.Complete, headline(p, s, "en"))
		}
	}
	p, _ := searched(t, few, setNX)
	said := p.tried([]claim{{verdict.Overlap, 1}, {verdict.Deadlock, never}})
	if !strings.Contains(said, "OVERLAP was found in") || !strings.Contains(said, "schedules: DEADLOCK") {
		t.Error(said)
	}
}

// samples has a test sample so many schedules.
func samples(t *testing.T, n int) {
	before := schedules
	schedules = n
	t.Cleanup(func() { schedules = before })
}

// silent is a log that nobody reads.
type silent struct{}

func (silent) Printf(string, ...any) {}

// Random numbers that cannot be seeded are found out, in what is sent and in how long
// code sleeps, and are no proof where they are more than a few.
func TestNondeterministic(t *testing.T) {
	samples(t, 5)
	turn := 0
	for name, test := range map[string]struct {
		value func() any
		sleep func() time.Duration
		want  string
	}{
		"value": {func() any { turn++; return turn % 7 }, func() time.Duration { return time.Second }, `"SET" "k"`},
		"sleep": {func() any { return "1" }, func() time.Duration { return 1 + rand.N(time.Second) }, "MaxRetries: -1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := newPlan(t, Bounds{Clients: 2, TTL: ttl}, onRedis(func(c *Client, rdb *redis.Client) {
				time.Sleep(test.sleep())
				if ok, err := rdb.SetNX(c.Context(), "k", test.value(), ttl).Result(); err != nil || !ok {
					return
				}
				c.Critical(work)
			}))
			if err != nil {
				t.Fatal(err)
			}
			different := (*process.NondeterministicError)(nil)
			if err = p.alone(); err == nil {
				_, err = p.search(t.Context())
			}
			if !errors.As(err, &different) {
				t.Fatalf("%v, want a NondeterministicError", err)
			}
			p.bounds.Key = "k"
			out := sampled(err) + p.tried([]claim{{verdict.Deadlock, never}})
			for _, want := range []string{"sampled, not proved: on equal answers c1 first did", test.want,
				"math/rand/v2 cannot be", "not found in 5 random schedules: DEADLOCK"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in\n%s", want, out)
				}
			}
		})
	}
}

func TestBadBounds(t *testing.T) {
	good := Bounds{Clients: 2, TTL: ttl}
	for _, test := range []struct {
		change func(b *Bounds)
		want   string
	}{
		{func(b *Bounds) { *b = Bounds{} }, "Bounds.Clients is 0"},
		{func(b *Bounds) { b.TTL = 0 }, "Bounds.TTL is 0s"},
		{func(b *Bounds) { b.TTL = time.Millisecond }, "Bounds.TTL is 1ms"},
		{func(b *Bounds) { b.Clients = 70 }, "clients=70"},
		{func(b *Bounds) { b.Clients = -1 }, "clients=-1"},
		{func(b *Bounds) { b.Attempts = -1 }, "attempts=auto: give a number"},
		{func(b *Bounds) { b.MaxStates = -1 }, "Bounds.MaxStates is -1"},
		{func(b *Bounds) { b.Servers = -1 }, "-1"},
		{func(b *Bounds) { b.Servers = 2 }, "Bounds.Servers is 2"},
		{func(b *Bounds) { b.Budget = "krash=1" }, "krash"},
		{func(b *Bounds) { b.Budget = "crash=1,node-rate=1" }, "cannot carry node-rate"},
		{func(b *Bounds) { b.Fenced, b.Servers = true, 3 }, "fenced: a fencing token"},
		{func(b *Bounds) { b.Budget = "client-clock=1@10s" }, "sets the wall clock"},
		{func(b *Bounds) { b.Slow = -1 }, "slow"},
		{func(b *Bounds) { b.Noisy = -1 }, "noisy"},
		{func(b *Bounds) { b.Noisy, b.AnyTiming = 9, true }, "noisy"},
		{func(b *Bounds) { b.Clients, b.Slow = Any, time.Second }, "Fenced, Holder, Slow"},
		{func(b *Bounds) { b.Clients, b.Noisy = Any, 9 }, "Fenced, Holder, Slow"},
		{func(b *Bounds) { b.Clients, b.Fenced = Any, true }, "Fenced, Holder, Slow"},
		{func(b *Bounds) { b.Clients, b.Attempts = Any, 2 }, "unless it is 1"},
		{func(b *Bounds) { b.Clients, b.Budget = Any, "crash=any,pause=1" }, "write any in each"},
		{func(b *Bounds) { b.Clients, b.Budget = Any, "client-clock=any@10s" }, "client-clock"},
	} {
		b := good
		test.change(&b)
		_, err := newPlan(t, b, setNX)
		if err == nil || !strings.Contains(text.SayError("en", err), test.want) ||
			strings.Contains(text.SayError("en", err), " --") {
			t.Errorf("%+v: %v, want %q", b, err, test.want)
		}
	}
	if _, err := newPlan(t, good, nil); err == nil {
		t.Error("nil is no client")
	}
}

// The key of the bounds must be one that the code writes.
func TestOtherKey(t *testing.T) {
	p := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl, Key: "kk"}, setNX))(t)
	if err := p.alone(); err == nil || !strings.Contains(text.SayError("en", err),
		`Bounds.Key is "kk", and the code does not write that key before it enters, but ["k"]`) {
		t.Errorf("%v", err)
	}
}

// A parallel test is refused: random numbers are seeded for the whole process.
func TestParallel(t *testing.T) {
	t.Run("parallel", func(t *testing.T) {
		t.Parallel()
		if err := seedable(t); err == nil || !strings.Contains(text.SayError("en", err), "leave out t.Parallel") {
			t.Errorf("%v", err)
		}
	})
}

// busy is code that runs until the test has seen that it does.
var busy atomic.Bool

// Code that closes a connection gives up what it has asked there. That is still on its way, and may
// come after what the code does to be sure.
func TestClosedConnection(t *testing.T) {
	Check(t, Bounds{Clients: 1, Attempts: 1, Budget: "delay=1@5s", TTL: ttl}, func(c *Client) {
		impatient, patient := dial(c), dial(c)
		defer patient.Close()
		answer := make(chan *redis.BoolCmd, 1)
		go func() { answer <- impatient.SetNX(c.Context(), "k", "1", 0) }()
		time.Sleep(time.Second)
		impatient.Close()
		locked, err := (<-answer).Result()
		if locked {
			c.Critical(work)
		}
		if locked || err != nil {
			patient.Del(c.Context(), "k")
		}
	}, "ORPHAN DEADLOCK")
}

// TestBeside: what lockstep hides is found at any timing beside it, with as many faults and a run that can be played;
// where that is complete the first line says so.
func TestBeside(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	both := func(b Bounds, code func(c *Client)) (*plan, *search.Search) {
		p, _ := prepare(t, b, code)
		return p, racetest.Must(p.searchAll(t.Context()))(t)
	}
	// go-redis sends a DEL again that had no answer, and in between the next client has taken the lock.
	p, s := both(Bounds{Clients: 2, Budget: "lose-reply=1", TTL: ttl}, func(c *Client) {
		rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial})
		defer rdb.Close()
		if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err == nil && ok {
			c.Critical(work)
			rdb.Del(c.Context(), "k")
		}
	})
	i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == verdict.Overlap })
	if i < 0 || slices.Contains(s.Verdicts(), verdict.Overlap) || s.Witnesses[i].Par != 1 ||
		s.FoundBy(s.Witnesses[i]).Bounds.Timing != search.AnyTiming {
		t.Fatalf("lockstep finds %v, both %+v", s.Verdicts(), s.Witnesses)
	}
	if o, err := p.play(s.Witnesses[i].Trace); err != nil || !slices.Contains(o.Verdicts, verdict.Overlap) {
		t.Errorf("played: %+v, %v", o, err)
	}

	p, s = both(Bounds{Clients: 2, Attempts: 1, Budget: "crash=1", TTL: ttl},
		func(c *Client) { lockWith(c, c.Token(), compareAndDelete) })
	if first, _, _ := strings.Cut(p.certificate(s, "en"), "\n"); !strings.Contains(first,
		"in lockstep and at any timing, no failure") {
		t.Error(first)
	}
}

// TestUnclaimed: a test that claims nothing is told what to claim, and one that claims something is not.
func TestUnclaimed(t *testing.T) {
	found := &findings{of: func(w verdict.Word) (a answer) {
		if par, is := map[verdict.Word]int{verdict.Overlap: 1, verdict.Orphan: 2}[w]; is {
			a.witness = &search.Witness{}
			a.witness.Par = par
		}
		return a
	}}
	for claims, want := range map[string]string{"": "OVERLAP ORPHAN@2", "OVERLAP": "", "holds": ""} {
		all := racetest.Must(claimed([]string{claims},
			[]verdict.Word{verdict.Overlap, verdict.Orphan, verdict.Deadlock}))(t)
		if is := unclaimed(found, []string{claims}, all); is != want {
			t.Errorf("with the claim %q it proposes %q, want %q", claims, is, want)
		}
	}
}
