package main

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/lessons"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// schema is the version of all JSON output; new fields do not change it. Version 2
// renamed fields and verdicts, see help.root.long.
const schema = 2

type runJSON struct {
	Version         int               `json:"version"`
	Strategy        string            `json:"strategy"`
	Article         string            `json:"article"`
	Scenario        string            `json:"scenario"`
	Race            string            `json:"race"`
	Seed            uint64            `json:"seed"`
	Settings        string            `json:"settings"`
	Verdicts        []verdict.Word    `json:"verdicts"`
	Contracted      *bool             `json:"contracted,omitempty"`        // false: the contract does not cover this lock here; absent else
	Expected        []verdict.Word    `json:"expected"`                    // empty: not covered with these settings; null: with none
	AsExpected      *bool             `json:"as_expected"`                 // null if not covered
	Triggered       bool              `json:"triggered"`                   // the faults were injected where the race has them
	NotApplicable   string            `json:"not_applicable,omitempty"`    // why, in English
	NotApplicableZH string            `json:"not_applicable_zh,omitempty"` // and in Chinese
	Findings        []verdict.Finding `json:"findings"`
	Events          []history.Event   `json:"events"`
	Trace           string            `json:"trace"`
	Doom            *doomJSON         `json:"doom,omitempty"`
}

