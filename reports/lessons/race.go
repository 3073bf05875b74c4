package lessons

import (
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// race makes the page of a race.
func (m *maker) race(sc race.Race) {
	example, _, err := m.stage.Example(sc)
	if m.failed(err) {
		return
	}
	m.raceHead(sc, func(lang string) string { return Story(lang, sc, "title") })
	if example.History != nil {
		m.begin(m.p.Label("label.notation") + commandOf("run", example))
		m.notation(example)
	}
	m.texts("race."+sc.ID, "why", "mends", "not")
	m.part("label.who")
	name := func(r result) string { return r.name }
	for _, g := range byResult(m.p, sc) {
		if g[0].words != nil && g[0].words[0] == verdict.NA {
			continue
		}
		m.add(Block{Kind: Subheading, Lead: "  ", Text: m.p.First("explain.head", "text", g[0].head)})
		m.paragraphs("    ", text.Join(m.p.Langs()[0], "chart.list", lists.Each(g, name)))
	}
	m.texts("race."+sc.ID, "cases")
	m.next(commandOf("explain", example), commandOf("run", example)+" --view redis", "locklab matrix --races "+sc.ID)
}

// raceHead adds title, story and numbers of a race.
func (m *maker) raceHead(sc race.Race, title func(lang string) string) {
	m.head(strings.TrimSpace(sc.Code+" "+sc.ID), title)
	if Story("en", sc, "story") != "" {
		m.add(gap)
		m.each(paragraph, func(lang string) string { return Story(lang, sc, "story") })
		m.under("numbers", func(lang string) string { return Story(lang, sc, "numbers") })
	}
}

// byResult returns the results that the contract expects of the locks in a race.
func byResult(p *text.Printer, sc race.Race) [][]result {
	return ranked(lists.Each(algorithms.All(), func(e lock.Entry) result {
		c := contract.CellOf(e, sc)
		head := reports.Words(c.Words())
		if c.Words() == nil {
			head = p.Say("explain.uncovered")
		}
		if c.Why != "" {
			head = aside(p, head, p.Each(func(lang string) string { return text.Reason(lang, "why", string(c.Why)) }))
		}
		return result{head, c.Words(), e.ID}
	}))
}

// A result is what a lock comes to.
type result struct {
	head  string
	words []verdict.Word
	name  string // of the lock
}

// ranked puts together results with the same head. It begins with failures; then come waits, locks that survive, those
// to which the race does not apply, and those that the contract does not cover.
func ranked(results []result) [][]result {
	groups := lists.Gather(results, func(a, b result) bool { return a.head == b.head })
	slices.SortStableFunc(groups, func(a, b []result) int { return rankOf(a[0].words) - rankOf(b[0].words) })
	return groups
}

// rankOf orders the results of a race.
func rankOf(words []verdict.Word) int {
	switch {
	case words == nil:
		return 4
	case verdict.Fails(words):
		return 0
	case words[0].Broken():
		return 1
	case words[0] == verdict.NA:
		return 3
	}
	return 2
}

// telling are the known races that need nothing which only later slides explain, such as fencing tokens: first those in
// which the fewest milestones fail, which tell these from the others.
func telling() []race.Race {
	all := lists.Pick(scenarios.Known(), func(sc race.Race) bool { return sc.Guard == history.Naive })
	slices.SortStableFunc(all, func(a, b race.Race) int { return common(a) - common(b) })
	return all
}

// common is the number of milestones that fail in a race.
func common(sc race.Race) int {
	fail := func(e lock.Entry) bool { return verdict.Fails(contract.CellOf(e, sc).Words()) }
	return len(lists.Pick(algorithms.Milestones(), fail))
}

// debated reports whether the debate tells of a run.
func debated(o *race.Outcome) bool {
	return slices.ContainsFunc(text.In("en").Keys("debate."), func(key string) bool {
		return o.Lock.Family == lock.Majority && text.Say("en", key) == o.Lock.ID+" "+o.Race.ID
	})
}

// rank puts runs first that break exclusion, and of these such as are of a group of which nothing was seen.
func rank(o *race.Outcome, seen []*race.Outcome) int {
	breaks := slices.ContainsFunc(o.Verdicts, verdict.Word.Safety)
	alike := slices.ContainsFunc(seen, func(s *race.Outcome) bool { return s.Race.Group == o.Race.Group })
	return map[bool]int{false: 2}[breaks] + map[bool]int{true: 1}[alike]
}

// fault makes the page of a fault: what it is, a budget with it, and the races that have it.
func (m *maker) fault(f *simulator.Fault) {
	m.head(f.Name, func(lang string) string { return text.FaultTitle(f.Name, lang) })
	if term, ok := FindTerm(f.Name); ok {
		m.add(gap)
		m.glossary(term)
	}
	m.begin(m.p.Label("label.budget") + "--budget " + string(ExampleBudget(f)))
	m.racesTable("races", RacesWith(f))
	m.next("locklab list faults", "locklab explain budget")
}

func (m *maker) racesTable(label string, races []race.Race) {
	if len(races) == 0 {
		return
	}
	m.part("label." + label)
	m.add(Block{Kind: Table, Lead: "  ", Columns: []int{20, 5}, Rows: lists.Each(races, func(sc race.Race) []string {
		return []string{sc.ID, sc.Code, m.p.Each(func(lang string) string { return Story(lang, sc, "title") })}
	})})
}

// ExampleBudget returns a budget with which a search can inject a fault once.
func ExampleBudget(f *simulator.Fault) faults.Budget {
	switch {
	case strings.HasSuffix(f.Name, "-clock"): // jumps by a length
		return faults.Budget(f.Name + "=1@10s")
	case f.Returns:
		return faults.Budget("crash=1," + f.Name + "=1")
	}
	return faults.Budget(f.Name + "=1")
}

// RacesWith returns the races that inject a fault, with one server or with five.
func RacesWith(f *simulator.Fault) []race.Race {
	return lists.Pick(scenarios.All(), func(sc race.Race) bool {
		return sc.Budget != nil && (faults.Budget(sc.Budget(1)).Allows(f) || faults.Budget(sc.Budget(5)).Allows(f))
	})
}

// article makes the page of an article: its locks, and the races in which one of them fails.
func (m *maker) article(number string) {
	m.head(number, func(lang string) string { return text.Say(lang, "article."+number) })
	locks, races := OfArticle(number)
	m.part("label.article.locks")
	m.add(Block{Kind: Table, Lead: "  ", Columns: []int{19, 9}, Rows: lists.Each(locks, func(e lock.Entry) []string {
		return []string{e.ID, e.Article, m.p.Each(func(lang string) string { return text.LockTitle(e.ID, lang) })}
	})})
	m.racesTable("article.races", races)
	m.next("locklab explain "+locks[0].ID, "locklab matrix --locks "+locks[0].ID)
}

// OfArticle returns the locks of an article, and the races in which the contract expects one of them to fail.
func OfArticle(number string) (locks []lock.Entry, races []race.Race) {
	locks = lists.Pick(algorithms.All(), func(e lock.Entry) bool {
		return slices.ContainsFunc(e.Names(), func(name string) bool { return strings.HasPrefix(name, number+"-") })
	})
	races = lists.Pick(scenarios.All(), func(sc race.Race) bool {
		fails := func(e lock.Entry) bool { return verdict.Fails(contract.CellOf(e, sc).Words()) }
		return slices.ContainsFunc(locks, fails)
	})
	return locks, races
}
