package search_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	onredis "locklab/algorithms/redis"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestProve: a proof says what is impossible, what breaks with which clients, and nothing where a fault strikes nowhere.
func TestProve(t *testing.T) {
	effort.OnlyExhaustive(t, "it proves twenty locks; one goroutine searches")
	for _, c := range []struct {
		budget  string
		proved  []verdict.Word
		par     int // of OVERLAP; 0: it is proved impossible, or nothing is said
		refused bool
	}{
		{"crash=any", explore.Provable, 0, false},
		{"restart=1", []verdict.Word{verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock}, 1, false},
		{"pause=any@1s", []verdict.Word{verdict.WrongDel, verdict.Lie, verdict.Deadlock}, 4, false}, // one is too short, and no two
		{"expire-session=1", nil, 0, true},
	} {
		budget, endless, err := search.ParseBudget(c.budget)
		if err != nil {
			t.Fatal(err)
		}
		b := search.DefaultBounds()
		b.Budget, b.Endless = budget, endless
		p := racetest.Must(search.Prove(t.Context(), racetest.Lock(t, "token"), b))(t)
		par := 0
		for _, s := range p.Broken {
			for _, w := range s.Witnesses {
				if w.Verdict == verdict.Overlap {
					par = w.Par
				}
			}
		}
		if !slices.Equal(p.Proved(), c.proved) || par != c.par || (p.Refused != nil) != c.refused || p.Closed && len(p.Open) > 0 {
			t.Errorf("%s: proved %v, OVERLAP by %d faults, refused %v, open %v", c.budget, p.Proved(), par, p.Refused, p.Open)
		}
	}
}

// TestProveOfOneAttempt: what a second attempt comes to is not proved, although each client takes the lock once; and where there is
// no proof, searches still find what breaks.
func TestProveOfOneAttempt(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	b := search.DefaultBounds()
	b.Budget = "crash=1"
	p, err := search.Prove(t.Context(), racetest.Lock(t, "reentrant"), b)
	if err != nil {
		t.Fatal(err)
	}
	if p.Once.IsZero() || !p.Closed || slices.Contains(p.Proved(), verdict.Overlap) || !slices.Contains(p.Proved(), verdict.WrongDel) {
		t.Errorf("reentrant: closed %t, once %v, proved %v", p.Closed, p.Once, p.Proved())
	}
	b.Budget = "pause=1"
	if p, err = search.Prove(t.Context(), racetest.Lock(t, "queue"), b); err != nil {
		t.Fatal(err)
	}
	if p.Refused == nil || p.Proved() != nil || len(p.Broken) == 0 || slices.Contains(p.Open, verdict.Overlap) {
		t.Errorf("queue: refused %v, proved %v, open %v, %d searches", p.Refused, p.Proved(), p.Open, len(p.Broken))
	}
}

// nameless is a lock whose key names no client.
type nameless struct{ env lock.Env }

func (n *nameless) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	taken, err := n.env.Nodes[0].SetNX(ctx, key+":taken", "x", 0).Result()
	if err == nil && !taken {
		err = lock.ErrNotAcquired
	}
	if err != nil {
		return nil, err
	}
	return &namelessLease{n.env.Nodes[0], key + ":taken"}, nil
}

type namelessLease struct {
	node redis.UniversalClient
	key  string
}

func (l *namelessLease) Release(ctx context.Context) error { return l.node.Del(ctx, l.key).Err() }

// TestProveLeavesOpen: what two views come to and no search finds is neither proved nor broken, also on its way between machines.
func TestProveLeavesOpen(t *testing.T) {
	entry := lock.Entry{ID: "nameless", Server: lock.OnRedis(1), New: func(env lock.Env) lock.Lock { return &nameless{env} }}
	p := racetest.Must(search.Prove(t.Context(), entry, search.ProofBounds()))(t)
	open := []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Deadlock}
	if !slices.Equal(p.Open, open) || slices.Contains(p.Proved(), verdict.Overlap) || !slices.Contains(p.Proved(), verdict.WrongDel) || p.Broken != nil {
		t.Errorf("open are %v, proved %v, broken %v", p.Open, p.Proved(), p.Broken)
	}
	if views, move := p.Violation(verdict.Overlap); views[0].Stage != "inside" && views[1].Stage != "inside" || move == "" {
		t.Errorf("the step %q of %v comes to an OVERLAP", move, views)
	}
	sent := racetest.Must(json.Marshal(p))(t)
	var got search.Proof
	if err := json.Unmarshal(sent, &got); err != nil || !slices.Equal(got.Open, open) {
		t.Errorf("read again, open are %v: %v", got.Open, err)
	}
}

