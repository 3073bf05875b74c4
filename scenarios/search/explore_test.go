package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestExploreWitnesses: each counterexample of a search shows its verdict, keeps the
// rules, and contains no choice that could be left out.
func TestExploreWitnesses(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	t.Parallel()
	found := map[verdict.Word]bool{}
	look := func(entry lock.Entry, b search.Bounds) {
		t.Run(entry.ID+"/"+string(b.Budget), func(t *testing.T) {
			for _, w := range witnesses(t, entry, b) {
				found[w] = true
			}
		})
	}
	for _, entry := range algorithms.Milestones() {
		for _, budget := range []string{"crash=1", "pause=1", "lose-reply=1", "failover=1", "node-clock=1@10s", "client-clock=1@10s,crash=1"} {
			b := small(entry, 2, 2, budget)
			if b.Nodes > 1 {
				b.Attempts = 1
			}
			look(entry, b)
		}
	}
	for _, entry := range oneServer()[:4] {
		look(entry, small(entry, 2, 2, "pause=2@5s")) // where one pause is too short to do harm
	}
	for _, w := range []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock} {
		if !found[w] {
			t.Errorf("no search has found %s", w)
		}
	}
}

// witnesses checks every counterexample of a search and returns their verdicts.
func witnesses(t *testing.T, entry lock.Entry, b search.Bounds) (found []verdict.Word) {
	t.Helper()
	s := exploring(t, entry, b)
	r := rulesOf(t, entry, b)
	defer r.sim.Close()
	for _, w := range s.Witnesses {
		found = append(found, w.Verdict)
		trace := racetest.Must(simulator.ParseLink(w.Trace.Link()))(t)
		o, err := search.Replay(trace)
		if err != nil {
			t.Fatalf("%s: %v", w.Verdict, err)
		}
		if !slices.Contains(o.Verdicts, w.Verdict) {
			t.Errorf("the witness of %s replays to %v", w.Verdict, o.Verdicts)
		}
		p, _, words, err := r.play(trace.Choices)
		if err != nil || !slices.Contains(words, w.Verdict) {
			t.Errorf("the witness of %s, by the rules: %v, %v", w.Verdict, words, err)
		}
		if p.Strikes() != w.Par || len(trace.Choices) != w.Steps {
			t.Errorf("%s: par %d in %d steps, its witness has %d strikes in %d", w.Verdict, w.Par, w.Steps, p.Strikes(), len(trace.Choices))
		}
		for i, c := range trace.Choices {
			_, _, words, err := r.play(slices.Delete(slices.Clone(trace.Choices), i, i+1))
			if err == nil && slices.Contains(words, w.Verdict) {
				t.Errorf("%s comes about without choice %d, %s", w.Verdict, i+1, r.sim.Describe(c))
			}
		}
	}
	return found
}

// TestExploreShortLeases: with a lease shorter than the time-out of a command, time can
// pass in the simulator while a client could continue. A counterexample must not use
// that.
func TestExploreShortLeases(t *testing.T) {
	for _, id := range []string{"setnx-expire", "token", "watchdog"} {
		entry := racetest.Lock(t, id)
		b := small(entry, 2, 2, "pause=1")
		b.TTL = time.Second
		if len(witnesses(t, entry, b)) == 0 {
			t.Errorf("%s: nothing found", id)
		}
	}
}

// plain is SET NX and nothing else, in the variants that tests need.
func plain(env lock.Env, token func() string, refused func(ctx context.Context, key string)) lock.Lock {
	return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
		made, err := env.Nodes[0].SetNX(ctx, key, token(), env.TTL).Result()
		if err == nil && !made {
			refused(ctx, key)
			err = lock.ErrNotAcquired
		}
		return reporting(func(ctx context.Context) error { return lost(env.Nodes[0].Del(ctx, key).Result()) }), err
	})
}

func nothing(context.Context, string) {}

