package study_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// again are bounds of any number of attempts.
func again(entry lock.Entry, clients int, budget string) study.Bounds {
	b := small(entry, clients, study.AnyAttempts, "")
	written, endless, err := study.EndlessBudget(budget)
	if err != nil {
		panic(err)
	}
	b.Timing, b.Budget, b.Endless = study.AnyTiming, written, endless
	return b
}

// wordsOf are the verdicts that a search has found.
func wordsOf(s *study.Search) (words []verdict.Word) {
	for _, w := range s.Witnesses {
		words = append(words, w.Verdict)
	}
	return words
}

// TestAnyAttempts: a search of any number of attempts finds all verdicts of searches of one to four. Each of its own
// has a run that can be replayed.
func TestAnyAttempts(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	locks, most, states := []string{"setnx-expire", "token"}, 3, 10_000
	if effort.Exhaustive() {
		locks, most, states = append(locks, "constant"), 4, 20_000
	}
	for _, id := range locks {
		for _, budget := range []string{"", "crash=1", "lose-reply=1", "lose-request=1", "pause=1@10s", "pause=1", "restart=1", "crash=1,return=1", "delay=1@20s"} {
			entry := racetest.Lock(t, id)
			s, err := study.Explore(t.Context(), entry, again(entry, 2, budget))
			if err != nil || !s.Complete || len(s.Open) > 0 {
				t.Fatalf("%s, %s: %v, complete %t, %v, open %v", id, budget, err, s.Complete, s.Limit, s.Open)
			}
			for _, w := range s.Witnesses {
				if o, err := study.ReplayOn(entry, w.Trace); err != nil || !slices.Contains(o.Verdicts, w.Verdict) {
					t.Errorf("%s, %s: the witness of %s comes to %v, %v", id, budget, w.Verdict, o, err)
				}
			}
			for attempts := 1; attempts <= most; attempts++ {
				b := small(entry, 2, attempts, budget)
				b.Timing, b.MaxStates = study.AnyTiming, states
				few, err := study.Explore(t.Context(), entry, b)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range few.Witnesses {
					if !slices.Contains(wordsOf(s), w.Verdict) {
						t.Errorf("%s, %s: %d attempts come to %s, and any number of them only to %v", id, budget, attempts, w.Verdict, wordsOf(s))
					}
				}
			}
		}
	}
}

// TestAnyAttemptsOfRuns: a search of any number of attempts has found all verdicts of random runs with six.
func TestAnyAttemptsOfRuns(t *testing.T) {
	effort.Unwatched(t, "one goroutine steps")
	runs := 60
	if effort.Exhaustive() {
		runs = 300
	}
	for _, c := range []struct{ id, budget string }{{"setnx-expire", "pause=2"}, {"token", "lose-reply=2,pause=1"}, {"token", "crash=1,return=1"}, {"setnx", "lose-request=2"},
		{"zk-naive", "lose-reply=1"}, {"zk-herd", "expire-session=1"}} {
		entry := racetest.Lock(t, c.id)
		s, err := study.Explore(t.Context(), entry, again(entry, 2, c.budget))
		if err != nil || !s.Complete {
			t.Fatalf("%s, %s: %v", c.id, c.budget, err)
		}
		b := small(entry, 2, 6, c.budget)
		b.Timing = study.AnyTiming
		m, err := b.Model(entry)
		if err != nil {
			t.Fatal(err)
		}
		sim, err := m.Simulator()
		if err != nil {
			t.Fatal(err)
		}
		defer sim.Close()
		opt, harmful := m.Options(), 0
		rules := explore.NewRules(sim, &opt)
		for seed := range runs {
			random, p := rand.New(rand.NewPCG(1, uint64(seed))), rules.Start()
			for allowed := rules.Allowed(&p); len(allowed) > 0; allowed = rules.Allowed(&p) {
				_, words, err := rules.Step(&p, choose(random, allowed))
				if err != nil {
					t.Fatal(err)
				}
				harmful += len(words)
				for _, w := range words {
					if !slices.Contains(wordsOf(s), w) && w != verdict.Fenced {
						t.Fatalf("%s, %s: run %d comes to %s, and the search only to %v", c.id, c.budget, seed, w, wordsOf(s))
					}
				}
			}
		}
		if harmful == 0 && len(s.Witnesses) > 0 {
			t.Errorf("%s, %s: no run of %d comes to any of %v", c.id, c.budget, runs, wordsOf(s))
		}
	}
}