// TestProveMutants: no verdict that a search of two or three clients finds in a lock with a planted defect is proved absent.
func TestProveMutants(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; one goroutine searches")
	t.Parallel()
	defects := tokenDefects()
	if effort.Exhaustive() {
		defects = append(defects, dogDefects()...)
	}
	proved, refuted := 0, 0
	for _, d := range defects {
		if d.at.nodes > 1 || d.at.reenter {
			continue
		}
		entry := own("mutant", d.lock)
		b := small(entry, 2, 2, d.at.budget)
		b.Timing, b.Nodes, b.MaxStates = search.AnyTiming, 1, 10_000
		proof := proofOf(t, entry, b, 3_000)
		if !proof.Closed {
			continue
		}
		proved++
		for _, size := range [][2]int{{2, 2}, {3, 1}} {
			if size[1] > 1 && !proof.Once.IsZero() {
				continue
			}
			b.Clients, b.Attempts = size[0], size[1]
			s := exploring(t, entry, b)
			for _, w := range s.Witnesses {
				if !slices.Contains(explore.Provable, w.Verdict) {
					continue
				}
				refuted++
				if !slices.Contains(proof.Harms, w.Verdict) {
					t.Errorf("%s, %s: %s is excluded, and %d clients with %d attempts come to it", d.name, d.at.budget, w.Verdict, size[0], size[1])
				}
			}
		}
	}
	if proved < 5 || refuted < 5 {
		t.Errorf("%d proofs were held against %d witnesses", proved, refuted)
	}
}

// proofOf is the proof of a lock within bounds, with as many clients as views have, and so many views at most.
func proofOf(t *testing.T, entry lock.Entry, b search.Bounds, views int) *explore.Proof {
	t.Helper()
	b.Clients = 2 + explore.Outsiders
	m := racetest.Must(b.Settled(entry).Model(entry))(t)
	proof, err := explore.ProveFor(t.Context(), m, false, views)
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

// TestProveAgreesWithAModel: an independent model of three locks in whole steps of time, with a lease of six steps and clients
// that come for ever, has the same verdicts. A key that is left for ever, which the model calls an orphan, is a DEADLOCK here.
func TestProveAgreesWithAModel(t *testing.T) {
	t.Parallel()
	asked := []verdict.Word{verdict.Overlap, verdict.WrongDel, verdict.Deadlock}
	for _, c := range []struct {
		id, budget string
		want       []verdict.Word
	}{
		{"setnx", "crash=1", []verdict.Word{verdict.Deadlock}},
		{"constant", "crash=1", nil},
		{"token", "crash=1", nil},
		{"token", "pause=1@4500ms", []verdict.Word{verdict.Overlap}},
		{"token", "crash=1,delay=1@1s", nil},
	} {
		entry := racetest.Lock(t, c.id)
		b := small(entry, 2, 2, c.budget)
		b.Timing, b.Nodes, b.TTL, b.Work, b.Budget = search.AnyTiming, 1, 4500*time.Millisecond, 750*time.Millisecond, faults.Budget(c.budget)
		proof := proofOf(t, entry, b, 60_000)
		var got []verdict.Word
		for _, w := range asked {
			if slices.Contains(proof.Harms, w) {
				got = append(got, w)
			}
		}
		if !proof.Closed || !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: closed %t (%v), %v, the model has %v", c.id, c.budget, proof.Closed, proof.Refused, got, c.want)
		}
	}
}

