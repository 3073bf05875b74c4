package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/lessons"
	"locklab/reports/page"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/record"
	"locklab/simulator/verdict"
)

const schema = reports.Schema

type runJSON struct {
	Version  int            `json:"version"`
	Lock     string         `json:"lock"`
	Article  string         `json:"article"`
	Race     string         `json:"race"`
	Code     string         `json:"code"`
	Seed     uint64         `json:"seed"`
	Settings string         `json:"settings"`
	Verdicts []verdict.Word `json:"verdicts"`
	// false: the contract does not cover this lock here; absent else
	Contracted *bool `json:"contracted,omitempty"`
	// empty: not covered with these settings; null: with none
	Expected   []verdict.Word `json:"expected"`
	AsExpected *bool          `json:"as_expected"` // null if not covered
	// the faults were injected where the race has them
	Triggered       bool              `json:"triggered"`
	NotApplicable   string            `json:"not_applicable,omitempty"`    // why, in English
	NotApplicableZH string            `json:"not_applicable_zh,omitempty"` // and in Chinese
	Findings        []verdict.Finding `json:"findings"`
	Events          []history.Event   `json:"events"`
	Trace           string            `json:"trace"`
}

func outcomeJSON(o *race.Outcome) runJSON {
	j := runJSON{
		Version: schema, Lock: o.Lock.ID, Article: o.Lock.Article,
		Race: o.Race.ID, Code: o.Race.Code,
		Seed: o.Settings.Seed, Settings: o.Trace.Settings, Verdicts: o.Verdicts,
		Triggered: o.Triggered, NotApplicable: lessons.WhyNotApplicable("en", o),
		NotApplicableZH: lessons.WhyNotApplicable("zh", o),
		Findings:        o.Judgement.Findings, Trace: o.Trace.Link(), Events: []history.Event{},
	}
	j.Contracted, j.Expected, j.AsExpected = againstContract(o)
	if j.Findings == nil {
		j.Findings = []verdict.Finding{}
	}
	if o.History != nil {
		j.Events = o.History.Events
	}
	return j
}

// againstContract compares an outcome with the contract, for JSON. If the contract does
// not cover it, nothing was expected, and neither yes nor no would be true.
func againstContract(o *race.Outcome) (contracted *bool, expected []verdict.Word, asExpected *bool) {
	if contract.Uncontracted(o.Lock, o.Race) {
		return new(false), nil, nil
	}
	return nil, words(contract.Expected(o)), new(contract.AsExpected(o))
}

// words returns w, but never nil, which would be null in JSON.
func words(w []verdict.Word) []verdict.Word {
	if w == nil {
		return []verdict.Word{}
	}
	return w
}

// viewNames are the ways to show one run, and views what draws them.
var viewNames = []string{"lanes", "redis", "story"}

var views = map[string]func(io.Writer, *history.History, verdict.Judgement, reports.Look) error{
	"lanes": reports.Lanes, "redis": reports.RedisCLI, "story": reports.Story,
}

// runFlags are the flags of "locklab run".
type runFlags struct {
	seed     uint64
	settings []string
	budget   string
	against  string         // a lock, in place of that of a saved run
	want     []verdict.Word // nil: any
	step     bool
	shown    shownRun
	files    []string
}

func runCommand() *command {
	r := &runFlags{shown: shownRun{view: "lanes"}}
	return &command{
		use: "run LOCK RACE | LINK | FILE", args: between(1, 2, "race"), complete: aLockAndARace, flags: r.add,
		run: r.run,
		examples: []string{"run token gc-pause", "run 002-C R18 --set pause=9s --view story --lang zh",
			"run redlock restart --json",
			"run LINK --against redlock"},
	}
}

func (r *runFlags) add(f *flags) {
	f.add("seed", &r.seed)
	f.each("set", &r.settings)
	f.add("budget", &r.budget)
	parse(f, "expect", "", &r.want, parseExpect)
	f.add("view", &r.shown.view)
	f.add("step", &r.step)
	f.add("against", &r.against)
	f.out(&r.files)
}

func (r *runFlags) run(e *env, args []string) error {
	if err := checkView(e, r.shown.view, r.files); err != nil {
		return err
	}
	play := r.race
	if len(args) == 1 {
		play = r.again
	}
	o, err := play(e, args)
	if err != nil {
		return err
	}
	if r.shown.Outcome = o; r.step {
		r.shown.view = "step"
	}
	return r.shown.show(e, r.files, r.want)
}

