package lessons

import (
	"fmt"
	"slices"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// The locks among which one chooses, of each kind of server, and the races by which: a page has one line for each.
var (
	needLocks = []string{"no-lock-version", "no-lock-unique", "no-lock-token", "db-for-update", "db-get-lock", "db-deadline-now", "token", "watchdog", "redlock", "zk-protected"}
	needRaces = []string{"crash-holding", "slow-work", "gc-pause", "gc-pause-fenced", "gc-pause-cas", "late-write", "lost-reply", "session-ends",
		"restart-always", "failover", "quorum-failover", "clock-jump", "overtaken"}
)

// serversIdle is the default of MySQL (wait_timeout). PostgreSQL ends no session by default
// (idle_in_transaction_session_timeout, idle_session_timeout). Both are longer than any of the runs.
const serversIdle = "idle=8h"

// Need prints whether one needs a lock, and which one: without a lock; what each kind of lock comes to in runs, a race a
// line; what it costs; and when to take it.
func Need(t *Teacher) error {
	t.out.Sentence("need.title")
	t.texts(labelled{"need-none", "need.none"}, labelled{"need-harm", "need.harm"})
	locks := make([]lock.Entry, len(needLocks))
	for i, id := range needLocks {
		e, err := race.Strategy(id)
		if t.failed(err) {
			return t.err
		}
		locks[i] = e
	}
	t.part(t.out.Say("label.need-races"))
	for _, id := range needRaces {
		sc, err := scenarios.ByName(id)
		if t.failed(err) {
			return t.err
		}
		compared(t, sc, locks)
	}
	t.texts(labelled{"need-idle", "need.idle"})
	t.part(t.out.Say("label.need-price"))
	for _, e := range locks {
		for _, lang := range t.out.Langs() {
			t.out.Wrap("  ", t.line(lang, "need.price."+e.ID))
		}
	}
	for _, e := range locks {
		t.part(e.ID)
		for _, lang := range t.out.Langs() {
			t.wrapped("  ", t.lines(lang, "lock."+e.ID+".choose"))
		}
	}
	t.texts(labelled{"need-so", "need.so"})
	t.out.Printf("\n")
	t.aboutVerdicts()
	t.out.Next("locklab explain interview database", "locklab explain redlock", "locklab run token gc-pause-cas")
	return t.err
}

// compared prints what locks come to in a race, those that come to the same together.
func compared(t *Teacher, sc race.Scenario, locks []lock.Entry) {
	t.out.Wrap("  ", t.out.First("explain.head", "text", t.out.First("explain.aside", "text",
		t.out.Each(func(lang string) string { return Story(lang, sc, "title") }), "aside", sc.ID)))
	var all groups
	for _, e := range locks {
		o, err := t.stage.played(e, sc)
		if t.failed(err) {
			return
		}
		name := e.ID
		if o.Scenario.ID != sc.ID {
			name = t.out.First("explain.aside", "text", name, "aside", o.Scenario.ID)
		}
		if d := max(Longest(o, verdict.Blocked), Longest(o, verdict.Orphan)); d > 0 {
			name = t.out.First("explain.aside", "text", name, "aside", span(t.out.Langs()[0], d))
		}
		if n, written := worked(o.History); e.Guard != "" && n > 0 {
			name = t.out.First("explain.aside", "text", name, "aside", t.out.First("explain.worked", "n", fmt.Sprint(n), "written", fmt.Sprint(written)))
		}
		all.add(comesTo(t.out, o), o.Verdicts, name)
		usual, err := t.stage.withDefaults(o)
		if t.failed(err) {
			return
		}
		if usual != nil {
			name = t.out.First("explain.aside", "text", e.ID, "aside", serversIdle)
			all.add(comesTo(t.out, usual), usual.Verdicts, name)
		}
	}
	for _, g := range all {
		t.out.Wrap("    ", text.Label(t.out.First("explain.head", "text", g.head))+list(t.out.Langs()[0], g.names))
	}
}

// played plays a lock in a race. Clients that wait in the queue of a lock do not ask again and again, as those of
// overtaken do: such a lock is played in in-line.
func (s *Stage) played(e lock.Entry, sc race.Scenario) (*race.Outcome, error) {
	if sc.ID == "overtaken" {
		if o, err := s.Named(e.ID, "in-line"); err != nil || o.NotApplicable == "" {
			return o, err
		}
	}
	return s.Play(e, sc)
}

// withDefaults plays again what a session of a database keeps, with the default of its server; nil: that makes no
// difference.
func (s *Stage) withDefaults(o *race.Outcome) (*race.Outcome, error) {
	if o.History == nil || o.Strategy.Database == "" || !o.Strategy.Sessions() {
		return nil, nil
	}
	usual, err := s.With(o.Strategy, o.Scenario, serversIdle)
	if err != nil || slices.Equal(usual.Verdicts, o.Verdicts) {
		return nil, err
	}
	return usual, nil
}

// comesTo returns the verdicts of an outcome, or that its fault cannot happen to the lock.
func comesTo(p *text.Printer, o *race.Outcome) string {
	switch {
	case o.NotApplicable == "":
		return reports.Words(o.Verdicts)
	case o.Scenario.Guard != history.Naive && o.Strategy.Guard != "":
		return p.First("need.unlocked")
	case o.Scenario.Guard == history.Fenced:
		return p.First("need.unnumbered")
	}
	return p.First("need.cannot")
}

// worked returns how often clients began their work in a run, and how many writes the resource took; a race that does not apply has no run.
func worked(h *history.History) (n, written int) {
	if h == nil {
		return 0, 0
	}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Enter:
			n++
		case e.Kind == history.Write && e.OK:
			written++
		}
	}
	return n, written
}
