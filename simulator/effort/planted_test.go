package effort_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// A bug is a condition of the lab's own code that is wrong: a bound off by one, a comparison turned, a case left out.
type bug struct {
	file  string // from the module's folder
	right string // the text of the file; «the condition» in it, if it is not all of it
	wrong string // the condition that takes its place
	test  string // of the same package, which fails then
}

// bugs are tried by each push, a compiler's run for each package: their tests take no time.
var bugs = []bug{
	{"faults/budget.go", `err != nil || «a.Max <= 0»`, `a.Max < 0`, "TestParseBudgetRefuses"},
	{"faults/budget.go", `a.Times > 0 && a.Fault == fault`, `a.Fault == fault`, "TestAllows"},
	{"faults/failcall.go", `m.ToRedis() && passes(m)`, `m.ToRedis()`, "TestStories"},
	{"faults/keys.go", `len(list) < maxNamed`, `len(list) <= maxNamed`, "TestStories"},

	{"scenarios/contract/contract.go", `«o.Triggered» && sameWords(o.Verdicts, want)`, `true`, "TestCompareRace"},
	{"scenarios/contract/parse.go", `err != nil || n < 2`, `err != nil || n < 1`, "TestParseRefuses"},
	{"scenarios/contract/verify.go", `r.Search.Result.OutOfMemory`, `false`, "TestCompareSearch"},
	{"scenarios/contract/verify.go", `case «!o.Triggered»:`, `false`, "TestCompareRace"},

	{"scenarios/share/merge.go", `r.shares[part.K-1] != nil`, `false`, "TestMergeRefuses"},
	{"scenarios/share/merge.go", `hasOne != hasTwo || one != two`, `one != two`, "TestOtherInput"},
	{"scenarios/share/merge.go", `result.Task != t.ID`, `false`, "TestResultsFit"},
	{"scenarios/share/part.go", `p.N > MaxShares`, `p.N >= MaxShares`, "TestParsePart"},

	{"simulator/record/writes.go", `s.left.n > 0 && s.left.before(l.from)`, `s.left.before(l.from)`, "TestJudge"},
	{"simulator/record/judge.go", `s.enter.before(b.acquired.from) && «b.enter.before(call)»`, `true`, "TestJudge"},
	{"simulator/record/writes.go", `!k.stale && (s == nil || «s != k.holder»)`, `true`, "TestJudge"},
	{"simulator/record/judge.go", `l.Seq > 0 && «l.Seq <= k.seq»`, `l.Seq < k.seq`, "TestCounted"},
	{"simulator/record/stamp.go", `a.hi < b.lo && !b.counted(a)`, `a.hi <= b.lo && !b.counted(a)`, "TestJudge"},

	{"simulator/redisnode/engine.go", `at == now/unit`, `at == now/unit+1`, "TestServer"},
	{"simulator/redisnode/faults.go", `case «s.outage == down»:`, `false`, "TestStage"},
	{"simulator/redisnode/replication.go", `s.config.AOF == EverySecond`, `false`, "TestStage"},
	{"simulator/redisnode/wait.go", `ms < 0`, `ms <= 0`, "TestStage"},

	{"simulator/verdict/blocked.go", `b.refused >= 2`, `b.refused > 2`, "TestHistories"},
	{"simulator/verdict/leases.go", `e.Until > l.until`, `e.Until >= l.until`, "TestHistories"},
	{"simulator/verdict/slow.go", `me.until < in.at`, `me.until <= in.at`, "TestHistories"},
	{"simulator/verdict/starved.go", `«in.event.Kind != history.Refuse» || in.event.Note`, `false`, "TestStarved"},
}

