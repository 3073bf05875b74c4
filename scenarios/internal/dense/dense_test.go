package dense

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

var (
	seedFlag   = flag.Uint64("seed", 1, "random numbers of the runs")
	runsFlag   = flag.Int("runs", 0, "hunt with so many runs in all; 0: the usual test")
	lockFlag   = flag.String("lock", "", "only this lock")
	replayFlag = flag.String("replay", "", "print the run that a failure names: 'lock 2x1 budget seed number'")
)

// budgets are those under which each lock runs. With crash=0 nothing goes wrong.
var budgets = []string{
	"crash=0", "crash=1", "pause=1@3s", "pause=1@5s", "pause-thread=1@5s", "lose-request=1", "lose-reply=1",
	"fail-call=1", "delay=1@10s", "hang=1@9s", "restart=1", "restart=1@3s", "client-clock=1@10s",
	"node-clock=1@10s", "evict=1", "delete=1", "flush=1",
	"crash=1,pause=1@5s",
}

// A search with one attempt each that has at most few states is made once more with two. One
// that has more than most is left out. A hunt has more time.
func sizes() (few, most int) {
	switch {
	case *runsFlag > 0:
		return 4_000, 150_000
	case effort.Exhaustive():
		return 1_000, 30_000
	}
	return 500, 3_000
}

// usualRuns and pushedRuns are the numbers of runs for a lock and a budget: of the usual tests, and of a push (a
// hundred thousand in all).
const usualRuns, pushedRuns = 20, 650

// tooMany are the locks of which no search is small: they rest after a refusal, read their
// clock, never stop renewing, or ask several servers at once. Only a hunt asks about them.
var tooMany = []string{"cron-v3", "spin", "spin-reentrant", "redlock-parallel", "daemon-20"}

// mostWithout is the limit of states without faults, which the locks that read a clock need.
const mostWithout = 200_000

// TestDense: no run in dense time comes to a verdict that a complete search within the same
// bounds proves impossible, or to one with fewer faults than the fewest that the search has
// found. The usual test asks some of the questions.
func TestDense(t *testing.T) {
	if *runsFlag == 0 {
		effort.OnlyPushed(t, "it makes random runs for seconds")
	}
	asked := map[string][]string{} // budgets by lock
	questions := 0
	inDatabase := func(e lock.Entry) bool { return e.Database != "" } // the bed has no database
	locks := append(slices.DeleteFunc(algorithms.All(), inDatabase), half)
	for i, entry := range locks {
		list := budgets
		if entry.OnZooKeeper() {
			list = zookeeperBudgets
		}
		switch {
		case *lockFlag != "" && entry.ID != *lockFlag, *runsFlag == 0 && slices.Contains(tooMany, entry.ID):
			continue
		case *runsFlag == 0:
			list = []string{list[0], list[1+i%(len(list)-1)]}
		}
		asked[entry.ID] = list
		questions += len(list)
	}
	each := usualRuns // for a question
	switch {
	case *runsFlag > 0:
		each = max(1, *runsFlag/max(1, questions))
	case effort.Pushed():
		each = pushedRuns
	}
	for _, entry := range locks {
		t.Run(entry.ID, func(t *testing.T) {
			t.Parallel()
			answered, large := false, false
			for _, budget := range asked[entry.ID] {
				why := "the search without faults has too many states already"
				if !large {
					why, large = ask(t, entry, budget, each)
				}
				if answered = answered || why == ""; why != "" {
					t.Logf("%s: left out: %s", budget, why)
				}
			}
			if *runsFlag > 0 && !slices.Contains(tooMany, entry.ID) && asked[entry.ID] != nil && !answered {
				t.Error("all questions are left out")
			}
		})
	}
}

