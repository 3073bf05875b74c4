package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/promela"
)

// opinionFlags are the flags of "locklab second-opinion".
type opinionFlags struct {
	boundFlags
	histories bool // searches that keep histories as well
	timed     bool
	folder    string // "": none
}

// secondOpinionCommand asks SPIN what a search asks.
func secondOpinionCommand() *command {
	q := &opinionFlags{boundFlags: boundFlags{Bounds: study.DefaultBounds()}}
	q.Nodes, q.MaxStates = 3, 2_000_000
	return &command{
		use: "second-opinion [STRATEGY...]", complete: locks, flags: q.add, run: q.run,
		examples: []string{"second-opinion", "second-opinion setnx token --timing any", "second-opinion watchdog --budget lose-reply=1 -o watchdog", "second-opinion zk-naive --attempts 1 --uses check,wait --budget expire-session=1"},
	}
}

func (q *opinionFlags) add(f *flags) {
	q.boundFlags.add(f, "budget", "clients", "attempts", "nodes", "max-states")
	q.addLate(f)
	parse(f, "timing", study.Lockstep.String(), &q.Timing, parseOpinionTiming)
	parse(f, "uses", study.FormatUses(0), &q.Uses, parseOpinionUses)
	f.add("histories", &q.histories)
	f.add("time", &q.timed)
	f.outTo(&q.folder)
}

func (q *opinionFlags) run(e *env, args []string) (err error) {
	entries := algorithms.Milestones()
	if len(args) > 0 {
		if entries, err = locksNamed(args); err != nil {
			return err
		}
	}
	q.Budget = q.Budget.Canonical()
	for _, entry := range entries {
		if err := q.of(entry).Check(entry); err != nil {
			return err
		}
	}
	if err := promela.Installed(); err != nil {
		return err
	}
	if q.folder != "" {
		if err := os.MkdirAll(q.folder, 0o777); err != nil {
			return text.Errorf("error.cause", "of", "-o "+q.folder, "cause", err)
		}
	}
	t := &opinionTable{asked: q, all: []opinionJSON{}}
	return t.fill(e, entries)
}

// parseOpinionTiming and parseOpinionUses refuse what a search finds out itself.
func parseOpinionTiming(s string) (study.Mode, error) {
	t, err := study.ParseMode(s)
	if err == nil && t == study.AutoTiming {
		err = text.Errorf("error.opinion.timing", "value", s)
	}
	return t, err
}

func parseOpinionUses(s string) (client.Uses, error) {
	uses, err := study.ParseUses(s)
	if err == nil && uses == study.AutoUses {
		err = text.Errorf("error.opinion.uses", "value", s)
	}
	return uses, err
}

// of are the bounds for a lock.
func (q *opinionFlags) of(e lock.Entry) study.Bounds {
	b := q.Bounds
	b.Nodes = min(b.Nodes, e.Servers())
	b.Retries = 0
	return b
}

type opinionJSON struct {
	Strategy    string   `json:"strategy"`
	Bounds      string   `json:"bounds"`
	Agrees      *bool    `json:"agrees,omitempty"` // absent: not asked
	Why         string   `json:"why,omitempty"`    // it was not, in English
	Lab         []string `json:"lab,omitempty"`
	Spin        []string `json:"spin,omitempty"`
	States      int      `json:"states,omitempty"`
	Seconds     float64  `json:"seconds,omitempty"`
	Plain       []int    `json:"plain,omitempty"` // states and transitions without symmetry and reduction
	PlainSecs   float64  `json:"plain_seconds,omitempty"`
	SpinPlain   []int    `json:"spin_plain,omitempty"`
	SpinSecs    float64  `json:"spin_seconds,omitempty"`
	Histories   int      `json:"states_with_histories,omitempty"`
	HistorySecs float64  `json:"histories_seconds,omitempty"`
}

// opinionTable has the answers of the lab and of SPIN, lock by lock.
type opinionTable struct {
	asked        *opinionFlags
	all          []opinionJSON
	width        int // of the names of the locks
	differ, open int // locks
}

// fill asks the lab and SPIN about each lock and shows what they answer.
func (t *opinionTable) fill(e *env, entries []lock.Entry) error {
	if !e.json {
		t.printHead(e, entries)
	}
	for _, entry := range entries {
		if err := t.ask(e, entry); err != nil {
			return err
		}
	}
	answers := struct {
		Version  int           `json:"version"`
		Opinions []opinionJSON `json:"opinions"`
	}{schema, t.all}
	e.show(answers, func() { t.printEnd(e, entries) })
	switch {
	case t.differ > 0:
		return &exitError{exitDiffers, nil}
	case t.open > 0:
		return noAnswer("error.opinion.open", "n", fmt.Sprint(t.open))
	}
	return nil
}