// TestExploreNamesDiceRollers: code that observes something from outside the simulator cannot be searched, and the error
// names the client; also where no history is repeated to be continued: in the last step of all, and in a branch that few
// histories take.
func TestExploreNamesDiceRollers(t *testing.T) {
	named := func(name string, entry lock.Entry, b search.Bounds) {
		_, err := search.Explore(t.Context(), entry, b)
		if dicey := (*simulator.NondeterministicError)(nil); !errors.As(err, &dicey) {
			t.Errorf("%s: %v", name, err)
		} else if said := text.SayError("en", err); !strings.HasPrefix(said, name+": ") || !strings.Contains(said, "not deterministic") {
			t.Error(said)
		}
	}
	calls, called := 0, false
	for name, dice := range map[string]func() string{
		"wall-clock":    func() string { return strconv.FormatInt(time.Now().UnixNano(), 10) },
		"global-random": func() string { return strconv.FormatUint(rand.Uint64(), 36) },
		"own-counter":   func() string { calls++; return strconv.Itoa(calls) },
	} {
		named(name, own(name, func(env lock.Env) lock.Lock { return plain(env, dice, nothing) }), search.DefaultBounds())
	}
	random := func() time.Duration { return time.Duration(rand.Uint64() >> 2) }
	for name, late := range map[string]func(answered bool) time.Duration{
		"own-flag": func(bool) time.Duration {
			d := map[bool]time.Duration{true: time.Second}[called]
			called = true
			return d
		},
		"own-counter":   func(bool) time.Duration { calls++; return time.Duration(calls) },
		"global-random": func(bool) time.Duration { return random() },
		"random, rare": func(answered bool) time.Duration {
			if answered {
				return 0
			}
			return random()
		},
	} {
		entry := own(name, func(env lock.Env) lock.Lock {
			return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
				made, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
				if err == nil && !made {
					err = lock.ErrNotAcquired
				}
				return reporting(func(ctx context.Context) error {
					n, err := env.Nodes[0].Del(ctx, key).Result()
					if d := late(err == nil); d > 0 {
						env.Clock.AfterFunc(d, func() {})
					}
					return lost(n, err)
				}), err
			})
		})
		named(name, entry, within(t, entry, "clients=1 budget=lose-reply=1"))
	}
}

// TestExploreNamesGoroutines: the simulator does not control a goroutine that a lock
// starts itself. The error may come at any time, also as a panic outside of our
// functions, so the search runs in another process.
func TestExploreNamesGoroutines(t *testing.T) {
	const asked = "LOCKLAB_TEST_GOROUTINE"
	kinds := map[string]func(env lock.Env, key string){
		"command": func(env lock.Env, key string) { env.Nodes[0].PExpire(context.Background(), key, env.TTL) },
		"sleep":   func(env lock.Env, _ string) { env.Clock.Sleep(time.Second) },
	}
	if kind := os.Getenv(asked); kind != "" {
		entry := own(kind, func(env lock.Env) lock.Lock {
			return plain(env, env.Tokens.Token, func(_ context.Context, key string) { go kinds[kind](env, key) })
		})
		_, err := search.Explore(t.Context(), entry, search.DefaultBounds())
		var dicey *simulator.NondeterministicError
		if !errors.As(err, &dicey) || !strings.HasPrefix(text.SayError("en", err), kind+": ") {
			t.Errorf("%s: %v", kind, err)
		}
		return
	}
	for kind := range kinds {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestExploreNamesGoroutines$", "-test.timeout=10s")
		again.Env = append(os.Environ(), asked+"="+kind)
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%s in a goroutine: %v\n%.600s", kind, err, out)
		}
	}
}

