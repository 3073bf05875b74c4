package search_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"runtime/debug"
	"slices"
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

// TestExploreNamesDiceRollers: code that observes something from outside the simulator cannot be searched, and the
// error names the client; also where no history is repeated to be continued: in a branch that few histories take.
func TestExploreNamesDiceRollers(t *testing.T) {
	wall := own("wall-clock", func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			return deleting(env, key), env.Nodes[0].SetNX(ctx, key, time.Now().UnixNano(), env.TTL).Err()
		})
	})
	rare := own("random", func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			return reporting(func(ctx context.Context) error {
				n, err := env.Nodes[0].Del(ctx, key).Result()
				if err != nil {
					env.Clock.AfterFunc(time.Duration(rand.Uint64()>>2), func() {})
				}
				return lost(n, err)
			}), env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Err()
		})
	})
	for _, e := range []lock.Entry{wall, rare} {
		_, err := search.Explore(t.Context(), e, within(t, e, "clients=1 budget=lose-reply=1"))
		if dicey := (*simulator.NondeterministicError)(nil); !errors.As(err, &dicey) {
			t.Errorf("%s: %v", e.ID, err)
		} else if said := text.SayError("en", err); !strings.HasPrefix(said, e.ID+": ") ||
			!strings.Contains(said, "not deterministic") {
			t.Error(said)
		}
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
		entry := otherwise(kind, func(_ context.Context, env lock.Env, key, _ string) bool {
			go kinds[kind](env, key)
			return false
		})
		_, err := search.Explore(t.Context(), entry, search.DefaultBounds())
		var dicey *simulator.NondeterministicError
		if !errors.As(err, &dicey) || !strings.HasPrefix(text.SayError("en", err), kind+": ") {
			t.Errorf("%s: %v", kind, err)
		}
		return
	}
	for kind := range kinds {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestExploreNamesGoroutines$",
			"-test.timeout=10s")
		again.Env = append(os.Environ(), asked+"="+kind)
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%s in a goroutine: %v\n%.600s", kind, err, out)
		}
	}
}

// mostDefault is the longest that a search may take of which nothing is said, on the slowest of machines.
const mostDefault = 4 * time.Minute

// BenchmarkDefaults is the search of each lock as "locklab explore" makes it, on one core and on two, with the most
// memory that the program had of the system. What is written beside a lock holds: the search is complete in time, or
// ends where it is written. All of them take some minutes on two cores, and more on one.
func BenchmarkDefaults(b *testing.B) {
	for _, entry := range algorithms.All() {
		bounds := search.OpenBounds()
		bounds.Boundary = true
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

// TestForever: what lasts without end has a finding that says so in the run of its witness, although the run ends: a
// lock whose script always fails, with the last attempt of the probe, and a client that is never woken.
func TestForever(t *testing.T) {
	failing := own("out-of-order", func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			return nil, env.Nodes[0].Eval(ctx, `return redis.call("INCR")`, []string{key}).Err()
		})
	})
	for _, test := range []struct {
		entry  lock.Entry
		bounds string
		word   verdict.Word
		note   string // of the event
	}{
		{failing, "", verdict.Deadlock, explore.ProbeFailed},
		{failing, "timing=any", verdict.Deadlock, explore.ProbeFailed},
		{racetest.Lock(t, "naive-wake"), "attempts=2 uses=wait slow=24h", verdict.Slow, ""},
	} {
		s := completed(t, test.entry, within(t, test.entry, test.bounds))
		i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == test.word })
		if i < 0 {
			t.Fatalf("%s, %s: %v", test.entry.ID, test.bounds, s.Pars())
		}
		o := racetest.Must(search.ReplayOn(test.entry, s.Witnesses[i].Trace))(t)
		if !slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
			return f.Verdict == test.word && f.Forever && o.History.Events[f.Event].Note == test.note
		}) {
			t.Errorf("%s, %s: no finding that lasts: %+v", test.entry.ID, test.bounds, o.Judgement.Findings)
		}
	}
}

// TestSearchOnTwoCores: a search computes successors on several cores and enters them into its tables on another.
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

