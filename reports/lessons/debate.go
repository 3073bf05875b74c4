package lessons

import (
	"fmt"
	"strconv"

	"locklab/reports/text"
	"locklab/simulator/record"
	"locklab/simulator/verdict"
)

// DebatePoints is the number of points of the debate about Redlock: debate.1 and on.
const DebatePoints = 6

// Debate prints the debate about Redlock: each argument with its source, the run that shows it, and what the
// run says.
func (t *Teacher) Debate() error {
	t.out.Sentence("debate.title")
	t.aboutVerdicts()
	t.texts(labelled{"debate", "debate.intro"})
	for n := 1; n <= DebatePoints; n++ {
		t.point(n)
	}
	t.texts(labelled{"debate.end", "debate.end"})
	t.out.Next("locklab explain redlock", "locklab explain interview redlock", "locklab lesson redlock -o deck.html")
	return t.err
}

func (t *Teacher) point(n int) {
	key := "debate." + strconv.Itoa(n)
	t.out.Printf("\n")
	for _, lang := range t.out.Langs() {
		t.out.Wrap(fmt.Sprintf("%d/%d  ", n, DebatePoints), In(lang).Name(key+".title"))
	}
	for _, who := range []string{"kleppmann", "antirez"} {
		for _, lang := range t.out.Langs() {
			t.out.Wrap("  ", text.Label(ArguedAt(lang, n, who))+t.line(lang, key+"."+who))
		}
	}
	t.backing(key)
	for _, lang := range t.out.Langs() {
		t.out.Wrap("  ", text.Label(In(lang).Name("label.says"))+t.line(lang, key+".says"))
	}
}

// ArguedAt returns who has made an argument of the debate, and in which section of the article.
func ArguedAt(lang string, n int, who string) string {
	return text.Say(lang, "label."+who, "section", In(lang).Name(fmt.Sprintf("debate.%d.%s-at", n, who)))
}

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
