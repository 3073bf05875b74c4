package lessons

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Lock prints the page of a lock.
func (t *Teacher) Lock(e lock.Entry) error {
	row, err := t.stage.Row(e)
	if err != nil {
		return err
	}
	t.lockHead(e)
	if Uncovered(e) {
		t.out.Sentence("command.uncovered.lock", "lock", e.ID)
	}
	key := "lock." + e.ID
	t.texts(labelled{"origin", key + ".origin"}, labelled{"how", key + ".how"})
	t.session(e)
	t.texts(labelled{"mends", key + ".mends"}, labelled{"choose", key + ".choose"}, labelled{"beside", key + ".beside"})
	costs(t, e)
	t.outcomes(row)
	t.texts(labelled{"words", key + ".words"})
	t.out.Printf("\n")
	t.aboutVerdicts()
	worst := mostSevere(row).Scenario.ID
	next := []string{"locklab explain " + e.ID + " " + worst, "locklab explain " + worst}
	if m := builtOn.FindStringSubmatch(In("en").Name(key + ".how")); m != nil {
		next[1] = "locklab explain " + m[1]
	}
	if s, ok := race.Successor(e); ok {
		next = append(next, "locklab explain "+s.ID)
	}
	t.out.Next(next...)
	return t.err
}

// lockHead prints the title of a lock, with its id in the articles or its year.
func (t *Teacher) lockHead(e lock.Entry) {
	source := strconv.Itoa(e.Year)
	if e.Article != "" {
		source = t.out.First("explain.list", "first", e.Article, "next", source)
	}
	head := t.out.First("explain.head", "text", t.out.First("explain.aside", "text", e.ID, "aside", source))
	t.out.Wrap("", text.Label(head)+t.out.Each(func(lang string) string { return LockTitle(lang, e) }))
}

// builtOn finds the lock in whose terms another's mechanism is described.
var builtOn = regexp.MustCompile(`^As ([a-z][a-z0-9-]*)`)

// session prints what a client and its server say to each other without contention.
func (t *Teacher) session(e lock.Entry) {
	o, err := t.stage.uncontended(e)
	if t.failed(err) || !slices.ContainsFunc(o.History.Events, isRequest) {
		return
	}
	label := "label.session.zookeeper"
	if e.Database != "" {
		label = "label.session.database"
	}
	if e.Database != "" || e.OnZooKeeper() {
		t.part(t.out.Say(label))
		t.notation(o)
		return
	}
	t.part(t.out.Say("label.session"))
	first := *o.History // all servers get the same commands
	first.Nodes = 1
	first.Events = slices.DeleteFunc(slices.Clone(first.Events), func(e history.Event) bool { return e.Node > 1 })
	look := t.look
	look.Fold = true
	t.indented(reports.RedisCLI, &first, verdict.Judgement{}, look)
	if o.History.Asked() > 1 {
		t.out.Wrap("  # ", t.out.Say("label.session.all"))
	}
}

// costs prints what a lock costs without faults, if it asks a server at all.
func costs(t *Teacher, e lock.Entry) {
	p, err := cost.Count(e)
	if t.failed(err) || p.Commands == 0 {
		return
	}
	number := func(x float64, places int) string {
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', places, 64), ".0")
	}
	t.labelled("costs", func(lang string) string {
		say := func(key string, pairs ...string) string { return text.Say(lang, "label.costs."+key, pairs...) }
		parts := []string{
			say("alone", "count", number(p.Commands, 1), "roundtrips", number(p.RoundTrips, 0)),
			say("shared", "count", number(p.Contended, 1), "retry", span(lang, cost.PriceSettings().Retry)),
		}
		if p.Handover > 0 {
			parts = append(parts, say("handover", "handover", span(lang, p.Handover)))
		}
		return text.Join(lang, "grid.both", parts)
	})
}

// outcomes prints the outcomes of a lock in five groups: failures, each with the command that
// plays it, then waits, then late writes that were refused, then races survived, then those that do not apply.
func (t *Teacher) outcomes(row []*race.Outcome) {
	var waits, fenced, survived, senseless []string
	t.part(t.out.Say("label.falls"))
	none := true
	for _, o := range row {
		switch w := o.Verdicts[0]; {
		case fails(o):
			none = false
			t.failure(o)
		case slices.Contains(o.Verdicts, verdict.Fenced):
			fenced = append(fenced, o.Scenario.ID)
		case w.Broken():
			waits = append(waits, o.Scenario.ID+" "+t.wait(o))
		case w == verdict.NA:
			senseless = append(senseless, o.Scenario.ID)
		default:
			survived = append(survived, o.Scenario.ID)
		}
	}
	if none {
		t.out.Printf("  -\n")
	}
	for _, group := range []struct {
		label string
		names []string
	}{{"waits", waits}, {"fenced", fenced}, {"stands", survived}, {"senseless", senseless}} {
		if len(group.names) > 0 {
			t.part(t.out.Say("label." + group.label))
			t.out.Wrap("  ", list(t.out.Langs()[0], group.names))
		}
	}
}

// failure prints a failure with the command that plays it.
func (t *Teacher) failure(o *race.Outcome) {
	head := "  " + padded("locklab run "+o.Strategy.ID+" "+o.Scenario.ID, 44) + " " + padded(o.Scenario.Race, 5)
	if t.out.Width >= reports.NarrowWidth {
		t.out.Wrap(head, t.results(o))
		return
	}
	t.out.Printf("%s\n", strings.TrimRight(head, " "))
	t.out.Wrap("      ", t.results(o))
}

// wait returns the longest wait of an outcome.
func (t *Teacher) wait(o *race.Outcome) string {
	return span(t.out.Langs()[0], max(Longest(o, verdict.Blocked), Longest(o, verdict.Orphan)))
}
