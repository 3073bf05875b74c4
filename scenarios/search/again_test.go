package search_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// again are bounds of any number of attempts.
func again(entry lock.Entry, clients int, budget string) search.Bounds {
	b := small(entry, clients, search.AnyAttempts, "")
	written, endless, err := search.ParseBudget(budget)
	if err != nil {
		panic(err)
	}
	b.Timing, b.Budget, b.Endless = search.AnyTiming, written, endless
	return b
}

// wordsOf are the verdicts that a search has found.
func wordsOf(s *search.Search) (words []verdict.Word) {
	for _, w := range s.Witnesses {
		words = append(words, w.Verdict)
	}
	return words
}

// TestAnyAttempts: a search of any number of attempts finds all verdicts of searches of few. Each of its own has a run
// that can be replayed. What goes on in the background of later attempts on an ensemble is named.
func TestAnyAttempts(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	type question struct {
		entries      []lock.Entry
		budgets      string
		most, states int
	}
	redis := "none crash=1 lose-reply=1 lose-request=1 pause=1@10s pause=1 restart=1 crash=1,return=1 delay=1@20s"
	crashes := "crash=1 pause=1"
	questions := []question{
		{locks(t, "setnx-expire", "token"), redis, 3, 10_000},
		{locks(t, "zk-naive", "zk-protected", "zk-write"), crashes, 3, 20_000},
	}
	if effort.Exhaustive() {
		questions = []question{
			{locks(t, "setnx-expire", "token", "constant"), redis, 4, 20_000},
			{locks(t, "ensemble"), "none crash=1 pause=1 lose-reply=1 lose-request=1 expire-session=1", 3, 100_000},
		}
	}
	ends := []string{"zk-naive", "zk-herd", "zk-recheck", "zk-protected"} // what goes on after an attempt of these
	for _, q := range questions {
		for _, entry := range q.entries {
			for budget := range strings.FieldsSeq(q.budgets) {
				s := exploring(t, entry, again(entry, 2, budget))
				if s.Complete {
					findsAll(t, s, budget, q.most, q.states)
				} else if !entry.OnZooKeeper() || slices.Contains(ends, entry.ID) || budget == "none" ||
					budget == "crash=1" || s.Limit.Key != "limit.again.busy" {
					t.Errorf("%s, %s: %v after %d states", entry.ID, budget, s.Limit, s.States)
				}
			}
		}
	}
}

// findsAll compares a search of any number of attempts with those of few.
func findsAll(t *testing.T, s *search.Search, budget string, most, states int) {
	t.Helper()
	if len(s.Open) > 0 {
		t.Fatalf("%s, %s: open %v", s.Lock.ID, budget, s.Open)
	}
	replays(t, s)
	for attempts := 1; attempts <= most; attempts++ {
		b := everyTiming(s.Lock, 2, attempts, budget)
		b.MaxStates = states
		few := exploring(t, s.Lock, b)
		for _, word := range wordsOf(few) {
			if !slices.Contains(wordsOf(s), word) {
				t.Errorf("%s, %s: %d attempts come to %s, and any number of them only to %v",
					s.Lock.ID, budget, attempts, word, wordsOf(s))
			}
		}
		if s.Lock.OnZooKeeper() && few.Complete && attempts == 3 && len(wordsOf(few)) < len(wordsOf(s)) {
			t.Errorf("%s, %s: three attempts come to %v, and any number of them to %v", s.Lock.ID, budget, wordsOf(few),
				wordsOf(s))
		}
	}
}

// TestAnyAttemptsOfRuns: a search of any number of attempts has found all verdicts of random runs with six.
func TestAnyAttemptsOfRuns(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	runs := 60
	if effort.Exhaustive() {
		runs = 300
	}
	for _, c := range []struct{ id, budget string }{
		{"setnx-expire", "pause=2"}, {"token", "lose-reply=2,pause=1"}, {"token", "crash=1,return=1"},
		{"setnx", "lose-request=2"},
		{"zk-naive", "lose-reply=1"}, {"zk-herd", "expire-session=1"},
	} {
		entry := racetest.Lock(t, c.id)
		s := completed(t, entry, again(entry, 2, c.budget))
		sim, opt := searchOf(t, entry, everyTiming(entry, 2, 6, c.budget))
		defer sim.Close()
		harmful, rules := 0, explore.NewRules(sim, &opt)
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
						t.Fatalf("%s, %s: run %d comes to %s, and the search only to %v",
							c.id, c.budget, seed, w, wordsOf(s))
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
		if c.Verb < simulator.FaultVerb || random.IntN(16) == 0 ||
			!slices.ContainsFunc(allowed, func(c simulator.Choice) bool { return c.Verb < simulator.FaultVerb }) {
			return c
		}
	}
}

// marking refuses clients, each of which leaves a mark, and lets one in when both marks are there. It is no closure:
// what a lock remembers of earlier attempts must be seen.
type marking struct{ env lock.Env }

func (l *marking) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	taken, err := l.env.Nodes[0].SetNX(ctx, key, l.env.Tokens.Token(), l.env.TTL).Result()
	for _, mark := range []string{":a", ":b"} {
		if taken || err != nil {
			break
		}
		if fresh, err := l.env.Nodes[0].SetNX(ctx, key+mark, "x", 0).Result(); fresh || err != nil {
			return nil, cmp.Or(err, lock.ErrNotAcquired)
		}
	}
	return deleting(l.env, key), err
}

