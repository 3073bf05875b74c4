package explore_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	redislocks "locklab/algorithms/redis"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// viewBounds are those of a proof for any number of clients.
func viewBounds(budget faults.Budget) search.Bounds {
	b := search.DefaultBounds()
	b.Timing, b.Attempts, b.Retries, b.Clients, b.Budget, b.Nodes, b.Uses = search.AnyTiming, 2, 0, 2+explore.Outsiders,
		budget, 1, 0
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
func proofOf(t testing.TB, entry lock.Entry, b search.Bounds, endless bool, most int) (proof *explore.Proof,
	refused string) {
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
var viewBudgets = []faults.Budget{"", "crash=1", "pause=1@2s", "lose-reply=1", "lose-request=1", "restart=1", "crash=2",
	"delay=1@2s"}

// TestViewsCover: every client of every state of two, three and four clients is in one of the views. Without some of
// the views the test fails. What is always asked finds each mistake of TestViewsUnsound.
func TestViewsCover(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	const few = 20_000
	states := 1500
	cover := func(entry lock.Entry, b search.Bounds, views int, clients ...int) (closed int) {
		list, err := explore.Uncovered(t.Context(), modelOf(t, entry, b), false, views, clients, states, 0)
		if err != nil {
			t.Fatalf("%s, %s: %v", entry.ID, b.Budget, err)
		}
		for _, c := range list {
			if c.Missing > 0 {
				t.Fatalf("%s, %s: views are not known: %+v", entry.ID, b.Budget, c)
			}
		}
		return len(list)
	}
	closed := 0
	for _, budget := range []faults.Budget{"", "crash=1", "restart=1"} {
		closed += cover(lockOf(t, "setnx"), viewBounds(budget), few, 2, 3)
	}
	closed += cover(lockOf(t, "setnx-expire"), viewBounds("restart=1"), few, 2)
	if closed += cover(lockOf(t, "watch-multi"), viewBounds(""), few, 2, 3); closed != 9 {
		t.Errorf("%d of 9 sets of views are closed", closed)
	}
	if effort.Exhaustive() {
		for _, id := range []string{"setnx", "setnx-expire", "token", "watchdog", "thread-id", "watch-multi"} {
			closed := 0
			for _, budget := range viewBudgets {
				closed += cover(lockOf(t, id), viewBounds(budget), few, 2, 3, 4)
			}
			if closed < 3*len(viewBudgets) {
				t.Errorf("%s: only %d sets of views are closed", id, closed)
			}
		}
		three := viewBounds("")
		three.Nodes = 3 // each of which names an owner
		if closed := cover(lockOf(t, "redlock-failfast"), three, 200_000, 2, 3, 4); closed != 3 {
			t.Errorf("%d sets of views of three servers are closed", closed)
		}
	}
	if hunting() { // all others: each without faults and with one of them
		closed := 0
		for i, e := range redislocks.All() {
			for _, budget := range []faults.Budget{"", viewBudgets[1+i%(len(viewBudgets)-1)]} {
				if e.Nodes == 1 {
					closed += cover(e, viewBounds(budget), 4_000, 2, 3, 4)
				}
			}
		}
		if t.Logf("%d sets of views of all locks were held against states", closed); closed < 100 {
			t.Errorf("only %d sets of views of all locks are closed", closed)
		}
	}
	states = 300
	if closed := cover(semaphore(t), viewBounds(""), few, 2, 3); closed != 2 {
		t.Errorf("%d of 2 sets of views of a semaphore are closed", closed)
	}
	m := modelOf(t, lockOf(t, "token"), viewBounds("crash=1"))
	list, err := explore.Uncovered(t.Context(), m, false, few, []int{2}, states, 7)
	if err != nil || list[0].Missing == 0 {
		t.Errorf("without every seventh view: %+v, %v", list, err)
	}
}

// semaphore is one of two, whose worlds have three clients.
func semaphore(t *testing.T) lock.Entry {
	two := fallingEntry(t.Name(), code{
		acquire: byScript(`if redis.call("SCARD", KEYS[1]) > 1 then return 0 end
			redis.call("SADD", KEYS[1], ARGV[1]) return 1`),
		release: givingBack(`return redis.call("SREM", KEYS[1], ARGV[1])`),
	})
	two.Holders = 2
	return two
}

// TestViewsOfServers: Redlock holds on three servers with any number of clients, if nothing fails. One that is content
// with fewer than a majority does not.
func TestViewsOfServers(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	b := viewBounds("")
	b.Nodes = 3
	proof, refused := proofOf(t, lockOf(t, "redlock"), b, false, 200_000)
	if refused != "" || len(proof.Harms) > 0 || !proof.Once.IsZero() {
		t.Errorf("redlock: refused %q, harms %v, once %v", refused, proof.Harms, proof.Once)
	}
	one := fallingEntry("one of three", code{
		acquire: func(f *asking) (bool, error) {
			for _, f.node = range f.env.Nodes {
				if taken, err := f.set(); taken || err != nil {
					return taken, err
				}
			}
			return false, nil
		},
	})
	one.Nodes = 3
	// its views are more
	if proof, _ := proofOf(t, one, b, false, 50_000); !slices.Contains(proof.Harms, verdict.Overlap) {
		t.Errorf("one of three: harms %v", proof.Harms)
	}
}

// TestViewsKnownHarms: what breaks these locks is among what views come to, and what does not is not. Code that has the
// id of its thread in requests has it in the next attempt too, where a request of the last one strikes it: a search of
// two attempts comes to OVERLAP. So its proof is of one attempt.
func TestViewsKnownHarms(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, c := range []struct {
		id      string
		budget  faults.Budget
		endless bool
		once    string
		want    []verdict.Word
	}{
		{"setnx", "crash=1", true, "", []verdict.Word{verdict.Deadlock}},
		{"setnx", "restart=1", false, "", []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel}},
		{"setnx-expire", "pause=1", false, "",
			[]verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Orphan, verdict.Deadlock}},
		{"token", "crash=1", true, "", nil},
		{"token", "lose-reply=1", true, "", []verdict.Word{verdict.Orphan}},
		{"token", "delay=1@20s", false, "", []verdict.Word{verdict.StaleWrite, verdict.Orphan}},
		{"token", "pause=1", false, "", []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Orphan}},
		{"watch-multi", "lose-reply=1", false, "prove.once.memory", []verdict.Word{verdict.Orphan}},
		{"watch-del", "lose-reply=1", false, "prove.once.memory",
			[]verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Orphan}},
		{"thread-id-lua", "delay=1@20s", false, "prove.once.thread",
			[]verdict.Word{verdict.StaleWrite, verdict.Orphan}},
	} {
		proof, _ := proofOf(t, lockOf(t, c.id), viewBounds(c.budget), c.endless, 20_000)
		if !proof.Closed || !slices.Equal(proof.Harms, c.want) || proof.Once.Key != c.once {
			t.Errorf("%s, %s: closed %t, once %v, %v, want %v",
				c.id, c.budget, proof.Closed, proof.Once, proof.Harms, c.want)
		}
	}
}

