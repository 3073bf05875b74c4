package lessons

import (
	"fmt"

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
		"restart-always", "failover", "clock-jump", "overtaken"}
)

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
		o, err := t.stage.Play(e, sc)
		if t.failed(err) {
			return
		}
		name := e.ID
		if d := max(Longest(o, verdict.Blocked), Longest(o, verdict.Orphan)); d > 0 {
			name = t.out.First("explain.aside", "text", name, "aside", span(t.out.Langs()[0], d))
		}
		if n, written := worked(o.History); e.Guard != "" && n > 0 {
			name = t.out.First("explain.aside", "text", name, "aside", t.out.First("explain.worked", "n", fmt.Sprint(n), "written", fmt.Sprint(written)))
		}
		all.add(reports.Words(o.Verdicts), o.Verdicts, name)
	}
	for _, g := range all {
		t.out.Wrap("    ", text.Label(t.out.First("explain.head", "text", g.head))+list(t.out.Langs()[0], g.names))
	}
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
