package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"locklab/reports/deck"
	"locklab/reports/lessons"
	"locklab/reports/text"
)

// lessonFlags are the flags of "locklab lesson".
type lessonFlags struct {
	deck.Options
	file string
	open string
}

func lessonCommand() *command {
	l := &lessonFlags{Options: deck.Options{Minutes: 45, Questions: 5, Seed: 1}, open: deck.Views[0]}
	return &command{
		use: "lesson NAME...", complete: lessonSubjects, flags: l.add, run: l.run,
		examples: []string{
			"lesson setnx-expire redlock -o deck.html", "lesson path 5 gc-pause --minutes 20",
			"lesson debate --lang zh -o debate.html --open handout",
		},
		args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return text.Errorf("error.lesson.none")
			}
			return nil
		},
	}
}

func (l *lessonFlags) add(f *flags) {
	f.outTo(&l.file)
	ranged(f, "minutes", &l.Minutes, 5, 240, "error.lesson.range")
	ranged(f, "questions", &l.Questions, 0, 20, "error.lesson.range")
	f.add("seed", &l.Seed)
	f.add("open", &l.open)
}

func (l *lessonFlags) run(e *env, args []string) error {
	if _, err := choose("error.lesson.view", l.open, deck.Views); err != nil {
		return err
	}
	if l.file != "" && filepath.Ext(l.file) != ".html" {
		return text.Errorf("error.lesson.format", "file", l.file)
	}
	if err := e.checkOutputs("-o", l.file); err != nil {
		return err
	}
	subject, err := deck.Parse(args)
	if err != nil {
		return err
	}
	if l.Lang = e.Langs()[0]; e.given("seed") && l.Seed == 0 {
		l.Seed = rand.Uint64N(100_000)
	}
	if !e.given("minutes") {
		l.Minutes = 0
	}
	lesson, err := deck.Make(e.ctx, lessons.NewStage(), subject, l.Options)
	if err != nil {
		return err
	}
	e.show(lessonJSON(lesson), func() { printLesson(e, lesson) })
	page := deck.Page{Lesson: lesson, Lang: l.Lang, Command: e.command, View: l.open}
	return e.write(l.file, replaces, func(w io.Writer) error { return deck.Write(w, page) })
}

// printLesson prints the steps of a lesson with their minutes.
func printLesson(e *env, l *deck.Lesson) {
	steps, minutes := fmt.Sprint(len(l.Steps)), fmt.Sprint(l.Minutes())
	e.Wrap("", text.Say(e.Langs()[0], "lesson.total", "title", l.Title, "steps", steps, "minutes", minutes))
	e.Printf("\n")
	from := 0
	for _, s := range l.Steps {
		e.Wrap(fmt.Sprintf("  %3d-%-3d  ", from, from+s.Minutes), s.Heading)
		from += s.Minutes
	}
	if l := e.command; !strings.Contains(l, " -o") && !strings.Contains(l, "--out") {
		e.Next(l+" -o deck.html", "locklab explain debate")
		return
	}
	e.Next("locklab explain debate", "locklab play quiz --seed 7")
}

// lessonStepJSON is a step of a lesson, in one language.
type lessonStepJSON struct {
	Kind     deck.Kind `json:"kind"`
	Heading  string    `json:"heading"`
	Points   []string  `json:"points,omitempty"`
	Question string    `json:"question,omitempty"`
	Lock     string    `json:"strategy,omitempty"`
	Race     string    `json:"scenario,omitempty"`
	Answer   []string  `json:"answer,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Minutes  int       `json:"minutes"`
}

func lessonJSON(l *deck.Lesson) any {
	out := struct {
		Version int              `json:"version"`
		Title   string           `json:"title"`
		Minutes int              `json:"minutes"`
		Steps   []lessonStepJSON `json:"steps"`
	}{schema, l.Title, l.Minutes(), nil}
	for _, s := range l.Steps {
		j := lessonStepJSON{s.Kind, s.Heading, s.Points, s.Question, "", "", s.Answer, s.Notes, s.Minutes}
		if s.Run != nil {
			j.Lock, j.Race = s.Run.Strategy.ID, s.Run.Scenario.ID
		}
		out.Steps = append(out.Steps, j)
	}
	return out
}