// TestInterfaces: the same views are found, and the same verdicts, as if each view were in a world with every other,
// one by one.
func TestInterfaces(t *testing.T) {
	effort.OnlyPushed(t, "it closes views for seconds")
	effort.Unwatched(t, "one goroutine searches")
	locks, most := []string{"setnx", "token", "reentrant", "watch-del"}, 3_000
	budgets := []faults.Budget{"crash=1", "lose-reply=1"}
	if effort.Exhaustive() {
		locks = append(locks,
			"setnx-expire", "lock-delay", "set-ifeq", "cron-v2", "watchdog", "watch-multi", "at-least-for",
			"token-wait")
		budgets = append(budgets, "pause=1@2s", "restart=1", "failover=1", "delay=1@2s")
	}
	closed := 0
	for _, id := range locks {
		for _, budget := range budgets {
			for _, endless := range []bool{false, true} {
				m := modelOf(t, lockOf(t, id), viewBounds(budget))
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
				if quick.Views != slow.Views || !slices.Equal(quick.Harms, slow.Harms) ||
					quick.Once.Key != slow.Once.Key || quick.Worlds > slow.Worlds {
					t.Errorf("%s, %s, endless %t: %d views in %d worlds, %v, %v; "+
						"one by one %d views in %d worlds, %v, %v", id, budget, endless, quick.Views, quick.Worlds,
						quick.Harms, quick.Once, slow.Views, slow.Worlds, slow.Harms, slow.Once)
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
		budgets := []faults.Budget{"crash=1"}
		if hunting() { // and two others in turn
			budgets = append(budgets, viewBudgets[i%len(viewBudgets)], viewBudgets[(i+5)%len(viewBudgets)])
		}
		for _, budget := range budgets {
			wrong, missed, err := explore.Closed(t.Context(), modelOf(t, lockOf(t, id), viewBounds(budget)),
				budget != "", 1_500, 6)
			if err != nil || missed != nil || wrong != "" && !(hunting() && wrong == "there is none") {
				t.Errorf("%s, %s: %q, and missed are %q: %v", id, budget, wrong, missed, err)
			}
		}
	}
}

// hunting reports whether "make hunt" runs the tests: to check all that is proved takes minutes.
func hunting() bool { return os.Getenv("LOCKLAB_HUNT") != "" }

// TestViewsUnsound: each mistake that proves too much, planted into the prover, leaves clients of few without a view.
// The compiler gets the changed file as an overlay.
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
			"if m.client > 0 ||",
			"if m.client > 0 || m.pass > 0 && func() (urgent bool) {\n\t\t\tfor f := range g.byInterface {\n" +
				"\t\t\t\turgent = urgent || f.ready\n\t\t\t}\n\t\t\treturn urgent\n\t\t}() ||"},
		{"a fault that one client has met is left to none", "worlds.go",
			"namings, err := p.canonical(p.shared)",
			"p.shared[p.restAt] = p.idle.own[requests]; namings, err := p.canonical(p.shared)"},
		{"replies on connections are nobody's", "worlds.go",
			"ended[c] = p.ended(c, state[c])",
			"v.own[connections], ended[c] = p.idle.own[connections], p.ended(c, state[c])"},
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
			c := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-ldflags=-w", "-overlay",
				filepath.Join(dir, "overlay.json"), "-run", "^TestViewsCover$", ".")
			c.Env = append(os.Environ(), "LOCKLAB_EXHAUSTIVE=", "LOCKLAB_HUNT=") // as CI asks
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "views are not known") {
				t.Errorf("it is not noticed: %v\n%s", err, out)
			}
		})
	}
}
