package study_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// TestTheorems: each answer is that of a proof or of a search, and what has neither says why.
func TestTheorems(t *testing.T) {
	locks := []lock.Entry{racetest.Lock(t, "setnx"), racetest.Lock(t, "reentrant"), racetest.Lock(t, "zk-naive")}
	table, err := study.FindTheorems(t.Context(), locks, []string{"crash=any", "restart=1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"AAAAAF", "FFFAAA", "FFOOOO", "FFFOOO", "UUUUUU", "UUUUUU"}
	letters := map[study.Extent]string{study.Unbounded: "A", study.OneAttempt: "O", study.Bounded: "B", study.Fails: "F", study.Undecided: "U"}
	for l, entry := range locks {
		for k, budget := range table.Budgets {
			got := ""
			for n, word := range explore.Provable {
				one := table.At(l, k, n)
				got += letters[one.Extent]
				if one.Strategy != entry.ID || one.Budget != budget || one.Verdict != word {
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
	for _, e := range algorithms.OnRedis() {
		if e.Nodes == 1 && !slices.Contains(locks, e.ID) {
			others = append(others, e.ID)
		}
	}
	proved := 0
	for _, id := range append(locks, draw(others, 3)...) {
		entry, budgets := racetest.Lock(t, id), draw(study.TheoremBudgets(), 2)
		t.Logf("%s under %v", id, budgets)
		table, err := study.FindTheorems(t.Context(), []lock.Entry{entry}, budgets, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, written := range budgets {
			found := map[[2]int][]study.Witness{}
			budget, _, err := study.EndlessBudget(written)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range [][2]int{{3, 1}, {2, 2}} {
				b := small(entry, size[0], size[1], string(budget))
				b.Timing, b.Retries, b.MaxStates = study.AnyTiming, 0, 20_000
				s := explored(t, entry, b)
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
					is := func(w study.Witness) bool { return w.Verdict == one.Verdict }
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
