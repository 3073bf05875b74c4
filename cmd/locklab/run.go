package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locklab/faults"
	"locklab/reports"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// schema is the version of all JSON output. Additions do not change it.
const schema = 1

type runJSON struct {
	Version         int               `json:"version"`
	Strategy        string            `json:"strategy"`
	Article         string            `json:"article"`
	Scenario        string            `json:"scenario"`
	Race            string            `json:"race"`
	Seed            uint64            `json:"seed"`
	Settings        string            `json:"settings"`
	Verdicts        []verdict.Word    `json:"verdicts"`
	Contracted      *bool             `json:"contracted,omitempty"` // false: no contract speaks of this lock here; absent else
	Expected        []verdict.Word    `json:"expected"`             // empty: the contract says nothing about these settings; null: nor of any
	AsExpected      *bool             `json:"as_expected"`          // null where no contract speaks
	Reached         bool              `json:"reached"`
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
		Reached: o.Reached, NotApplicable: reason("na", o.NotApplicable).EN, NotApplicableZH: reason("na", o.NotApplicable).ZH,
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

// againstContract is what JSON says of an outcome and the contract. Where no contract
// speaks nothing was expected, and neither yes nor no would be true.
func againstContract(o *race.Outcome) (contracted *bool, expected []verdict.Word, asExpected *bool) {
	if contract.Uncontracted(o.Strategy, o.Scenario) {
		return new(false), nil, nil
	}
	return nil, words(contract.Expected(o)), new(contract.AsExpected(o))
}

// words is never null in JSON.
func words(w []verdict.Word) []verdict.Word {
	if w == nil {
		return []verdict.Word{}
	}
	return w
}

// views are the ways to look at one run.
var views = []struct {
	name string
	draw func(io.Writer, *history.History, verdict.Judgement, reports.Options) error
}{
	{"lanes", reports.Lanes},
	{"table", reports.Table},
	{"redis", reports.RedisCLI},
	{"story", reports.Narrate},
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
		Use:   "run STRATEGY SCENARIO",
		Short: "one lock in one race",
		Long: `Plays one lock in one race and tells what happened.

Seed 0 is the story as it is told: every message takes equally long. Any other
seed samples the latencies, and in gc-pause the moment of the pause.
--set changes the numbers: ttl, clients, retry, latency, timeout, horizon, and
where the race has them pause, skew, jump, lag. --budget says how often each
fault may strike, as in crash=1,pause=1@5s; it must cover what the race needs.

A lock that falls does not change the exit status: that is what one came to
see. With --expect the status is 1 unless the verdicts are those given.`,
		Example: "  locklab run token gc-pause\n  locklab run 002-C R18 --set pause=9s --view story --lang zh\n  locklab run redlock restart --json",
		Args:    exactly(2, "run STRATEGY SCENARIO"),
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
			want, err := parseExpect(expect)
			if err != nil {
				return err
			}
			if err := checkView(view, files); err != nil {
				return err
			}
			o, err := race.Play(entry, sc, s)
			if err != nil {
				return err
			}
			return a.show(o, view, files, want)
		},
	}
	f := c.Flags()
	f.Uint64Var(&seed, "seed", 0, "0: as told; any other: sampled")
	f.StringArrayVar(&settings, "set", nil, "change numbers, as in ttl=5s,clients=3 (repeatable)")
	f.StringVar(&budget, "budget", "", "how often each fault may strike, as in crash=1,pause=2@5s")
	f.StringVar(&expect, "expect", "", "verdicts that must come out, as in holds or OVERLAP,STALE-WRITE")
	f.StringVar(&view, "view", "lanes", "lanes, table, redis, story, or several with commas")
	f.StringArrayVarP(&files, "out", "o", nil, "write to FILE: .json, .txt or .html (repeatable)")
	return c
}

func exactly(n int, usage string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%d names given, %d needed: locklab %s\n'locklab list' shows the names", len(args), n, usage)
		}
		return nil
	}
}

