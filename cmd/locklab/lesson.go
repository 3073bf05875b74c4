package main

import (
	"bytes"
	"fmt"
	"strings"

	"locklab/reports"
	"locklab/reports/lessons"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// What explain prints, page by page. A page is made of parts; a part has a heading
// from the lessons' labels, and beneath it either a text of theirs or something played.

// explainedJSON is a page for programs. Texts are by language and key.
type explainedJSON struct {
	Version int                            `json:"version"`
	Lock    *listedStrategy                `json:"strategy,omitempty"`
	Race    *listedScenario                `json:"scenario,omitempty"`
	Story   *reports.Text                  `json:"story,omitempty"`
	Numbers *reports.Text                  `json:"numbers,omitempty"`
	Texts   map[string]map[string][]string `json:"texts"`
	Cells   []cellJSON                     `json:"cells,omitempty"`
}

// texts are all texts whose keys begin with one of the prefixes, filled in.
func (a *app) texts(prefixes ...string) (map[string]map[string][]string, error) {
	all := map[string]map[string][]string{}
	for _, lang := range a.langs() {
		all[lang] = map[string][]string{}
		for _, prefix := range prefixes {
			for _, key := range lessons.In(lang).Keys(prefix) {
				lines, err := a.teacher(lang).lines(key)
				if err != nil {
					return nil, internal(err)
				}
				all[lang][key] = lines
			}
		}
	}
	return all, nil
}

func (a *app) teacher(lang string) *teacher {
	return &teacher{ctx: a.ctx, lang: lang, stage: a.stage}
}

// label is a heading in the languages that were asked for.
func (a *app) label(name string) string {
	var names []string
	for _, lang := range a.langs() {
		names = append(names, lessons.In(lang).Name("label."+name))
	}
	return strings.Join(names, " / ")
}

// part begins a part of a page.
func (a *app) part(heading string) {
	a.printf("\n")
	a.wrap("", heading)
}

// beside is a label with what follows it on the same line kept apart from it.
func beside(label string) string {
	if strings.HasSuffix(label, "：") { // a wide colon brings its own room
		return label
	}
	return label + " "
}

// text prints a text of the lessons under its label, in each language; nothing where
// there is none.
func (a *app) text(label, key string) error {
	for _, lang := range a.langs() {
		lines, err := a.teacher(lang).lines(key)
		if err != nil {
			return internal(err)
		}
		if lines == nil {
			continue
		}
		if label != "" {
			a.part(lessons.In(lang).Name("label." + label))
		}
		for _, line := range lines {
			a.wrap("  ", line)
		}
	}
	return nil
}

// textParts are labels with the keys of their texts.
func (a *app) textParts(parts ...[2]string) error {
	for _, p := range parts {
		if err := a.text(p[0], p[1]); err != nil {
			return err
		}
	}
	return nil
}

// told prints a text that a run brings along beneath a label, in each language.
func (a *app) told(label string, t reports.Text) {
	for _, lang := range a.langs() {
		if in(lang, t) != "" {
			a.part(lessons.In(lang).Name("label." + label))
			a.wrap("  ", in(lang, t))
		}
	}
}

// capitals says where to look up the verdicts in a text.
func (a *app) capitals() {
	for _, text := range a.ownText("label.capitals", map[string]string{"harm": string(verdict.Overlap)}) {
		a.wrap("", text)
	}
}

// indented prints what draw prints, two columns to the right.
func (a *app) indented(draw func(b *app) error) error {
	var text bytes.Buffer
	b := *a
	b.stdout, b.width = &text, a.width-2
	err := draw(&b)
	for line := range strings.Lines(text.String()) {
		a.printf("%s", strings.TrimRight("  "+line, " \n")+"\n")
	}
	return err
}

func padded(s string, width int) string { return fmt.Sprintf("%-*s", width, s) }

// asksRedis says whether an event is a request to a server.
func asksRedis(e history.Event) bool { return e.Kind == history.Send && e.Node > 0 }
