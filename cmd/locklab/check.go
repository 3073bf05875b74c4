package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/ci"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// checkViews are the views of a lock that a test checks, and what each needs beside its
// search; see -locklab.more of package locktest.
var checkViews = []struct{ name, more string }{
	{"explore", ""}, {"par", "par"}, {"tolerance", "tolerance"}, {"matrix", "races"}, {"explain", "races"},
}

func checkViewNames() (names []string) {
	for _, v := range checkViews {
		names = append(names, v.name)
	}
	return names
}

func (a *app) check() *cobra.Command {
	var (
		locks lockFlags
		views []string
		tests string
		file  string
	)
	c := &cobra.Command{
		Use:     "check PACKAGE",
		Example: a.examples("check", "check ./mylock", "check ./mylock --run TestMyLock --view explore,explain", "check ./mylock --strategies token,redlock --json"),
		Args:    a.exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			beside, err := locks.pick(a, algorithms.Milestones())
			if err != nil {
				return err
			}
			for _, v := range views {
				if !slices.Contains(checkViewNames(), v) {
					return text.Errorf("error.own.view", "name", v, "near", text.Near(v, checkViewNames()), "names", strings.Join(checkViewNames(), ", "))
				}
			}
			if len(views) == 0 {
				return text.Errorf("error.own.views", "names", strings.Join(checkViewNames(), ", "))
			}
			rows, err := a.ownRows(file)
			if err != nil {
				return err
			}
			found, bad, err := a.runTests(c.Context(), args[0], tests, views, rows)
			if err != nil {
				return err
			}
			kept, err := a.compareOwn(args[0], file, rows, found)
			if err != nil {
				return err
			}
			open, err := a.showChecked(c.Context(), found, beside, views, kept)
			return cmp.Or(err, bad, open)
		},
	}
	f, usage := c.Flags(), a.usage("check")
	f.StringVar(&tests, "run", "", usage("run"))
	f.StringSliceVar(&views, "view", checkViewNames(), usage("view", "views", strings.Join(checkViewNames(), ", ")))
	f.StringVar(&file, "contract", "", usage("contract"))
	f.BoolVar(&a.timed, "time", false, usage("time"))
	locks.add(a, f, "milestones")
	return c
}

// checkedLock is what was found of one lock.
type checkedLock struct {
	*study.Checked
	dir   string // of its package
	entry lock.Entry
}

// runTests builds the tests of a package and runs them. bad is the error of tests that
// fail although there are results: a claim may be wrong.
func (a *app) runTests(ctx context.Context, pkg, tests string, views []string, rows []contract.Expectation) (found []checkedLock, bad, err error) {
	dir, err := a.packageDir(ctx, pkg)
	if err != nil {
		return nil, nil, err
	}
	temp, err := os.MkdirTemp("", "locklab-check-")
	if err != nil {
		return nil, nil, internal(err)
	}
	defer os.RemoveAll(temp)
	binary, data := filepath.Join(temp, "binary"), filepath.Join(temp, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, nil, internal(err)
	}
	if out, err := command(ctx, dir, "go", "test", "-c", "-o", binary, "."); err != nil {
		return nil, nil, a.failed(ctx, "error.own.build", pkg, out, err)
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, nil, text.Errorf("error.own.tests", "package", pkg)
	}
	a.inform("check.running", "package", pkg)
	args := []string{"-test.run=" + tests, "-test.timeout=0", "-locklab.report=" + data, "-locklab.more=" + more(views, rows), "-locklab.within=" + within(rows), "-locklab.lang=" + a.Lang}
	out, err := command(ctx, dir, binary, args...)
	switch {
	case ctx.Err() != nil:
		return nil, nil, noAnswer("error.stopped")
	case strings.Contains(out, "flag provided but not defined: -locklab."):
		return nil, nil, text.Errorf("error.own.import", "package", pkg)
	case strings.Contains(out, "invalid regexp"):
		return nil, nil, text.Errorf("error.own.run", "value", tests)
	case err != nil:
		fmt.Fprintln(a.stderr, strings.TrimRight(out, "\n"))
	}
	failed := err != nil
	files, _ := filepath.Glob(filepath.Join(data, "*.json")) // sorted; the pattern is right
	for _, name := range files {
		c, err := readChecked(name)
		if err != nil {
			return nil, nil, internal(err)
		}
		found = append(found, checkedLock{c, dir, c.Entry()})
	}
	wrong := slices.ContainsFunc(found, func(c checkedLock) bool { return c.Failed && c.Unknown == "" })
	switch {
	case wrong:
		return found, &exitError{exitDiffers, text.Errorf("error.own.differs", "package", pkg)}, nil
	case failed && len(found) > 0:
		return found, noAnswer("error.own.failed", "package", pkg), nil
	case failed:
		return nil, nil, noAnswer("error.own.failed", "package", pkg)
	case len(found) == 0:
		return nil, nil, text.Errorf("error.own.none", "package", pkg)
	}
	return found, nil, nil
}