func parseExpect(text string) (want []verdict.Word, err error) {
	if text == "" {
		return nil, nil
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		word, err := verdict.ParseWord(w)
		if err != nil {
			return nil, fmt.Errorf("--expect %w", err)
		}
		want = append(want, word)
	}
	return want, nil
}

// show prints an outcome, writes the files, and settles the exit status.
func (a *app) show(o *race.Outcome, view string, files []string, want []verdict.Word) error {
	for _, name := range files {
		if err := a.writeRun(name, o); err != nil {
			return err
		}
	}
	if a.json {
		j := outcomeJSON(o)
		j.Doom = a.doomToJSON()
		if err := a.printJSON(j); err != nil {
			return err
		}
	} else if err := a.tell(o, view); err != nil {
		return err
	}
	switch {
	case want != nil && !sameSet(o.Verdicts, want):
		return &exitError{exitDiffers, fmt.Errorf("expected %v, and it is %v", want, o.Verdicts)}
	case slices.Contains(o.Verdicts, verdict.Unknown) || slices.Contains(o.Verdicts, verdict.Vacuous):
		return &exitError{exitUntold, fmt.Errorf("%v: the run does not answer the question; change its numbers with --set", o.Verdicts)}
	}
	return nil
}

func sameSet(a, b []verdict.Word) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func (a *app) tell(o *race.Outcome, view string) error {
	title := o.Scenario.ID
	if o.Scenario.Race != "" {
		title += " (" + o.Scenario.Race + ")"
	}
	a.printf("%s in %s: %s\n", o.Strategy.Heading(), title, a.say(runTitle(o).EN, runTitle(o).ZH))
	if why := reason("na", o.NotApplicable); o.NotApplicable != "" {
		a.printf("%s: %s\n", verdict.NA, a.say(why.EN+".", why.ZH+"。"))
		a.tellUncontracted(o)
		a.next("locklab explain "+o.Scenario.ID, "locklab matrix --scenarios "+o.Scenario.ID)
		return nil
	}
	for _, name := range strings.Split(view, ",") {
		a.printf("\n")
		if name == "step" {
			if err := a.stepThrough(o); err != nil {
				return err
			}
			continue
		}
		i := slices.Index(viewNames(), name)
		if err := views[i].draw(a.stdout, o.History, o.Judgement, a.options()); err != nil {
			return internal(err)
		}
	}
	if err := a.tellDoom(); err != nil {
		return err
	}
	switch {
	case !strings.Contains(view, "story"): // which ends with the verdicts itself
		a.meanings(o)
	case o.Verdicts[0].Broken():
		a.printf("\n")
	}
	a.conclude(o)
	for _, m := range o.NotInjected {
		a.printf("%s\n", a.say("Did not happen: ", "没有发生：")+m.Error())
	}
	a.next(nextAfter(o)...)
	return nil
}

// conclude says what mends a race.
func (a *app) conclude(o *race.Outcome) {
	for _, lang := range a.langs() {
		if text := cure(o, lang); text != "" {
			a.wrap(map[string]string{"en": "  Cure: ", "zh": "  解法："}[lang], text)
		}
	}
	a.compare(o)
}

// meanings gives the verdicts with what they mean.
func (a *app) meanings(o *race.Outcome) {
	a.printf("\n%s%s\n", beside(a.say("Verdict:", "判定：")), join(o.Verdicts))
	for _, lang := range a.langs() {
		for _, w := range o.Verdicts {
			a.wrap("  "+string(w)+map[string]string{"en": ": ", "zh": "："}[lang], reports.Meaning(w, lang))
		}
	}
}

// cure is what mends the race, or what search has found; "": nothing needs to be.
func cure(o *race.Outcome, lang string) string {
	w := o.Verdicts[0]
	switch text := in(lang, story(o.Scenario, "cure")); {
	case !w.Broken():
		return ""
	case text != "":
		return text
	}
	return reports.Cure(w, lang) // found by search: the verdict is all there is to go by
}