// TestExploreWithoutSymmetry: if code can tell clients apart, they are not
// interchangeable. The search then uses no symmetry, says so, and finds what its twin
// finds.
func TestExploreWithoutSymmetry(t *testing.T) {
	for name, create := range map[string]maker{
		"tokens cut short": func(env lock.Env) lock.Lock {
			return plain(env, func() string { return env.Tokens.Token()[:2] }, nothing)
		},
		"clients with a rank": func(env lock.Env) lock.Lock {
			first := strings.HasPrefix(env.Tokens.Token(), "c1")
			return plain(env, func() string { return "x" }, func(context.Context, string) {
				if first {
					env.Clock.Sleep(time.Second)
				}
			})
		},
	} {
		entry := own(name, create)
		b := small(entry, 2, 2, "pause=1@5s,crash=1")
		s := exploring(t, entry, b)
		if s.Result.Symmetry || !strings.Contains(certificate.Of(s, "en"), "symmetry not used") {
			t.Errorf("%s: clients changed places", name)
		}
		if got, want := listed(prices(s.Result)), listed(dumbly(t, entry, b, nil).found); got != want {
			t.Errorf("%s: found\n%s\nits twin\n%s", name, got, want)
		}
	}
}

// TestExploreCutShort: a search that is incomplete says so, whatever ended it.
func TestExploreCutShort(t *testing.T) {
	entry := racetest.Lock(t, "token")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		name string
		ctx  context.Context
		cut  func(b *search.Bounds)
		err  error
	}{
		{"max-states", t.Context(), func(b *search.Bounds) { b.MaxStates = 500 }, nil},
		{"max-memory", t.Context(), func(b *search.Bounds) { b.MaxBytes = 1 }, nil},
		{"stopped", stopped, func(*search.Bounds) {}, context.Canceled},
	} {
		b := small(entry, 3, 2, "crash=1,pause=1,failover=1")
		c.cut(&b)
		s, err := search.Explore(c.ctx, entry, b)
		if !errors.Is(err, c.err) {
			t.Fatalf("%s: %v", c.name, err)
		}
		text := certificate.Of(s, "en")
		if s.Result.Complete || s.Result.Open == 0 || !strings.Contains(text, "Searched, not proved") || strings.Contains(text, "Proved") || !strings.Contains(text, "complete false") {
			t.Errorf("%s: %+v\n%s", c.name, s.Result, text)
		}
	}
}

// mostDefault is the longest that a search may take of which nothing is said, on the slowest of machines.
const mostDefault = 4 * time.Minute

// BenchmarkDefaults is the search of each lock as "locklab explore" makes it, on one core and on two, with the most
// memory that the program had of the system. What is written beside a lock holds: the search is complete in time, or ends where it is
// written. All of them take some minutes on two cores, and more on one.
func BenchmarkDefaults(b *testing.B) {
	for _, entry := range algorithms.All() {
		bounds := search.DefaultBounds()
		bounds.Timing, bounds.Attempts, bounds.Uses, bounds.Retries = search.AutoTiming, search.AutoAttempts, search.AutoUses, search.AutoRetries
		bounds.MaxStates, bounds.Boundary = search.UsualStates, true
		var most int64
		bounds.Progress = func(*explore.Result) { most = max(most, explore.Memory()) }
		for _, cores := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", entry.ID, cores), func(b *testing.B) {
				onProcs(cores, func() {
					for b.Loop() {
						began := time.Now()
						s, err := search.Explore(b.Context(), entry, bounds)
						switch {
						case err != nil:
							b.Fatal(err)
						case !s.Complete && entry.Search.Most == 0, len(s.Cut) > 0 && entry.Search.Beside.Most == 0:
							b.Fatalf("%v is not complete", s.Bounds)
						case time.Since(began) > mostDefault:
							b.Fatalf("%v takes %v", s.Bounds, time.Since(began))
						}
						most = max(most, explore.Memory())
						b.ReportMetric(float64(s.States), "states")
						b.ReportMetric(float64(most>>20), "MB")
					}
				})
				debug.FreeOSMemory()
				most = 0
			})
		}
	}
}