// choose takes a fault in one of 16 cases.
func choose(random *rand.Rand, allowed []simulator.Choice) simulator.Choice {
	for {
		c := allowed[random.IntN(len(allowed))]
		if c.Verb < simulator.FaultVerb || random.IntN(16) == 0 || !slices.ContainsFunc(allowed, func(c simulator.Choice) bool { return c.Verb < simulator.FaultVerb }) {
			return c
		}
	}
}

// counted refuses clients, each of which leaves a mark, and lets one in when all marks are there.
type counted struct {
	node  redis.UniversalClient
	env   lock.Env
	marks []string
}

func (l *counted) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	taken, err := l.node.SetNX(ctx, key, l.env.Tokens.Token(), l.env.TTL).Result()
	for _, mark := range l.marks {
		if taken || err != nil {
			break
		}
		fresh, cause := l.node.SetNX(ctx, key+mark, "x", 0).Result()
		if fresh || cause != nil {
			return nil, cmp.Or(cause, lock.ErrNotAcquired)
		}
	}
	if err != nil {
		return nil, err
	}
	return countedLease{l.node, key}, nil
}

type countedLease struct {
	node redis.UniversalClient
	key  string
}

func (l countedLease) Release(ctx context.Context) error { return l.node.Del(ctx, l.key).Err() }

// TestAnyAttemptsAtTheThird: a lock that falls at the third attempt of one of two clients, and not before, is found to.
func TestAnyAttemptsAtTheThird(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry := lock.Entry{ID: "counted", Nodes: 1, New: func(env lock.Env) lock.Strategy {
		return &counted{env.Nodes[0], env, []string{":a", ":b"}}
	}}
	for attempts, want := range map[int]bool{2: false, 3: true, study.AnyAttempts: true} {
		b := again(entry, 2, "")
		b.Attempts = attempts
		s, err := study.Explore(t.Context(), entry, b)
		if err != nil || !s.Complete {
			t.Fatalf("%d attempts: %v, %v", attempts, err, s)
		}
		at := slices.IndexFunc(s.Witnesses, func(w study.Witness) bool { return w.Verdict == verdict.Overlap })
		if at >= 0 != want {
			t.Errorf("%d attempts: %v", attempts, wordsOf(s))
		}
		if attempts == study.AnyAttempts && (len(s.Ways) != 1 || s.Ways[0].Bounds.Attempts != 3) {
			t.Errorf("its witness is not of three attempts: %v", s.Ways)
		}
	}
}

// TestAnyAttemptsOfAny: faults that are never used up come to what two of them come to, and to no STARVED.
func TestAnyAttemptsOfAny(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, c := range []struct {
		id, budget string
		want       []verdict.Word
	}{
		{"setnx", "crash=any", []verdict.Word{verdict.Deadlock}},
		{"token", "crash=any", nil},
		{"token", "crash=any,lose-reply=any", []verdict.Word{verdict.Orphan}},
	} {
		entry := racetest.Lock(t, c.id)
		s, err := study.Explore(t.Context(), entry, again(entry, 2, c.budget))
		if err != nil || !s.Complete || !slices.Equal(wordsOf(s), c.want) {
			t.Errorf("%s, %s: %v, %v, %v", c.id, c.budget, err, s.Limit, wordsOf(s))
		}
	}
}

// TestAnyAttemptsNamed: what counts without end is named before many states are visited.
func TestAnyAttemptsNamed(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for id, want := range map[string]string{
		"getset": "limit.again.clock", "reentrant": "limit.again.memory", "redisson-lease": "limit.again.token", "thread-id-lua": "limit.again.thread",
		"token": "limit.again.names", // of processes that have died, each of which has left a request under way
	} {
		entry, budget := racetest.Lock(t, id), "crash=1"
		if id == "token" {
			budget = "crash=any,return=any"
		}
		s, err := study.Explore(t.Context(), entry, again(entry, 2, budget))
		if err != nil || s.Complete || s.Limit.Key != want || s.States > 100_000 {
			t.Errorf("%s: %v, %v after %d states", id, err, s.Limit, s.States)
		}
	}
}
