package explore_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locklab/algorithms/lock"
	redislocks "locklab/algorithms/redis"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// viewModel is that of a proof for any number of clients.
func viewModel(t testing.TB, id, budget string) *explore.Model {
	t.Helper()
	return modelOf(t, lockOf(t, id), viewBounds(faults.Budget(budget)))
}

// viewBounds are those of a proof for any number of clients.
func viewBounds(budget faults.Budget) search.Bounds {
	b := search.DefaultBounds()
	b.Timing, b.Attempts, b.Retries, b.Clients, b.Budget, b.Nodes, b.Uses = search.AnyTiming, 2, 0, 2+explore.Outsiders, budget, 1, 0
	return b
}

func modelOf(t testing.TB, entry lock.Entry, b search.Bounds) *explore.Model {
	t.Helper()
	m, err := b.Settled(entry).Model(entry)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// proofOf returns a proof by views, and the key of the reason for which there is none, "" if there is one.
func proofOf(t testing.TB, entry lock.Entry, b search.Bounds, endless bool, most int) (proof *explore.Proof, refused string) {
	t.Helper()
	proof, err := explore.ProveFor(t.Context(), modelOf(t, entry, b), endless, most)
	if err != nil {
		t.Fatal(err)
	}
	if why, ok := proof.Refused.(*explore.NotProvableError); ok {
		refused = why.Why.Key
	}
	if proof.Closed != (proof.Refused == nil) {
		t.Errorf("%s: closed %t, and %v", entry.ID, proof.Closed, proof.Refused)
	}
	return proof, refused
}

func lockOf(t testing.TB, id string) lock.Entry {
	t.Helper()
	e, err := race.Lock(id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// viewBudgets are faults of each kind.
var viewBudgets = []string{"", "crash=1", "pause=1@2s", "lose-reply=1", "lose-request=1", "restart=1", "crash=2", "delay=1@2s"}

// TestViewsCover: every client of every state of two, three and four clients is in one of the views. Without some of
// the views the test fails. What is always asked finds each mistake of TestViewsUnsound.
func TestViewsCover(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	const states = 1500
	cover := func(id string, budgets []string, most int, clients ...int) (closed int) {
		for _, budget := range budgets {
			list, err := explore.Uncovered(t.Context(), viewModel(t, id, budget), false, most, clients, states, 0)
			if err != nil {
				t.Fatalf("%s, %s: %v", id, budget, err)
			}
			for _, c := range list {
				closed++
				if c.Missing > 0 {
					t.Fatalf("%s, %s: views are not known: %+v", id, budget, c)
				}
			}
		}
		return closed
	}
	closed := cover("setnx", []string{"", "crash=1", "restart=1"}, 20_000, 2, 3)
	if closed += cover("setnx-expire", []string{"restart=1"}, 20_000, 2) + cover("watch-multi", []string{""}, 20_000, 2, 3); closed != 9 {
		t.Errorf("%d of 9 sets of views are closed", closed)
	}
	for _, id := range []string{"setnx", "setnx-expire", "token", "watchdog", "thread-id", "watch-multi"} {
		if !effort.Exhaustive() {
			break
		}
		if closed := cover(id, viewBudgets, 20_000, 2, 3, 4); closed < 3*len(viewBudgets) {
			t.Errorf("%s: only %d sets of views are closed", id, closed)
		}
	}
	if hunting() { // all others: each without faults and with one of them
		closed := 0
		for i, e := range redislocks.All() {
			if e.Nodes == 1 {
				closed += cover(e.ID, []string{"", viewBudgets[1+i%(len(viewBudgets)-1)]}, 4_000, 2, 3, 4)
			}
		}
		if t.Logf("%d sets of views of all locks were held against states", closed); closed < 100 {
			t.Errorf("only %d sets of views of all locks are closed", closed)
		}
	}
	if list, err := explore.Uncovered(t.Context(), viewModel(t, "token", "crash=1"), false, 20_000, []int{2}, states, 7); err != nil || list[0].Missing == 0 {
		t.Errorf("without every seventh view: %+v, %v", list, err)
	}
}

// TestViewsCoverServers is TestViewsCover for Redlock on three servers, each of which names an owner.
func TestViewsCoverServers(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	b := viewBounds("")
	b.Nodes = 3
	list, err := explore.Uncovered(t.Context(), modelOf(t, lockOf(t, "redlock-failfast"), b), false, 200_000, []int{2, 3, 4}, 1500, 0)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d sets of views are closed: %v", len(list), err)
	}
	for _, c := range list {
		if c.Missing > 0 {
			t.Errorf("views are not known: %+v", c)
		}
	}
}

// TestViewsCoverSemaphore is TestViewsCover for a semaphore of two, whose worlds have three clients.
func TestViewsCoverSemaphore(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	two := fallingEntry(t.Name(), code{
		acquire: byScript(`if redis.call("SCARD", KEYS[1]) > 1 then return 0 end redis.call("SADD", KEYS[1], ARGV[1]) return 1`),
		release: givingBack(`return redis.call("SREM", KEYS[1], ARGV[1])`),
	})
	two.Holders = 2
	list, err := explore.Uncovered(t.Context(), modelOf(t, two, viewBounds("")), false, 20_000, []int{2, 3}, 300, 0)
	if err != nil || len(list) != 2 || list[0].Missing+list[1].Missing > 0 {
		t.Errorf("views are not known: %+v, %v", list, err)
	}
}

// TestViewsOfServers: Redlock holds on three servers with any number of clients, if nothing fails. One that is content with fewer than a
// majority does not.
func TestViewsOfServers(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	b := viewBounds("")
	b.Nodes = 3
	proof, refused := proofOf(t, lockOf(t, "redlock"), b, false, 200_000)
	if refused != "" || len(proof.Harms) > 0 || !proof.Once.IsZero() {
		t.Errorf("redlock: refused %q, harms %v, once %v", refused, proof.Harms, proof.Once)
	}
	one := fallingEntry("one of three", code{
		acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
			for _, node := range f.env.Nodes {
				if taken, err := node.SetNX(ctx, key, f.token, f.env.TTL).Result(); taken || err != nil {
					f.node = node
					return taken, err
				}
			}
			return false, nil
		},
	})
	one.Nodes = 3
	if proof, _ := proofOf(t, one, b, false, 50_000); !slices.Contains(proof.Harms, verdict.Overlap) { // its views are more
		t.Errorf("one of three: harms %v", proof.Harms)
	}
}

// TestViewsKnownHarms: what breaks these locks is among what views come to, and what does not is not.
func TestViewsKnownHarms(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, c := range []struct {
		id, budget string
		endless    bool
		want       []verdict.Word
	}{
		{"setnx", "crash=1", true, []verdict.Word{verdict.Deadlock}},
		{"setnx", "restart=1", false, []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel}},
		{"setnx", "lose-reply=1", false, []verdict.Word{verdict.Orphan, verdict.Deadlock}},
		{"setnx-expire", "pause=1", false, []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Orphan, verdict.Deadlock}},
		{"token", "crash=1", true, nil},
		{"token", "lose-reply=1", true, []verdict.Word{verdict.Orphan}},
		{"token", "lose-request=1", false, []verdict.Word{verdict.Orphan}},
		{"token", "pause=1@2s", false, []verdict.Word{verdict.Orphan}},
		{"token", "pause=1", false, []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Orphan}},
		{"watch-multi", "crash=1", true, nil},
		{"watch-multi", "lose-reply=1", false, []verdict.Word{verdict.Orphan}},
		{"watch-del", "lose-reply=1", false, []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Orphan}},
		{"token", "restart=1", false, []verdict.Word{verdict.Overlap, verdict.StaleWrite}},
	} {
		proof, err := explore.ProveFor(t.Context(), viewModel(t, c.id, c.budget), c.endless, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		if !proof.Closed || !slices.Equal(proof.Harms, c.want) {
			t.Errorf("%s, %s: closed %t, %v, want %v", c.id, c.budget, proof.Closed, proof.Harms, c.want)
		}
	}
}

