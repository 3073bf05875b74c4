package lessons

import (
	"slices"
	"strconv"

	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
)

// needs are the answers among which one chooses, each with its locks; needRaces are those that it may not survive.
var (
	needs = []struct {
		when  string // the last part of a key
		locks []string
	}{
		{"rows", []string{"no-lock-version", "no-lock-unique", "db-for-update"}},
		{"efficiency", []string{"token", "watchdog", "db-get-lock", "db-deadline-now"}},
		{"failover", []string{"zk-protected", "redlock"}},
		{"correctness", []string{"no-lock-token"}},
	}
	needRaces = []string{
		"slow-work", "failed-renewal", "dead-business", "gc-pause", "late-write", "lost-reply", "session-ends",
		"restart", "restart-always", "failover", "quorum-failover", "clock-jump", "overtaken",
	}
)

// serversIdle is the default of MySQL (wait_timeout). PostgreSQL ends no session by default
// (idle_in_transaction_session_timeout, idle_session_timeout). Both are longer than any of the runs.
const serversIdle = "idle=8h"

// need makes the page about whether one needs a lock, and which one: what a double run costs, and then a table for each
// answer: the lock, what one has to run, its requests and round trips, and the races that it does not survive.
func (m *maker) need() {
	m.each(Block{Kind: Heading}, sentence("need.title"))
	m.texts("need", "ask")
	for _, answer := range needs {
		m.part("label.need." + answer.when)
		table := Block{Kind: Table, Lead: "  ", Columns: []int{16, 34, 14}}
		table.Rows = append([][]string{m.needHead()}, lists.Each(answer.locks, m.needed)...)
		m.add(table)
		m.told("need."+answer.when, nil)
	}
	m.texts("need", "notes")
	m.next("locklab explain interview database", "locklab explain redlock", "locklab run token gc-pause-cas")
}

// Needs returns rows of that page, each after its answer, below their head: of each answer the first of its locks that
// is among some, or else one of the list, and where only work is wasted also the one on a database.
func Needs(p *text.Printer, among []lock.Entry) ([][]string, error) {
	m := &maker{stage: NewStage(), p: p}
	rows := [][]string{append([]string{p.First("need.when")}, m.needHead()...)}
	for _, answer := range needs {
		of := lists.Pick(answer.locks, func(id string) bool {
			return slices.ContainsFunc(among, func(e lock.Entry) bool { return e.ID == id })
		})
		when := p.First("label.need." + answer.when)
		if len(of) == 0 {
			of, when = answer.locks[:1], aside(p, when, p.First("explain.other"))
		}
		for _, id := range of {
			if id == of[0] || id == "db-deadline-now" {
				rows = append(rows, append([]string{when}, m.needed(id)...))
			}
		}
	}
	return rows, m.err
}

// needHead returns the head of the rows.
func (m *maker) needHead() []string {
	columns := []string{"need.lock", "need.has", "need.cost", "label.need.falls"}
	races := strconv.Itoa(len(needRaces))
	return lists.Each(columns, func(key string) string { return m.p.First(key, "n", races) })
}

// needed returns the row of a lock.
func (m *maker) needed(id string) []string {
	e, err := race.Lock(id)
	if m.failed(err) {
		return nil
	}
	p, err := cost.Count(e)
	m.failed(err)
	var falls []string
	set := "" // what is not the races' own
	for _, id := range needRaces {
		sc, err := scenarios.ByName(id)
		if m.failed(err) {
			break
		}
		o, err := m.stage.Play(e, sc)
		if in, wrong := m.stage.Named(e.ID, "in-line"); id == "overtaken" && wrong == nil && in.NotApplicable == "" {
			o = in // those who wait in the queue of a lock do not ask again and again, as those of overtaken do
		}
		if err == nil && o.Race.ID == sc.ID && o.History != nil && e.Database != "" && e.Sessions() {
			o, err = m.stage.With(e, sc, serversIdle)
			set = m.p.First("label.need.set", "settings", serversIdle)
		}
		if m.failed(err) {
			break
		}
		if fails(o) {
			falls = append(falls, sc.ID)
		}
	}
	if falls == nil {
		falls = []string{m.p.First("need.nothing")}
	}
	return []string{
		e.ID, m.p.First("need.has." + e.ID),
		strconv.Itoa(p.Commands) + "/" + strconv.FormatFloat(p.RoundTrips, 'f', 0, 64),
		aside(m.p, text.Join(m.p.Langs()[0], "chart.list", falls), set),
	}
}