// ask compares runs with a search; why says why it does not. large reports that a search without faults
// has more states than searches with faults may have, which all have more.
func ask(t *testing.T, entry lock.Entry, budget string, runs int) (why string, large bool) {
	q, s := question{entry.ID, 2, 1, budget}, (*search.Search)(nil)
	few, most := sizes()
	limit := most
	if budget == "crash=0" && *runsFlag > 0 {
		most = max(most, mostWithout)
	}
	for attempts := 1; attempts <= 2; attempts++ {
		longer := q
		longer.attempts = attempts
		found, err := search.Explore(t.Context(), entry, longer.bounds(entry, most))
		switch {
		case err != nil:
			return err.Error(), large
		case found.Complete:
			q, s = longer, found
		}
		large = large || budget == "crash=0" && attempts == 1 && found.States > limit
		if found.States > few || found.Bounds.Nodes > 1 {
			break
		}
	}
	if s == nil {
		return fmt.Sprintf("the search has more than %d states", most), large
	}
	compare(t, q, s, runs)
	return "", large
}

// TestDenseFurther is TestDense of questions with more states: locks whose second attempt
// meets what their first has left on the way, and three clients.
func TestDenseFurther(t *testing.T) {
	effort.OnlyPushed(t, "it makes random runs for seconds")
	questions := []question{{"redisson-lease", 2, 2, "hang=1@9s"}, {"token", 3, 1, "crash=1"}}
	if effort.Exhaustive() {
		questions = append(questions, question{"token", 3, 1, "pause=1@5s"}, question{"watchdog", 2, 1, "pause=1@5s"},
			question{"redlock", 2, 1, "pause=1@5s"},
			question{"redisson-lease", 2, 2, "delay=1@10s"}, question{"watchdog", 2, 2, "hang=1@9s"},
			question{"redisson-rearm", 2, 2, "hang=1@9s"}, question{"threadlocal", 2, 2, "delay=1@10s"})
	}
	for _, q := range questions {
		t.Run(q.String(), func(t *testing.T) {
			t.Parallel()
			entry := racetest.Lock(t, q.lock)
			s, err := search.Explore(t.Context(), entry, q.bounds(entry, 1_000_000))
			if err != nil || !s.Complete {
				t.Fatalf("the search is not complete: %v", err)
			}
			compare(t, q, s, 3000)
		})
	}
}

// bounds are those of the search that answers a question.
func (q question) bounds(entry lock.Entry, states int) search.Bounds {
	return search.Bounds{
		Scope: explore.Scope{Clients: q.clients, Attempts: q.attempts, Nodes: max(1, min(3, entry.Nodes)), TTL: ttl,
			Limits: explore.Limits{MaxStates: states}},
		Budget: faults.Budget(q.budget), Timing: search.AnyTiming}
}

// compare makes runs, and fails for the first that comes to each verdict against the proof.
func compare(t *testing.T, q question, s *search.Search, runs int) {
	proved := map[string]int{}
	for _, f := range s.Found {
		proved[string(f.Verdict)] = f.Par
	}
	for _, c := range q.contradictions(t, q.limits(t, s.Lock, s.Bounds), proved, runs) {
		t.Error(c)
	}
}

// contradictions are the first of so many runs that come to each verdict against a proof: the
// verdicts that can occur, each with the fewest faults.
func (q question) contradictions(t *testing.T, l *limits, proved map[string]int, runs int) (list []string) {
	play := l.player(t, q)
	reported := map[string]bool{}
	for n := range uint64(runs) {
		verdicts := play(*seedFlag, n, nil)
		for _, word := range slices.Sorted(maps.Keys(verdicts)) {
			par, possible := proved[word]
			if possible && verdicts[word] >= par || reported[word] {
				continue
			}
			reported[word] = true
			claim := "cannot occur"
			if possible {
				claim = fmt.Sprintf("takes %d", par)
			}
			list = append(list,
				fmt.Sprintf("%v: %s with %d faults, and the search proves that it %s. To print the run:\n"+
					"\tgo test ./scenarios/internal/dense -run TestDenseReplay -v -replay '%v %d %d'",
					q, word, verdicts[word], claim, q, *seedFlag, n))
		}
	}
	return list
}

// TestDenseContradicts: runs with longer pauses contradict a proof about shorter ones, and a
// proof with one fault too many.
func TestDenseContradicts(t *testing.T) {
	q := question{"setnx-expire", 2, 2, "pause=1@9s"}
	for claim, proved := range map[string]map[string]int{
		"OVERLAP with 1 faults, and the search proves that it cannot occur": {"ORPHAN": 1, "DEADLOCK": 1,
			"STALE-WRITE": 1, "WRONG-DEL": 1},
		"OVERLAP with 1 faults, and the search proves that it takes 2": {"OVERLAP": 2, "ORPHAN": 1, "DEADLOCK": 1,
			"STALE-WRITE": 1, "WRONG-DEL": 1},
	} {
		list := q.contradictions(t, q.settle(t), proved, 2000)
		if len(list) != 1 || !strings.Contains(list[0], claim) {
			t.Errorf("want only %q, got %q", claim, list)
		}
	}
}