func outcomeJSON(o *race.Outcome) runJSON {
	j := runJSON{
		Version: schema, Strategy: o.Strategy.ID, Article: o.Strategy.Article, Scenario: o.Scenario.ID, Race: o.Scenario.Race,
		Seed: o.Settings.Seed, Settings: o.Trace.Settings, Verdicts: o.Verdicts,
		Triggered: o.Reached, NotApplicable: lessons.WhyNotApplicable("en", o), NotApplicableZH: lessons.WhyNotApplicable("zh", o),
		Findings: o.Judgement.Findings, Trace: o.Trace.Link(), Events: []history.Event{},
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
	if contract.Uncontracted(o.Strategy, o.Scenario) {
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

// views are the ways to show one run.
var views = []struct {
	name string
	draw func(io.Writer, *history.History, verdict.Judgement, reports.Options) error
}{
	{"lanes", reports.Lanes},
	{"table", reports.Table},
	{"redis", reports.RedisCLI},
	{"story", reports.Story},
}

func viewNames() (names []string) {
	for _, v := range views {
		names = append(names, v.name)
	}
	return names
}

func (a *app) run() *cobra.Command {
	var (
		seed           uint64
		settings       []string
		budget, expect string
		view           string
		files          []string
	)
	c := &cobra.Command{
		Use:     "run STRATEGY SCENARIO",
		Example: a.examples("run", "run token gc-pause", "run 002-C R18 --set pause=9s --view story --lang zh", "run redlock restart --json"),
		Args:    a.exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			entry, err := race.Strategy(args[0])
			if err != nil {
				return err
			}
			sc, err := scenarios.ByName(args[1])
			if err != nil {
				return err
			}
			s, err := sc.Settings.With(strings.Join(settings, ","))
			if err != nil {
				return err
			}
			if c.Flags().Changed("seed") {
				s.Seed = seed
			}
			if budget != "" {
				s.Budget = budget
			}
			want, err := a.parseExpect(c, expect)
			if err != nil {
				return err
			}
			a.drawsRuns = true
			if err := a.checkView(view, files); err != nil {
				return err
			}
			o, err := race.Play(entry, sc, s)
			if err != nil {
				return err
			}
			return a.show(o, view, files, want)
		},
	}
	f, usage := c.Flags(), a.usage("run")
	f.Uint64Var(&seed, "seed", 0, usage("seed"))
	f.StringArrayVar(&settings, "set", nil, usage("set"))
	f.StringVar(&budget, "budget", "", usage("budget"))
	f.StringVar(&expect, "expect", "", usage("expect"))
	f.StringVar(&view, "view", "lanes", usage("view"))
	f.StringArrayVarP(&files, "out", "o", nil, usage("out"))
	return c
}

// parseExpect reads --expect; nil: it was not given.
func (a *app) parseExpect(c *cobra.Command, words string) (want []verdict.Word, err error) {
	for _, w := range strings.FieldsFunc(words, func(r rune) bool { return r == ',' || r == ' ' }) {
		word, err := verdict.ParseWord(w)
		if former := (*verdict.RenamedError)(nil); errors.As(err, &former) {
			return nil, text.Errorf("error.renamed", "old", strings.ToUpper(former.Text), "new", string(former.Now))
		}
		if err != nil {
			return nil, text.Errorf("error.expect", "name", w, "names", "OVERLAP, STALE-WRITE, FENCED, WRONG-DEL, LIE, ORPHAN, DEADLOCK, BLOCKED, STARVED, HOLDS, N/A")
		}
		want = append(want, word)
	}
	if want == nil && c.Flags().Changed("expect") {
		return nil, text.Errorf("error.expect.none")
	}
	return want, nil
}

// show prints an outcome, decides the exit status, and writes the files.
func (a *app) show(o *race.Outcome, view string, files []string, want []verdict.Word) error {
	if a.json {
		j := outcomeJSON(o)
		j.Doom = a.doomToJSON()
		if err := a.printJSON(j); err != nil {
			return err
		}
	} else if err := a.printRun(o, view); err != nil {
		return err
	}
	return errors.Join(a.runStatus(o, want), a.writeRuns(files, o))
}

// runStatus returns an error with the exit status of a run.
func (a *app) runStatus(o *race.Outcome, want []verdict.Word) error {
	switch {
	case want != nil && !sameSet(o.Verdicts, want):
		return &exitError{exitDiffers, text.Errorf("error.differs", "want", lessons.Words(want), "got", lessons.Words(o.Verdicts))}
	case slices.Contains(o.Verdicts, verdict.Unknown) || slices.Contains(o.Verdicts, verdict.Vacuous):
		return noAnswer("error.vacuous", "got", lessons.Words(o.Verdicts))
	}
	return nil
}

func sameSet(a, b []verdict.Word) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// printRun prints an outcome in the given views, separated by commas.
func (a *app) printRun(o *race.Outcome, view string) error {
	race := o.Scenario.ID
	if o.Scenario.Race != "" {
		race += " (" + o.Scenario.Race + ")"
	}
	a.Printf("%s\n", a.Say("run.title", "lock", o.Strategy.Heading(), "race", race, "title", a.Each(func(lang string) string { return lessons.RunTitle(lang, o) })))
	if o.NotApplicable != "" {
		a.Printf("%s\n", a.Say("run.na", "why", a.Each(func(lang string) string { return lessons.WhyNotApplicable(lang, o) })))
		lessons.NotCovered(a.Printer, o)
		a.Next("locklab explain "+o.Scenario.ID, "locklab matrix --scenarios "+o.Scenario.ID)
		return nil
	}
	if err := a.printViews(o, view); err != nil {
		return err
	}
	switch {
	case !strings.Contains(view, "story"): // a story ends with the verdicts itself
		lessons.Meanings(a.Printer, o)
	case o.Verdicts[0].Broken():
		a.Printf("\n")
	}
	for _, lang := range a.Langs() {
		if cure := lessons.Cure(lang, o); cure != "" {
			a.Wrap("  "+text.Label(text.Say(lang, "run.cure")), cure)
		}
	}
	lessons.CompareWithContract(a.Printer, o)
	for _, m := range o.NotInjected {
		a.Printf("%s\n", a.Message(i18n.New("run.notinjected", "what", m)))
	}
	a.Next(lessons.NextCommands(o)...)
	return nil
}

func (a *app) printViews(o *race.Outcome, view string) error {
	for _, name := range strings.Split(view, ",") {
		a.Printf("\n")
		if name == "step" {
			if err := a.stepThrough(o); err != nil {
				return err
			}
			continue
		}
		i := slices.Index(viewNames(), name)
		if err := views[i].draw(a.Out, o.History, o.Judgement, a.options()); err != nil {
			return internal(err)
		}
	}
	return a.printDoom()
}

// runFormats are the formats of a run, by the ending of the file.
var runFormats = map[string]func(*app, io.Writer, *race.Outcome) error{
	".json": func(_ *app, w io.Writer, o *race.Outcome) error { return encode(w, outcomeJSON(o)) },
	".txt": func(a *app, w io.Writer, o *race.Outcome) error {
		file := *a
		file.Printer, file.color = a.To(w, a.Width), "never"
		return file.printRun(o, "lanes,table,story")
	},
	".html": func(a *app, w io.Writer, o *race.Outcome) error {
		return page.Write(w, a.singlePage(o))
	},
}

// runPictures are the formats of a run that is drawn; with --doom they are the curve's.
var runPictures = map[string]func(*chart.Run, io.Writer) error{".png": (*chart.Run).PNG, ".svg": (*chart.Run).SVG}

// checkView refuses unknown views and files, before anything is played.
func (a *app) checkView(view string, files []string) error {
	for _, name := range strings.Split(view, ",") {
		if !slices.Contains(viewNames(), name) {
			return text.Errorf("error.view", "name", name, "near", text.Near(name, viewNames()), "names", strings.Join(viewNames(), ", "))
		}
	}
	for _, f := range files {
		if runFormats[filepath.Ext(f)] == nil && runPictures[filepath.Ext(f)] == nil {
			return text.Errorf("error.run.format", "file", f)
		}
	}
	return a.checkOutputs("-o", files...)
}

// writeRuns writes a run to files, and its doom curve to those that are for that.
func (a *app) writeRuns(files []string, o *race.Outcome) (failed error) {
	for _, name := range files {
		failed = errors.Join(failed, a.writeRun(name, o))
	}
	return failed
}

func (a *app) writeRun(name string, o *race.Outcome) error {
	if chartFormats[filepath.Ext(name)] != nil && !a.drawsRuns {
		if a.doom == nil {
			return nil // whoever asked was told why
		}
		return a.writeCharts(a.doom, []string{name})
	}
	if o.History == nil && filepath.Ext(name) != ".json" {
		return text.Errorf("error.run.na", "file", name, "why",
			text.SentenceFunc(func(lang string) string { return lessons.WhyNotApplicable(lang, o) }))
	}
	if draw := runPictures[filepath.Ext(name)]; draw != nil {
		return a.write(name, replaces, func(w io.Writer) error {
			if strings.HasSuffix(name, darkPNG) {
				w = chart.Dark{Writer: w}
			}
			return draw(&chart.Run{History: o.History, Judgement: o.Judgement, Verdicts: o.Verdicts, Lang: a.Langs()[0]}, w)
		})
	}
	return a.write(name, replaces, func(w io.Writer) error { return runFormats[filepath.Ext(name)](a, w, o) })
}
