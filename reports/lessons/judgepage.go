package lessons

import (
	"locklab/simulator/record"
)

// Judging prints the page about logs that are judged: their format, what a verdict needs, and what to write in
// other languages.
func (t *Teacher) Judging() error {
	t.out.Sentence("judging.title")
	err := t.texts(labelled{"judge.format", "judging.format"})
	t.verbatim(record.Example)
	if err == nil {
		err = t.texts(labelled{"judge.order", "judging.order"}, labelled{"judge.certain", "judging.certain"},
			labelled{"OVERLAP", "judging.overlap"}, labelled{"STALE-WRITE", "judging.stale"}, labelled{"FENCED", "judging.fenced"}, labelled{"STARVED", "judging.starved"},
			labelled{"judge.not", "judging.not"}, labelled{"judge.memory", "judging.memory"}, labelled{"judge.go", "judging.go"})
	}
	t.verbatim(record.Python)
	t.verbatim(record.Java)
	t.out.Next("locklab judge --schema", "locklab judge events.jsonl", "locklab live contend --record events.jsonl")
	return err
}

// verbatim prints code as it is to be copied.
func (t *Teacher) verbatim(code string) { t.out.Printf("\n%s", code) }
