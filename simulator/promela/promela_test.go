package promela

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

var makeAsks = flag.Bool("ask", false, "ask what make second-opinion asks, and print the answers with -v")

// question returns the model that both search: two clients with two attempts, in lockstep, with changes.
func question(t testing.TB, id, budget string, changes ...func(b *search.Bounds)) *explore.Model {
	t.Helper()
	entry, ok := algorithms.ByName(id)
	b := search.DefaultBounds()
	b.Attempts, b.Nodes, b.MaxStates = 2, min(3, entry.Servers()), 2_000_000
	b.Timing, b.Retries, b.Budget = search.Lockstep, 0, faults.Budget(budget)
	for _, change := range changes {
		change(&b)
	}
	m, err := b.Model(entry)
	if err != nil || !ok {
		t.Fatal(id, err)
	}
	return m
}

func once(b *search.Bounds)      { b.Attempts = 1 }
func inLine(b *search.Bounds)    { b.Attempts, b.Uses = 1, client.Check|client.Wait }
func anyTiming(b *search.Bounds) { b.Timing = search.AnyTiming }

// idle: at any timing a plain search of code that reads its clock ends only with clients that do not wait for ever.
func idle(b *search.Bounds) { b.Idle = true }

// compare checks that SPIN comes to the same verdicts with the same pars as the usual search, and to as many states
// and transitions as a plain one. It returns the row of a table.
func compare(t *testing.T, b *explore.Model) string {
	t.Helper()
	usual, err := explore.Search(t.Context(), b)
	if err != nil || !usual.Complete {
		t.Fatalf("%s: %v, or the search is not complete", b.Entry.ID, err)
	}
	plain, other := plainly(t, b), spin(t, b, func(*model) {})
	if pars := slices.Sorted(slices.Values(usual.Pars())); !slices.Equal(pars, other.found) ||
		!reflect.DeepEqual(plain, other) {
		t.Errorf("%s: SPIN finds %s; the search %v, and without symmetry %s", b.Entry.ID, other, pars, plain)
	}
	return fmt.Sprintf("%9d %9d  %s", usual.States, other.states, strings.Join(other.found, " "))
}

// TestSecondOpinion asks about the six milestones, and about locks on a ZooKeeper.
func TestSecondOpinion(t *testing.T) {
	if !*makeAsks {
		t.Skip("make second-opinion asks")
	}
	effort.Need(t, installed())
	t.Logf("%-16s %9s %9s", "states of", "a search", "SPIN")
	for _, q := range []struct {
		locks, budget string
		changes       []func(b *search.Bounds)
	}{
		{"setnx setnx-expire getset token watchdog redlock", "crash=1,pause=1", nil},
		{"setnx setnx-expire token", "crash=1,pause=1", []func(b *search.Bounds){anyTiming}},
		{"redlock", "crash=1", []func(b *search.Bounds){anyTiming, once, idle}},
		{"zk-naive zk-recheck zk-protected", "lose-reply=1,expire-session=1", []func(b *search.Bounds){inLine}},
	} {
		for _, id := range strings.Fields(q.locks) {
			b := question(t, id, q.budget, q.changes...)
			name := id
			if b.Timing != nil {
				name += ", any"
			}
			t.Logf("%-16s %s", name, compare(t, b))
		}
	}
}

// TestSecondOpinionOfFaults asks about other faults, and about locks on ZooKeeper whose clients wait for watches.
func TestSecondOpinionOfFaults(t *testing.T) {
	effort.OnlyPushed(t, "so does make second-opinion; one goroutine judges")
	effort.Need(t, installed())
	alone := func(b *search.Bounds) { b.Clients = 1 }
	late := func(b *search.Bounds) { b.Latency, b.Lateness = 1500*time.Millisecond, search.AtOnce }
	all := []*explore.Model{
		question(t, "getset", "lose-reply=1"),
		question(t, "zk-naive", "expire-session=1", inLine),
		question(t, "zk-recheck", "lose-reply=1", inLine),
		// Its client deletes in the background what it could not delete, while it asks for more: several
		// threads wait on one session.
		question(t, "zk-multi", "expire-session=1", once, alone),
		question(t, "token", "pause=1", anyTiming, late),
		question(t, "redlock", "lose-reply=1"),
		question(t, "setnx", "lose-reply=1,crash=1", anyTiming),
		question(t, "zk-herd", "crash=1,expire-session=1"),
		question(t, "zk-protected", "lose-reply=1", anyTiming, once),
		question(t, "zk-naive", "pause=1", anyTiming, once),
	}
	if effort.Exhaustive() {
		all = append(all,
			question(t, "watchdog", "pause=1@5s,lose-request=1"),
			question(t, "zk-multi", "expire-session=1"), // a session that ends moves two lines
			question(t, "zk-naive", "crash=1", inLine, func(b *search.Bounds) { b.Clients = 3 }))
	}
	for _, b := range all {
		t.Log(b.Entry.ID, compare(t, b))
	}
}

// plainly is the lab's answer, without symmetry, where an ensemble numbers every transaction.
func plainly(t testing.TB, b *explore.Model) *result {
	t.Helper()
	plain := *b
	plain.Plain = explore.Plainest
	r, err := explore.Search(t.Context(), &plain)
	if err != nil || !r.Complete {
		t.Fatalf("%s: %v, or the search is not complete", b.Entry.ID, err)
	}
	return &result{slices.Sorted(slices.Values(r.Pars())), r.States, r.Transitions}
}