// player makes runs and returns their verdicts.
func (l *limits) player(t testing.TB, q question) func(seed, number uint64, told *[]string) map[string]int {
	if l.entry.OnZooKeeper() {
		e := newEnsemble(t, l, q.budget)
		return func(seed, number uint64, told *[]string) map[string]int { return e.play(t, seed, number, told) }
	}
	b := newBed(t, l.clients, l.nodes)
	return func(seed, number uint64, told *[]string) map[string]int {
		return b.play(l, seed, number, told).verdicts()
	}
}

// TestDenseReplay prints the run that a failure names.
func TestDenseReplay(t *testing.T) {
	if *replayFlag == "" {
		*replayFlag = "token 2x1 pause=1@6s 1 29" // for example
	}
	var q question
	var seed, number uint64
	if _, err := fmt.Sscanf(*replayFlag, "%s %dx%d %s %d %d", &q.lock, &q.clients, &q.attempts, &q.budget, &seed,
		&number); err != nil {
		t.Fatalf("-replay %q: %v: give 'lock 2x1 budget seed number'", *replayFlag, err)
	}
	l := q.settle(t)
	var told []string
	verdicts := l.player(t, q)(seed, number, &told)
	for _, line := range told {
		t.Log(line)
	}
	t.Log(verdicts)
	if len(told) == 0 {
		t.Error("nothing happened")
	}
}

// TestDenseRepeats: a run is the same on servers and connections that other runs have used,
// and on new ones.
func TestDenseRepeats(t *testing.T) {
	for i, q := range []question{{"watchdog", 2, 2, "hang=1@9s"}, {"evalsha-eval", 2, 1, "restart=1"},
		{"watch-multi", 2, 1, "lose-reply=1"}, {"queue", 2, 2, "crash=1"}, {"watchdog", 3, 2, "failover=1"}} {
		l := q.settle(t)
		l.drawn, l.lockstep = i > 2, i == 4
		used := l.player(t, q)
		for n := range uint64(40) {
			var first, again []string
			used(1, n, &first)
			if l.player(t, q)(1, n, &again); !slices.Equal(first, again) {
				t.Errorf("%v, run %d:\n%s\nonce more:\n%s", q, n, strings.Join(first, "\n"), strings.Join(again, "\n"))
			}
		}
	}
}

// settle finds the lock of a question, and the limits of its runs.
func (q question) settle(t testing.TB) *limits {
	t.Helper()
	entry, ok := algorithms.ByName(q.lock)
	if q.lock == half.ID {
		entry, ok = half, true
	}
	if !ok {
		t.Fatalf("there is no lock %q", q.lock)
	}
	s, err := search.Explore(t.Context(), entry, q.bounds(entry, 1)) // whether it bounds how long a client waits
	if err != nil {
		t.Fatal(err)
	}
	return q.limits(t, entry, s.Bounds)
}

