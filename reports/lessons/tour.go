package lessons

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
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
		m.add(Block{Kind: Hidden})
		m.texts(key, "idea", "next", "choose")
	}
	if last < PathScreens {
		m.next(fmt.Sprintf("locklab explain path %d", last+1), "locklab explain interview")
	} else {
		m.next("locklab explain interview", "locklab explain glossary", "locklab play quiz")
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

// debate makes points of the debate about Redlock, the first and the last included, counted from 1: each argument with
// its source, the run that shows it, and what the run says.
func (m *maker) debate(first, last int) {
	if first < last {
		m.each(Block{Kind: Heading}, sentence("debate.title"))
		m.texts("debate", "intro")
	}
	for n := first; n <= last; n++ {
		key := "debate." + strconv.Itoa(n)
		if first < last {
			m.add(gap)
		}
		m.numbered(n, DebatePoints, key)
		m.argued(n)
		m.backing(key)
		m.told(key+".says", sentence("label.says"))
	}
	if last < DebatePoints {
		m.next(fmt.Sprintf("locklab explain debate %d", last+1), "locklab explain debate")
		return
	}
	m.texts("debate", "end")
	m.next("locklab explain redlock", "locklab explain interview redlock", "locklab lesson redlock -o deck.html")
}

// argued adds the arguments of a point, each with who has made it, and in which section of the article.
func (m *maker) argued(n int) {
	for _, who := range []string{"kleppmann", "antirez"} {
		key := fmt.Sprintf("debate.%d.%s", n, who)
		label := func(lang string) string { return text.Say(lang, "label."+who, "section", text.Say(lang, key+"-at")) }
		m.told(key, label)
	}
}

// judging makes the page about judged logs: their format, what a verdict needs, and what to write in other languages.
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
	m.each(Block{Kind: Paragraph}, func(lang string) string {
		return text.Say(lang, "label.interview.topics", "n", fmt.Sprint(len(Topics())), "topics",
			strings.Join(Topics(), ", "))
	})
	m.part("label.interview.first")
	m.add(Block{Kind: Hidden})
	m.texts("interview", "short")
	m.add(Block{Kind: Hidden, Text: "full"})
	m.texts("interview", "long")
	if m.runs {
		m.add(gap)
		m.behind("interview.long-runs")
	}
	m.add(gap, Block{Kind: Heading, Text: m.p.Say("label.interview.board")}, Block{Kind: Listing, Text: whiteboard})
	m.add(Block{Kind: Break}, Block{Kind: Heading, Text: m.p.Say("label.questions")})
	for i, topic := range Topics() {
		if i > 0 {
			m.add(Block{Kind: Break})
		}
		m.question(topic)
	}
	m.next("locklab explain interview "+Topics()[0], "locklab explain path", "locklab explain glossary")
}

// whiteboard is the code of a lock on one Redis, with go-redis.
const whiteboard = `ok, err := rdb.SetNX(ctx, key, token, ttl).Result()   // SET key token EX 10 NX, token: random

release := redis.NewScript(` + "`" + `
    if redis.call("GET", KEYS[1]) == ARGV[1] then
        return redis.call("DEL", KEYS[1])
    end
    return 0` + "`" + `)
n, err := release.Run(ctx, rdb, []string{key}, token).Int()   // 0: it was no longer mine`

// topic makes one question with its answer and the run that backs it.
func (m *maker) topic(name string) {
	o := m.question(name)
	if o == nil {
		m.next("locklab explain interview "+name+" --runs", "locklab explain interview")
		return
	}
	m.add(gap)
	m.notation(o)
	m.next(commandOf("explain", o), "locklab explain interview")
}

// question adds a question with its answers, the short one first, and returns the run that backs it, if that is wanted.
func (m *maker) question(topic string) *race.Outcome {
	key := "interview." + topic
	lead := fmt.Sprintf("? %d/%d %s: ", slices.Index(Topics(), topic)+1, len(Topics()), topic)
	m.each(Block{Kind: Heading, Lead: lead}, func(lang string) string {
		return strings.Join(m.lines(lang, key+".question"), " ")
	})
	m.add(Block{Kind: Hidden})
	m.told(key+".short", sentence("label.short"))
	m.add(Block{Kind: Hidden, Text: "full"}, gap)
	m.told(key+".answer", sentence("label.full"))
	if !m.runs {
		return nil
	}
	return m.backing(key)
}

// DemoRaces tell the milestones apart: of any two of them, one falls in one of these races as the other does not.
var DemoRaces = []string{"crash-holding", "crash-before-expire", "client-skew", "slow-work", "failover", "gc-pause"}

// Demo makes a page of races: what each lock is, and which of them come to what. cells are the outcomes of each race.
func Demo(p *text.Printer, cells [][]*race.Outcome) []Block {
	locks := Block{Kind: Table, Lead: "  ", Columns: []int{12}}
	plain := func(o *race.Outcome) string { // in words that need no glossary
		return p.Each(func(lang string) string {
			key := "demo." + string(o.Verdicts[0])
			if !text.In(lang).Has(key) {
				key = "word." + string(o.Verdicts[0])
			}
			return text.Say(lang, key, "late", reports.InWords(lang, waited(o)))
		})
	}
	rank := func(o *race.Outcome) int { // what fails comes first, what cannot happen last
		return slices.Index([]bool{fails(o), o.Verdicts[0].Broken(), o.NotApplicable == "", true}, true)
	}
	var races []Block
	fallen, stuck := map[string]bool{}, map[string]string{} // in a race: the lock is never free again
	for _, o := range slices.Concat(cells...) {
		if fails(o) {
			fallen[o.Lock.ID] = true
		}
		if o.Verdicts[0] == verdict.Deadlock {
			stuck[o.Lock.ID] = o.Race.ID
		}
	}
	named := func(o *race.Outcome) string {
		see := stuck[o.Lock.ID]
		if bare, err := scenarios.ByName("quorum-" + o.Race.ID); err == nil && o.Lock.Family == lock.Majority {
			see = bare.ID // with no more votes than it takes
		}
		if see == "" || fails(o) {
			return o.Lock.ID
		}
		return p.Say("demo.but", "lock", o.Lock.ID, "race", see)
	}
	for _, played := range cells {
		of, outcomes := played[0].Race, Block{Kind: Table, Lead: "  ", Columns: []int{20}}
		groups := lists.Gather(played, func(a, b *race.Outcome) bool { return plain(a) == plain(b) })
		slices.SortStableFunc(groups, func(a, b []*race.Outcome) int { return rank(a[0]) - rank(b[0]) })
		for _, same := range groups {
			outcomes.Rows = append(outcomes.Rows, []string{plain(same[0]), strings.Join(lists.Each(same, named), ", ")})
		}
		heading := text.Label(p.First("explain.head", "text", of.ID)) +
			p.Each(func(lang string) string { return Story(lang, of, "title") })
		races = append(races, Block{Kind: Subheading, Text: heading}, outcomes)
	}
	for _, o := range cells[0] {
		title := p.Each(func(lang string) string { return text.LockTitle(o.Lock.ID, lang) })
		locks.Rows = append(locks.Rows, []string{o.Lock.ID, title})
	}
	end := p.Say("demo.end", "fallen", strconv.Itoa(len(fallen)), "all", strconv.Itoa(len(cells[0])))
	return slices.Concat([]Block{{Kind: Paragraph, Text: p.Say("demo.intro")}, locks, gap}, races,
		[]Block{gap, {Kind: Paragraph, Text: end}})
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
