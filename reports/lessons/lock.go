package lessons

import (
	"io"
	"regexp"
	"slices"
	"strconv"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// builtOn finds the lock in whose terms another's mechanism is described.
var builtOn = regexp.MustCompile(`^As ([a-z][a-z0-9-]*)`)

// lock makes the page of a lock.
func (m *maker) lock(e lock.Entry) {
	row, err := m.stage.Row(e)
	if m.failed(err) {
		return
	}
	m.lockHead(e)
	if Uncovered(e) {
		m.each(Block{Kind: Paragraph}, sentence("command.uncovered.lock", "lock", e.ID))
	}
	key := "lock." + e.ID
	m.texts(key, "origin", "how")
	m.session(e)
	m.texts(key, "mends", "choose", "beside")
	m.costs(e)
	m.outcomes(row)
	m.texts(key, "words")
	worst := mostSevere(row)
	next := []string{commandOf("explain", worst), "locklab explain " + worst.Race.ID}
	if found := builtOn.FindStringSubmatch(text.Say("en", key+".how")); found != nil {
		next[1] = "locklab explain " + found[1]
	}
	if s, ok := race.Successor(e); ok {
		next = append(next, "locklab explain "+s.ID)
	}
	m.next(next...)
}

// lockHead adds the title of a lock, with its id in the articles and its year.
func (m *maker) lockHead(e lock.Entry) {
	source := strconv.Itoa(e.Year)
	if e.Article != "" {
		source = m.p.First("explain.article", "article", e.Article, "year", source)
	}
	m.head(aside(m.p, e.ID, source), func(lang string) string { return text.LockTitle(e.ID, lang) })
}

// session adds what a client and its server say to each other without contention.
func (m *maker) session(e lock.Entry) {
	o, err := m.stage.Alone(e)
	if m.failed(err) || !slices.ContainsFunc(o.History.Events, isRequest) {
		return
	}
	switch {
	case e.Database != "":
		m.part("label.session.database")
	case e.OnZooKeeper():
		m.part("label.session.zookeeper")
	default:
		m.part("label.session")
		first := *o.History // all servers get the same commands
		first.Nodes = 1
		first.Events = slices.DeleteFunc(slices.Clone(first.Events), func(e history.Event) bool { return e.Node > 1 })
		m.add(Block{Kind: Listing, Lead: "  ", Draw: func(w io.Writer, look reports.Look) error {
			look.Fold = true
			return reports.RedisCLI(w, &first, verdict.Judgement{}, look)
		}})
		if o.History.Asked() > 1 {
			m.paragraphs("  # ", m.p.Say("label.session.all"))
		}
		return
	}
	m.notation(o)
}

// isRequest reports whether an event is a request to a server.
func isRequest(e history.Event) bool { return e.Kind == history.Send && e.Node > 0 }

// costs adds what a lock costs without faults, if it asks a server at all.
func (m *maker) costs(e lock.Entry) {
	p, err := cost.Count(e)
	if m.failed(err) || p.Commands == 0 {
		return
	}
	m.under("costs", func(lang string) string {
		return text.Say(lang, "label.costs.alone", "count", strconv.Itoa(p.Commands),
			"roundtrips", strconv.FormatFloat(p.RoundTrips, 'f', 0, 64))
	})
}

// outcomes adds the outcomes of a lock in four groups: failures, each with the command that
// plays it, then waits, then late writes that were refused, then races survived.
func (m *maker) outcomes(row []*race.Outcome) {
	falls := Block{Kind: Table, Lead: "  ", Columns: []int{44, 4}}
	others := map[string][]string{}
	for _, o := range row {
		group, name := "stands", o.Race.ID
		switch w := o.Verdicts[0]; {
		case fails(o):
			falls.Rows = append(falls.Rows, []string{commandOf("run", o), o.Race.Code, results(m.p, o)})
			continue
		case slices.Contains(o.Verdicts, verdict.Fenced):
			group = "fenced"
		case w.Broken():
			group, name = "waits", name+" "+reports.InWords(m.p.Langs()[0], waited(o))
		case w == verdict.NA:
			continue
		}
		others[group] = append(others[group], name)
	}
	if falls.Rows != nil {
		m.part("label.falls")
		m.add(falls)
	}
	for _, group := range []string{"waits", "fenced", "stands"} {
		if names := others[group]; names != nil {
			m.part("label." + group)
			m.paragraphs("  ", text.Join(m.p.Langs()[0], "chart.list", names))
		}
	}
}
