package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/certificate"
	"locklab/reports/chart"
	"locklab/reports/lessons"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/checked"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// checkViews are the views of a lock that a test checks: of itself, and beside other locks, with what more these need.
// See -locklab.more of package locktest.
var checkViews = []struct {
	name, more string
	of         checkView
}{
	{"explore", "", (*checkFlags).searchView},
	{"explain", "", (*checkFlags).explainView},
	{"par", "par", (*checkFlags).parView},
	{"tolerance", "tolerance", (*checkFlags).toleranceView},
	{"matrix", "races", (*checkFlags).matrixView},
}

// A checkView puts a view of a lock into out and returns what prints it; nil: nothing is shown. open: what is unknown.
type checkView func(c *checkFlags, e *env, l *checked.Lock, out map[string]any) (tell func(), open, err error)

// checkFlags are the flags of "locklab check".
type checkFlags struct {
	locks   lockFlags
	beside  []lock.Entry // the locks that stand beside the one that is checked
	tests   string
	compare bool
}

func checkCommand() *command {
	c := &checkFlags{}
	return &command{
		use: "check PACKAGE", args: between(1, 1, "package"), run: c.run,
		flags: func(f *flags) {
			f.add("run", &c.tests)
			f.add("compare", &c.compare)
			c.locks.add(f, f.e.Say("help.flag.locks.milestones"))
		},
		examples: []string{"check ./mylock", "check ./mylock --run TestMyLock",
			"check ./mylock --compare --locks token,redlock --json"},
	}
}

func (c *checkFlags) run(e *env, args []string) (err error) {
	if c.beside, err = c.locks.pick(algorithms.Milestones()); err != nil {
		return err
	}
	c.compare = c.compare || c.locks.names != nil
	found, bad, err := c.runTests(e, args[0])
	if err != nil {
		return err
	}
	open, err := c.show(e, found)
	if err = cmp.Or(err, bad, open); err == nil {
		e.inform("check.passed", "package", args[0])
	}
	return err
}

// runTests runs the tests of a package. bad is the error of tests that fail with results: a claim may be wrong.
func (c *checkFlags) runTests(e *env, pkg string) (found []checked.Lock, bad, err error) {
	of, done, end := "", (func(int))(nil), func() {}
	e.inform("check.running", "package", pkg)
	tests := checked.Tests{
		Package: pkg, Run: c.tests, Lang: e.Lang,
		Searching: func(test string, seconds, most int) {
			if test != of {
				end()
				of = test
				done, end = e.progress(most, "progress.own")
			}
			done(seconds)
		},
	}
	for _, v := range checkViews {
		if v.more != "" && c.compare {
			tests.More = append(tests.More, v.more)
		}
	}
	r, err := tests.Find(e.ctx)
	end()
	failed, own := (*checked.GoError)(nil), (*checked.InternalError)(nil)
	switch {
	case err != nil && e.ctx.Err() != nil:
		return nil, nil, noAnswer("error.stopped")
	case errors.As(err, &own):
		return nil, nil, internal(err)
	case err != nil:
		if errors.As(err, &failed) {
			output := strings.TrimRight(failed.Output, "\n")
			fmt.Fprintln(e.stderr, presentable(strings.ReplaceAll(output, "\t", "    ")))
		}
		return nil, nil, err
	}
	if r.Failed {
		fmt.Fprintln(e.stderr, failures(r.Output, r.Locks))
	}
	switch i := slices.IndexFunc(r.Locks, isWrong); {
	case i >= 0 && r.Locks[i].Unclaimed != "":
		return r.Locks, &exitError{exitDiffers, text.Errorf("error.own.unclaimed", "test", r.Locks[i].Test,
			"claim", r.Locks[i].Unclaimed)}, nil
	case i >= 0 && r.Locks[i].Wrong != nil:
		return r.Locks, &exitError{exitDiffers, text.Errorf("error.own.differs", "test", r.Locks[i].Test,
			"wrong", strings.Join(r.Locks[i].Wrong, "; "))}, nil
	case r.Failed:
		return r.Locks, noAnswer("error.own.failed", "package", pkg), nil
	}
	return r.Locks, nil, nil
}

// isWrong reports whether a claim of a test is wrong.
func isWrong(l checked.Lock) bool { return l.Failed && l.Unknown == "" }

