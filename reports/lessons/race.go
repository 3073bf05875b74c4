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
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// race makes the page of a race.
func (m *maker) race(sc race.Scenario) {
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
	for _, g := range byResult(m.p, sc) {
		m.add(Block{Kind: Subheading, Lead: "  ", Text: m.p.First("explain.head", "text", g.head)})
		m.paragraphs("    ", list(m.p.Langs()[0], g.names))
	}
	m.texts("race."+sc.ID, "cases")
	m.add(gap)
	m.aboutVerdicts()
	m.next(commandOf("explain", example), commandOf("run", example)+" --view redis", "locklab matrix --scenarios "+sc.ID)
}

// raceHead adds title, story and numbers of a race.
func (m *maker) raceHead(sc race.Scenario, title func(lang string) string) {
	m.head(strings.TrimSpace(sc.Race+" "+sc.ID), title)
	if Story("en", sc, "story") != "" {
		m.add(gap)
		m.each(paragraph, func(lang string) string { return Story(lang, sc, "story") })
		m.under("numbers", func(lang string) string { return Story(lang, sc, "numbers") })
	}
}

// byResult returns for each result that the contract expects in a race the locks that come to it.
func byResult(p *text.Printer, sc race.Scenario) (all groups) {
	for _, e := range algorithms.All() {
		c := contract.CellOf(e, sc)
		head := reports.Words(c.Words())
		if c.Words() == nil {
			head = p.Say("explain.uncovered")
		}
		if c.Why != "" {
			head = aside(p, head, p.Each(func(lang string) string { return text.Reason(lang, "why", string(c.Why)) }))
		}
		all.add(head, c.Words(), e.ID)
	}
	return all
}

// A group is the locks that come to one result.
type group struct {
	head  string
	rank  int
	names []string
}

// groups begin with failures; then come waits, locks that survive, those to which the race does not apply, and those
// that the contract does not cover. Those of one rank are in the order in which they were met.
type groups []group

func (all *groups) add(head string, words []verdict.Word, name string) {
	if at := slices.IndexFunc(*all, func(g group) bool { return g.head == head }); at >= 0 {
		(*all)[at].names = append((*all)[at].names, name)
		return
	}
	*all = append(*all, group{head, rankOf(words), []string{name}})
	slices.SortStableFunc(*all, func(a, b group) int { return a.rank - b.rank })
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

func (m *maker) racesTable(label string, races []race.Scenario) {
	if len(races) == 0 {
		return
	}
	m.part("label." + label)
	m.add(Block{Kind: Table, Lead: "  ", Columns: []int{20, 5}, Rows: lists.Each(races, func(sc race.Scenario) []string {
		return []string{sc.ID, sc.Race, m.p.Each(func(lang string) string { return Story(lang, sc, "title") })}
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
func RacesWith(f *simulator.Fault) []race.Scenario {
	return lists.Pick(scenarios.All(), func(sc race.Scenario) bool {
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
	m.next("locklab explain "+locks[0].ID, "locklab matrix --strategies "+locks[0].ID)
}

// OfArticle returns the locks of an article, and the races in which the contract expects one of them to fail.
func OfArticle(number string) (locks []lock.Entry, races []race.Scenario) {
	locks = lists.Pick(algorithms.All(), func(e lock.Entry) bool {
		return slices.ContainsFunc(e.Names(), func(name string) bool { return strings.HasPrefix(name, number+"-") })
	})
	races = lists.Pick(scenarios.All(), func(sc race.Scenario) bool {
		return slices.ContainsFunc(locks, func(e lock.Entry) bool { return verdict.Fails(contract.CellOf(e, sc).Words()) })
	})
	return locks, races
}
