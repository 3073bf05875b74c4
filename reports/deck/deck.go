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

	"locklab/reports"
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
	book, slides := reports.Book{}, []slide{}
	for i, step := range p.Steps {
		s := slide{Step: step, Number: i + 1}
		if step.Run != nil && step.Run.History != nil {
			if err := s.play(p.Lang, &book); err != nil {
				return err
			}
		}
		slides = append(slides, s)
	}
	view := Views[max(slices.Index(Views, p.View), 0)]
	texts := text.Texts(p.Lang, "motion.", "lesson.")
	data, err := json.Marshal(map[string]any{"lang": p.Lang, "texts": texts, "book": book, "view": view})
	if err != nil {
		return fmt.Errorf("deck: %w", err)
	}
	var b bytes.Buffer
	if err := deckTemplate.Execute(&b, map[string]any{
		"Page": p, "Slides": slides, "Tag": text.Tag(p.Lang), "Letters": []string{"A", "B", "C", "D"},
		"Say":   func(key string) string { return text.Say(p.Lang, "lesson."+key, "command", p.Command) },
		"Style": template.CSS(deckStyle + motion.Style), "Script": template.JS(motion.Script + deckScript),
		"Data": template.JS(data), // in which no < ends the element
	}); err != nil {
		return fmt.Errorf("deck: filling the template: %w", err)
	}
	if _, err := io.WriteString(w, text.InMarkup(b.String())); err != nil {
		return fmt.Errorf("deck: writing: %w", err)
	}
	return nil
}

// A slide is a Step with its pictures.
type slide struct {
	Step
	Number      int
	RunID       string // in the book; "": there is no run
	Command     string // that plays the run
	Open, Whole template.HTML
}

// play adds the run of a slide to the book, and its pictures to the slide: before its first verdict, and whole.
func (s *slide) play(lang string, book *reports.Book) (err error) {
	o := s.Run
	s.RunID = fmt.Sprintf("run%d", s.Number)
	run, listings := reports.RunOf(o.History, o.Judgement, o.Verdicts, []string{lang}, false)
	book.Add(s.RunID, run, listings)
	title := text.Say(lang, "page.run", "lock", o.Strategy.ID, "race", o.Scenario.ID)
	if s.Kind == Quiz { // its run stops where it asks
		s.Open, err = picture(o, lang, title)
		return err
	}
	s.Command = "locklab run " + o.Strategy.ID + " " + o.Scenario.ID
	if s.Open, err = picture(before(o), lang, title); err != nil {
		return err
	}
	if s.Kind != How { // nothing has been found in a run without a fault
		title = ""
	}
	s.Whole, err = picture(o, lang, title)
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
func picture(o *race.Outcome, lang, title string) (template.HTML, error) {
	var b strings.Builder
	run := &chart.Timeline{History: o.History, Judgement: o.Judgement, Verdicts: o.Verdicts}
	if err := chart.SVG(&b, run, chart.Format{Lang: lang, Title: title}); err != nil {
		return "", err
	}
	return template.HTML(svgSize.ReplaceAllString(chart.Inline(b.String()), `<svg role="img"`)), nil
}