// TestViewsRefuse: what views do not do for is named before minutes are spent.
func TestViewsRefuse(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for id, want := range map[string]string{"getset": "prove.views", "client-expiry": "prove.clock"} {
		proof, err := explore.ProveFor(t.Context(), viewModel(t, id, "crash=1"), false, 2_000)
		if err != nil {
			t.Fatal(err)
		}
		if why, ok := proof.Refused.(*explore.NotProvableError); !ok || proof.Closed || why.Why.Key != want {
			t.Errorf("%s: %v, closed %t", id, proof.Refused, proof.Closed)
		}
	}
}

// TestViewsOfThreads: code that has the id of its thread in requests has it in the next attempt too, where a request of the last one
// strikes it: a search of two attempts comes to OVERLAP. So its proof is of one attempt.
func TestViewsOfThreads(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	for id, once := range map[string]string{"thread-id-lua": "prove.once.thread", "token": ""} {
		proof, err := explore.ProveFor(t.Context(), viewModel(t, id, "delay=1@20s"), false, 20_000)
		if err != nil || !proof.Closed || proof.Once.Key != once || slices.Contains(proof.Harms, verdict.Overlap) {
			t.Errorf("%s: %v, closed %t, once %v, %v", id, err, proof.Closed, proof.Once, proof.Harms)
		}
	}
}