func spin(t testing.TB, b *explore.Model, change func(m *model)) *result {
	t.Helper()
	r, err := check(t.Context(), b, change)
	if err != nil {
		t.Fatalf("%s: %v", b.Entry.ID, err)
	}
	return r
}

// disagrees reports whether SPIN, with a mutated model, comes to something else than the lab.
func disagrees(t *testing.T, b *explore.Model, want *result, spoils map[string]func(m *model)) {
	for name, spoil := range spoils {
		t.Run(name, func(t *testing.T) {
			got := spin(t, b, spoil)
			t.Log(got)
			if reflect.DeepEqual(got, want) {
				t.Error("SPIN agrees with the lab all the same")
			}
		})
	}
}

// text replaces a part of the model.
func text(t *testing.T, old, new string) func(m *model) {
	return func(m *model) {
		m.mutateText = func(source string) string {
			if strings.Count(source, old) != 1 {
				t.Errorf("%q is not there once", old)
			}
			return strings.Replace(source, old, new, 1)
		}
	}
}

// The oracle can fail: a judge, a rule or an automaton that is spoiled, however little, makes
// SPIN disagree with the lab.
func TestSecondOpinionCanDisagree(t *testing.T) {
	effort.OnlyPushed(t, "SPIN compiles for seconds")
	effort.Need(t, installed())
	b := question(t, "token", "crash=1,pause=1")
	want := plainly(t, b)
	spoils := map[string]func(m *model){
		"a judge: nobody overlaps": text(t, "!HAS(inside, c) && inside != 0 -> FOUND(OVERLAP)",
			"inside == 255 -> FOUND(OVERLAP)"),
		"an edge: any token deletes": anyTokenDeletes,
	}
	if effort.Exhaustive() {
		spoils["a rule: nobody pauses before it sends"] = text(t, "RUNS(c) && JUST_ASKED(c)", "0")
		spoils["a judge: a late write is no harm"] = text(t, "value > base ||", "value > base + 99 && value > base ||")
		spoils["a judge: an orphan never refuses"] = text(t, "(remark & CLAIMS) && HAS(met, c)",
			"(remark & CLAIMS) && met == 255")
		spoils["a rule: what a crashed client has sent is lost"] = text(t,
			":: TH(C,thr).phase == ASKING -> add_orphan(oper, C, step)",
			":: TH(C,thr).phase == 99 -> add_orphan(oper, C, step)")
		spoils["a rule: a paused client wakes when it could have"] = text(t,
			"#define RUNS(c) (!P(c).dead && !P(c).paused)", "#define RUNS(c) (!P(c).dead)")
	}
	disagrees(t, b, want, spoils)
}

// The same of an ensemble: the rules of sessions and connections, and what it does to its znodes.
func TestSecondOpinionOfZooKeeperCanDisagree(t *testing.T) {
	effort.OnlyExhaustive(t, "SPIN compiles and searches for seconds")
	effort.Need(t, installed())
	b := question(t, "zk-recheck", "lose-reply=1,pause=1@10s", once, func(b *search.Bounds) { b.Uses = client.Wait })
	want := plainly(t, b)
	if got := spin(t, b, func(*model) {}); !reflect.DeepEqual(got, want) {
		t.Fatalf("SPIN finds %s, the lab %s", got, want)
	}
	rows := func(what int, change func(values []int)) func(m *model) {
		return func(m *model) {
			m.mutateRow = func(r *row) {
				if r.key[0] == what {
					change(r.values)
				}
			}
		}
	}
	disagrees(t, b, want, map[string]func(m *model){
		"nobody hears of a watch":                               rows(8, func(v []int) { v[0] = 0 }),
		"the first of the line is nobody's":                     rows(6, func(v []int) { v[3] = 0 }),
		"what is under way when a connection breaks never runs": text(t, "HAS(alive, c) -> act_op", "0 -> act_op"),
		"a client that was paused pings in a session that has ended": text(t, "!HAS(alive, c) -> cut_off(c)",
			"0 -> cut_off(c)"),
	})
}

// anyTokenDeletes has the release script delete the key of another.
func anyTokenDeletes(m *model) {
	m.mutateRow = func(r *row) {
		if r.key[0] == 3 && strings.HasPrefix(m.redis.RequestText(uint32(r.key[2]))[0], "EVAL") && r.values[2] == 1 &&
			m.redis.ReplyText(uint32(r.values[1])) == "0" {
			r.values[0], r.values[2] = 0, 0
			copy(r.values[3:], []int{1, 1, 0, 1, 0, m.keys})
		}
	}
}

// What the model cannot say is named.
func TestSecondOpinionUnfit(t *testing.T) {
	effort.OnlyPushed(t, "SPIN compiles for seconds")
	effort.Need(t, installed())
	for ask, why := range map[[2]string]string{{"zk-semaphore"}: "several in", {"watch-multi"}: "transactions",
		{"token-wait"}: "WAIT", {"token", "restart=1@1s"}: "restart"} {
		if _, err := check(t.Context(), question(t, ask[0], ask[1]), func(*model) {}); err == nil ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want a word about %s", ask, err, why)
		}
	}
}
