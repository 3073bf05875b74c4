package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"locklab/algorithms"
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
	"locklab/simulator/lists"
	"locklab/simulator/record"
	"locklab/simulator/verdict"
)

// runKind is the kind of a document with a run.
const runKind = "run"

// runJSON is a run in JSON, with the events that its cell leaves out.
type runJSON struct {
	cellJSON
	Seed            uint64            `json:"seed"`
	Settings        string            `json:"settings"`
	NotApplicable   string            `json:"not_applicable,omitempty"`    // why, in English
	NotApplicableZH string            `json:"not_applicable_zh,omitempty"` // and in Chinese
	Findings        []verdict.Finding `json:"findings"`
	Events          []history.Event   `json:"events"`
	Lines           []codeJSON        `json:"lines,omitempty"` // of explain
}

func outcomeJSON(o *race.Outcome) runJSON {
	j := runJSON{
		cellJSON: cellOf(o), Seed: o.Settings.Seed, Settings: o.Trace.Settings,
		NotApplicable: lessons.WhyNotApplicable("en", o), NotApplicableZH: lessons.WhyNotApplicable("zh", o),
		Findings: append([]verdict.Finding{}, o.Judgement.Findings...), Events: []history.Event{},
	}
	if o.History != nil {
		j.Events = o.History.Events
	}
	return j
}

// A cellJSON is the outcome of a lock in a race in JSON. What the contract does not cover is expected to be nothing.
type cellJSON struct {
	Lock       string         `json:"lock"`
	Article    string         `json:"article"`
	Race       string         `json:"race"`
	Code       string         `json:"code"`
	Verdicts   []verdict.Word `json:"verdicts"`
	Contracted *bool          `json:"contracted,omitempty"` // false: the contract does not cover it; absent else
	Expected   []verdict.Word `json:"expected"`             // null: not covered; empty: not with these settings
	AsExpected *bool          `json:"as_expected"`          // null: not covered
	Triggered  bool           `json:"triggered"`            // the faults were injected where the race has them
	Why        string         `json:"why,omitempty"`        // the contract's reason, in English
	WhyZH      string         `json:"why_zh,omitempty"`     // and in Chinese
	Trace      string         `json:"trace"`
}

func cellOf(o *race.Outcome) cellJSON {
	c := cellJSON{
		Lock: o.Lock.ID, Article: o.Lock.Article, Race: o.Race.ID, Code: o.Race.Code,
		Verdicts: o.Verdicts, Triggered: o.Triggered, Trace: o.Trace.Link(),
		Why: lessons.Why("en", o.Lock, o.Race), WhyZH: lessons.Why("zh", o.Lock, o.Race),
	}
	if contract.Uncontracted(o.Lock, o.Race) {
		c.Contracted = new(false)
		return c
	}
	c.Expected, c.AsExpected = append([]verdict.Word{}, contract.Expected(o)...), new(contract.AsExpected(o))
	return c
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
	shown    shownRun
	files    []string
}

func runCommand() *command {
	r := &runFlags{shown: shownRun{view: "lanes"}}
	return &command{
		use: "run LOCK [RACE] | LINK | FILE", args: between(1, 2, "race"), complete: aLockAndARace,
		flags: func(f *flags) {
			f.add("seed", &r.seed)
			f.each("set", &r.settings)
			f.add("budget", &r.budget)
			parse(f, "expect", "", &r.want, parseExpect)
			f.add("view", &r.shown.view)
			f.completes("view", oneOf(viewNames))
			f.add("against", &r.against)
			addSize(f, &r.shown.format)
			f.add("link", &r.shown.link)
			runFiles(f, &r.files)
		},
		run: r.run,
		examples: []string{"run token gc-pause", "run 002-C R18 --set pause=9s --view story --lang zh",
			"run redlock restart --json",
			"run LINK --against redlock"},
	}
}

func (r *runFlags) run(e *env, args []string) error {
	if r.files == nil && r.shown.format != (chart.Format{}) {
		return text.Errorf("error.chart.picture")
	}
	for _, name := range strings.Split(r.shown.view, ",") {
		if _, err := choose("error.view", name, viewNames); err != nil {
			return err
		}
	}
	if len(args) == 1 && r.files == nil && r.want == nil {
		if entry, err := race.Lock(args[0]); err == nil {
			showRaces(e.console, entry)
			return nil
		}
	}
	o, err := r.play(e, args)
	if err != nil {
		return err
	}
	r.shown.Outcome = o
	failed := r.shown.writeFiles(e, r.files)
	showHere(e, failed, runKind, outcomeJSON(o), func() { r.shown.print(e.console) })
	return errors.Join(runStatus(o, r.want), failed)
}