// TestSearchCauses: every cause has a counterexample that replays and has the faults that the cause names, and the
// first of a verdict is the shortest way to it.
func TestSearchCauses(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	for _, id := range []string{"setnx-expire", "token", "watchdog"} {
		entry, b := racetest.Lock(t, id), search.DefaultBounds()
		least, causes := prices(exploring(t, entry, b).Result), map[string]bool{}
		b.Causes = true
		s := exploring(t, entry, b)
		replays(t, s)
		first := map[verdict.Word]price{}
		for _, w := range s.Witnesses {
			causes[fmt.Sprint(w.Verdict, " by ", strings.Join(w.Cause, ", "))] = true
			if len(w.Cause) != w.Par ||
				w.Par == 1 && !strings.HasPrefix(w.Cause[0], search.InjectedFaults(w.Trace.Choices)) {
				t.Errorf("%s: %s by %q, but what strikes is %q",
					id, w.Verdict, w.Cause, search.InjectedFaults(w.Trace.Choices))
			}
			if _, ok := first[w.Verdict]; !ok {
				first[w.Verdict] = price{w.Par, w.Steps}
			}
		}
		if !maps.Equal(first, least) || len(causes) != len(s.Witnesses) || id == "token" &&
			!causes["OVERLAP by pause, at work"] {
			t.Errorf("%s: found %s, without causes %s; %v", id, listed(first), listed(least), causes)
		}
	}
}

// TestLocksThatRemember: a lock whose instance remembers earlier attempts, which is let in at its third one, is not
// taken for a new one. What can be remembered where is explore's TestMemoryOf.
func TestLocksThatRemember(t *testing.T) {
	entry := own("counting", func(env lock.Env) lock.Lock {
		token, n := racetest.Lock(t, "token").New(env), 0
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			lease, err := token.Acquire(ctx, key)
			if n++; n == 3 && err != nil {
				return reporting(func(context.Context) error { return nil }), nil
			}
			return lease, err
		})
	})
	for attempts, broken := range map[int]bool{2: false, 3: true} {
		if _, ok := prices(searched(t, entry, small(entry, 2, attempts, ""), nil))[verdict.Overlap]; ok != broken {
			t.Errorf("%d attempts: OVERLAP %t, want %t", attempts, ok, broken)
		}
	}
}

// TestPausesEndBetweenDeadlines: a pause has to end also where nothing is due. A client that finds the gate closed
// leaves a mark for 20 steps; the one that has closed it sleeps for 40, and does harm if it then sees the mark end.
// Only a pause of the first that ends half way through that sleep, in which nothing happens, brings the mark there.
func TestPausesEndBetweenDeadlines(t *testing.T) {
	const step = 750 * time.Millisecond
	entry := taking("gate", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		rdb := env.Nodes[0]
		marked := func() bool { return rdb.Exists(ctx, key+":mark").Val() > 0 }
		first, err := rdb.SetNX(ctx, key+":gate", "", 2*step).Result()
		if err == nil && !first {
			err = rdb.Set(ctx, key+":mark", "", 20*step).Err()
		}
		if err != nil || !first {
			return false, err
		}
		env.Clock.Sleep(40 * step)
		if marked() {
			env.Clock.Sleep(4 * step)
			if !marked() {
				return false, rdb.SetNX(ctx, key, "", 0).Err()
			}
		}
		return rdb.SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result()
	})
	b := within(t, entry, "attempts=1 timing=any work=750ms")
	if s := completed(t, entry, b); s.Witnesses != nil {
		t.Fatalf("without a pause: %v", s.Pars())
	}
	b.Budget = "pause=1"
	s := completed(t, entry, b)
	i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == verdict.Deadlock })
	if i < 0 {
		t.Fatalf("no DEADLOCK: %v", s.Pars())
	}
	_, sim, err := s.Bounds.Simulator(entry)
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	between, w := false, sim.NewWorld()
	for _, c := range s.Witnesses[i].Choices {
		between = between || c.Verb == simulator.Resume && sim.NextDeadline(&w) > w.Now()+step
		racetest.Must(sim.Step(&w, c))(t)
	}
	if !between {
		t.Error("the pause ends where something is due")
	}
}