func readChecked(name string) (*study.Checked, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return study.ReadChecked(f)
}

// more is what the views and the rows of a contract need.
func more(views []string, rows []contract.Expectation) string {
	var all []string
	for _, v := range checkViews {
		asked := v.name == "matrix" && slices.ContainsFunc(rows, func(r contract.Expectation) bool { return !r.IsSearch() })
		if (asked || slices.Contains(views, v.name)) && v.more != "" && !slices.Contains(all, v.more) {
			all = append(all, v.more)
		}
	}
	return strings.Join(all, ",")
}

// packageDir is the folder of a package, given as a folder or by its import path.
func (a *app) packageDir(ctx context.Context, pkg string) (string, error) {
	if info, err := os.Stat(pkg); err == nil {
		if !info.IsDir() {
			return "", text.Errorf("error.own.file", "name", pkg, "dir", filepath.Dir(pkg))
		}
		return filepath.Abs(pkg)
	}
	if strings.HasPrefix(pkg, ".") || filepath.IsAbs(pkg) || strings.HasPrefix(pkg, "-") {
		return "", text.Errorf("error.own.folder", "name", pkg)
	}
	out, err := command(ctx, "", "go", "list", "-f", "{{.Dir}}", pkg)
	if err != nil {
		return "", a.failed(ctx, "error.own.package", pkg, out, err)
	}
	return strings.TrimSpace(out), nil
}

// command runs a program and returns what it prints.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	var out bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = dir, &out, &out, time.Second
	err := c.Run()
	return out.String(), err
}

// failed says that the go command did not do what it should, and shows what it printed.
func (a *app) failed(ctx context.Context, key, pkg, out string, err error) error {
	switch {
	case ctx.Err() != nil:
		return noAnswer("error.stopped")
	case errors.Is(err, exec.ErrNotFound):
		return text.Errorf("error.own.go")
	}
	fmt.Fprintln(a.stderr, presentable(strings.TrimRight(out, "\n")))
	return text.Errorf(key, "package", pkg)
}

// checkedJSON is one lock with its views, each as its own command has it.
type checkedJSON struct {
	Test      string         `json:"test"`
	Unknown   string         `json:"unknown,omitempty"`
	Search    *exploreJSON   `json:"explore,omitempty"`
	Pars      *parJSON       `json:"par,omitempty"`
	Tolerance *toleranceJSON `json:"tolerance,omitempty"`
	Matrix    *matrixJSON    `json:"matrix,omitempty"`
	Runs      []runJSON      `json:"runs,omitempty"` // explain: the shortest way to each verdict
}

