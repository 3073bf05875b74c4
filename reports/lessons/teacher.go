package lessons

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Teacher prints explanations. A page consists of parts; a part has a heading from
// the labels, and beneath it a text or a run that is played for it.
//
// A page returns the first error of its parts, and prints nothing after it.
type Teacher struct {
	out   *text.Printer
	ctx   context.Context
	stage *Stage
	look  reports.Look
	err   error // of the page so far
}

// NewTeacher returns a teacher that prints to p and draws as look says, but for width
// and language, which are the printer's. ctx ends its searches.
func NewTeacher(ctx context.Context, p *text.Printer, look reports.Look, stage *Stage) *Teacher {
	look.Width, look.Lang = p.Width, p.Lang
	return &Teacher{out: p, ctx: ctx, stage: stage, look: look}
}

// failed keeps the first error, and reports whether there is one.
func (t *Teacher) failed(err error) bool {
	if t.err == nil && err != nil {
		t.err, t.out = err, t.out.To(io.Discard, t.out.Width)
	}
	return t.err != nil
}

// Texts returns all texts whose keys begin with a prefix, filled in, by language and
// key.
func (t *Teacher) Texts(prefix string) (map[string]map[string][]string, error) {
	all := map[string]map[string][]string{}
	for _, lang := range t.out.Langs() {
		all[lang] = map[string][]string{}
		for _, key := range In(lang).Keys(prefix) {
			all[lang][key] = t.lines(lang, key)
		}
	}
	return all, t.err
}

// lines returns a text with its places filled in; nil: there is none.
func (t *Teacher) lines(lang, key string) []string {
	lines, err := t.stage.Lines(t.ctx, lang, key)
	t.failed(err)
	return lines
}

// labelled is a heading with what it introduces.
type labelled struct{ label, key string }

// part begins a part of a page.
func (t *Teacher) part(heading string) {
	t.out.Printf("\n")
	t.out.Wrap("", heading)
}

// texts prints texts under their labels in each language, as far as they exist.
func (t *Teacher) texts(parts ...labelled) {
	for _, p := range parts {
		for _, lang := range t.out.Langs() {
			if lines := t.lines(lang, p.key); lines != nil {
				t.part(In(lang).Name("label." + p.label))
				t.wrapped("  ", lines)
			}
		}
	}
}

// wrapped prints lines, each after a label.
func (t *Teacher) wrapped(label string, lines []string) {
	for _, line := range lines {
		t.out.Wrap(label, line)
	}
}

// line returns a text as one line.
func (t *Teacher) line(lang, key string) string { return strings.Join(t.lines(lang, key), " ") }

// labelled prints what say returns under a label, in each language that has it.
func (t *Teacher) labelled(label string, say func(lang string) string) {
	for _, lang := range t.out.Langs() {
		if s := say(lang); s != "" {
			t.part(In(lang).Name("label." + label))
			t.out.Wrap("  ", s)
		}
	}
}

// aboutVerdicts says where verdicts are explained.
func (t *Teacher) aboutVerdicts() {
	t.out.Sentence("label.capitals", "harm", string(verdict.Overlap), "race", "R18")
}

// indented prints what draw prints, two columns to the right.
func (t *Teacher) indented(draw view, h *history.History, j verdict.Judgement, look reports.Look) {
	var b bytes.Buffer
	look.Width -= 2
	err := draw(&b, h, j, look)
	for line := range strings.Lines(b.String()) {
		t.out.Printf("%s", strings.TrimRight("  "+line, " \n")+"\n")
	}
	t.failed(err)
}

// A view is one of package reports.
type view = func(io.Writer, *history.History, verdict.Judgement, reports.Look) error

// notation prints a run in the notation of the articles, with its verdicts.
func (t *Teacher) notation(o *race.Outcome) {
	t.indented(reports.Notation, o.History, o.Judgement, t.look)
}

// results returns the verdicts of an outcome, and the contract's reason for them.
func (t *Teacher) results(o *race.Outcome) string {
	result := reports.Words(o.Verdicts)
	if d := Longest(o, verdict.Blocked); d > 0 {
		result = t.out.First("explain.aside", "text", result, "aside", span(t.out.Langs()[0], d))
	}
	why := t.out.Each(func(lang string) string { return WhyNotApplicable(lang, o) })
	if o.NotApplicable == "" && asContracted(o) {
		why = t.out.Each(func(lang string) string { return Why(lang, o.Strategy, o.Scenario) })
	}
	if strings.Trim(why, " /") != "" {
		result = t.out.First("explain.because", "result", result, "why", why)
	}
	return result
}

func padded(s string, width int) string { return fmt.Sprintf("%-*s", width, s) }

// isRequest reports whether an event is a request to a server.
func isRequest(e history.Event) bool { return e.Kind == history.Send && e.Node > 0 }