// TestTheorems: each answer is that of a proof or of a search, and what has neither says why.
func TestTheorems(t *testing.T) {
	locks := []lock.Entry{racetest.Lock(t, "setnx"), racetest.Lock(t, "reentrant"), racetest.Lock(t, "zk-naive")}
	table := racetest.Must(study.FindTheorems(t.Context(), locks, []string{"crash=any", "restart=1"}, nil))(t)
	want := []string{"AAAAAF", "FFFAAA", "FFOOOO", "FFFOOO", "UUUUUU", "UUUUUU"}
	letters := map[study.Extent]string{study.Unbounded: "A", study.OneAttempt: "O", study.Bounded: "B", study.Fails: "F", study.Undecided: "U"}
	for l, entry := range locks {
		for k, budget := range table.Budgets {
			got := ""
			for n, word := range explore.Provable {
				one := table.At(l, k, n)
				got += letters[one.Extent]
				if one.Lock != entry.ID || one.Budget != budget || one.Verdict != word {
					t.Errorf("%s, %s, %s: %+v", entry.ID, budget, word, one)
				}
				if decided := one.Extent == study.Unbounded || one.Extent == study.Fails; !decided && one.Why == "" {
					t.Errorf("%s, %s, %s: no reason", entry.ID, budget, word)
				}
				if proved := one.Extent == study.Unbounded || one.Extent == study.OneAttempt; (one.Lemmas != nil) != proved {
					t.Errorf("%s, %s, %s: lemmas %q", entry.ID, budget, word, one.Lemmas)
				}
				if one.Extent == study.Fails && (one.Trace == "" || one.Clients < 2) {
					t.Errorf("%s, %s, %s: %+v", entry.ID, budget, word, one)
				}
			}
			if got != want[l*len(table.Budgets)+k] {
				t.Errorf("%s, %s: %s, want %s", entry.ID, budget, got, want[l*len(table.Budgets)+k])
			}
		}
	}
	// A key that its owner has left behind stays where it has no time to live.
	if got := strings.Join(table.At(0, 0, 0).Lemmas, " "); got != "inside kept" {
		t.Errorf("setnx, crash=any: lemmas %s", got)
	}
	if got := strings.Join(table.At(1, 0, 3).Lemmas, " "); got != "inside kept ends" {
		t.Errorf("reentrant, crash=any: lemmas %s", got)
	}
}

// TestTheoremsOfASample: what is proved of the milestones on one server and of three other locks, each under two kinds of faults that
// the commit draws, no search of three clients or of two attempts comes to; and what is not decided has a reason.
func TestTheoremsOfASample(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	commit, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Logf("no commit draws: %v", err)
	}
	rng := rand.New(rand.NewChaCha8(sha256.Sum256(commit)))
	draw := func(list []string, n int) []string {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list[:n]
	}
	locks := []string{"setnx", "setnx-expire", "getset", "token", "watchdog"}
	var others []string
	for _, e := range onredis.All() {
		if e.Nodes == 1 && !slices.Contains(locks, e.ID) {
			others = append(others, e.ID)
		}
	}
	proved := 0
	for _, id := range append(locks, draw(others, 3)...) {
		entry, budgets := racetest.Lock(t, id), draw(study.TheoremBudgets(), 2)
		t.Logf("%s under %v", id, budgets)
		table := racetest.Must(study.FindTheorems(t.Context(), []lock.Entry{entry}, budgets, nil))(t)
		for k, written := range budgets {
			found := map[[2]int][]search.Witness{}
			budget, _, err := search.ParseBudget(written)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range [][2]int{{3, 1}, {2, 2}} {
				b := small(entry, size[0], size[1], string(budget))
				b.Timing, b.Retries, b.MaxStates = search.AnyTiming, 0, 20_000
				s := exploring(t, entry, b)
				found[size] = s.Witnesses
			}
			for n := range explore.Provable {
				one := table.At(0, k, n)
				switch one.Extent {
				case study.Unbounded, study.OneAttempt:
					proved++
				case study.Fails:
					continue
				default:
					if one.Why == "" {
						t.Errorf("%s, %s, %s: no reason", id, written, one.Verdict)
					}
					continue
				}
				for size, list := range found {
					is := func(w search.Witness) bool { return w.Verdict == one.Verdict }
					if (size[1] == 1 || one.Extent == study.Unbounded) && slices.ContainsFunc(list, is) {
						t.Errorf("%s, %s: %s is proved impossible (%s), and %d clients with %d attempts come to it", id, written, one.Verdict, one.Extent, size[0], size[1])
					}
				}
			}
		}
	}
	if proved == 0 {
		t.Error("nothing is proved")
	}
}