// deep are further ones, for tests that take a while.
var deep = []bug{
	{"scenarios/contract/verify.go", `first.IsZero() && r.Attempts == once`, `false`, "TestProve"},
	{"scenarios/contract/verify.go", `want.Par > w.Par`, `false`, "TestProve"},
	{"scenarios/contract/verify.go", `!complete && r.Status == Met`, `false`, "TestProve"},
	{"scenarios/share/merge.go", `differs >= 0`, `differs > 0`, "TestResultsFit"},
	{"scenarios/share/part.go", `of[i] == p.Part.K`, `true`, "TestAgain"},
	{"simulator/record/line.go", `*l.Base >= *l.Version`, `*l.Base > *l.Version`, "TestWrongLines"},
	{"simulator/record/reader.go", `«o.at.hi < l.at.lo» || o.Key == l.Key`, `false`, "TestChoices"},
	{"simulator/record/stamp.go", `a.hi == b.lo && !b.counted(a)`, `false`, "TestChoices"},
	{"simulator/record/lease.go", `s.latest > b.first`, `s.latest >= b.first`, "TestChoices"},
	{"simulator/record/lease.go", `s.more > 0 && «!s.over(stamp{lo: s.moreFrom})»`, `true`, "TestSilentLeases"},
	{"simulator/record/lease.go", `s.more > 0 && «s.enter.hi < s.moreFrom»`, `true`, "TestManyLater"},
	{"simulator/redisnode/keyspace.go", `len(c.channels) == 0`, `true`, "TestRealPubSub"},
	{"simulator/verdict/lie.go", `«me.is(releasing)» && in.turn`, `true`, "TestSecondOpinionOfCharges"},
	{"simulator/verdict/orphan.go", `in.reading.believing() != 0`, `false`, "TestSecondOpinionOfCharges"},
	{"simulator/verdict/stalewrite.go", `lost.holder == by`, `lost.owner == by.owner`, "TestSecondOpinionOfCharges"},
}

// TestPlanted: a bug planted into a package is noticed by the package's own tests.
func TestPlanted(t *testing.T) {
	effort.OnlyPushed(t, "compiles six packages anew")
	all := bugs
	if effort.Exhaustive() {
		all = append(all, deep...)
	}
	of := map[string][]bug{}
	for _, b := range all {
		of[path.Dir(b.file)] = append(of[path.Dir(b.file)], b)
	}
	for folder, bugs := range of {
		t.Run(folder, func(t *testing.T) {
			program := plant(t, folder, bugs)
			for i, b := range append([]bug{{}}, bugs...) { // first without any
				tests := b.test
				if i == 0 {
					for _, b := range bugs {
						tests += "|" + b.test
					}
					tests = tests[1:]
				}
				c := exec.CommandContext(t.Context(), program, "-test.failfast", "-test.timeout=1m",
					"-test.run=^("+tests+")$")
				c.Dir = filepath.Join("..", "..", folder)
				c.Env = append(os.Environ(), "CI=true", "LOCKLAB_EXHAUSTIVE=", fmt.Sprint("PLANTED=", i))
				out, err := c.CombinedOutput()
				switch {
				case i == 0 && err != nil:
					t.Fatalf("%s fails without a bug: %v\n%s", tests, err, out)
				case i > 0 && err == nil:
					t.Errorf("%s: %s does not notice %s in the place of %s", b.file, b.test, b.wrong, b.right)
				}
			}
		})
	}
}

// plant compiles the tests of a folder with all of its bugs, each of which is there if PLANTED is its number, from 1.
func plant(t *testing.T, folder string, bugs []bug) (program string) {
	t.Helper()
	dir, root := t.TempDir(), filepath.Join("..", "..")
	texts := map[string]string{}
	for i, b := range bugs {
		if texts[b.file] == "" {
			text, err := os.ReadFile(filepath.Join(root, b.file))
			if err != nil {
				t.Fatal(err)
			}
			texts[b.file] = string(text)
		}
		before, right, marked := strings.Cut(b.right, "«")
		right, after, _ := strings.Cut(right, "»")
		if !marked {
			before, right = "", b.right
		}
		if strings.Count(texts[b.file], before+right+after) != 1 {
			t.Fatalf("%s has not once %q: mend this row, or plant another bug", b.file, b.right)
		}
		either := fmt.Sprintf(`(planted == "%d" && (%s) || planted != "%d" && (%s))`, i+1, b.wrong, i+1, right)
		texts[b.file] = strings.Replace(texts[b.file], before+right+after, before+either+after, 1)
	}
	texts[folder+"/planted.go"] = "package " + path.Base(folder) + `; import "os"; var planted = os.Getenv("PLANTED")`
	replace := map[string]string{}
	for file, text := range texts {
		at, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		replace[at] = filepath.Join(dir, path.Base(file))
		if err := os.WriteFile(replace[at], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o644); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "planted.test")
	args := []string{"test", "-c", "-vet=off", "-ldflags=-w", "-overlay=" + overlay, "-o=" + program}
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = filepath.Join(root, folder)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