// TestDenseSightings: random runs do come to the verdicts that locks are known for, so that they
// could contradict a proof.
func TestDenseSightings(t *testing.T) {
	effort.OnlyPushed(t, "it makes random runs for seconds")
	for _, test := range []struct {
		question
		words string
	}{
		{question{"mutex", 2, 1, "crash=0"}, "OVERLAP STALE-WRITE"},
		{question{"setnx", 2, 1, "crash=1"}, "DEADLOCK"},
		{question{"setnx-expire", 2, 1, "crash=1"}, "DEADLOCK"},
		{question{"setnx-expire", 2, 2, "pause=1@6s"}, "OVERLAP STALE-WRITE WRONG-DEL"},
		{question{"getset", 2, 2, "pause=1@6s"}, "LIE ORPHAN WRONG-DEL"},
		{question{"constant", 2, 2, "pause=1"}, "OVERLAP STALE-WRITE WRONG-DEL"},
		{question{"token", 2, 1, "pause=1@6s"}, "ORPHAN OVERLAP STALE-WRITE"},
		{question{"token", 2, 1, "lose-reply=1"}, "ORPHAN"},
		{question{"token", 2, 2, "evict=1"}, "OVERLAP"},
		{question{"token", 2, 2, "delete=1"}, "OVERLAP"},
		{question{"token", 2, 2, "flush=1"}, "OVERLAP"},
		{question{"token", 2, 2, "restart=1"}, "OVERLAP"},
		{question{"token", 2, 2, "node-clock=1@10s"}, "OVERLAP"},
		{question{"client-expiry", 2, 2, "client-clock=1@10s"}, "OVERLAP"},
		{question{"threadlocal", 2, 2, "delay=1@10s"}, "WRONG-DEL"},
		{question{"threadlocal", 2, 2, "hang=1@9s"}, "ORPHAN"},
		{question{"redisson-retry", 2, 2, "lose-reply=1"}, "LIE"},
		{question{"watchdog", 2, 2, "pause-thread=1"}, "OVERLAP"},
		{question{"reentrant", 2, 2, "crash=0"}, "OVERLAP"},
		{question{"watchdog", 2, 2, "hang=1@9s"}, "ORPHAN OVERLAP STALE-WRITE WRONG-DEL"},
		{question{"redlock", 2, 1, "restart=2"}, "OVERLAP"},
		{question{"zk-naive", 2, 1, "expire-session=1"}, "OVERLAP STALE-WRITE"},
		{question{"zk-naive", 2, 1, "lose-reply=1"}, "ORPHAN"},
		{question{"zk-recheck", 2, 2, "pause=1@12s"}, "OVERLAP STALE-WRITE"},
		{question{half.ID, 2, 1, "crash=0"}, "OVERLAP"},
	} {
		t.Run(test.String(), func(t *testing.T) {
			l := test.settle(t)
			play, met := l.player(t, test.question), map[string]bool{}
			wanted := strings.Fields(test.words)
			n := uint64(0)
			for ; n < 20_000 && slices.ContainsFunc(wanted, func(word string) bool { return !met[word] }); n++ {
				for word := range play(1, n, nil) {
					met[word] = true
				}
			}
			t.Logf("%d runs", n)
			for _, word := range wanted {
				if !met[word] {
					t.Errorf("no %s in %d runs, only %v", word, n, slices.Sorted(maps.Keys(met)))
				}
			}
		})
	}
}

// half is a lock that two keys with a time to live break between whole steps: who is
// refused while fresh is there leaves seen for a step, and takes over if fresh is gone
// within that.
var half = lock.Entry{ID: "half-step", Server: lock.OnRedis(1), Unit: time.Millisecond, TTL: ttl,
	New: func(env lock.Env) lock.Lock { return halfStep{env} }}

type halfStep struct{ env lock.Env }

var (
	takeFree = redis.NewScript(`if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", 9000) then ` +
		`redis.call("SET", "fresh", 1, "PX", 2250) return 1 end
if redis.call("EXISTS", "fresh") == 1 then redis.call("SET", "seen", 1, "PX", 750) end return 0`)
	takeOver = redis.NewScript(`if redis.call("EXISTS", "fresh") == 0 and redis.call("EXISTS", "seen") == 1 then ` +
		`redis.call("SET", KEYS[1], ARGV[1], "PX", 9000) return 1 end return 0`)
	giveBack = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then ` +
		`return redis.call("DEL", KEYS[1]) end return 0`)
)

func (s halfStep) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	token, node := s.env.Tokens.Token(), s.env.Nodes[0]
	for _, script := range []*redis.Script{takeFree, takeOver} {
		switch n, err := script.Eval(ctx, node, []string{key}, token).Int(); {
		case err != nil:
			return nil, err
		case n == 1:
			return halfLease{node, key, token}, nil
		}
	}
	return nil, lock.ErrNotAcquired
}

type halfLease struct {
	node       redis.UniversalClient
	key, token string
}

func (l halfLease) Release(ctx context.Context) error {
	return giveBack.Eval(ctx, l.node, []string{l.key}, l.token).Err()
}