// TestErrorsForEver: a lock whose script always fails is a deadlock, of which the run has a
// finding with the last attempt of the probe; the search ends.
func TestErrorsForEver(t *testing.T) {
	entry := lock.Entry{ID: "out-of-order", Server: lock.OnRedis(1), Unit: time.Millisecond, TTL: 9 * time.Second, New: func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			return nil, env.Nodes[0].Eval(ctx, `return redis.call("INCR")`, []string{key}).Err()
		})
	}}
	for _, timing := range []search.Mode{search.Lockstep, search.AnyTiming} {
		b := small(entry, 2, 1, "")
		b.Timing, b.MaxStates = timing, 20_000
		s := exploring(t, entry, b)
		i := slices.IndexFunc(s.Found, func(w explore.Witness) bool { return w.Verdict == verdict.Deadlock })
		if !s.Complete || i < 0 {
			t.Fatalf("%v: complete %t after %d states, %v", timing, s.Complete, s.States, s.Pars())
		}
		o := racetest.Must(search.ReplayOn(entry, s.Witnesses[i].Trace))(t)
		if !slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
			return f.Verdict == verdict.Deadlock && f.Forever && o.History.Events[f.Event].Note == explore.ProbeFailed
		}) {
			t.Errorf("%v: no finding of the DEADLOCK: %+v", timing, o.Judgement.Findings)
		}
	}
}

// A search computes successors on several cores and enters them into its tables on another.
// The result must not depend on which is faster, even where the search is cut short.
func TestSearchOnTwoCores(t *testing.T) {
	for _, id := range []string{"token", "getset"} { // without a clock, and with one
		b := search.DefaultBounds()
		b.Clients, b.Budget, b.MaxStates = 3, "crash=1,pause=1,failover=1,lose-reply=1", 40_000
		var first *search.Search
		for _, cores := range []int{1, 2, 4} {
			onProcs(cores, func() {
				s := exploring(t, racetest.Lock(t, id), b)
				if first == nil {
					first = s
					if s.Result.Complete || s.Result.States < b.MaxStates || len(s.Witnesses) == 0 {
						t.Fatalf("the search was to be cut short with something found: %+v", s.Result)
					}
				}
				if got, want := certificate.Of(s, "en"), certificate.Of(first, "en"); got != want {
					t.Errorf("on %d cores:\n%s\non 1:\n%s", cores, got, want)
				}
				if !reflect.DeepEqual(s.Witnesses, first.Witnesses) {
					t.Errorf("on %d cores the witnesses differ", cores)
				}
			})
		}
	}
}

// Every cause has a counterexample that replays and has the faults that the cause names,
// and no cause is another one with something added.
func TestSearchCauses(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	b := search.DefaultBounds()
	b.Causes = true
	for _, id := range []string{"setnx-expire", "token", "watchdog"} {
		s := exploring(t, racetest.Lock(t, id), b)
		plain := b
		plain.Causes = false
		usual := exploring(t, racetest.Lock(t, id), plain)
		least := map[verdict.Word][2]int{}
		replays(t, s)
		for _, w := range s.Witnesses {
			if len(w.Cause) != w.Par || w.Par == 1 && !strings.HasPrefix(w.Cause[0], search.InjectedFaults(w.Trace.Choices)) {
				t.Errorf("%s: %s by %q, but what strikes is %q", id, w.Verdict, w.Cause, search.InjectedFaults(w.Trace.Choices))
			}
			if _, ok := least[w.Verdict]; !ok {
				least[w.Verdict] = [2]int{w.Par, w.Steps}
			}
		}
		for _, w := range usual.Witnesses {
			if least[w.Verdict] != [2]int{w.Par, w.Steps} {
				t.Errorf("%s: %s has par and steps %d, %d; by causes %v", id, w.Verdict, w.Par, w.Steps, least[w.Verdict])
			}
			delete(least, w.Verdict)
		}
		if len(least) > 0 {
			t.Errorf("%s: found by causes only: %v", id, least)
		}
		if id == "token" && !slices.ContainsFunc(s.Witnesses, func(w search.Witness) bool {
			return w.Verdict == verdict.Overlap && slices.Equal(w.Cause, []string{"pause, at work"})
		}) {
			t.Error("nobody is overtaken by a pause at work")
		}
	}
}

