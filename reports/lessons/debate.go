package lessons

import (
	"fmt"
	"strconv"
	"strings"

	"locklab/reports/text"
	"locklab/scenarios/race"
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

// Topics are the questions of the interview, by name.
func Topics() []string { return namesBetween("interview.", ".question") }

// TopicsAbout returns the topics whose answers rest on runs of a lock.
func TopicsAbout(id string) (about []string) {
	for _, topic := range Topics() {
		for run := range strings.SplitSeq(text.Say("en", "interview."+topic+".runs"), ",") {
			if strings.HasPrefix(strings.TrimSpace(run), id+" ") {
				about = append(about, topic)
				break
			}
		}
	}
	return about
}

// Interview prints the answers for an interview: the short one, the long one and all
// further questions.
func (t *Teacher) Interview() error {
	t.out.Wrap("", t.out.Say("label.interview"))
	t.aboutVerdicts()
	t.texts(labelled{"short", "interview.short"}, labelled{"long", "interview.long"})
	t.out.Printf("\n")
	t.behind("interview.long-runs")
	t.part(t.out.Say("label.questions"))
	for _, topic := range Topics() {
		t.out.Printf("\n")
		t.question(topic)
	}
	t.out.Next("locklab explain interview "+Topics()[0], "locklab explain path", "locklab explain glossary")
	return t.err
}

// Question prints one question with its answer and the run that backs it.
func (t *Teacher) Question(topic string) error {
	o := t.question(topic)
	if o == nil || o.History == nil {
		return t.err
	}
	t.out.Printf("\n")
	t.notation(o)
	t.out.Next("locklab explain "+o.Strategy.ID+" "+o.Scenario.ID, "locklab explain interview")
	return t.err
}

// question prints a question with its answer, and returns the run that backs it.
func (t *Teacher) question(topic string) *race.Outcome {
	for _, lang := range t.out.Langs() {
		t.out.Wrap("? ", t.line(lang, "interview."+topic+".question"))
		t.wrapped("  ", t.lines(lang, "interview."+topic+".answer"))
	}
	return t.backing("interview." + topic)
}

// backing prints the run that backs an answer, and those behind it, and returns the first.
func (t *Teacher) backing(key string) *race.Outcome {
	o := t.backed("  "+t.out.Label("label.trace"), In("en").Name(key+".trace"))
	t.behind(key + ".runs")
	return o
}

// behind prints the runs behind an answer that a text lists, such as "token slow-work,
// watchdog slow-work": an answer is spoken and names none of them.
func (t *Teacher) behind(key string) {
	names := In("en").Name(key)
	if names == "" {
		return
	}
	t.out.Wrap("  ", t.out.Say("label.runs"))
	for run := range strings.SplitSeq(names, ",") {
		t.backed("    ", run)
	}
}

// backed plays a lock in a race, named as in "token slow-work", and prints the command that does so
// and how the run ends.
func (t *Teacher) backed(label, names string) *race.Outcome {
	id, raceID, _ := strings.Cut(strings.TrimSpace(names), " ")
	o, err := t.stage.Named(id, strings.TrimSpace(raceID))
	if !t.failed(err) {
		t.out.Wrap(label, "locklab run "+o.Strategy.ID+" "+o.Scenario.ID+" = "+t.results(o))
	}
	return o
}