// TestInterfaces: the same views are found, and the same verdicts, as if each view were in a world with every other, one by one.
func TestInterfaces(t *testing.T) {
	effort.OnlyPushed(t, "it closes views for seconds")
	effort.Unwatched(t, "one goroutine searches")
	locks, budgets, most := []string{"setnx", "token", "reentrant", "watch-del"}, []string{"crash=1", "lose-reply=1"}, 3_000
	if effort.Exhaustive() {
		locks = append(locks, "setnx-expire", "lock-delay", "set-ifeq", "cron-v2", "watchdog", "watch-multi", "at-least-for", "token-wait")
		budgets = append(budgets, "pause=1@2s", "restart=1", "failover=1", "delay=1@2s")
	}
	closed := 0
	for _, id := range locks {
		for _, budget := range budgets {
			for _, endless := range []bool{false, true} {
				m := viewModel(t, id, budget)
				quick, err := explore.ProveFor(t.Context(), m, endless, most)
				if err != nil {
					t.Fatal(err)
				}
				if !quick.Closed {
					continue
				}
				m.Plain.Interfaces = true
				slow, err := explore.ProveFor(t.Context(), m, endless, most)
				if err != nil {
					t.Fatal(err)
				}
				if !slow.Closed {
					continue
				}
				closed++
				if quick.Views != slow.Views || !slices.Equal(quick.Harms, slow.Harms) || quick.Once.Key != slow.Once.Key || quick.Worlds > slow.Worlds {
					t.Errorf("%s, %s, endless %t: %d views in %d worlds, %v, %v; one by one %d views in %d worlds, %v, %v", id, budget, endless,
						quick.Views, quick.Worlds, quick.Harms, quick.Once, slow.Views, slow.Worlds, slow.Harms, slow.Once)
				}
			}
		}
	}
	if closed < len(locks)*len(budgets)/2 {
		t.Errorf("only %d sets of views were compared", closed)
	}
}

// TestViewsClosed: views are closed. Without one of them they are not, nor do they prove what they come to.
func TestViewsClosed(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, "one goroutine searches")
	locks := []string{"setnx", "token", "watch-multi"}
	if hunting() {
		locks = append(locks, "setnx-expire", "watchdog", "lock-delay", "watch-del", "thread-id", "set-ifeq")
	}
	for i, id := range locks {
		budgets := []string{"crash=1"}
		if hunting() { // and two others in turn
			budgets = append(budgets, viewBudgets[i%len(viewBudgets)], viewBudgets[(i+5)%len(viewBudgets)])
		}
		for _, budget := range budgets {
			wrong, missed, err := explore.Closed(t.Context(), viewModel(t, id, budget), budget != "", 1_500, 6)
			if err != nil || missed != nil || wrong != "" && !(hunting() && wrong == "there is none") {
				t.Errorf("%s, %s: %q, and missed are %q: %v", id, budget, wrong, missed, err)
			}
		}
	}
}

