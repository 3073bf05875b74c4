package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/scenarios/checked"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/history"
)

// template is the module with a test of somebody's own lock.
const template = "../../scenarios/locktest/template"

// checked is what a test would find that has the token lock for its own.
func ownLock(t *testing.T) checked.Lock {
	t.Helper()
	token, err := race.Lock("token")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(template)
	if err != nil {
		t.Fatal(err)
	}
	own := token
	own.ID, own.Article, own.Also = "TestMyLock", "", nil
	c := checked.Lock{Checked: &study.Checked{Test: own.ID, Nodes: 1, TTL: 9 * time.Second, Folders: []string{dir}},
		Dir: template}
	for i, budget := range append([]string{"pause=1"}, study.SingleFaults()...) {
		b := search.DefaultBounds()
		b.Budget = faults.Budget(budget)
		s, err := search.Explore(t.Context(), own, b)
		if err != nil {
			t.Fatal(err)
		}
		s.SetLock(c.Entry()) // as ReadChecked does
		data := study.CheckedSearch{Search: s}
		if i > 0 {
			c.Pars = append(c.Pars, data)
			continue
		}
		c.Search = &data
		for _, w := range s.Witnesses {
			o, err := search.ReplayOn(own, w.Trace)
			if err != nil {
				t.Fatal(err)
			}
			for j := range o.History.Events {
				if e := &o.History.Events[j]; e.Kind == history.Send && e.Node > 0 && strings.HasPrefix(e.Cmd[0], "S") {
					e.Code = []string{"template/mylock_test.go:22"}
				}
			}
			c.Search.Runs = append(c.Search.Runs, study.NewCheckedRun(o))
		}
	}
	for _, h := range study.Hazards() {
		c.Limits = append(c.Limits, study.Limit{Lock: own.ID, Fault: h.Fault, Answer: study.NotAsked})
	}
	races, err := pickRaces([]string{"calm", "slow-work", "gc-pause", "renew-held"})
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range races {
		o, err := race.Play(own, sc, sc.Settings)
		if err != nil {
			t.Fatal(err)
		}
		c.Races = append(c.Races, study.NewCheckedRun(o))
	}
	c.Lock = c.Entry()
	return c
}

// What people see of a lock of their own, in both languages, and as JSON.
func TestCheckViews(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, "one goroutine searches")
	c := ownLock(t)
	token, err := race.Lock("token")
	if err != nil {
		t.Fatal(err)
	}
	show := func(lang string, asJSON bool) string {
		t.Helper()
		var out bytes.Buffer
		e := newTestEnv(&out, &out)
		e.Lang, e.json = lang, asJSON
		open, err := (&checkFlags{beside: []lock.Entry{token}, compare: true}).show(e, []checked.Lock{c})
		if err != nil || open != nil {
			t.Fatal(err, open)
		}
		return out.String()
	}
	golden(t, "check.txt", show("en", false))
	golden(t, "check.zh.txt", show("zh", false))
	j := dataOf[struct {
		Locks []struct {
			Test      string
			Explore   search.Search
			Par       chart.Chart
			Tolerance chart.Chart
			Matrix    matrixJSON
			Runs      []runJSON
		}
	}](t, show("en", true), "check")
	if len(j.Locks) != 1 {
		t.Fatalf("%+v", j)
	}
	l := j.Locks[0]
	if l.Test != "TestMyLock" || !l.Explore.Complete || len(l.Par.Table.Rows) != 60 ||
		len(l.Tolerance.Table.Rows) != 10 || len(l.Matrix.Cells) != 8 || len(l.Runs) != len(l.Explore.Witnesses) {
		t.Errorf("%+v", l)
	}
}

// What a search leaves unknown, and a test without one, decide the exit status.
func TestCheckUnknown(t *testing.T) {
	c := ownLock(t)
	var out bytes.Buffer
	e := newTestEnv(&out, &out)
	explore := &checkFlags{}
	c.Search.Search.Complete = false
	if open, err := explore.show(e, []checked.Lock{c}); err != nil || e.report(open) != exitNoAnswer {
		t.Errorf("a search that was cut: %v, %v", open, err)
	}
	c.Search = nil
	if open, err := explore.show(e, []checked.Lock{c}); err != nil || open != nil ||
		!strings.Contains(out.String(), "TestMyLock plays races only") {
		t.Errorf("no search: %v, %v\n%s", open, err, out.String())
	}
	c.Unknown = "because"
	if open, err := explore.show(e, []checked.Lock{c}); err != nil || e.report(open) != exitNoAnswer ||
		!strings.Contains(out.String(), "TestMyLock: because") {
		t.Errorf("no answer: %v, %v\n%s", open, err, out.String())
	}
}

// Packages that cannot be checked, each with its reason.
func TestCheckWrongUse(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"broken/go.mod": "module example.com/broken\n", "broken/a_test.go": "package broken\n\nvar x int = \"\"\n",
		"none/go.mod": "module example.com/none\n", "none/a.go": "package none\n",
		"other/go.mod":    "module example.com/other\n",
		"other/a_test.go": "package other\n\nimport \"testing\"\n\nfunc TestX(*testing.T) {}\n",
	} {
		fileWith(t, content, dir, name)
	}
	for name, want := range map[string]string{"broken": "do not build", "none": "has no test files",
		"other": "uses package locktest"} {
		code, out, errs := call(t, "check", filepath.Join(dir, name))
		if code != exitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("check %s: exit status %d, %q, standard error %q, want %q", name, code, out, errs, want)
		}
	}
}

// The whole way: the template's test is built and run, and shown.
func TestCheckTemplate(t *testing.T) {
	effort.OnlyPushed(t, "builds and searches a module of its own")
	effort.Unwatched(t, "one goroutine searches")
	code, out, errs := call(t, "check", template)
	if code != exitOK || !strings.Contains(out, "TestMyLock: Found OVERLAP, STALE-WRITE, ORPHAN.") ||
		!strings.Contains(out, "rdb.SetNX(c.Context()") {
		t.Errorf("exit status %d, %s\n%s", code, errs, out)
	}
	code, _, errs = call(t, "check", template, "--run", "TestNobody")
	if code != exitUsage || !strings.Contains(errs, "calls locktest.Check, Race or Races") {
		t.Errorf("exit status %d, %s", code, errs)
	}
	code, _, errs = call(t, "check", template, "--run", "(")
	if code != exitUsage || !strings.Contains(errs, "no regular expression") {
		t.Errorf("exit status %d, %s", code, errs)
	}
}

// What fails is said once: in the results where they have it, and else as go test says it.
func TestFailures(t *testing.T) {
	const claimed, own = "    a_test.go:3: OVERLAP\n--- FAIL: TestClaim (0.00s)\nFAIL\n",
		"--- FAIL: TestOwn (0.00s)\n    b_test.go:7: 1 != 2\n"
	shown := []checked.Lock{{Checked: &study.Checked{}}, {Checked: &study.Checked{}}}
	shown[0].Test, shown[0].Failed, shown[1].Test = "TestClaim", true, "TestOwn"
	for output, want := range map[string]string{
		claimed:                    "--- FAIL: TestClaim (0.00s)",
		own + claimed:              strings.TrimRight(own+claimed, "\n"),
		claimed + "\npanic: a bug": claimed + "\npanic: a bug",
		"exit status 2\n":          "exit status 2",
	} {
		if got := failures(output, shown); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