// race plays a lock in a race.
func (r *runFlags) race(e *env, args []string) (*race.Outcome, error) {
	if slices.ContainsFunc(args, isLink) || e.given("against") {
		return nil, text.Errorf("error.run.against", "flag", "--against")
	}
	entry, sc, s, err := pickRun(args, r.settings)
	if err != nil {
		return nil, err
	}
	if e.given("seed") {
		s.Seed = r.seed
	}
	if r.budget != "" {
		s.Budget = faults.Budget(r.budget)
	}
	return race.Play(entry, sc, s)
}

// again plays a saved run: a link, or a file that has one.
func (r *runFlags) again(e *env, args []string) (*race.Outcome, error) {
	if !isLink(args[0]) && meantBy(args) != "" {
		return nil, between(2, 2, "race")(e.running, args)
	}
	for _, flag := range []string{"seed", "set", "budget"} {
		if e.given(flag) {
			return nil, text.Errorf("error.run.saved", "flag", "--"+flag)
		}
	}
	t, err := readTrace(e, args[0])
	if err != nil {
		return nil, err
	}
	return replayed(t, r.against)
}

// pickRun returns a lock, a race and the settings of the race with changes.
func pickRun(args, changes []string) (entry lock.Entry, sc race.Race, s race.Settings, err error) {
	if entry, err = race.Lock(args[0]); err != nil {
		if swapped := meantBy(args); strings.HasPrefix(swapped, "locklab run ") {
			err = text.Errorf("error.run.swapped", "name", args[0], "command", swapped)
		}
		return entry, sc, s, err
	}
	if sc, err = scenarios.ByName(args[1]); err != nil {
		return entry, sc, s, err
	}
	s, err = sc.Settings.With(strings.Join(changes, ","))
	return entry, sc, s, err
}

func parseExpect(words string) (want []verdict.Word, err error) {
	for _, w := range strings.FieldsFunc(words, func(r rune) bool { return r == ',' || r == ' ' }) {
		if now, former := verdict.Renamed(w); former {
			return nil, text.Errorf("error.renamed", "old", strings.ToUpper(w), "new", string(now))
		}
		word, err := verdict.ParseWord(w)
		if err != nil {
			return nil, text.Errorf("error.expect", "name", w,
				"names", strings.Join(verdict.Names(verdict.Answers), ", "))
		}
		want = append(want, word)
	}
	if want == nil {
		return nil, text.Errorf("error.expect.none")
	}
	return want, nil
}

// shownRun is a run with what is shown of it.
type shownRun struct {
	*race.Outcome
	view string // names of views, separated by commas
}

// show prints an outcome, decides the exit status, and writes the files.
func (r *shownRun) show(e *env, files []string, want []verdict.Word) error {
	e.show(outcomeJSON(r.Outcome), func() { r.print(e) })
	return errors.Join(runStatus(r.Outcome, want), r.writeFiles(e, files))
}

// runStatus returns an error with the exit status of a run.
func runStatus(o *race.Outcome, want []verdict.Word) error {
	switch {
	case want != nil && !sameSet(o.Verdicts, want):
		return &exitError{exitDiffers, text.Errorf("error.differs", "want", reports.Words(want),
			"got", reports.Words(o.Verdicts))}
	case slices.Contains(o.Verdicts, verdict.Unknown) || slices.Contains(o.Verdicts, verdict.Vacuous):
		return noAnswer("error.vacuous", "got", reports.Words(o.Verdicts))
	}
	return nil
}

func sameSet(a, b []verdict.Word) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// print prints the run in its views.
func (r *shownRun) print(e *env) {
	o := r.Outcome
	named := func(id, number string) string {
		if number == "" {
			return id
		}
		return e.First("explain.aside", "text", id, "aside", number)
	}
	lock, race := named(o.Lock.ID, o.Lock.Article), named(r.Race.ID, o.Race.Code)
	e.Wrap("", e.Say("run.title", "lock", lock, "race", race,
		"title", e.Each(func(lang string) string { return lessons.RunTitle(lang, o) })))
	if o.NotApplicable != "" {
		e.Wrap("", e.Say("run.na", "why", e.Each(func(lang string) string { return lessons.WhyNotApplicable(lang, o) })))
		lessons.Text(e.Printer, e.look(), lessons.Contract(e.Printer, o))
		e.Next("locklab explain "+o.Race.ID, "locklab matrix --races "+o.Race.ID)
		return
	}
	r.printViews(e)
	switch {
	case !strings.Contains(r.view, "story"): // a story ends with the verdicts itself
		lessons.Text(e.Printer, e.look(), lessons.Meanings(e.Printer, o))
	case o.Verdicts[0].Broken():
		e.Printf("\n")
	}
	printCure(e, o, "run.cure")
	lessons.Text(e.Printer, e.look(), lessons.Contract(e.Printer, o))
	for _, m := range o.NotInjected {
		e.Printf("%s\n", e.Message(i18n.New("run.notinjected", "what", m)))
	}
	e.Next(lessons.NextCommands(o)...)
}

