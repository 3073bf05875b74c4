package chart

import (
	"cmp"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/search"
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

// sentences are paragraphs by language.
type sentences = func(lang string) []string

// titleLocks is the number of locks that a title names.
const titleLocks = 7

// fewServers adds to bounds that the first lock on several servers that falls has fewer of them here, if one does.
func fewServers(lang, bounds string, locks []lock.Entry, falls func(lock string) bool) string {
	for _, e := range locks {
		if search.FewServers(e) > 1 && falls(e.ID) {
			return text.Join(lang, "part.sentences", []string{bounds, say(lang, "chart.few", "lock", e.ID)})
		}
	}
	return bounds
}