// hunting reports whether "make hunt" runs the tests: to check all that is proved takes minutes.
func hunting() bool { return os.Getenv("LOCKLAB_HUNT") != "" }

// TestViewsUnsound: each mistake that proves too much, planted into the prover, leaves clients of few without a view. The compiler gets
// the changed file as an overlay.
func TestViewsUnsound(t *testing.T) {
	if !hunting() {
		t.Skip("make hunt runs it: it compiles the prover once for each mistake")
	}
	for _, m := range []struct{ mistake, file, right, wrong string }{
		{"an owner that is dead counts as another client", "worlds.go",
			"of[i] = nobody", "of[i] = other"},
		{"what the dead have sent is forgotten", "worlds.go",
			"!ended[c] || p.restTab.Keys[v.own[requests]].Orphaned(); acts", "!ended[c]; acts"},
		{"what the dead have sent is in nobody's name", "worlds.go",
			"case name == c:", "case name == c && c == 1:"},
		{"what was read stays new when another client writes", "worlds.go",
			"p.reads[c] = outdated", "p.reads[c] = newest"},
		{"time waits for clients outside", "worlds.go",
			"if m.client > 0 ||", "if m.client > 0 || m.pass > 0 && func() (urgent bool) {\n\t\t\tfor f := range g.byInterface {\n\t\t\t\turgent = urgent || f.ready\n\t\t\t}\n\t\t\treturn urgent\n\t\t}() ||"},
		{"a fault that one client has met is left to none", "worlds.go",
			"namings, err := p.canonical(p.shared)", "p.shared[p.restAt] = p.idle.own[requests]; namings, err := p.canonical(p.shared)"},
		{"replies on connections are nobody's", "worlds.go",
			"ended[c] = p.ended(c, state[c])", "v.own[connections], ended[c] = p.idle.own[connections], p.ended(c, state[c])"},
		{"what others do is not done to views that come later", "interfaces.go",
			"for i := range own.changes {", "for i := range own.changes[:0] {"},
		{"a view's interface has no owner", "interfaces.go",
			"f.ready = n.listClient(0, false)", "f.ready, f.names = n.listClient(0, false), [Outsiders]status{}"},
		{"a view's interface has nothing of what judges know", "interfaces.go",
			"f.ready = n.listClient(0, false)", "f.ready, f.own[judged] = n.listClient(0, false), 0"},
		{"a move that changes others is made with one of them", "worlds.go",
			"return made.quiet || made.seen == 0 && unchanged, nil", "return true, nil"},
	} {
		t.Run(m.mistake, func(t *testing.T) {
			right, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			wrong := strings.Replace(string(right), m.right, m.wrong, 1)
			if wrong == string(right) {
				t.Fatalf("%s has no %q: plant the mistake elsewhere", m.file, m.right)
			}
			dir := t.TempDir()
			at, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			list, err := json.Marshal(map[string]any{"Replace": map[string]string{at: filepath.Join(dir, m.file)}})
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{m.file: wrong, "overlay.json": string(list)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-ldflags=-w", "-overlay", filepath.Join(dir, "overlay.json"), "-run", "^TestViewsCover$", ".")
			c.Env = append(os.Environ(), "LOCKLAB_EXHAUSTIVE=", "LOCKLAB_HUNT=") // as CI asks
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "views are not known") {
				t.Errorf("it is not noticed: %v\n%s", err, out)
			}
		})
	}
}

var (
	made   sync.Map // how many attempts locks have made
	seldom = func(ends string, f *asking, ctx context.Context, key string) (bool, error) {
		if strings.HasSuffix(f.token, ends) {
			return true, nil
		}
		return f.set(ctx, key)
	}
)

