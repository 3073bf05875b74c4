// Package reports prints one finished run in several views. Its subpackages hold the rest: chart the grid and the
// charts of many runs, page the HTML page, ci the files for build servers, lessons the texts of the teacher, text the
// catalogues, layout lines and columns in a terminal.
//
// A report reads a history and a judgement, or counts made from them, and nothing else; no run is played again. The
// same input gives the same bytes: nothing here asks for the time, the locale or the terminal.
//
//	[Lanes]     a column for each client, the key between them, verdicts in the margin
//	[RedisCLI]  commands that can be typed
//	[Story]     sentences
//	[Notation]  a line for each thing that a client or a server does, commands in full
//	[Code]      the lock's own code, with its requests beside the lines that made them
//
// Texts are framed in ASCII, because the box-drawing characters are of ambiguous width in Chinese terminals.
package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/history"
)

// Schema is the version of all JSON output, which new fields do not change. The README of cmd/locklab has its changes.
const Schema = 3

// A Document is JSON as all commands and files have it. Durations are in ns under names that end in _ns.
type Document struct {
	Version int    `json:"version"` // Schema
	Kind    string `json:"kind"`    // says what data has
	Data    any    `json:"data"`
}

// WriteJSON writes a document of a kind.
func WriteJSON(w io.Writer, kind string, data any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(Document{Schema, kind, data})
}

// ReadJSON reads the data of a document into data, of one of the kinds. The error says what is wrong with it.
func ReadJSON(content []byte, data any, kinds ...string) error {
	var d struct {
		Document
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(content, &d); err != nil {
		return text.Errorf("error.json", "cause", err)
	}
	if d.Version != Schema {
		return text.Errorf("error.json.version", "version", d.Version, "ours", Schema)
	}
	if !slices.Contains(kinds, d.Kind) {
		return text.Errorf("error.json.kind", "kind", d.Kind, "kinds", strings.Join(kinds, ", "))
	}
	decoder := json.NewDecoder(bytes.NewReader(d.Data))
	decoder.UseNumber()
	if err := decoder.Decode(data); err != nil {
		return text.Errorf("error.json", "cause", err)
	}
	return nil
}

// Look says how a text is to look.
type Look struct {
	// Width is that of the terminal; 0: no limit. Lanes draws a column per client, below NarrowWidth an event a line.
	Width int
	// Lang is the language, as for text.Chosen. text.Both prints every sentence in each language, and what has no room
	// for several (lanes) in English. Commands, verdicts and ids are never translated.
	Lang string
	// Color paints verdicts, faults and brackets with ANSI sequences, which take no room. They repeat the text.
	Color bool
	// NoReturn is the event, from 1, beside which Lanes shows the point of no return; 0: none.
	NoReturn int
	// Fold has RedisCLI fold commands and replies as well: they are to be read, not pasted.
	Fold bool
	// Brief leaves out the legend.
	Brief bool
}

// NarrowWidth is the width in cells from which Lanes draws columns.
const NarrowWidth = 120

// Langs returns the languages of the output, in their order.
func (o Look) Langs() []string { return text.Chosen(o.Lang) }

// Lines returns a writer of lines as the options say.
func (o Look) Lines(w io.Writer) *layout.Lines {
	var paint func(string) string
	if o.Color {
		paint = painter(o.Langs()[0])
	}
	return layout.NewLines(w, o.Langs(), o.Width, paint)
}

// Summary describes a history from an index on in six clauses at most, with the time that passes from now on. A clause
// names its client, unless the one before it does. A request has one clause, about its last event.
func Summary(h *history.History, from int, now time.Duration, say func(time.Duration) string, lang string) string {
	type clause struct{ text, who, nodes string }
	v, all, who, said := newWording(lang, h), []clause(nil), "-", ""
	for n := from; n <= len(h.Events); n++ {
		e, text, last := history.Event{At: h.End}, "", len(all)-1
		if n < len(h.Events) {
			e = h.Events[n]
			text = v.brief(e, from, n)
		}
		if e.At > now {
			all, now = append(all, clause{v.say("brief.passes", "span", say(e.At-now)), "-", ""}), e.At
		}
		if node := nodeName(e.Node); last >= 0 && all[last].text == text && all[last].nodes != node {
			all[last].nodes += " " + node // at one more server
		} else if text != "" {
			all = append(all, clause{text, clientName(e.Client), node})
		}
	}
	for n, c := range all {
		text := strings.ReplaceAll(c.text, "{nodes}", c.nodes)
		rest, same := strings.CutPrefix(text, who+" ")
		if n == 6 {
			return v.say("brief.more", "first", said)
		}
		if who, said = "-", cmp.Or(said, text); n > 0 {
			said = v.say(map[bool]string{true: "brief.and", false: "brief.then"}[same], "first", said, "next", rest)
		}
		if strings.HasPrefix(text, c.who+" ") {
			who = c.who
		}
	}
	return said
}

// brief returns the clause of event n of a history, where those from an index on have clauses; "": it has none.
func (v *wording) brief(e history.Event, from, n int) string {
	view, s, resource := "brief", &step{Event: e}, e.Node == history.Resource
	of := func(o history.Event) bool { return e.Msg > 0 && o.Msg == e.Msg && o.Kind != history.Change }
	later := slices.ContainsFunc(v.h.Events[n+1:], of)
	switch {
	case later && (e.Kind == history.Send || e.Kind == history.Apply), e.Kind == history.Acquire && !v.h.Local,
		resource && e.Kind == history.Answer && slices.ContainsFunc(v.h.Events[from:n], of):
		return ""
	case e.Kind == history.Write:
		return v.write(view, s)
	case resource:
		view = "brief.resource"
	}
	return v.event(view, s, cmp.Or(Command(e.Cmd, v.h.Key), v.say("lane.request")))
}
