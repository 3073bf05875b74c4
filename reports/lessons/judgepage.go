package lessons

import (
	"locklab/simulator/record"
	"locklab/simulator/verdict"
)

// Judging prints the page about logs that are judged: their format, what a verdict needs, and what to write in
// other languages.
func (t *Teacher) Judging() error {
	t.out.Sentence("judging.title")
	t.texts(labelled{"judge.format", "judging.format"})
	t.out.Printf("\n%s", record.Example) // as it is to be copied, like the code below
	t.texts(labelled{"judge.order", "judging.order"}, labelled{"judge.certain", "judging.certain"})
	for _, of := range []struct {
		word verdict.Word
		key  string
	}{{verdict.Overlap, "judging.overlap"}, {verdict.StaleWrite, "judging.stale"}, {verdict.Fenced, "judging.fenced"}, {verdict.Starved, "judging.starved"}} {
		t.part(string(of.word))
		for _, lang := range t.out.Langs() {
			t.out.Wrap("  ", t.line(lang, of.key))
		}
	}
	t.texts(labelled{"judge.not", "judging.not"}, labelled{"judge.memory", "judging.memory"}, labelled{"judge.go", "judging.go"})
	t.out.Printf("\n%s\n%s", record.Python, record.Java)
	t.out.Next("locklab judge --schema", "locklab judge events.jsonl")
	return t.err
}