// laterAttempts fall in the second or third attempt of a process, by what is not in the memory of their locks.
var laterAttempts = []struct {
	name, refused, once string // the key of the reason for which there is no proof, or one of one attempt
	budget              faults.Budget
	attempts            int
	timing              search.Mode
	code                code
}{
	{"token ends in 3", "prove.rest", "", "", 3, search.Lockstep, code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		return seldom("3", f, ctx, key)
	}}},
	{"token ends in 3, for a script", "prove.names", "", "", 3, search.Lockstep, code{acquire: refused(byScript(`return string.sub(ARGV[1], -1) == '3' and 1 or 0`))}},
	{"the owner's token is of the same process", "prove.names", "", "lose-reply=1", 2, search.AnyTiming, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		mine, _, _ := strings.Cut(f.token, ".")
		who, err := f.node.Get(ctx, key).Result()
		return err == nil && strings.HasPrefix(who, mine+"."), nil
	})}},
	{"the owner's token is of the same process, for a script", "prove.names", "", "lose-reply=1", 2, search.AnyTiming, code{acquire: refused(byScript(
		`return string.sub(redis.call('GET', KEYS[1]), 1, 3) == string.sub(ARGV[1], 1, 3) and 1 or 0`))}},
	{"a map was made", "", "prove.once.memory", "", 2, search.Lockstep, code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		was := f.marks != nil
		f.marks = map[string]bool{}
		if was {
			return true, nil
		}
		return f.set(ctx, key)
	}}},
	{"a global variable counts", "prove.rest", "", "", 2, search.Lockstep, code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		n, _ := made.LoadOrStore(f.falling, new(int))
		if *n.(*int)++; *n.(*int) > 1 {
			return true, nil
		}
		return f.set(ctx, key)
	}}},
}

// TestViewsOfLaterAttempts: what only a later attempt of a process does is found by a search of so many attempts, and is no secret of
// proofs for any number of them.
func TestViewsOfLaterAttempts(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, c := range laterAttempts {
		entry := fallingEntry(c.name, c.code)
		b := search.DefaultBounds()
		b.Retries, b.Nodes, b.Work, b.Budget, b.MaxStates = 0, 1, 3*time.Second, c.budget, 200_000
		b.Timing, b.Clients, b.Attempts = c.timing, 2, c.attempts
		if !comesTo(t, entry, b, verdict.Overlap) {
			t.Errorf("%s: 2 clients with %d attempts do not come to OVERLAP", c.name, c.attempts)
		}
		proof, refused := proofOf(t, entry, viewBounds(c.budget), false, 10_000)
		if refused != c.refused || proof.Once.Key != c.once && refused == "" {
			t.Errorf("%s: closed %t, once %v, %v", c.name, proof.Closed, proof.Once, proof.Refused)
		}
	}
}

// TestViewsJudgeAttemptsApart: a process that enters beside the key that its first attempt has left, and says in its second one that it was not
// its own, tells a LIE to a search of two attempts. To a proof the key is another client's: as its certificate says.
func TestViewsJudgeAttemptsApart(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry := fallingEntry(t.Name(), code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		taken, err := f.set(ctx, key)
		switch {
		case err != nil:
			return false, f.node.Set(ctx, key+":lost", "x", 0).Err()
		case taken:
			return true, nil
		}
		n, err := f.node.Del(ctx, key+":lost").Result()
		return n == 1, err
	}})
	b := search.DefaultBounds()
	b.Retries, b.Nodes, b.Work, b.Budget, b.MaxStates = 0, 1, 3*time.Second, "lose-reply=1", 200_000
	b.Timing, b.Clients, b.Attempts = search.AnyTiming, 2, 2
	if !comesTo(t, entry, b, verdict.Lie) {
		t.Error("2 clients with 2 attempts do not come to LIE")
	}
	b.Clients = 2 + explore.Outsiders
	neverExcluded(t, entry, b, false, verdict.Overlap, true)
}