// failures returns the output of tests that fail; where the results of all of them are shown below, only their names.
func failures(output string, shown []checked.Lock) string {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	named := lists.Pick(lines, func(line string) bool { return strings.HasPrefix(line, "--- FAIL: ") })
	unknown := func(line string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "--- FAIL: "), " ")
		return !slices.ContainsFunc(shown, func(l checked.Lock) bool { return l.Test == name && isWrong(l) })
	}
	if len(named) > 0 && !slices.ContainsFunc(named, unknown) && !strings.Contains(output, "\npanic:") {
		lines = named
	}
	return strings.Join(lines, "\n")
}

// show shows the views of each lock. open is the error of what is not known.
func (c *checkFlags) show(e *env, found []checked.Lock) (open, err error) {
	var all []any // each lock with its views, each as its own command has it
	for i := range found {
		if i > 0 && !e.json {
			e.Printf("\n")
		}
		one, left, err := c.showLock(e, &found[i])
		open = cmp.Or(open, left)
		if err != nil {
			return open, internal(err)
		}
		all = append(all, one)
	}
	if e.json {
		e.show("check", map[string]any{"locks": all}, nil)
		return open, nil
	}
	for _, l := range found {
		if l.Search != nil {
			sum(e, l.Test, l.Search.Search)
		}
	}
	return open, nil
}

// sum says in a line what the searches of a test have found, and how one at any timing goes on that was cut.
func sum(e *env, test string, s *search.Search) {
	words := lists.Each(s.Witnesses, func(w search.Witness) string { return string(w.Verdict) })
	key := map[bool]string{true: "check.sum.none", false: "check.sum"}[words == nil]
	e.Sentence(key, "test", test, "verdicts", text.Join(e.Langs()[0], "chart.list", words))
	for _, o := range s.Cut {
		if o.Bounds.Timing == search.AnyTiming && o.Bounds.Attempts == 1 {
			e.Sentence("check.sum.cut", "n", fmt.Sprint(o.States), "more", fmt.Sprint(4*o.States))
		}
	}
}

// showLock shows the views of a lock.
func (c *checkFlags) showLock(e *env, l *checked.Lock) (out map[string]any, open, err error) {
	out = map[string]any{"test": l.Test}
	if l.Unknown != "" {
		out["unknown"] = l.Unknown
		return out, noAnswer("error.own.unknown", "test", l.Test, "why", l.Unknown), nil
	}
	for _, v := range checkViews {
		if v.more != "" && !c.compare {
			continue
		}
		tell, unknown, err := v.of(c, e, l, out)
		open = cmp.Or(open, unknown)
		if err != nil {
			return out, open, err
		}
		if tell != nil && !e.json {
			e.Printf("== %s: %s ==\n\n", v.name, l.Test)
			tell()
		}
	}
	return out, open, nil
}

// tellNoSearch says that a test plays races alone.
func tellNoSearch(e *env, l *checked.Lock) func() {
	return func() { e.Printf("%s\n\n", e.Say("check.nosearch", "test", l.Test)) }
}

// searchView is the view explore: the search, or the proof.
func (c *checkFlags) searchView(e *env, l *checked.Lock, out map[string]any) (tell func(), open, err error) {
	if l.Proof != nil {
		out["prove"] = saidOfProof(l.Proof) // for any number of clients, in place of a search
		return func() {
			for _, lang := range e.Langs() {
				e.Printf("%s\n\n", certificate.OfProof(l.Proof, lang))
			}
		}, nil, nil
	}
	if l.Search == nil {
		return tellNoSearch(e, l), nil, nil
	}
	s := &shownSearch{Search: l.Search.Search}
	out["explore"] = s.said()
	return func() {
		certificate.PrintClaim(e.Printer, s.Search)
		if len(s.Witnesses) > 0 { // explain shows the ways, and then what was covered
			s.printWitnesses(e.console)
		} else {
			certificate.Print(e.Printer, s.Search)
		}
		e.Printf("\n")
	}, s.status(), nil
}

func (c *checkFlags) parView(e *env, l *checked.Lock, out map[string]any) (tell func(), open, err error) {
	if l.Pars == nil {
		return tellNoSearch(e, l), nil, nil
	}
	drawn, err := findPars(e, c.beside, parBounds(), study.SingleFaults())
	if err != nil {
		return nil, nil, err
	}
	drawn.Prepend(l.Lock, lists.Each(l.Pars, func(s study.CheckedSearch) *search.Search { return s.Search }))
	out["par"] = chart.Of(drawn, "")
	return func() {
		tellChart(e, l, drawn)()
		if l.Pars[0].Search.NoClaims {
			e.Printf("%s\n\n", e.Say("check.nosays", "test", l.Test))
		}
	}, conclude(drawn), nil
}