// printCure prints in each language what mends a run, if anything is broken, after a label.
func printCure(e *env, o *race.Outcome, label string) {
	stage := lessons.NewStage()
	for _, lang := range e.Langs() {
		cure, err := stage.Cure(lang, o)
		e.Keep(err)
		if cure != "" {
			e.Wrap("  "+text.Label(text.Say(lang, label)), cure)
		}
	}
}

func (r *shownRun) printViews(e *env) {
	for _, name := range strings.Split(r.view, ",") {
		e.Printf("\n")
		if name == "step" {
			r.stepThrough(e)
			continue
		}
		e.Keep(views[name](e.Out, r.History, r.Judgement, e.look()))
	}
}

// runFormats are the formats of a run, by the ending of the file.
var runFormats = map[string]func(*env, io.Writer, *shownRun) error{
	".json": func(_ *env, w io.Writer, r *shownRun) error { return encode(w, outcomeJSON(r.Outcome)) },
	".jsonl": func(_ *env, w io.Writer, r *shownRun) error { // a log, as locklab judge reads it
		to := record.NewRecorder(w)
		for _, l := range record.Of(r.History) {
			to.Record(l)
		}
		return to.Close()
	},
	".txt": func(e *env, w io.Writer, r *shownRun) error {
		file := *e
		file.Printer, file.color = e.To(w, e.Width), "never"
		(&shownRun{Outcome: r.Outcome, view: "lanes,story"}).print(&file)
		return file.Err
	},
	".html": func(e *env, w io.Writer, r *shownRun) error {
		return page.Write(w, report.SinglePage(e.Printer, r.Outcome))
	},
}

// runPictures are the formats of a run that is drawn.
var runPictures = map[string]func(io.Writer, chart.Picture, chart.Format) error{".png": chart.PNG, ".svg": chart.SVG}

// checkView refuses unknown views and files, before anything is played.
func checkView(e *env, view string, files []string) error {
	for _, name := range strings.Split(view, ",") {
		if _, err := choose("error.view", name, viewNames); err != nil {
			return err
		}
	}
	return checkRunFiles(e, files)
}

// checkRunFiles refuses files that a run cannot be written to.
func checkRunFiles(e *env, files []string) error {
	for _, f := range files {
		if runFormats[filepath.Ext(f)] == nil && runPictures[filepath.Ext(f)] == nil {
			return text.Errorf("error.run.format", "file", f)
		}
	}
	return e.checkOutputs("-o", files...)
}

// writeFiles writes a run to files.
func (r *shownRun) writeFiles(e *env, files []string) (failed error) {
	for _, name := range files {
		failed = errors.Join(failed, r.writeFile(e, name))
	}
	return failed
}

func (r *shownRun) writeFile(e *env, name string) error {
	if r.History == nil && filepath.Ext(name) != ".json" {
		return text.Errorf("error.run.na", "file", name, "why",
			text.SentenceFunc(func(lang string) string { return lessons.WhyNotApplicable(lang, r.Outcome) }))
	}
	return e.write(name, replaces, func(w io.Writer) error {
		draw := runPictures[filepath.Ext(name)]
		if draw == nil {
			return runFormats[filepath.Ext(name)](e, w, r)
		}
		run := &chart.Timeline{History: r.History, Judgement: r.Judgement, Verdicts: r.Verdicts}
		return draw(w, run, chart.Format{Lang: e.Langs()[0]})
	})
}

// replayed is a saved run played again, or its attack on another lock.
func replayed(t simulator.Trace, against string) (*race.Outcome, error) {
	if _, err := race.Lock(t.Lock); err != nil && against == "" {
		return nil, text.Errorf("error.replay.unlisted", "lock", t.Lock)
	}
	if against == "" {
		return search.Replay(t)
	}
	entry, err := race.Lock(against)
	if err != nil {
		return nil, text.Errorf("error.against", "cause", err)
	}
	return search.Against(entry, t)
}