// counting is a lock that claims every third attempt of a process for itself. nth says which
// attempt it is, from what the lock remembers.
type counting struct {
	inner lock.Lock
	nth   func() int
	count int
	seen  map[string]int
	last  *counting
}

func (c *counting) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	lease, err := c.inner.Acquire(ctx, key)
	if n := c.nth(); n == 3 && err != nil {
		return acquired{}, nil
	}
	return lease, err
}

func (c *counting) byNumber() int {
	c.count++
	return c.count
}

func (c *counting) byMap() int {
	c.seen["attempts"]++
	return c.seen["attempts"]
}

func (c *counting) byList() int {
	n := 1
	for at := c.last; at != nil; at = at.last {
		n++
	}
	c.last = &counting{last: c.last}
	return n
}

type acquired struct{}

func (acquired) Release(context.Context) error { return nil }

// A lock whose instance remembers earlier attempts is not taken for a new one, wherever it
// keeps that; one that remembers nothing is.
func TestLocksThatRemember(t *testing.T) {
	token := racetest.Lock(t, "token")
	for what, nth := range map[string]func(c *counting) func() int{
		"a number":     func(c *counting) func() int { return c.byNumber },
		"a map":        func(c *counting) func() int { c.seen = map[string]int{}; return c.byMap },
		"a list":       func(c *counting) func() int { return c.byList },
		"a closure":    func(c *counting) func() int { n := 0; return func() int { n++; return n } },
		"another lock": func(c *counting) func() int { other := &counting{}; return other.byNumber },
	} {
		entry := own("counting", func(env lock.Env) lock.Lock {
			c := &counting{inner: token.New(env)}
			c.nth = nth(c)
			return c
		})
		for attempts, broken := range map[int]bool{2: false, 3: true} {
			_, ok := prices(searched(t, entry, small(entry, 2, attempts, ""), nil))[verdict.Overlap]
			if ok != broken {
				t.Errorf("a lock that remembers by %s, %d attempts: OVERLAP %t, want %t", what, attempts, ok, broken)
			}
		}
	}
	for _, id := range []string{"token", "watchdog"} {
		entry := racetest.Lock(t, id)
		b := small(entry, 2, 2, "crash=1")
		r := searched(t, entry, b, func(o *explore.Options) { o.Symmetric = 0 })
		if all := observed(t, entry, b); r.States >= all.States || listed(prices(r)) != listed(prices(all)) {
			t.Errorf("%s: %d states and %s; where clients keep all that they observe %d and %s", id, r.States, listed(prices(r)), all.States, listed(prices(all)))
		}
	}
}

// A lock that draws a name when it is made, as watchdog does, has the same name after a rest,
// and draws no token twice.
func TestLockMadeAnewHasItsName(t *testing.T) {
	drawn := map[string]bool{}
	entry := own("named", func(env lock.Env) lock.Lock {
		name := env.Tokens.Token()
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			drawn[name+", "+env.Tokens.Token()] = true
			_ = env.Nodes[0].Get(ctx, key).Err()
			return nil, lock.ErrNotAcquired
		})
	})
	b := small(entry, 1, 3, "")
	searched(t, entry, b, nil)
	for _, want := range []string{"c1.1, c1.2", "c1.1, c1.3", "c1.1, c1.4", "c2.1, c2.2"} {
		if !drawn[want] {
			t.Errorf("%q was not drawn", want)
		}
	}
	for pair := range drawn { // other numbers were tried at last
		var client, name, token int
		if _, err := fmt.Sscanf(pair, "c%d.%d, c%d.%d", &client, &name, &client, &token); err != nil || token <= name || token > name+3 {
			t.Errorf("drawn besides: %s", pair)
		}
	}
}
