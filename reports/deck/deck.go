package deck

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"locklab/reports/chart"
	"locklab/reports/motion"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/simulator/verdict"
)

// Views list the ways to show the file: one slide at a time, or all of them for paper.
var Views = []string{"slides", "handout", "worksheet", "key"}

// A Page is a lesson with what its file says of itself.
type Page struct {
	*Lesson
	Lang    string
	Command string // the line that makes the file again
	View    string // one of Views, which is shown first
}

var (
	//go:embed deck.html
	deckText string
	//go:embed deck.css
	deckStyle string
	//go:embed deck.js
	deckScript string

	deckTemplate = template.Must(template.New("deck").Parse(deckText))
)

// Write writes a lesson as one file, which asks no server for anything.
func Write(w io.Writer, p Page) error {
	d := &document{Page: p, book: motion.Book{}}
	if err := d.fill(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := deckTemplate.Execute(&b, d); err != nil {
		return fmt.Errorf("deck: filling the template: %w", err)
	}
	if _, err := io.WriteString(w, text.InMarkup(b.String())); err != nil {
		return fmt.Errorf("deck: writing: %w", err)
	}
	return nil
}

// document is a Page in the shape of its template.
type document struct {
	Page
	Slides []slide
	book   motion.Book
}

// A slide is a Step with its pictures.
type slide struct {
	Step
	Number      int
	RunID       string // in the book; "": there is no run
	Command     string // that plays the run
	Open, Whole template.HTML
}

func (d *document) fill() error {
	for i, step := range d.Steps {
		s := slide{Step: step, Number: i + 1}
		if step.Run != nil && step.Run.History != nil {
			if err := d.add(&s); err != nil {
				return err
			}
		}
		d.Slides = append(d.Slides, s)
	}
	return nil
}

// add adds the run of a slide to the book, and its pictures to the slide: before its first verdict, and whole.
func (d *document) add(s *slide) (err error) {
	o := s.Run
	s.RunID = fmt.Sprintf("run%d", s.Number)
	run, listings := motion.Of(o.History, o.Judgement, o.Verdicts, []string{d.Lang}, false)
	d.book.Add(s.RunID, run, listings)
	title := text.Say(d.Lang, "lesson.race", "lock", o.Strategy.ID, "race", o.Scenario.ID)
	open := o
	if s.Kind != Quiz { // a question of the quiz has a run that stops where it asks
		s.Command = "locklab run " + o.Strategy.ID + " " + o.Scenario.ID
		open = before(o)
	}
	if s.Open, err = d.picture(open, title); err != nil || s.Kind == Quiz {
		return err
	}
	if s.Kind != How { // nothing has been found in a run without a fault
		title = ""
	}
	s.Whole, err = d.picture(o, title)
	return err
}

// before is a run until its first verdict; one without, until its last fault.
func before(o *race.Outcome) *race.Outcome {
	n := len(o.History.Events)
	for i, e := range o.History.Events {
		if e.Kind.Fault() {
			n = i + 1
		}
	}
	for _, f := range o.Judgement.Findings {
		n = min(n, max(f.Event, 1))
	}
	cut, h := *o, *o.History
	h.Events, h.Open = h.Events[:n:n], true
	h.End = h.Events[n-1].At
	cut.History, cut.Verdicts, cut.Judgement = &h, nil, verdict.Judgement{}
	return &cut
}

var svgSize = regexp.MustCompile(`<svg width="[^"]*" height="[^"]*"`)

// picture is a run as a part of the page. Without a title it has what the run has found.
func (d *document) picture(o *race.Outcome, title string) (template.HTML, error) {
	var b strings.Builder
	run := &chart.Timeline{History: o.History, Judgement: o.Judgement, Verdicts: o.Verdicts}
	if err := chart.SVG(&b, run, chart.Format{Lang: d.Lang, Title: title}); err != nil {
		return "", err
	}
	return template.HTML(svgSize.ReplaceAllString(chart.Inline(b.String()), `<svg role="img"`)), nil
}

// Tag is the language as HTML names it.
func (d *document) Tag() string { return text.Tag(d.Lang) }

// Say is a label of the page.
func (d *document) Say(key string) string {
	return text.Say(d.Lang, "lesson."+key, "command", d.Command)
}

// Answered is a choice of a question with its letter.
func (d *document) Answered(i int) string { return string(rune('A' + i)) }

// Own is a text of the quiz.
func (d *document) Own(words map[string]string) string { return words[d.Lang] }

// Lined reports whether the worksheet leaves lines for an answer.
func (d *document) Lined(s slide) bool { return s.Question != "" && s.Choices == nil }

// Style is the style sheet.
func (d *document) Style() template.CSS { return template.CSS(deckStyle + motion.Style) }

// Script is the script of the page.
func (d *document) Script() template.JS { return template.JS(motion.Script + deckScript) }

// Data returns the runs that the script plays, as JSON that ends no element.
func (d *document) Data() (template.JS, error) {
	texts := text.Texts(d.Lang, "motion.", "lesson.")
	out, err := json.Marshal(map[string]any{"lang": d.Lang, "texts": texts, "book": d.book, "view": d.first()})
	return template.JS(out), err
}

// first is the view that the file opens on.
func (d *document) first() string { return Views[max(slices.Index(Views, d.View), 0)] }