// showRaces lists the races that apply to a lock, each with the verdicts that the contract expects.
func showRaces(e *console, entry lock.Entry) {
	expected := func(s race.Race) string { return reports.Words(contract.CellOf(entry, s).Words()) }
	races := lists.Pick(scenarios.All(), func(s race.Race) bool { return expected(s) != string(verdict.NA) })
	e.show("list", map[string]any{"races": lists.Each(races, listedRace)}, func() {
		e.Wrap("", e.Say("run.races", "lock", entry.ID))
		for _, s := range races {
			line := e.Each(func(lang string) string { return lessons.Story(lang, s, "title") })
			if w := expected(s); w != "" {
				line += " -> " + w
			}
			e.Wrap(fmt.Sprintf("    %-20s %-5s ", s.ID, s.Code), line)
		}
		known := max(0, slices.IndexFunc(races, func(s race.Race) bool { return s.ID == "gc-pause" }))
		e.Next("locklab run "+entry.ID+" "+races[known].ID, "locklab explain "+entry.ID)
	})
}

// play plays a lock in a race, or a saved run.
func (r *runFlags) play(e *env, args []string) (*race.Outcome, error) {
	if len(args) == 1 {
		return r.again(e, args)
	}
	if slices.ContainsFunc(args, isLink) || e.given("against") {
		return nil, text.Errorf("error.run.against", "flag", "--against")
	}
	entry, noLock := race.Lock(args[0])
	sc, noRace := scenarios.ByName(args[1])
	s, wrong := sc.Settings.With(strings.Join(r.settings, ","))
	if _, err := race.Lock(args[1]); err == nil && noLock != nil && isNamed(args[0]) {
		return nil, text.Errorf("error.run.swapped", "name", args[0], "command", "locklab run "+args[1]+" "+args[0])
	} else if err == nil && noLock == nil && noRace != nil {
		return nil, text.Errorf("error.run.locks", "name", args[1],
			"command", "locklab matrix --locks "+args[0]+","+args[1])
	}
	if err := cmp.Or(noLock, noRace, wrong); err != nil {
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

// again plays a saved run, a link or a file that has one, or its attack on another lock.
func (r *runFlags) again(e *env, args []string) (*race.Outcome, error) {
	switch _, noRace := scenarios.ByName(args[0]); {
	case noRace == nil:
		return nil, text.Errorf("error.run.lock", "name", args[0], "command", "locklab run token "+args[0])
	case !isLink(args[0]) && meantBy(args[0]) != "":
		return nil, between(2, 2, "race")(e.running, args)
	case scenarios.IsNumber(args[0]):
		return nil, noRace
	}
	for _, flag := range []string{"seed", "set", "budget"} {
		if e.given(flag) {
			return nil, text.Errorf("error.run.saved", "flag", "--"+flag)
		}
	}
	t, err := readTrace(args[0])
	if err != nil {
		return nil, err
	}
	_, unlisted := race.Lock(t.Lock)
	entry, err := race.Lock(r.against)
	switch {
	case r.against == "" && unlisted != nil:
		return nil, text.Errorf("error.replay.unlisted", "lock", t.Lock)
	case r.against == "":
		return search.Replay(t)
	case err != nil:
		return nil, text.Errorf("error.against", "cause", err)
	}
	return search.Against(entry, t)
}

func parseExpect(words string) (want []verdict.Word, err error) {
	for _, w := range strings.FieldsFunc(words, func(r rune) bool { return r == ',' || r == ' ' }) {
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
	view   string       // names of views, separated by commas
	format chart.Format // of pictures
	link   bool         // the link of the run is shown
}

// runStatus returns an error with the exit status of a run.
func runStatus(o *race.Outcome, want []verdict.Word) error {
	switch {
	case want != nil && verdict.SetOf(o.Verdicts...) != verdict.SetOf(want...):
		return &exitError{exitDiffers, text.Errorf("error.differs", "want", reports.Words(want),
			"got", reports.Words(o.Verdicts))}
	case slices.Contains(o.Verdicts, verdict.Unknown), slices.Contains(o.Verdicts, verdict.Vacuous),
		o.NotInjected != nil && !verdict.Fails(o.Verdicts):
		key := map[bool]string{true: "error.vacuous.search", false: "error.vacuous"}[o.Race.ID == search.SearchID]
		return noAnswer(key, "got", reports.Words(o.Verdicts))
	}
	return nil
}

// print prints the run in its views.
func (r *shownRun) print(e *console) {
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
	if o.Verdicts[0] == verdict.NA {
		why := func(lang string) string { return lessons.WhyNotApplicable(lang, o) }
		e.Wrap("", e.Say("run.na", "why", e.Each(why)))
		lessons.Text(e.Printer, e.look(), lessons.Contract(e.Printer, o))
		if o.History == nil { // of a race
			e.Next("locklab explain "+o.Race.ID, "locklab matrix --races "+o.Race.ID)
		}
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
	if r.link {
		e.Printf("  locklab run %s\n", o.Trace.Link())
	}
	e.onPage(o.Trace.Link())
}

// printCure prints in each language what mends a run, if anything is broken, after a label.
func printCure(e *console, o *race.Outcome, label string) {
	stage := lessons.NewStage()
	for _, lang := range e.Langs() {
		cure, err := stage.Cure(lang, o)
		e.Keep(err)
		if cure != "" {
			e.Wrap("  "+text.Label(text.Say(lang, label)), cure)
		}
	}
}

func (r *shownRun) printViews(e *console) {
	for _, name := range strings.Split(r.view, ",") {
		e.Printf("\n")
		e.Keep(views[name](e.Out, r.History, r.Judgement, e.look()))
	}
}

// runFormats are the formats of a run, by the ending of the file.
var runFormats = map[string]func(*env, io.Writer, *shownRun) error{
	".json": func(_ *env, w io.Writer, r *shownRun) error {
		return reports.WriteJSON(w, runKind, outcomeJSON(r.Outcome))
	},
	".jsonl": func(_ *env, w io.Writer, r *shownRun) error { // a log, as locklab judge reads it
		to := record.NewRecorder(w)
		for _, l := range record.Of(r.History) {
			to.Record(l)
		}
		return to.Close()
	},
	".txt": func(e *env, w io.Writer, r *shownRun) error {
		file := e.into(w)
		(&shownRun{Outcome: r.Outcome, view: "lanes,story"}).print(file)
		return file.Err
	},
	".html": func(e *env, w io.Writer, r *shownRun) error {
		return page.WriteRuns(w, report.RunPage(e.Printer, r.Outcome, e.remake()))
	},
	".png": drawRun(".png"), ".svg": drawRun(".svg"), ".pdf": drawRun(".pdf"),
}

// drawRun draws a run in the format of an ending.
func drawRun(ending string) func(*env, io.Writer, *shownRun) error {
	return func(e *env, w io.Writer, r *shownRun) error {
		run, f := r.drawn(e)
		return chart.Pictures[ending](w, run, f)
	}
}

func (r *shownRun) drawn(e *env) (*chart.Timeline, chart.Format) {
	f := r.format
	f.Lang = e.Langs()[0]
	return &chart.Timeline{History: r.History, Judgement: r.Judgement, Verdicts: r.Verdicts,
		Source: report.Source(e.source())}, f
}

// runFiles declares -o for a run.
func runFiles(f *flags, files *[]string) {
	f.out(files)
	f.writes(func() []string { return *files }, "error.run.format", slices.Collect(maps.Keys(runFormats))...)
}

// writeFiles writes a run to files.
func (r *shownRun) writeFiles(e *env, files []string) (failed error) {
	for _, name := range files {
		err := text.Errorf("error.run.na", "file", name, "why",
			text.SentenceFunc(func(lang string) string { return lessons.WhyNotApplicable(lang, r.Outcome) }))
		if r.History != nil || ending(name) == ".json" {
			err = e.write(name, func(w io.Writer) error { return runFormats[ending(name)](e, w, r) })
		}
		failed = errors.Join(failed, err)
	}
	if tellLanguage(e.console, files); failed == nil && r.format.Bare {
		run, f := r.drawn(e)
		showCaption(e, files, run, f)
	}
	return failed
}

// isLink reports whether a word is a link, even of another version or a damaged one.
func isLink(word string) bool {
	_, err := simulator.ParseLink(word)
	return !errors.Is(err, simulator.ErrTraceForeign)
}

// readTrace reads a link, or a file that contains one.
func readTrace(arg string) (simulator.Trace, error) {
	t, err := simulator.ParseLink(arg)
	if !errors.Is(err, simulator.ErrTraceForeign) {
		return t, err
	}
	content, readErr := readFile(arg, maxTraceFile)
	system := syscall.Errno(0) // also about a name that is too long for a file
	if errors.As(readErr, &system) && !errors.Is(readErr, os.ErrPermission) {
		return t, text.Errorf("error.trace.neither", "name", fmt.Sprintf("%.60s", arg),
			"near", text.Near(arg, lockNames()))
	}
	if readErr != nil {
		return t, readErr
	}
	link := strings.TrimSpace(string(content))
	if strings.HasPrefix(link, "{") {
		var run struct {
			Trace string `json:"trace"`
		}
		if err := reports.ReadJSON(content, &run, runKind); err != nil {
			return t, text.Errorf("error.cause", "of", arg, "cause", err)
		}
		link = run.Trace
	}
	if t, err = simulator.ParseLink(link); err != nil {
		return t, text.Errorf("error.cause", "of", arg, "cause", err)
	}
	return t, nil
}

func demoCommand() *command { return &command{use: "demo", args: noArguments, run: runDemo} }

func runDemo(e *env, _ []string) error {
	races, err := pickRaces(lessons.DemoRaces)
	if err != nil {
		return internal(err)
	}
	cells, err := study.Matrix(e.ctx, algorithms.Milestones(), races, nil, nil)
	if err != nil {
		return internal(err)
	}
	flat := flatten(cells)
	e.show("demo", map[string]any{"cells": cellsJSON(flat)}, func() {
		lessons.Text(e.Printer, e.look(), lessons.Demo(e.Printer, cells))
		e.Next("locklab run setnx-expire crash-before-expire", "locklab explain need", "locklab play --level 1")
	})
	return nil
}