// showChecked shows the views of each lock. open says what is not known.
func (a *app) showChecked(ctx context.Context, found []checkedLock, beside []lock.Entry, views []string, kept []contract.Result) (open, err error) {
	var all []checkedJSON
	for i, c := range found {
		if i > 0 && !a.json {
			a.Printf("\n")
		}
		one := checkedJSON{Test: c.Test, Unknown: c.Unknown}
		if c.Unknown != "" {
			open = cmp.Or(open, noAnswer("error.own.unknown", "test", c.Test, "why", c.Unknown))
		}
		for _, v := range checkViews {
			if !slices.Contains(views, v.name) || c.Unknown != "" {
				continue
			}
			left, err := a.showView(ctx, c, beside, v.name, &one)
			if err != nil {
				return open, err
			}
			open = cmp.Or(open, left)
		}
		all = append(all, one)
	}
	out := struct {
		Version  int           `json:"version"`
		Locks    []checkedJSON `json:"locks"`
		Contract *verifyJSON   `json:"contract,omitempty"`
	}{Version: schema, Locks: all}
	if kept != nil {
		v := a.verification(kept)
		for i := range v.Checks {
			v.Checks[i].Reproduce = a.command
		}
		open = cmp.Or(a.verifyStatus(v, false), open)
		if a.json {
			out.Contract = new(verifyToJSON(kept, v))
		} else if err := a.printContract(v); err != nil {
			return open, err
		}
	}
	if a.json {
		return open, a.printJSON(out)
	}
	return open, nil
}

// printContract prints how the locks keep a contract.
func (a *app) printContract(v *ci.Verification) error {
	a.Printf("== contract ==\n\n")
	return a.printVerification(v)
}

// ownRows are the rows of a contract about locks that are not in the list; nil: there is
// no contract.
func (a *app) ownRows(file string) ([]contract.Expectation, error) {
	if file == "" {
		return nil, nil
	}
	content, err := a.read(file, maxContract)
	if err != nil {
		return nil, text.Errorf("error.contract", "cause", err)
	}
	rows, err := contract.ParseFor(text.Visible(file), string(content), func(name string) lock.Entry { return lock.Entry{ID: name} })
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r contract.Expectation) bool {
		_, listed := algorithms.ByName(r.Strategy.ID)
		return listed // locklab verify proves them
	})
	if len(rows) == 0 {
		return nil, text.Errorf("error.own.contract", "file", file)
	}
	return rows, nil
}

// within are the bounds that rows want searched, for the tests.
func within(rows []contract.Expectation) string {
	all := map[string][]string{}
	for _, r := range rows {
		if r.IsSearch() {
			all[r.Strategy.ID] = append(all[r.Strategy.ID], r.Bounds.String())
		}
	}
	written, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings can be written
	}
	return string(written)
}

// compareOwn compares what was found with the rows of a contract.
func (a *app) compareOwn(pkg, file string, rows []contract.Expectation, found []checkedLock) (kept []contract.Result, err error) {
	searched := map[string]int{} // of a lock, how many of its searches are rows already
	for _, r := range rows {
		i := slices.IndexFunc(found, func(c checkedLock) bool { return c.Test == r.Strategy.ID })
		if i < 0 {
			return nil, fmt.Errorf("%s:%d: %w", r.File, r.Line, text.Errorf("error.own.row", "lock", r.Strategy.ID, "package", pkg))
		}
		c := found[i]
		if c.Unknown != "" {
			continue
		}
		judge := c.judgeRace
		if r.IsSearch() {
			n := searched[c.Test]
			judge = func(r contract.Expectation) (*contract.Result, error) { return c.judgeSearch(r, n) }
			searched[c.Test]++
		}
		result, err := judge(r)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", r.File, r.Line, err)
		}
		kept = append(kept, *result)
	}
	return kept, nil
}

func (c *checkedLock) judgeRace(r contract.Expectation) (*contract.Result, error) {
	i := slices.IndexFunc(c.Races, func(run study.CheckedRun) bool { return run.Scenario == r.Scenario.ID })
	o, err := c.Races[i].Outcome(c.entry)
	if err != nil {
		return nil, err
	}
	return r.JudgeRace(o), nil
}

// judgeSearch compares the n-th search that a contract has asked for.
func (c *checkedLock) judgeSearch(r contract.Expectation, n int) (*contract.Result, error) {
	if n >= len(c.Within) {
		return nil, text.Errorf("error.own.row.search", "lock", c.Test)
	}
	s, err := c.Within[n].Search(c.entry)
	if err != nil {
		return nil, err
	}
	runs, err := c.Within[n].Outcomes(c.entry)
	if err != nil {
		return nil, err
	}
	return r.JudgeSearch(s, runs), nil
}

