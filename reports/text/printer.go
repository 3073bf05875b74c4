package text

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"locklab/reports/layout"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// A Printer writes texts in the languages that the reader asked for, wrapped at a width, and keeps its first error.
type Printer struct {
	Out   io.Writer
	Lang  string // as for Chosen
	Width int    // in cells of a terminal
	Err   error  // the first of what was printed
}

// To returns a printer like p that writes elsewhere.
func (p *Printer) To(w io.Writer, width int) *Printer {
	return &Printer{Out: w, Lang: p.Lang, Width: width}
}

// Langs are the languages to write in, in this order.
func (p *Printer) Langs() []string { return Chosen(p.Lang) }

// Each returns what say returns for each language, joined by a slash.
func (p *Printer) Each(say func(lang string) string) string {
	return strings.Join(lists.Each(p.Langs(), say), " / ")
}

// Say returns the text of a key for use within a line.
func (p *Printer) Say(key string, pairs ...string) string {
	return p.Each(func(lang string) string { return Say(lang, key, pairs...) })
}

// First returns the text of a key in the first language, for punctuation and units.
func (p *Printer) First(key string, pairs ...string) string { return Say(p.Langs()[0], key, pairs...) }

// Message returns a message for use within a line.
func (p *Printer) Message(m i18n.Message) string {
	return p.Each(func(lang string) string { return SayMessage(lang, m) })
}

// Error returns what an error says; see SayError. Words that are the same in each language are said once.
func (p *Printer) Error(err error) string {
	var all []string
	for _, lang := range p.Langs() {
		if said := SayError(lang, err); !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	return strings.Join(all, " / ")
}

// Label returns a label for use before something on the same line, see Label.
func (p *Printer) Label(key string, pairs ...string) string { return Label(p.Say(key, pairs...)) }

// Label returns a label with a blank that separates it from what follows on its line; a wide colon needs none.
func Label(label string) string {
	if strings.HasSuffix(label, "：") {
		return label
	}
	return label + " "
}

// Sentence prints a text as lines of its own, once for each language.
func (p *Printer) Sentence(key string, pairs ...string) {
	p.Lines("", func(lang string) string { return Say(lang, key, pairs...) })
}

// Lines prints what say returns for each language, after a label.
func (p *Printer) Lines(label string, say func(lang string) string) {
	for _, lang := range p.Langs() {
		p.Wrap(label, say(lang))
	}
}

// Printf is fmt.Fprintf to Out.
func (p *Printer) Printf(format string, args ...any) {
	_, err := fmt.Fprintf(p.Out, format, args...)
	p.Keep(err)
}

// Keep remembers the error of what was printed to Out in another way, unless there is one already.
func (p *Printer) Keep(err error) {
	if p.Err == nil {
		p.Err = err
	}
}

// Next ends an output with at most three commands to try.
func (p *Printer) Next(commands ...string) {
	p.Printf("\n%s\n", p.Say("command.next"))
	for _, c := range commands[:min(3, len(commands))] {
		p.Printf("  %s\n", c)
	}
}

// Wrap prints a text after a label, broken at the width; further lines are indented like the text of the first one.
func (p *Printer) Wrap(label, text string) {
	for _, line := range layout.Labelled(label, text, p.Width) {
		p.Printf("%s\n", line)
	}
}

// Pad fills a text up with blanks to a number of cells.
func Pad(s string, cells int) string { return layout.PadRight(s, cells) }

// PadLeft is Pad with the blanks before the text.
func PadLeft(s string, cells int) string { return layout.PadLeft(s, cells) }

// Visible is i18n.Visible.
func Visible(s string) string { return i18n.Visible(s) }

// InMarkup returns a text for XML or HTML, which it does not escape: a visible mark stands in place of what these
// cannot hold even escaped, and of what controls a terminal or the direction of a text.
func InMarkup(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\n' && r != '\r' && (i18n.Controls(r) || r == 0xfffe || r == 0xffff) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// Tag returns a language as the lang attribute of HTML names it (RFC 5646).
func Tag(lang string) string {
	if lang == "zh" {
		return "zh-Hans"
	}
	return lang
}

// Cut returns the first n characters of a text, with … if there are more.
func Cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
