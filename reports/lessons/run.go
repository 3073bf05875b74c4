package lessons

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// outcome makes the page of one run, of a race or found by search.
func (m *maker) outcome(o *race.Outcome) {
	m.lockHead(o.Lock)
	m.raceHead(o.Race, func(lang string) string { return RunTitle(lang, o) })
	if o.NotApplicable != "" {
		m.add(gap)
		why := m.p.Each(func(lang string) string { return WhyNotApplicable(lang, o) })
		m.add(Block{Kind: Paragraph, Text: string(verdict.NA) + ": " + why})
		m.add(Contract(m.p, o)...)
		m.next("locklab explain "+o.Race.ID, "locklab explain "+o.Lock.ID)
		return
	}
	watched, err := search.ReplayWithCodeOn(o.Lock, o.Trace)
	if m.failed(err) {
		return
	}
	noReturn, certain, err := certainty(m.ctx, o)
	if m.failed(err) {
		return
	}
	m.part("label.lanes")
	m.add(Block{Kind: Listing, Draw: func(w io.Writer, look reports.Look) error {
		look.NoReturn = noReturn
		return reports.Lanes(w, watched.History, watched.Judgement, look)
	}})
	m.add(Meanings(m.p, o)...)
	if o.Race.ID != search.SearchID {
		m.add(Contract(m.p, o)...)
	}
	if asContracted(o) {
		m.under("cause", func(lang string) string { return Why(lang, o.Lock, o.Race) })
	}
	m.under("certain", certain)
	m.texts("race."+o.Race.ID, "mends")
	if w := o.Verdicts[0]; o.Race.ID == search.SearchID && w.Broken() { // which knows only the verdict
		m.under("race.mends", func(lang string) string { return reports.Cure(w, lang) })
	}
	if slices.ContainsFunc(watched.History.Events, isRequest) {
		m.part("label.code")
	}
	m.add(Block{Kind: Listing, Draw: func(w io.Writer, look reports.Look) error {
		return reports.Code(w, watched.History, look)
	}})
	m.otherLocks(o)
	m.next(NextCommands(o)...)
}

// certainty returns from which event on, counted from 1, the harm of a run was certain, and says so; 0: from none.
func certainty(ctx context.Context, o *race.Outcome) (event int, say func(lang string) string, err error) {
	if o.Race.ID == search.SearchID {
		d, err := study.DoomOn(ctx, o.Lock, o.Trace)
		large := (*explore.TooLargeError)(nil)
		switch {
		case errors.As(err, &large) || errors.Is(err, context.Canceled) || err != nil && o.Verdicts[0].Broken():
			return 0, func(lang string) string { return text.SayError(lang, err) }, nil
		case err != nil:
			return 0, sentence("label.certain.none"), nil
		}
		return d.Event, sentence("label.certain.step", "harm", string(d.Harm), "step", strconv.Itoa(d.NoReturn),
			"all", strconv.Itoa(d.Steps), "time", reports.Millis(d.At.Round(tenth), -1)), nil
	}
	c, err := study.CertainFrom(o)
	switch {
	case errors.Is(err, study.ErrNoHarm):
		return 0, sentence("label.certain.none"), nil
	case err != nil:
		return 0, nil, err
	case c.Event == 0:
		return 0, sentence("label.certain.start", "harm", string(c.Harm)), nil
	}
	e := o.History.Events[c.Event-1]
	key, values := "event", []string{"harm", string(c.Harm), "time", reports.Millis(e.At.Round(tenth), -1)}
	if e.Kind == history.Pause && e.D > 0 {
		key, values = "pause", append(values, "pause", reports.Span(e.D))
	}
	return c.Event, sentence("label.certain."+key, values...), nil
}

// tenth is how exactly the page of a run tells the time.
const tenth = time.Millisecond / 10

// otherLocks makes the same attack on each milestone. A run that a search has found has
// no script to play; there the same faults are allowed in a search of each lock.
func (m *maker) otherLocks(o *race.Outcome) {
	label, comesTo := "next", attacked
	if o.Race.ID == search.SearchID {
		label, comesTo = "next.search", searched
	}
	m.part("label." + label)
	table := Block{Kind: Table, Lead: "  ", Columns: []int{14}}
	for _, e := range algorithms.Milestones() {
		result, err := comesTo(m.ctx, m.p, o, e)
		if err != nil { // such as a lease in whole seconds
			result = m.p.Error(err)
		}
		table.Rows = append(table.Rows, []string{e.ID, result})
	}
	m.add(table)
}

// attacked returns what another lock comes to in the race of a run.
func attacked(_ context.Context, p *text.Printer, o *race.Outcome, e lock.Entry) (string, error) {
	other, err := race.Play(e, o.Race, o.Settings)
	if err != nil {
		return "", err
	}
	result := results(p, other)
	if other.Forever() {
		result = p.Say("explain.price", "text", result, "price", p.Say("price.forever"))
	}
	return result, nil
}

// otherStates limits the search of each other lock to some seconds.
const otherStates = 600_000

// searched returns what a search of another lock finds within the same bounds: each verdict with its par.
func searched(ctx context.Context, p *text.Printer, o *race.Outcome, e lock.Entry) (string, error) {
	b, err := search.ParseBounds(o.Trace.Settings)
	if err != nil {
		return "", err
	}
	anyTiming := b.Timing == search.AnyTiming
	if anyTiming { // other locks may read no clock
		b.Timing, b.Idle = search.AutoTiming, false
	}
	if anyTiming && e.Search.Once { // more attempts take too many states
		b.Attempts = 1
	}
	if b.Uses != 0 { // they may offer something else
		b.Uses = client.AllUses
	}
	b.Nodes, b.Retries, b.MaxStates = search.FewServers(e), search.AutoRetries, otherStates
	s, err := search.Explore(ctx, e, b)
	if err != nil {
		return "", err
	}
	result := string(verdict.Unknown)
	switch {
	case len(s.Witnesses) > 0:
		result = strings.Join(s.AllPars(), " ")
	case s.Result.Complete && s.Unjudged() == nil:
		result = string(verdict.Holds)
	}
	if s.Complete && anyTiming && s.Scope() != search.ScopeAny {
		result += " (" + p.Say("certificate.other.timing."+s.Scope()) + ")"
	}
	return result, nil
}