// isLink reports whether a word is a link, even of another version or a damaged one.
func isLink(word string) bool {
	_, err := simulator.ParseLink(word)
	return !errors.Is(err, simulator.ErrTraceForeign)
}

// readTrace reads a link, or a file that contains one.
func readTrace(e *env, arg string) (simulator.Trace, error) {
	t, err := simulator.ParseLink(arg)
	if !errors.Is(err, simulator.ErrTraceForeign) {
		return t, err
	}
	content, readErr := e.read(arg, maxTraceFile)
	if noFile(readErr) {
		return t, text.Errorf("error.trace.neither", "name", fmt.Sprintf("%.60s", arg), "cause", err)
	}
	if readErr != nil {
		return t, text.Errorf("error.trace.read", "cause", readErr)
	}
	link := strings.TrimSpace(string(content))
	if strings.HasPrefix(link, "{") {
		var j struct {
			Version int    `json:"version"`
			Trace   string `json:"trace"`
		}
		if err := json.Unmarshal(content, &j); err != nil {
			return t, text.Errorf("error.trace.json", "file", arg, "cause", err)
		}
		if j.Version != schema {
			return t, text.Errorf("error.trace.version", "file", arg, "version", j.Version, "ours", schema)
		}
		link = j.Trace
	}
	if t, err = simulator.ParseLink(link); err != nil {
		return t, text.Errorf("error.file", "file", arg, "cause", err)
	}
	return t, nil
}

// noFile reports whether opening failed because there is no such file, for example since
// the name is too long for one.
func noFile(err error) bool {
	path := (*os.PathError)(nil)
	return errors.As(err, &path) && !errors.Is(err, os.ErrPermission) && path.Op == "open"
}

// stepThrough draws the lanes, one more row after each Enter; b goes back, q ends. Where the
// input is no terminal and has ended, it draws the rest.
func (r *shownRun) stepThrough(e *env) {
	_, interactive := terminal(e.stdin)
	in := bufio.NewReader(e.stdin)
	look := e.look()
	look.Brief = true
	run, _ := reports.RunOf(r.History, r.Judgement, nil, e.Langs()[:1], false)
	for n, shown, all := 1, "", len(run.Rows); n <= all; {
		var b strings.Builder
		look.Rows = n
		e.Keep(reports.Lanes(&b, r.History, r.Judgement, look))
		e.Printf("%s", strings.TrimPrefix(b.String(), shown)) // forwards: what is new
		shown = b.String()
		if n == all {
			return
		}
		e.Printf("%s", e.First("step.prompt", "n", fmt.Sprint(n), "all", fmt.Sprint(all)))
		line, ok := e.line(in)
		if !interactive {
			e.Printf("%s\n", line)
		}
		switch {
		case ok && line == "q", !ok && interactive:
			return
		case !ok:
			n = all
		case line == "b":
			n, shown = max(n-1, 1), ""
			e.Printf("\n")
		default:
			n++
		}
	}
}

func demoCommand() *command { return &command{use: "demo", args: noArguments, run: runDemo} }

func runDemo(e *env, _ []string) error {
	story, err := search.Demo()
	if err != nil {
		return internal(err)
	}
	locks, err := locksNamed(report.DemoLocks)
	if err != nil {
		return internal(err)
	}
	races, err := pickRaces(report.DemoRaces)
	if err != nil {
		return internal(err)
	}
	cells, err := study.Matrix(e.ctx, locks, races, 0, nil, nil)
	if err != nil {
		return internal(err)
	}
	if !e.json {
		printTour(e, story, report.Grid(locks, races, cells))
		return nil
	}
	flat, _ := flatten(cells)
	e.printJSON(struct {
		Version int        `json:"version"`
		Run     runJSON    `json:"run"`
		Cells   []cellJSON `json:"cells"`
	}{schema, outcomeJSON(story), cellsJSON(flat)})
	return nil
}

func printTour(e *env, story *race.Outcome, grid *chart.Grid) {
	o := e.look()
	o.Brief, grid.Brief = true, true
	e.Sentence("demo.intro")
	e.Printf("\n")
	e.Keep(reports.Lanes(e.Out, story.History, story.Judgement, o))
	e.Printf("\n")
	e.Sentence("demo.grid")
	e.Printf("\n")
	e.chart(grid)
	e.Printf("\n%s\n", e.Say("demo.next"))
	e.Printf("  locklab run redlock gc-pause\n  locklab explain R18\n")
}
