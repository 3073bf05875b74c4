package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locklab/reports/deck"
	"locklab/reports/lessons"
	"locklab/simulator/lists"
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
		use: "lesson NAME...", complete: lessonSubjects, run: l.run,
		args: between(1, math.MaxInt, "lesson"),
		flags: func(f *flags) {
			f.outHTML(&l.file, "error.lesson.format")
			ranged(f, "questions", &l.Questions, 0, 20)
			f.add("seed", &l.Seed)
			ranged(f, "slides", &l.Slides, 0, lessons.MostSlides)
			f.add("title", &l.Title)
			f.add("course", &l.Course)
			f.command.Example = strings.ReplaceAll(f.command.Example, "{course}", f.e.Say("help.lesson.class"))
			f.add("open", &l.open)
			f.completes("open", oneOf(deck.Views))
		},
		examples: []string{
			"lesson setnx-expire redlock -o deck.html", "lesson path 5 gc-pause",
			"lesson debate --lang zh -o debate.html --open handout",
			"lesson setnx-expire redlock --slides 10 --course '{course}' -o deck.html",
			"lesson setnx-expire redlock --slides 17 -o deck.html",
		},
	}
}

func (l *lessonFlags) run(e *env, args []string) error {
	if _, err := choose("error.lesson.view", l.open, deck.Views); err != nil {
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
	page := deck.Page{Slides: slides, Lang: l.Lang, View: l.open, Site: e.getenv("LOCKLAB_PAGE"),
		Command: strings.ReplaceAll(e.remake(), l.file, filepath.Base(l.file))} // without the teacher's directories
	return e.write(l.file, func(w io.Writer) error { return deck.Write(w, page) })
}

// printLesson prints the headings of a lesson.
func printLesson(e *env, slides []*lessons.Slide) {
	e.Wrap("", e.Say("lesson.total", "title", slides[0].Heading, "steps", fmt.Sprint(len(slides)),
		"minutes", fmt.Sprint(lessons.Minutes(slides))))
	e.Printf("\n")
	for i, s := range slides {
		minutes := e.Say("lesson.minutes", "n", fmt.Sprint(lessons.Minutes(slides[i:i+1])))
		e.Wrap(fmt.Sprintf("  %2d  %s  ", i+1, minutes), s.Listed(e.Langs()[0]))
	}
	for _, line := range slides[0].Lines(lessons.Left) {
		e.Printf("\n")
		e.Wrap("  ", line)
	}
	if !e.given("out") {
		e.Next(e.command+" -o deck.html", "locklab explain debate")
		return
	}
	e.Next("locklab explain debate", "locklab play quiz --seed 7")
}

// A lessonStep is a step of a lesson in JSON, in one language.
type lessonStep struct {
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
	return struct {
		Title string       `json:"title"`
		Steps []lessonStep `json:"steps"`
	}{slides[0].Heading, lists.Each(slides, func(s *lessons.Slide) lessonStep {
		step := lessonStep{Kind: s.Kind, Heading: s.Heading, Points: s.Lines(""),
			Question: strings.Join(s.Lines(lessons.Asked), " "), Answer: s.Lines(lessons.Answer),
			Notes: s.Lines(lessons.Notes)}
		if o := s.Run; o != nil {
			step.Lock, step.Race = o.Lock.ID, o.Race.ID
		}
		return step
	})}
}

// lessonSubjects completes what a lesson can be about, any number of times.
func lessonSubjects(lang string, _ []string) []cobra.Completion {
	return slices.Concat([]cobra.Completion{"path", "debate"}, familiesAndLocks(lang, nil), races(lang, nil))
}
