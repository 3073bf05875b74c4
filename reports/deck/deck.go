// Package deck writes a lesson as a file: slides with runs, the presenter's notes, a handout, a worksheet and its key.
//
// The file can be read without its script: all slides are HTML, with two pictures of each run, as far as the question
// and whole. The script shows one slide at a time, as large as the screen, and the end of its run when asked for it.
package deck

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"locklab/reports/chart"
	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/motion"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// Views list the ways to show the file: one slide at a time, or all of them for paper.
var Views = []string{"slides", "handout", "worksheet", "key"}

// A Page is a deck with what its file says of itself.
type Page struct {
	Slides  []*lessons.Slide
	Lang    string
	Command string // the line that makes the file again
	View    string // one of Views, which is shown first
	Site    string // the address of the page on which a class plays the runs; "": none
}

var (
	//go:embed deck.html
	deckText string
	//go:embed deck.css
	deckStyle string
	//go:embed deck.js
	deckScript string

	numbered     = regexp.MustCompile(`(\d) (m?s\b|min\b|%|秒|毫秒)`) // and its unit, which stay on one line
	deckTemplate = template.Must(template.New("deck").Parse(deckText))
)

// Write writes a deck as one file, which asks no server for anything.
func Write(w io.Writer, p Page) error {
	var slides []slide
	letters, first := chart.Letters{}, slices.IndexFunc(p.Slides, func(s *lessons.Slide) bool { return s.Run != nil })
	for i, s := range p.Slides {
		one := slide{Slide: s, Number: i + 1, lang: p.Lang, letters: letters, legend: i == first}
		if err := one.draw(); err != nil {
			return err
		}
		slides = append(slides, one)
	}
	data, err := json.Marshal(map[string]any{"texts": text.Texts(p.Lang, "lesson."),
		"view": Views[max(slices.Index(Views, p.View), 0)]})
	if err != nil {
		return fmt.Errorf("deck: %w", err)
	}
	var b bytes.Buffer
	if err := deckTemplate.Execute(&b, map[string]any{
		"Page": p, "Slides": slides, "Tag": text.Tag(p.Lang), "Letters": []string{"A", "B", "C", "D"},
		"Say": func(key string) string { return text.Say(p.Lang, "lesson."+key, "command", p.Command) },
		"Scale": text.Join(p.Lang, "part.sentences", []string{text.Say(p.Lang, "timeline.scale.cut"),
			text.Say(p.Lang, "timeline.versions", "ring", "○", "dot", "●"),
			text.Say(p.Lang, "timeline.height"), text.Say(p.Lang, "lesson.numbered")}),
		"Style": template.CSS(deckStyle + motion.Style), "Script": template.JS(deckScript),
		"Data": template.JS(data), // in which no < ends the element
	}); err != nil {
		return fmt.Errorf("deck: filling the template: %w", err)
	}
	if _, err := io.WriteString(w, text.InMarkup(b.String())); err != nil {
		return fmt.Errorf("deck: writing: %w", err)
	}
	return nil
}

// A slide is one of a deck, with its pictures.
type slide struct {
	*lessons.Slide
	Number      int
	lang        string
	letters     chart.Letters
	legend      bool          // its picture says how to read one
	Command     string        // that plays the run; "": there is none to play
	Address     string        // of the race on the page, after its "#"
	Found       string        // what the run shows
	Open, Whole template.HTML // pictures of the run: as far as the question goes, and whole; empty: none
}

// Part returns a part of a slide as HTML; empty: it has none.
func (s slide) Part(name string) (template.HTML, error) {
	return lessons.Elements(s.lang, s.Parts[name])
}

// draw adds the pictures of its run to a slide.
func (s *slide) draw() (err error) {
	o := s.Run
	switch {
	case o == nil:
		return nil
	case s.Kind == lessons.How:
		s.Open, err = s.picture(o, 0)
		return err
	}
	s.Command, s.Address = "locklab run "+o.Lock.ID+" "+o.Race.ID, "race."+o.Lock.ID+"."+o.Race.ID
	open := s.Asks
	if open == nil {
		open = game.Until(o, question(o))
	}
	now := len(open.History.Events) - 1
	s.Found = numbered.ReplaceAllString(timeline(o).Finding(s.lang), "$1\u00a0$2")
	if s.Open, err = s.picture(open, now); err == nil {
		s.Whole, err = s.picture(o, now)
	}
	return err
}

// question is the number of events that a question shows: until the last fault before the first verdict, and then until
// a client is refused, or asks with the call that this verdict is about. Without either it is until one leaves.
func question(o *race.Outcome) int {
	events, first := o.History.Events, len(o.History.Events)
	for _, f := range o.Judgement.Findings {
		first = min(first, max(f.Event, 1))
	}
	n := 0
	for i := range events[:first] {
		if events[i].Kind.Fault() {
			n = i + 1
		}
	}
	if first == len(events) { // nothing is found
		left := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.Leave })
		return cmp.Or(n, 1+left, first)
	}
	for call, e := range slices.Backward(events[n:first]) {
		if e.Kind == history.Acquire && e.Client == events[first].Client {
			first = n + call + 1
			break
		}
	}
	refused := slices.IndexFunc(events[n:first], func(e history.Event) bool { return e.Kind == history.Refuse })
	if refused >= 0 {
		return n + refused + 1
	}
	return first
}

func timeline(o *race.Outcome) *chart.Timeline {
	return &chart.Timeline{History: o.History, Judgement: o.Judgement, Verdicts: o.Verdicts}
}

// picture is a run for a screen, and for paper, with the share of its width up to an event, which a quiz marks.
func (s *slide) picture(o *race.Outcome, now int) (template.HTML, error) {
	var all strings.Builder
	drawn := timeline(o)
	if s.Kind == lessons.Quiz && now < len(s.Run.History.Events)-1 {
		drawn.Now = now
	}
	for _, print := range []bool{false, true} {
		var b strings.Builder
		format := chart.Format{Lang: s.lang, Slide: true, Print: print, Notes: s.legend && !print}
		if err := chart.SVG(&b, drawn, format); err != nil {
			return "", err
		}
		fmt.Fprintf(&all, `<div class="drawn" style="--seen: %g%%">%s</div>`,
			drawn.Seen(format, now), s.letters.Inline(b.String(), o.Lock.ID+" "+o.Race.ID))
	}
	return template.HTML(all.String()), nil
}