// showView shows one view, or enters it into out. open says what it leaves unknown.
func (a *app) showView(ctx context.Context, c checkedLock, beside []lock.Entry, view string, out *checkedJSON) (open, err error) {
	if !a.json {
		a.Printf("== %s: %s ==\n\n", view, c.Test)
	}
	switch view {
	case "explore":
		return a.showOwnSearch(c, out)
	case "par":
		return a.showOwnPars(ctx, c, beside, out)
	case "tolerance":
		return a.showOwnTolerance(ctx, c, beside, out)
	case "matrix":
		return nil, a.showOwnMatrix(ctx, c, beside, out)
	}
	return nil, a.explainOwn(c, out)
}

// showOwnSearch is the view of explore.
func (a *app) showOwnSearch(c checkedLock, out *checkedJSON) (open, err error) {
	if c.Search == nil { // a test of races alone
		a.notSearched(c)
		return nil, nil
	}
	s, err := c.Search.Search(c.entry)
	if err != nil {
		return nil, internal(err)
	}
	took := time.Duration(c.Search.Seconds * float64(time.Second))
	if a.json {
		out.Search = new(a.exploreToJSON(s, took))
		return a.openSearch(s), nil
	}
	a.printCertificate(s, took)
	if len(s.Witnesses) > 0 {
		first, err := c.Search.Runs[0].Outcome(c.entry)
		if err != nil {
			return nil, internal(err)
		}
		if err := a.printFound(s, first); err != nil {
			return nil, err
		}
	}
	a.Printf("\n")
	return a.openSearch(s), nil
}

func (a *app) notSearched(c checkedLock) {
	if !a.json {
		a.Printf("%s\n\n", a.Say("check.nosearch", "test", c.Test))
	}
}

// showOwnPars is the view of par.
func (a *app) showOwnPars(ctx context.Context, c checkedLock, beside []lock.Entry, out *checkedJSON) (open, err error) {
	if c.Pars == nil {
		a.notSearched(c)
		return nil, nil
	}
	drawn, err := a.findPars(ctx, beside, parBounds(), study.SingleFaults())
	if err != nil {
		return nil, stoppedOr(err)
	}
	var searches []*study.Search
	for i := range c.Pars {
		s, err := c.Pars[i].Search(c.entry)
		if err != nil {
			return nil, internal(err)
		}
		searches = append(searches, s)
	}
	drawn.Prepend(c.entry, searches)
	if a.json {
		out.Pars = &parJSON{searchedToJSON(drawn, nil), drawn.Pars}
		return a.conclude(drawn), nil
	}
	return a.conclude(drawn), a.drawOwn(c, drawn)
}

// showOwnTolerance is the view of tolerance.
func (a *app) showOwnTolerance(ctx context.Context, c checkedLock, beside []lock.Entry, out *checkedJSON) (open, err error) {
	if c.Limits == nil {
		a.notSearched(c)
		return nil, nil
	}
	drawn, err := a.findTolerance(ctx, beside)
	if err != nil {
		return nil, stoppedOr(err)
	}
	drawn.Locks = append([]lock.Entry{c.entry}, drawn.Locks...)
	drawn.Limits = append(slices.Clone(c.Limits), drawn.Limits...)
	if a.json {
		out.Tolerance = &toleranceJSON{searchedToJSON(drawn, nil), "lease", study.MaxLeases, drawn.Limits, nil}
		return a.conclude(drawn), nil
	}
	return a.conclude(drawn), a.drawOwn(c, drawn)
}

// drawOwn prints a chart in which the lock stands beside others.
func (a *app) drawOwn(c checkedLock, drawn chart.Chart) error {
	if err := chart.Text(a.Out, drawn, a.options()); err != nil {
		return internal(err)
	}
	a.Printf("%s\n\n", a.Say("check.lease", "test", c.Test, "ttl", reports.Span(c.TTL)))
	return nil
}