// ask asks the lab and SPIN about a lock, and prints its row.
func (t *opinionTable) ask(e *env, entry lock.Entry) error {
	b := t.asked.of(entry)
	o, err := study.SecondOpinion(e.ctx, entry, b, t.asked.histories)
	if why := unasked(o, err, t.asked.MaxStates); why != nil {
		t.open++
		t.all = append(t.all, opinionJSON{Strategy: entry.ID, Bounds: b.String(), Why: text.SayError("en", why)})
		if !e.json {
			e.Wrap(text.Pad(entry.ID, t.width), e.Error(why))
		}
		return nil
	}
	if err != nil {
		return internal(err)
	}
	if t.asked.folder != "" {
		if err := writeModel(e, filepath.Join(t.asked.folder, entry.ID), o.Spin.Files); err != nil {
			return err
		}
	}
	if !o.Agrees() {
		t.differ++
	}
	t.all = append(t.all, t.toJSON(o))
	if !e.json {
		t.printRow(e, o)
	}
	return nil
}

// printEnd prints what follows from the rows.
func (t *opinionTable) printEnd(e *env, entries []lock.Entry) {
	e.Printf("\n")
	switch {
	case t.differ > 0:
		e.Sentence("opinion.differ", "n", fmt.Sprint(t.differ))
	case t.open < len(entries):
		e.Sentence("opinion.agree")
	}
	if t.open > 0 {
		e.Sentence("opinion.not.asked", "n", fmt.Sprint(t.open))
	}
	if t.asked.folder != "" {
		e.Printf("%s\n", e.Say("opinion.written", "folder", t.asked.folder))
	}
	e.Next("locklab explore "+entries[0].ID+" "+t.asked.of(entries[0]).Flags(), "locklab verify")
}

// writeModel writes the files of a model to a folder.
func writeModel(e *env, folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return internal(text.Errorf("error.write", "file", folder, "cause", err))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := e.write(filepath.Join(folder, name), replaces, func(w io.Writer) error {
			_, err := w.Write(files[name])
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// unasked returns the reason for which there is no second opinion; nil: there is one, or an error.
// A search ends at most states.
func unasked(o *study.Opinion, err error, most int) error {
	unfit, incomplete := (*promela.UnfitError)(nil), (*promela.IncompleteError)(nil)
	switch {
	case errors.As(err, &unfit), errors.As(err, &incomplete):
		return err
	case err == nil && !o.Complete, err == nil && !o.Plain.Complete:
		return text.Errorf("opinion.cut", "states", fmt.Sprint(most))
	}
	return nil
}

func (t *opinionTable) toJSON(o *study.Opinion) opinionJSON {
	j := opinionJSON{
		Strategy: o.Strategy.ID, Bounds: o.Bounds.String(), Agrees: new(o.Agrees()), Lab: o.Lab(), Spin: o.Spins(),
		States: o.Search.States,
		Plain:  []int{o.Plain.States, o.Plain.Transitions}, SpinPlain: []int{o.Spin.States, o.Spin.Transitions},
	}
	if o.Kept != nil {
		j.Histories = o.Kept.States
	}
	if t.asked.timed {
		j.Seconds, j.PlainSecs = o.Took.Seconds(), o.TookPlain.Seconds()
		j.SpinSecs, j.HistorySecs = o.Spin.Took.Seconds(), o.TookKept.Seconds()
	}
	return j
}

// The columns of the table: numbers of states and, with --time, seconds.
const statesWidth, secondsWidth = 9, 7

func (t *opinionTable) printHead(e *env, entries []lock.Entry) {
	title := "opinion.title"
	if t.asked.timed {
		title = "opinion.title.timed"
	}
	e.Printf("%s\n\n", e.Say(title, "clients", fmt.Sprint(t.asked.Clients), "attempts", fmt.Sprint(t.asked.Attempts), "budget", t.asked.Faults(), "timing", t.asked.Timing.String()))
	for _, entry := range entries {
		t.width = max(t.width, len(entry.ID)+2)
	}
	line := text.Pad("", t.width)
	heads := []string{"opinion.head.lab", "opinion.head.plain", "opinion.head.spin"}
	if t.asked.histories {
		heads = append([]string{"opinion.head.kept"}, heads...)
	}
	for _, h := range heads {
		line += text.PadLeft(e.Say(h), statesWidth)
		if t.asked.timed {
			line += text.PadLeft("s", secondsWidth)
		}
	}
	e.Printf("%s\n", line)
}

func (t *opinionTable) printRow(e *env, o *study.Opinion) {
	line := text.Pad(o.Strategy.ID, t.width)
	add := func(states int, took time.Duration) {
		line += text.PadLeft(fmt.Sprint(states), statesWidth)
		if t.asked.timed {
			line += text.PadLeft(fmt.Sprintf("%.2f", took.Seconds()), secondsWidth)
		}
	}
	if o.Kept != nil {
		add(o.Kept.States, o.TookKept)
	}
	add(o.Search.States, o.Took)
	add(o.Plain.States, o.TookPlain)
	add(o.Spin.States, o.Spin.Took)
	found := cmp.Or(strings.Join(o.Lab(), " "), "-")
	if !o.Agrees() {
		found = e.Say("opinion.differs", "lab", found, "spin", cmp.Or(strings.Join(o.Spins(), " "), "-"),
			"transitions", fmt.Sprint(o.Plain.Transitions), "others", fmt.Sprint(o.Spin.Transitions))
	}
	e.Printf("%s  %s\n", line, found)
}