func (c *checkFlags) toleranceView(e *env, l *checked.Lock, out map[string]any) (tell func(), open, err error) {
	if l.Limits == nil {
		return tellNoSearch(e, l), nil, nil
	}
	drawn, err := findTolerance(e, c.beside)
	if err != nil {
		return nil, nil, err
	}
	drawn.Locks = append([]lock.Entry{l.Lock}, drawn.Locks...)
	drawn.Limits = append(slices.Clone(l.Limits), drawn.Limits...)
	out["tolerance"] = chart.Of(drawn, "")
	return tellChart(e, l, drawn), conclude(drawn), nil
}

// tellChart prints a chart in which the lock stands beside others.
func tellChart(e *env, l *checked.Lock, drawn chart.Result) func() {
	return func() {
		e.chart(drawn)
		e.Printf("%s\n\n", e.Say("check.lease", "test", l.Test, "ttl", reports.Span(l.TTL)))
	}
}

func (c *checkFlags) matrixView(e *env, l *checked.Lock, out map[string]any) (tell func(), open, err error) {
	own, err := study.OutcomesOf(l.Races, l.Lock)
	if err != nil || own == nil {
		return nil, nil, err
	}
	scs := lists.Each(own, func(o *race.Outcome) race.Race { return o.Race })
	cells, err := study.Matrix(e.ctx, c.beside, scs, nil, nil)
	for i := range cells {
		cells[i] = append([]*race.Outcome{own[i]}, cells[i]...)
	}
	out["matrix"] = matrixJSON{Cells: cellsJSON(flatten(cells))}
	return func() {
		e.chart(report.Grid(append([]lock.Entry{l.Lock}, c.beside...), scs, cells))
		e.Printf("\n")
	}, nil, err
}

// explainView is the shortest way to each verdict with the code, what the verdict means and what mends it, the races in
// which the lock falls, and at last what the search has covered.
func (c *checkFlags) explainView(e *env, l *checked.Lock, out map[string]any) (tell func(), open, err error) {
	var ways []*race.Outcome
	if l.Search != nil {
		if ways, err = study.OutcomesOf(l.Search.Runs, l.Lock); err != nil {
			return nil, nil, err
		}
	}
	own, err := study.OutcomesOf(l.Races, l.Lock)
	fallen := lists.Pick(own, func(o *race.Outcome) bool { return verdict.Fails(o.Verdicts) })
	if err != nil || len(ways)+len(fallen) == 0 {
		return nil, nil, err
	}
	if len(ways) > 0 {
		out["runs"] = lists.Each(ways, outcomeJSON)
	}
	return func() {
		for i, o := range ways {
			explainWay(e.console, l, o, &l.Search.Search.Witnesses[i])
		}
		if len(ways) > 0 {
			e.Printf("%s\n", e.Say("explore.certificate"))
			certificate.Print(e.Printer, l.Search.Search)
			e.Printf("\n")
		}
		explainRaces(e.console, l, fallen)
	}, nil, nil
}

// explainWay prints the run of a witness, with the code of the lock.
func explainWay(e *console, l *checked.Lock, o *race.Outcome, w *search.Witness) {
	e.Printf("%s\n\n", e.Say("check.way", "verdict", string(w.Verdict), "par", fmt.Sprint(w.Par),
		"steps", fmt.Sprint(w.Steps)))
	e.lanes(o)
	lessons.Text(e.Printer, e.look(), lessons.Meanings(e.Printer, o))
	for _, lang := range e.Langs() {
		e.Wrap(text.Label(text.Say(lang, "run.cure")), reports.Cure(w.Verdict, lang))
	}
	e.Printf("\n")
	e.Keep(reports.CodeIn(e.Out, o.History, e.look(), l.Folders))
	e.Printf("\n%s\n  %s\n", e.Say("locktest.again"), study.Replay(l.Dir, l.Test, o.Trace, l.Drawing))
	e.Printf("%s\n\n", certificate.Against(o.Trace, e.Say))
}

// explainRaces prints the races in which the lock falls.
func explainRaces(e *console, l *checked.Lock, fallen []*race.Outcome) {
	if len(fallen) == 0 {
		return
	}
	e.Sentence("check.races", "n", fmt.Sprint(len(fallen)), "test", l.Test)
	for _, o := range fallen {
		e.Printf("\n")
		e.Lines("", func(lang string) string {
			title := text.RaceTitle(o.Race.ID, lang)
			return o.Race.Code + " " + o.Race.ID + ": " + title + ": " + reports.Words(o.Verdicts)
		})
		printCure(e, o, "run.cure")
	}
	e.Next("locklab explain "+fallen[0].Race.ID, "locklab run token "+fallen[0].Race.ID)
}
