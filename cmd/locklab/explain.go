package main

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:     "explain LOCK | RACE | LOCK RACE | LINK|FILE | path [N] | interview [TOPIC] | glossary | asynq | TERM",
		Example: a.examples("explain", "explain redlock", "explain R18 --lang zh", "explain 003-C failed-renewal", "explain path 3", "explain lease"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return text.Errorf("error.explain.arguments", "given", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.paged(func() error {
				e := &explainer{a, lessons.NewStage(), nil}
				e.teacher = lessons.NewTeacher(c.Context(), a.Printer, a.options(), e.stage)
				e.teacher.Curve = func(out io.Writer, d *study.Doom, look reports.Options) error {
					return chart.Text(out, &chart.Doom{Doom: d}, look)
				}
				return e.explain(args)
			})
		},
	}
}

// An explainer finds out what to explain and lets a teacher do it.
type explainer struct {
	*app
	stage   *lessons.Stage
	teacher *lessons.Teacher
}

func (a *explainer) explain(args []string) error {
	second := ""
	if len(args) == 2 {
		second = args[1]
	}
	switch args[0] {
	case "path":
		return a.path(second)
	case "interview":
		return a.interview(second)
	case "glossary":
		return a.glossary(second)
	case "asynq":
		return a.asynq()
	}
	if len(args) == 2 {
		return a.pair(args[0], second)
	}
	if entry, ok := algorithms.ByName(args[0]); ok {
		return a.lock(entry)
	}
	if sc, err := scenarios.ByName(args[0]); err == nil {
		return a.race(sc)
	}
	if term, ok := lessons.FindTerm(args[0]); ok {
		return a.glossary(term)
	}
	t, notTrace := a.readTrace(args[0])
	if notTrace == nil {
		o, err := study.Replay(t)
		if err != nil {
			return err
		}
		return a.outcome(o)
	}
	if _, err := os.Stat(args[0]); err == nil || !errors.Is(notTrace, simulator.ErrTraceForeign) {
		return notTrace // it was meant as a trace
	}
	return a.unknownName(args[0])
}

func (a *explainer) unknownName(name string) error {
	var names []string
	for _, e := range algorithms.All() {
		names = append(names, e.Names()...)
	}
	for _, s := range scenarios.All() {
		names = append(names, s.ID, s.Race)
	}
	names = append(append(names, lessons.Terms()...), "path", "interview", "glossary", "asynq")
	return text.Errorf("error.explain", "name", name, "near", text.Near(name, names))
}

// explainedJSON is a page as JSON. Texts are by language and key.
type explainedJSON struct {
	Version int                            `json:"version"`
	Lock    *listedStrategy                `json:"strategy,omitempty"`
	Race    *listedScenario                `json:"scenario,omitempty"`
	Story   map[string]string              `json:"story,omitempty"`   // by language
	Numbers map[string]string              `json:"numbers,omitempty"` // by language
	Texts   map[string]map[string][]string `json:"texts"`
	Cells   []cellJSON                     `json:"cells,omitempty"`
}

// printTexts prints the texts under a prefix as JSON, beside what page has already.
func (a *explainer) printTexts(prefix string, page explainedJSON) error {
	texts, err := a.teacher.Texts(prefix)
	if err != nil {
		return internal(err)
	}
	page.Version, page.Texts = schema, texts
	return a.printJSON(page)
}

func (a *explainer) lock(e lock.Entry) error {
	if !a.json {
		return internal(a.teacher.Lock(e))
	}
	row, err := a.stage.Row(e)
	if err != nil {
		return internal(err)
	}
	return a.printTexts("lock."+e.ID+".", explainedJSON{Lock: new(listedLock(e)), Cells: cellsJSON(row)})
}

func (a *explainer) race(sc race.Scenario) error {
	if !a.json {
		return internal(a.teacher.Race(sc))
	}
	_, played, err := a.stage.Example(sc)
	if err != nil {
		return internal(err)
	}
	part := func(name string) map[string]string {
		said := map[string]string{}
		for _, lang := range text.Languages() {
			said[lang] = lessons.Story(lang, sc, name)
		}
		return said
	}
	return a.printTexts("race."+sc.ID+".", explainedJSON{
		Race: new(listedRace(sc)), Story: part("story"), Numbers: part("numbers"), Cells: cellsJSON(played),
	})
}

func (a *explainer) pair(id, raceID string) error {
	e, err := race.Strategy(id)
	if err != nil {
		return err
	}
	sc, err := scenarios.ByName(raceID)
	if err != nil {
		return err
	}
	o, err := a.stage.Play(e, sc)
	if err != nil {
		return internal(err)
	}
	return a.outcome(o)
}

func (a *explainer) outcome(o *race.Outcome) error {
	if !a.json {
		return internal(a.teacher.Run(o))
	}
	j := explainedRunJSON{runJSON: outcomeJSON(o), Code: []codeJSON{}}
	if o.History == nil {
		return a.printJSON(j)
	}
	watched, err := study.ReplayWithCodeOn(o.Strategy, o.Trace)
	if err != nil {
		return internal(err)
	}
	for i, e := range watched.History.Events {
		if len(e.Code) > 0 {
			j.Code = append(j.Code, codeJSON{i, e.Code})
		}
	}
	return a.printJSON(j)
}

// explainedRunJSON is a run with the lines of the lock's code.
type explainedRunJSON struct {
	runJSON
	Code []codeJSON `json:"code"`
}

// codeJSON are the lines of code that caused an event, the innermost call first.
type codeJSON struct {
	Event int      `json:"event"` // its index among the events, from 0
	Lines []string `json:"lines"`
}

// asynq explains the lock of the queue that a fleet uses.
func (a *explainer) asynq() error {
	if a.json {
		return a.printTexts("asynq.", explainedJSON{})
	}
	return internal(a.teacher.Asynq())
}

func (a *explainer) path(screen string) error {
	first, last := 1, lessons.PathScreens
	if screen != "" {
		n, err := strconv.Atoi(screen)
		if err != nil || n < 1 || n > last {
			return text.Errorf("error.path", "name", screen, "last", last)
		}
		first, last = n, n
	}
	if a.json {
		return a.printTexts("path.", explainedJSON{})
	}
	return internal(a.teacher.Path(first, last))
}

func (a *explainer) interview(topic string) error {
	topics := lessons.Topics()
	switch {
	case topic != "" && !slices.Contains(topics, topic):
		return text.Errorf("error.topic", "name", topic, "near", text.Near(topic, topics), "names", strings.Join(topics, ", "))
	case a.json:
		return a.printTexts("interview.", explainedJSON{})
	case topic != "":
		return internal(a.teacher.Question(topic))
	}
	return internal(a.teacher.Interview())
}

func (a *explainer) glossary(name string) error {
	if name == "" {
		if a.json {
			return a.printTexts("term.", explainedJSON{})
		}
		return internal(a.teacher.Glossary(lessons.Terms()...))
	}
	term, ok := lessons.FindTerm(name)
	if !ok {
		return text.Errorf("error.term", "name", name, "near", text.Near(name, lessons.Terms()))
	}
	if a.json {
		return a.printTexts("term."+term+".", explainedJSON{})
	}
	if err := a.teacher.Glossary(term); err != nil {
		return internal(err)
	}
	a.Next("locklab explain glossary", "locklab explain path")
	return nil
}