func stoppedOr(err error) error {
	if errors.Is(err, context.Canceled) {
		return noAnswer("error.stopped")
	}
	return internal(err)
}

// showOwnMatrix is the view of matrix.
func (a *app) showOwnMatrix(ctx context.Context, c checkedLock, beside []lock.Entry, out *checkedJSON) error {
	own, err := c.races()
	if err != nil {
		return internal(err)
	}
	if own == nil {
		return nil
	}
	var scs []race.Scenario
	for _, o := range own {
		scs = append(scs, o.Scenario)
	}
	cells, err := study.Matrix(ctx, beside, scs, 0, nil, nil)
	if err != nil {
		return stoppedOr(err)
	}
	for i := range cells {
		cells[i] = append([]*race.Outcome{own[i]}, cells[i]...)
	}
	locks := append([]lock.Entry{c.entry}, beside...)
	if a.json {
		flat, _ := flatten(cells)
		out.Matrix = &matrixJSON{Version: schema, Cells: cellsJSON(flat)}
		return nil
	}
	if err := chart.Text(a.Out, gridOf(locks, scs, cells), a.options()); err != nil {
		return internal(err)
	}
	a.Printf("\n")
	return nil
}

// races are the races that the test has played.
func (c *checkedLock) races() (all []*race.Outcome, err error) {
	for i := range c.Races {
		o, err := c.Races[i].Outcome(c.entry)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// explainOwn is the view of explain: the shortest way to each verdict with the code, what
// the verdict means and what mends it, and the races in which the lock falls.
func (a *app) explainOwn(c checkedLock, out *checkedJSON) error {
	runs := []*race.Outcome(nil)
	if c.Search != nil {
		var err error
		if runs, err = c.Search.Outcomes(c.entry); err != nil {
			return internal(err)
		}
	}
	for i, o := range runs {
		if a.json {
			out.Runs = append(out.Runs, outcomeJSON(o))
			continue
		}
		w := c.Search.Result.Found[i]
		a.Printf("%s\n\n", a.Say("check.way", "verdict", string(w.Verdict), "par", fmt.Sprint(w.Par), "steps", fmt.Sprint(w.Steps)))
		if err := reports.Lanes(a.Out, o.History, o.Judgement, a.options()); err != nil {
			return internal(err)
		}
		lessons.Meanings(a.Printer, o)
		for _, lang := range a.Langs() {
			a.Wrap(text.Label(text.Say(lang, "check.cure")), reports.Cure(w.Verdict, lang))
		}
		a.Printf("\n")
		if err := reports.CodeIn(a.Out, o.History, a.options(), os.DirFS(filepath.Dir(c.dir)), filepath.Base(c.dir)); err != nil {
			return internal(err)
		}
		a.Printf("\n%s\n  go test -run '^%s$' -v -locklab.replay=%s\n", a.Say("locktest.again"), c.Test, o.Trace.Link())
		a.Printf("%s\n  locklab replay %s --against token\n\n", a.Say("locktest.against"), o.Trace.Link())
	}
	if a.json {
		return nil
	}
	own, err := c.races()
	if err != nil {
		return internal(err)
	}
	fallen := slices.DeleteFunc(own, func(o *race.Outcome) bool {
		return !slices.ContainsFunc(o.Verdicts, verdict.Word.Harm)
	})
	if len(fallen) == 0 {
		return nil
	}
	a.Sentence("check.races", "n", fmt.Sprint(len(fallen)), "test", c.Test)
	for _, o := range fallen {
		a.Printf("\n")
		for _, lang := range a.Langs() {
			a.Wrap("", o.Scenario.Race+" "+o.Scenario.ID+": "+chart.Column{ID: o.Scenario.ID}.Title(lang)+": "+lessons.Words(o.Verdicts))
			a.Wrap("  "+text.Label(text.Say(lang, "check.cure")), lessons.Cure(lang, o))
		}
	}
	a.Next("locklab explain "+fallen[0].Scenario.ID, "locklab run token "+fallen[0].Scenario.ID)
	return nil
}
