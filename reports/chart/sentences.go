package chart

import (
	"cmp"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/lists"
)

// say fills in a text of the catalogues.
var say = text.Say

// pictured is the language of a picture: English unless another is named.
func pictured(lang string) string { return cmp.Or(lang, "en") }

// sayAll fills in a text in every language of the output.
func sayAll(out *layout.Lines, key string, pairs ...string) string {
	return out.Each(func(lang string) string { return say(lang, key, pairs...) })
}

// putEach prints sentences, a paragraph each, in every language of the output; empty ones are left out.
// What begins with blanks is indented twice as far where it is folded.
func putEach(out *layout.Lines, all sentences) {
	for _, lang := range out.Langs() {
		for _, s := range all(lang) {
			if s != "" {
				out.Put(s, 2*(len(s)-len(strings.TrimLeft(s, " "))))
			}
		}
	}
}

// claim is what a chart shows, as a sentence.
func claim(r Result) paragraph {
	return func(lang string) string {
		return say(lang, "grid.stop", "text", strings.TrimRight(r.Finding(lang), ".。?？"))
	}
}

// A paragraph is a text by language.
type paragraph = func(lang string) string

// key is a text of the catalogues as a paragraph.
func key(name string) paragraph { return func(lang string) string { return say(lang, name) } }

// sentences are paragraphs by language.
type sentences = func(lang string) []string

// saying is sentences for putEach.
func saying(all ...paragraph) sentences {
	return func(lang string) []string { return lists.Each(all, func(of paragraph) string { return of(lang) }) }
}

// show writes a table between sentences.
func show(out *layout.Lines, before sentences, table func(*layout.Lines), after sentences) {
	putEach(out, before)
	out.Put("", 0)
	table(out)
	out.Put("", 0)
	if after != nil {
		putEach(out, after)
	}
}

// listing writes a table with a line for each of some things; the columns from the n-th on are numbers.
// Its columns are named by texts of the catalogues with a prefix.
func listing[T any](n, floor int, prefix, names string, of []T, row func(T) []string) func(out *layout.Lines) {
	return func(out *layout.Lines) {
		heads := lists.Each(strings.Fields(names), func(name string) string { return say(out.Lang(), prefix+name) })
		rows := append([][]string{heads}, lists.Each(of, row)...)
		(&layout.Sheet{Right: layout.From(n), Floor: floor, Rows: rows}).WriteOrList(out, 1)
	}
}

// crossing writes a table with a line and a column for each of the names, below and beside the corner.
func crossing(
	sheet layout.Sheet, corner string, lines, columns []string, cell func(line, column int) string,
) func(*layout.Lines) {
	sheet.Rows = [][]string{append([]string{corner}, columns...)}
	for i, name := range lines {
		row := []string{name}
		for n := range columns {
			row = append(row, cell(i, n))
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	return sheet.WriteOrCells
}

// ids are the names of locks.
func ids(locks []lock.Entry) []string {
	return lists.Each(locks, func(e lock.Entry) string { return e.ID })
}
