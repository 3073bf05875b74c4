package chart

import (
	"cmp"
	"strings"

	"locklab/algorithms"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
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
func putEach(out *layout.Lines, all func(lang string) []string) {
	for _, lang := range out.Langs() {
		for _, s := range all(lang) {
			if s != "" {
				out.Put(s, 2*(len(s)-len(strings.TrimLeft(s, " "))))
			}
		}
	}
}

// worded are verdicts in a sentence, each with what it means where that is said in other words.
func worded(lang string, all ...verdict.Word) []string {
	return lists.Each(all, func(w verdict.Word) string {
		return say(lang, "word.said", "word", string(w), "means", say(lang, "word."+string(w)))
	})
}

// titleLocks is the number of locks that a title names.
const titleLocks = 7

// fewServers is a lock on several servers that falls at a failover, where it has fewer of them; "": there is none.
func (t *Table) fewServers() string {
	for _, r := range t.records() {
		e, _ := algorithms.ByName(r.text("lock"))
		falls := r.is("found") || r.text("extent") == string(study.Fails)
		if strings.HasPrefix(r.text("fault")+r.text("budget"), "failover") && search.FewServers(e) > 1 &&
			(r.text("result") == string(study.FallsOnce) || falls && r.text("verdict") == string(verdict.Overlap)) {
			return e.ID
		}
	}
	return ""
}
