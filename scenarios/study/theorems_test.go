package study_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	onredis "locklab/algorithms/redis"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// TestTheorems: each answer is that of a proof or of a search, and what has neither says why.
func TestTheorems(t *testing.T) {
	table := racetest.Must(study.FindTheorems(t.Context(), locks(t, "setnx", "reentrant", "zk-naive"),
		[]string{"crash=any", "restart=1"}, nil))(t)
	letters := map[study.Extent]string{
		study.Unbounded: "A", study.OneAttempt: "O", study.Bounded: "B", study.Fails: "F", study.Undecided: "U",
	}
	var got []string
	for l, entry := range table.Locks {
		for k, budget := range table.Budgets {
			row := ""
			for n, word := range explore.Provable {
				one := table.At(l, k, n)
				row += letters[one.Extent]
				proved := one.Extent == study.Unbounded || one.Extent == study.OneAttempt
				fails := one.Extent == study.Fails
				if one.Lock != entry.ID || one.Budget != budget || one.Verdict != word ||
					(one.Lemmas != nil) != proved || one.Extent == study.Undecided && one.Why == "" ||
					fails && (one.Trace == "" || one.Clients < 2) {
					t.Errorf("%s, %s, %s: %+v", entry.ID, budget, word, one)
				}
			}
			got = append(got, row)
		}
	}
	if want := []string{"AAAAAF", "FFFAAA", "FFOOOO", "FFFOOO", "UUUUUU", "UUUUUU"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A key that its owner has left behind stays where it has no time to live.
	for _, c := range []struct {
		lock, word int
		want       string
	}{{0, 0, "inside kept"}, {1, 3, "inside kept ends"}} {
		if got := strings.Join(table.At(c.lock, 0, c.word).Lemmas, " "); got != c.want {
			t.Errorf("%s, crash=any: lemmas %s, want %s", table.Locks[c.lock].ID, got, c.want)
		}
	}
}

// TestTheoremsOfASample: what is proved of three locks on one server, each under two kinds of faults that the commit
// draws, no search of three clients or of two attempts comes to; and what is not decided has a reason.
func TestTheoremsOfASample(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	commit, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Logf("no commit draws: %v", err)
	}
	rng := rand.New(rand.NewChaCha8(sha256.Sum256(commit)))
	entries := slices.DeleteFunc(onredis.All(), func(e lock.Entry) bool { return e.Nodes != 1 })
	proved := 0
	for _, l := range rng.Perm(len(entries))[:3] {
		entry, budgets := entries[l], study.TheoremBudgets()
		rng.Shuffle(len(budgets), func(i, j int) { budgets[i], budgets[j] = budgets[j], budgets[i] })
		budgets = budgets[:2]
		t.Logf("%s under %v", entry.ID, budgets)
		table := racetest.Must(study.FindTheorems(t.Context(), []lock.Entry{entry}, budgets, nil))(t)
		for k, written := range budgets {
			budget, _, err := search.ParseBudget(written)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range [][2]int{{3, 1}, {2, 2}} {
				b := search.DefaultBounds()
				b.Clients, b.Attempts, b.Budget = size[0], size[1], budget
				b.Timing, b.MaxStates = search.AnyTiming, 20_000
				found := exploring(t, entry, b)
				for n := range explore.Provable {
					one := table.At(0, k, n)
					is := one.Extent == study.Unbounded || one.Extent == study.OneAttempt && size[1] == 1
					if is {
						proved++
					}
					if is && slices.ContainsFunc(found.Witnesses,
						func(w search.Witness) bool { return w.Verdict == one.Verdict }) {
						t.Errorf("%s, %s: %s is proved impossible (%s), and %v clients and attempts come to it",
							entry.ID, written, one.Verdict, one.Extent, size)
					}
					if one.Extent != study.Unbounded && one.Extent != study.Fails && one.Why == "" {
						t.Errorf("%s, %s, %s: no reason", entry.ID, written, one.Verdict)
					}
				}
			}
		}
	}
	if proved == 0 {
		t.Error("nothing is proved")
	}
}
