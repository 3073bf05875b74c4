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

// Schema is the version of all JSON output; new fields do not change it. Version 3
// renamed fields: the README of cmd/locklab has which.
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
	// Width is the number of terminal cells that no line exceeds; 0: no limit. From NarrowWidth on, Lanes draws a
	// column per client; below, it prints an event a line.
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

// Summary says in a few words what the events of a history from the index from up to
// the index to (not included) were, and that some time passed with them, which say words.
func Summary(h *history.History, from, to int, took time.Duration, say func(time.Duration) string, lang string) string {
	v := newWording(lang, h)
	texts, who, first := []string(nil), "", 0 // the first text of who
	reads := map[int]bool{}                   // by client: it has not read the resource since it got in
	for n, e := range h.Events[:to] {
		reads[e.Client] = e.Kind == history.Enter || reads[e.Client] && e.Kind != history.Read
		if n < from {
			continue
		}
		if e.Node == history.Resource && reads[e.Client] {
			e.Note = "read"
		}
		if e.Client > 0 && e.Kind != history.Change && e.Kind != history.SessionEnd {
			who = clientName(e.Client) + " "
		}
		if text := v.brief(e, len(texts) > 0); text != "" {
			texts = append(texts, text)
		}
		if who == "" {
			first = len(texts)
		}
	}
	if took == 0 && first < len(texts) {
		texts[first] = who + texts[first]
	}
	text := v.list(texts)
	switch {
	case took == 0:
		return text
	case text == "":
		return v.say("brief.passes", "span", say(took))
	}
	return v.say("brief.passes.and", "span", say(took), "what", text)
}

// brief is one event of a summary; more says that it is not the first one. A request
// is news only where nothing else happens, unless it is a command.
func (v *wording) brief(e history.Event, more bool) string {
	s := &step{Event: e}
	view := "brief"
	if e.Node == history.Resource {
		view = "brief.resource"
	}
	switch e.Kind {
	case history.Acquire, history.Released, history.Change:
		return ""
	case history.Send, history.Done:
		if more && len(e.Cmd) == 0 {
			return ""
		}
	}
	return cmp.Or(v.event(view, s, v.sent(s)), v.lane(s, v.sent(s)), v.redis(s))
}
