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

// PathScreens is the number of screens of the guided tour: path.1 and on.
const PathScreens = 10

// DebatePoints is the number of points of the debate about Redlock: debate.1 and on.
const DebatePoints = 6

// path makes screens of the guided tour, the first and the last included, counted from 1: each has a failure that is
// played, the idea that mends it, and what becomes of that.
func (m *maker) path(first, last int) {
	for n := first; n <= last; n++ {
		if n > first {
			m.add(Block{Kind: Break})
		}
		key := screen(n)
		o, err := m.stage.screen(n)
		if m.failed(err) {
			return
		}
		m.numbered(n, PathScreens, key)
		m.begin(m.p.Label("label.fall") + commandOf("run", o))
		if o.History != nil {
			m.notation(o)
		}
		m.paragraphs("  = ", results(m.p, o))
		m.texts(key, "idea", "next")
	}
	if last < PathScreens {
		m.next(fmt.Sprintf("locklab explain path %d", last+1), "locklab explain interview")
	} else {
		m.next("locklab explain interview", "locklab explain glossary", "locklab demo")
	}
}

// screen returns the beginning of the keys of a screen.
func screen(n int) string { return "path." + strconv.Itoa(n) }

// screen plays the run of a screen.
func (s *Stage) screen(n int) (*race.Outcome, error) {
	return s.Named(text.Say("en", screen(n)+".lock"), text.Say("en", screen(n)+".race"))
}

// numbered begins a screen or a point with its number and its title.
func (m *maker) numbered(n, of int, key string) {
	m.each(Block{Kind: Heading, Lead: fmt.Sprintf("%d/%d  ", n, of)}, sentence(key+".title"))
}

// debate makes the debate about Redlock: each argument with its source, the run that shows it, and what the run says.
func (m *maker) debate() {
	m.each(Block{Kind: Heading}, sentence("debate.title"))
	m.texts("debate", "intro")
	for n := 1; n <= DebatePoints; n++ {
		key := "debate." + strconv.Itoa(n)
		m.add(gap)
		m.numbered(n, DebatePoints, key)
		m.argued(n)
		m.backing(key)
		m.told(key+".says", sentence("label.says"))
	}
	m.texts("debate", "end")
	m.next("locklab explain redlock", "locklab explain interview redlock", "locklab lesson redlock -o deck.html")
}

// argued adds the arguments of a point, each with who has made it, and in which section of the article.
func (m *maker) argued(n int) {
	for _, who := range []string{"kleppmann", "antirez"} {
		key := fmt.Sprintf("debate.%d.%s", n, who)
		m.told(key, func(lang string) string { return text.Say(lang, "label."+who, "section", text.Say(lang, key+"-at")) })
	}
}

// judging makes the page about logs that are judged: their format, what a verdict needs, and what to write in other
// languages.
func (m *maker) judging() {
	m.each(Block{Kind: Heading}, sentence("judging.title"))
	m.texts("judging", "format")
	m.add(gap)
	m.add(Block{Kind: Listing, Text: record.Example}) // as it is to be copied, like the code below
	m.texts("judging", "order", "certain")
	for _, w := range []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.Starved} {
		m.begin(string(w))
		m.told("judging."+string(w), nil)
	}
	m.texts("judging", "not", "memory", "go")
	for _, program := range []string{record.Python, record.Java} {
		m.add(gap)
		m.add(Block{Kind: Listing, Text: program})
	}
	m.next("locklab judge --schema", "locklab judge events.jsonl")
}

// Topics are the questions of the interview, by name.
func Topics() []string { return namesBetween("interview.", ".question") }

// interview makes the answers for an interview: the short one, the long one and all further questions.
func (m *maker) interview() {
	m.add(Block{Kind: Heading, Text: m.p.Say("label.interview")})
	m.texts("interview", "short", "long")
	m.add(gap)
	m.behind("interview.long-runs")
	m.part("label.questions")
	for _, topic := range Topics() {
		m.add(gap)
		m.question(topic)
	}
	m.next("locklab explain interview "+Topics()[0], "locklab explain path", "locklab explain glossary")
}

// topic makes one question with its answer and the run that backs it.
func (m *maker) topic(name string) {
	if o := m.question(name); o != nil && o.History != nil {
		m.add(gap)
		m.notation(o)
		m.next(commandOf("explain", o), "locklab explain interview")
	}
}

// question adds a question with its answer, and returns the run that backs it.
func (m *maker) question(topic string) *race.Outcome {
	for _, lang := range m.p.Langs() {
		m.add(Block{Kind: Heading, Lead: "? ", Text: strings.Join(m.lines(lang, "interview."+topic+".question"), " ")})
		m.paragraphs("  ", m.lines(lang, "interview."+topic+".answer")...)
	}
	return m.backing("interview." + topic)
}

// glossary adds terms with their meanings.
func (m *maker) glossary(terms ...string) {
	for _, term := range terms {
		for _, lang := range m.p.Langs() {
			head, english := text.Say(lang, "term."+term+".name"), text.Say("en", "term."+term+".name")
			if head != english {
				head += "（" + english + "）"
			}
			m.add(Block{Kind: Heading, Text: head})
			m.paragraphs("  ", m.lines(lang, "term."+term+".text")...)
		}
	}
}
