package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locklab/reports/deck"
	"locklab/reports/lessons"
	"locklab/reports/text"
)

// lessonFlags are the flags of "locklab lesson".
type lessonFlags struct {
	lessons.DeckOptions
	file string
	open string
}

func lessonCommand() *command {
	l := &lessonFlags{DeckOptions: lessons.DeckOptions{Questions: 5, Seed: 1}, open: deck.Views[0]}
	return &command{
		use: "lesson NAME...", complete: lessonSubjects, values: map[string]completer{"open": oneOf(deck.Views)},
		flags: l.add, run: l.run,
		examples: []string{
			"lesson setnx-expire redlock -o deck.html", "lesson path 5 gc-pause",
			"lesson debate --lang zh -o debate.html --open handout",
			"lesson setnx-expire redlock --slides 10 --course 'CS 425, Ms Li' -o deck.html",
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
	ranged(f, "questions", &l.Questions, 0, 20)
	f.add("seed", &l.Seed)
	ranged(f, "slides", &l.Slides, 0, lessons.MostSlides)
	f.add("title", &l.Title)
	f.add("course", &l.Course)
	f.add("open", &l.open)
}

func (l *lessonFlags) run(e *env, args []string) error {
	if _, err := choose("error.lesson.view", l.open, deck.Views); err != nil {
		return err
	}
	if l.file != "" && filepath.Ext(l.file) != ".html" {
		return text.Errorf("error.lesson.format", "file", l.file)
	}
	if err := e.replace("-o", l.file); err != nil {
		return err
	}
	subject, err := lessons.ParseSubject(args)
	if err != nil {
		return err
	}
	if l.Lang = e.Langs()[0]; e.given("seed") && l.Seed == 0 {
		l.Seed = rand.Uint64N(100_000)
	}
	slides, err := subject.Deck(lessons.NewStage(), l.DeckOptions)
	if err != nil {
		return err
	}
	e.show("lesson", lessonJSON(slides), func() { printLesson(e, slides) })
	page := deck.Page{Slides: slides, Lang: l.Lang, Command: e.command, View: l.open, Site: e.getenv("LOCKLAB_PAGE")}
	return e.write(l.file, func(w io.Writer) error { return deck.Write(w, page) })
}

// printLesson prints the headings of a lesson.
func printLesson(e *env, slides []*lessons.Slide) {
	e.Wrap("", text.Say(e.Langs()[0], "lesson.total", "title", slides[0].Heading, "steps", fmt.Sprint(len(slides))))
	e.Printf("\n")
	for i, s := range slides {
		e.Wrap(fmt.Sprintf("  %2d  ", i+1), s.Listed(e.Langs()[0]))
	}
	for _, line := range slides[0].Lines(lessons.Left) {
		e.Printf("\n")
		e.Wrap("  ", line)
	}
	if l := e.command; !strings.Contains(l, " -o") && !strings.Contains(l, "--out") {
		e.Next(l+" -o deck.html", "locklab explain debate")
		return
	}
	e.Next("locklab explain debate", "locklab play quiz --seed 7")
}

// lessonStepJSON is a step of a lesson, in one language.
type lessonStepJSON struct {
	Kind     string   `json:"kind"`
	Heading  string   `json:"heading"`
	Points   []string `json:"points,omitempty"`
	Question string   `json:"question,omitempty"`
	Lock     string   `json:"lock,omitempty"`
	Race     string   `json:"race,omitempty"`
	Answer   []string `json:"answer,omitempty"`
	Notes    []string `json:"notes,omitempty"`
}

func lessonJSON(slides []*lessons.Slide) any {
	out := struct {
		Title string           `json:"title"`
		Steps []lessonStepJSON `json:"steps"`
	}{slides[0].Heading, nil}
	for _, s := range slides {
		asked := strings.Join(s.Lines(lessons.Asked), " ")
		j := lessonStepJSON{s.Kind, s.Heading, s.Lines(""), asked, "", "", s.Lines(lessons.Answer), s.Lines(lessons.Notes)}
		if o := s.Run; o != nil {
			j.Lock, j.Race = o.Lock.ID, o.Race.ID
		}
		out.Steps = append(out.Steps, j)
	}
	return out
}

// lessonSubjects completes what a lesson can be about, any number of times.
func lessonSubjects(lang string, _ []string) []cobra.Completion {
	return slices.Concat([]cobra.Completion{"path", "debate"}, familiesAndLocks(lang, nil), races(lang, nil))
}