// TestAnyAttemptsAtTheThird: a lock that falls at the third attempt of one of two clients, and not before, is found to.
func TestAnyAttemptsAtTheThird(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	marking := own("marking", func(env lock.Env) lock.Lock { return &marking{env} })
	for _, entry := range []lock.Entry{marking, placing("after two")} {
		for attempts, want := range map[int]bool{2: false, 3: true, search.AnyAttempts: true} {
			b := again(entry, 2, "")
			b.Attempts = attempts
			s := completed(t, entry, b)
			if slices.Contains(wordsOf(s), verdict.Overlap) != want {
				t.Errorf("%s, %d attempts: %v", entry.ID, attempts, wordsOf(s))
			}
			if attempts == search.AnyAttempts && (len(s.Ways) != 1 || s.Ways[0].Bounds.Attempts != 3) {
				t.Errorf("%s: its witness is not of three attempts: %v", entry.ID, s.Ways)
			}
		}
	}
}

// TestAnyAttemptsOfAny: faults that are never used up come to what two of them come to, and to no STARVED.
func TestAnyAttemptsOfAny(t *testing.T) {
	for _, c := range []struct {
		id, budget string
		want       []verdict.Word
	}{
		{"setnx", "crash=any", []verdict.Word{verdict.Deadlock}},
		{"token", "crash=any", nil},
		{"token", "crash=any,lose-reply=any", []verdict.Word{verdict.Orphan}},
	} {
		entry := racetest.Lock(t, c.id)
		if s := completed(t, entry, again(entry, 2, c.budget)); !slices.Equal(wordsOf(s), c.want) {
			t.Errorf("%s, %s: %v", c.id, c.budget, wordsOf(s))
		}
	}
}

// TestAnyAttemptsNamed: what counts without end is named before many states are visited.
func TestAnyAttemptsNamed(t *testing.T) {
	for id, want := range map[string]string{
		"getset": "limit.again.clock", "reentrant": "limit.again.memory", "redisson-lease": "limit.again.token",
		"thread-id-lua": "limit.again.thread",
		"token":         "limit.again.names", // of processes that have died, each of which has left a request under way
	} {
		entry, budget := racetest.Lock(t, id), "crash=1"
		if id == "token" {
			budget = "crash=any,return=any"
		}
		s, err := search.Explore(t.Context(), entry, again(entry, 2, budget))
		if err != nil || s.Complete || s.Limit.Key != want || s.States > 100_000 {
			t.Errorf("%s: %v, %v after %d states", id, err, s.Limit, s.States)
		}
	}
}

// placed is a queue in which a place that is not the first is let in, too, by the numbers of all places, of its token
// or of its attempts.
type placed struct {
	zk     lock.ZooKeeper
	tokens lock.Tokens
	letIn  string
}

// placesOf are those that processes have made, which no memory of a lock shows.
var placesOf = map[lock.ZooKeeper]int{}

// refused reports whether a place is not let in.
func (l *placed) refused(own int, all []int) bool {
	placesOf[l.zk]++
	first := slices.Min(all)
	last := func(number int) bool { return number%10 < own%10 }
	switch l.letIn {
	case "the fourth":
		return own != first && own != 3
	case "the hundredth":
		return own != first && own%100 != 99
	case "one far behind":
		return own != first && own < first+500
	case "by last digits":
		return slices.ContainsFunc(all, last)
	case "by its second token":
		return own != first && !strings.HasSuffix(l.tokens.Token(), ".2")
	case "in its second attempt":
		return own != first && placesOf[l.zk] != 2
	}
	return own != first
}

func (l *placed) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	path := "/locks/" + key
	for _, above := range []string{"/locks", path} {
		if _, err := l.zk.Create(ctx, above, lock.Persistent); err != nil && !errors.Is(err, lock.ErrNodeExists) {
			return nil, err
		}
	}
	own, err := l.zk.Create(ctx, path+"/lock-", lock.EphemeralSequential)
	if err != nil {
		return nil, err
	}
	names, err := l.zk.Children(ctx, path)
	if err != nil {
		return nil, err
	}
	number := func(name string) int {
		n, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
		if err != nil {
			panic(err)
		}
		return n
	}
	var all []int
	for _, name := range names {
		all = append(all, number(name))
	}
	refused := l.refused(number(own), all)
	for _, mark := range []string{"/locks/a", "/locks/b"} {
		if refused && l.letIn == "after two" {
			_, err := l.zk.Create(ctx, mark, lock.Persistent)
			if err == nil {
				break
			}
			refused = mark == "/locks/a"
		}
	}
	if refused {
		return nil, cmp.Or(l.zk.Delete(ctx, own), lock.ErrNotAcquired)
	}
	return reporting(func(ctx context.Context) error { return l.zk.Delete(ctx, own) }), nil
}

// placing is a lock of such a queue.
func placing(letIn string) lock.Entry {
	entry, err := race.Lock("zk-recheck")
	if err != nil {
		panic(err)
	}
	entry.ID, entry.New = "placed", func(env lock.Env) lock.Lock {
		placesOf[env.ZooKeeper] = 0
		return &placed{env.ZooKeeper, env.Tokens, letIn}
	}
	return entry
}

// TestAnyAttemptsOfNumbers: a lock on an ensemble that looks at more than the order of numbers is refused, and so is
// one that knows its earlier attempts.
func TestAnyAttemptsOfNumbers(t *testing.T) {
	for letIn, want := range map[string]string{
		"": "", "the fourth": "limit.again.order", "the hundredth": "limit.again.order",
		"one far behind": "limit.again.order",
		"by last digits": "limit.again.order", "by its second token": "limit.again.order",
		"in its second attempt": "limit.again.rest",
	} {
		entry := placing(letIn)
		s := exploring(t, entry, again(entry, 2, "crash=1"))
		if s.Limit.Key != want || s.Complete != (want == "") {
			t.Errorf("%q: complete %t, %v, %v", letIn, s.Complete, s.Limit, wordsOf(s))
		}
	}
}
