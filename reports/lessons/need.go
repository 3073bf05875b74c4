package lessons

import (
	"slices"
	"strconv"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/lists"
)

// The locks among which one chooses, of each kind of server, and the races by which: a page has one line for each.
var (
	needLocks = []string{
		"no-lock-version", "no-lock-unique", "no-lock-token", "db-for-update", "db-get-lock", "db-deadline-now",
		"token", "watchdog", "redlock", "zk-protected",
	}
	needRaces = []string{
		"crash-holding", "slow-work", "gc-pause", "gc-pause-fenced", "gc-pause-cas", "late-write", "lost-reply",
		"session-ends", "restart-always", "failover", "quorum-failover", "clock-jump", "overtaken",
	}
)

// serversIdle is the default of MySQL (wait_timeout). PostgreSQL ends no session by default
// (idle_in_transaction_session_timeout, idle_session_timeout). Both are longer than any of the runs.
const serversIdle = "idle=8h"

// need makes the page about whether one needs a lock, and which one: without a lock; what each kind of lock comes to in
// runs, a race a line; what it costs; and when to take it.
func (m *maker) need() {
	m.each(Block{Kind: Heading}, sentence("need.title"))
	m.texts("need", "none", "harm")
	m.part("label.need.races")
	for _, id := range needRaces {
		m.compared(id)
	}
	m.texts("need", "idle")
	m.part("label.need.price")
	for _, id := range needLocks {
		m.told("need.price."+id, nil)
	}
	for _, id := range needLocks {
		m.begin(id)
		m.told("lock."+id+".choose", nil)
	}
	m.texts("need", "so")
	m.add(gap)
	m.aboutVerdicts()
	m.next("locklab explain interview database", "locklab explain redlock", "locklab run token gc-pause-cas")
}

// compared adds what locks come to in a race, those that come to the same together.
func (m *maker) compared(id string) {
	sc, err := scenarios.ByName(id)
	if m.failed(err) {
		return
	}
	title := aside(m.p, m.p.Each(func(lang string) string { return Story(lang, sc, "title") }), sc.ID)
	m.add(Block{Kind: Subheading, Lead: "  ", Text: m.p.First("explain.head", "text", title)})
	var all []result
	for _, id := range needLocks {
		e, err := race.Lock(id)
		if m.failed(err) {
			return
		}
		o, err := m.stage.inLine(e, sc)
		if m.failed(err) {
			return
		}
		name := e.ID
		if o.Race.ID != sc.ID {
			name = aside(m.p, name, o.Race.ID)
		}
		if d := waited(o); d > 0 {
			name = aside(m.p, name, span(m.p.Langs()[0], d))
		}
		name = aside(m.p, name, worked(m.p, o))
		all = append(all, result{comesTo(m.p, o), o.Verdicts, name})
		if o.History == nil || e.Database == "" || !e.Sessions() { // a session of a database keeps nothing
			continue
		}
		usual, err := m.stage.With(e, o.Race, serversIdle)
		if m.failed(err) {
			return
		}
		if !slices.Equal(usual.Verdicts, o.Verdicts) {
			all = append(all, result{comesTo(m.p, usual), usual.Verdicts, aside(m.p, e.ID, serversIdle)})
		}
	}
	m.add(Block{Kind: List, Lead: "    ", Items: lists.Each(ranked(all), func(g []result) string {
		return text.Label(m.p.First("explain.head", "text", g[0].head)) + lockNames(m.p.Langs()[0], g)
	})})
}

// inLine plays a lock in a race. Clients that wait in the queue of a lock do not ask again and again, as those of
// overtaken do: such a lock is played in in-line.
func (s *Stage) inLine(e lock.Entry, sc race.Race) (*race.Outcome, error) {
	if sc.ID == "overtaken" {
		if o, err := s.Named(e.ID, "in-line"); err != nil || o.NotApplicable == "" {
			return o, err
		}
	}
	return s.Play(e, sc)
}

// comesTo returns the verdicts of an outcome, or that its fault cannot happen to the lock.
func comesTo(p *text.Printer, o *race.Outcome) string {
	switch {
	case o.NotApplicable == "":
		return reports.Words(o.Verdicts)
	case o.Race.Guard != history.Naive && o.Lock.Guard != "":
		return p.First("need.unlocked")
	case o.Race.Guard == history.Fenced:
		return p.First("need.unnumbered")
	}
	return p.First("need.cannot")
}

// worked returns how often clients began their work in a run without a lock, and how many writes the resource took; "":
// there is nothing to count.
func worked(p *text.Printer, o *race.Outcome) string {
	if o.History == nil || o.Lock.Guard == "" {
		return ""
	}
	begun := lists.Pick(o.History.Events, func(e history.Event) bool { return e.Kind == history.Enter })
	written := lists.Pick(o.History.Events, func(e history.Event) bool { return e.Kind == history.Write && e.OK })
	if len(begun) == 0 {
		return ""
	}
	return p.First("explain.worked", "n", strconv.Itoa(len(begun)), "written", strconv.Itoa(len(written)))
}