// compare says where an outcome differs from the contract, or that there is none.
func (a *app) compare(o *race.Outcome) {
	switch {
	case a.tellUncontracted(o):
	case contract.Expected(o) == nil:
		a.printf("%s\n", a.say("The contract speaks of the race's own numbers only.", "契约只针对场景自带的参数。"))
	case !contract.AsExpected(o):
		a.printf("%s%s\n", beside(a.say("The contract says otherwise:", "与契约不符，契约为：")), join(contract.Expected(o)))
	}
}

// tellUncontracted says that no contract speaks of an outcome, if so.
func (a *app) tellUncontracted(o *race.Outcome) bool {
	if !contract.Uncontracted(o.Strategy, o.Scenario) {
		return false
	}
	id, race := o.Strategy.ID, o.Scenario.ID
	if race == study.SearchID {
		a.sentence("No contract speaks of "+id+".", "契约没有提到 "+id+"。")
	} else {
		a.sentence("No contract speaks of "+id+" in "+race+".", "契约没有提到 "+id+" 在 "+race+" 里的结果。")
	}
	return true
}

func (a *app) langs() []string {
	if a.lang == "both" {
		return []string{"en", "zh"}
	}
	return []string{a.lang}
}

func join(w []verdict.Word) string {
	var s []string
	for _, x := range w {
		s = append(s, string(x))
	}
	return strings.Join(s, " ")
}

func nextAfter(o *race.Outcome) []string {
	first := "locklab explain " + o.Strategy.ID
	if o.Scenario.ID == study.SearchID { // which is no race that one could run or explain
		return []string{first, "locklab replay " + o.Trace.Link() + " --doom"}
	}
	if successor, ok := race.Successor(o.Strategy); ok {
		first = fmt.Sprintf("locklab run %s %s", successor.ID, o.Scenario.ID) + seedFlag(o)
	}
	return []string{
		first,
		"locklab explain " + o.Scenario.ID,
		"locklab replay " + o.Trace.Link(),
	}
}

func seedFlag(o *race.Outcome) string {
	if o.Settings.Seed == 0 {
		return ""
	}
	return " --seed " + strconv.FormatUint(o.Settings.Seed, 10)
}

// runFormats are the files that a single run can become.
var runFormats = map[string]func(*app, io.Writer, *race.Outcome) error{
	".json": func(_ *app, w io.Writer, o *race.Outcome) error { return encode(w, outcomeJSON(o)) },
	".txt": func(a *app, w io.Writer, o *race.Outcome) error {
		text := *a
		text.stdout, text.color = w, "never"
		return text.tell(o, "lanes,table,story")
	},
	".html": func(a *app, w io.Writer, o *race.Outcome) error {
		return reports.HTML(w, singlePage(o))
	},
}

// checkView refuses views and files that there are not, before anything is played.
func checkView(view string, files []string) error {
	for _, name := range strings.Split(view, ",") {
		if !slices.Contains(viewNames(), name) {
			return fmt.Errorf("--view %q:%s there are %s", name, faults.DidYouMean(name, viewNames()), strings.Join(viewNames(), ", "))
		}
	}
	for _, f := range files {
		if runFormats[filepath.Ext(f)] == nil {
			return fmt.Errorf("-o %s: a run can be written as .json, .txt or .html", f)
		}
	}
	return nil
}

func (a *app) writeRun(name string, o *race.Outcome) error {
	if o.History == nil && filepath.Ext(name) != ".json" {
		return errors.New("-o " + name + ": there is no run to write, the question has no meaning here: " + reason("na", o.NotApplicable).EN)
	}
	return a.write(name, func(w io.Writer) error { return runFormats[filepath.Ext(name)](a, w, o) })
}
