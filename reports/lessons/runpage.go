package lessons

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Outcome prints the page of one run, of a race or found by search.
func (t *Teacher) Outcome(o *race.Outcome) error {
	t.lockHead(o.Strategy)
	t.raceHead(o.Scenario, func(lang string) string { return RunTitle(lang, o) })
	if o.NotApplicable != "" {
		t.out.Printf("\n%s: %s\n", verdict.NA, t.out.Each(func(lang string) string { return WhyNotApplicable(lang, o) }))
		NotCovered(t.out, o)
		t.out.Next("locklab explain "+o.Scenario.ID, "locklab explain "+o.Strategy.ID)
		return nil
	}
	watched, err := study.ReplayWithCodeOn(o.Strategy, o.Trace)
	if err != nil {
		return err
	}
	certain, err := t.certainty(o)
	if err != nil {
		return err
	}
	look := t.look
	look.NoReturn = certain.event
	t.part(t.out.Say("label.lanes"))
	t.failed(reports.Lanes(t.out.Out, watched.History, watched.Judgement, look))
	Meanings(t.out, o)
	if o.Scenario.ID != study.SearchID {
		CompareWithContract(t.out, o)
	}
	if asContracted(o) {
		t.labelled("cause", func(lang string) string { return Why(lang, o.Strategy, o.Scenario) })
	}
	t.labelled("certain", certain.say)
	t.cure(o)
	if slices.ContainsFunc(watched.History.Events, isRequest) {
		t.part(t.out.Say("label.code"))
	}
	t.failed(reports.Code(t.out.Out, watched.History, t.look))
	t.otherLocks(o)
	t.out.Next(NextCommands(o)...)
	return t.err
}

// cure prints what mends a race, or the cure of its verdict.
func (t *Teacher) cure(o *race.Outcome) {
	if key := "race." + o.Scenario.ID + ".mends"; In("en").Has(key) {
		t.texts(labelled{"fix", key})
		return
	}
	t.labelled("fix", func(lang string) string { return Cure(lang, o) })
}

// certainty is from when on the harm of a run was certain.
type certainty struct {
	event int // counted from 1; 0: none
	say   func(lang string) string
}

func (t *Teacher) certainty(o *race.Outcome) (certainty, error) {
	if o.Scenario.ID == study.SearchID {
		return t.certaintyOfSearch(o)
	}
	key, own := "label.certain.none", []string(nil)
	c, err := study.CertainFrom(o)
	switch {
	case errors.Is(err, study.ErrNoHarm):
	case err != nil:
		return certainty{}, err
	case c.Event == 0:
		key, own = "label.certain.start", []string{"harm", string(c.Harm)}
	default:
		key, own = "label.certain.event", []string{"harm", string(c.Harm), "time", inMillis(o.History.Events[c.Event-1].At)}
		if e := o.History.Events[c.Event-1]; e.Kind == history.Pause && e.D > 0 {
			key = "label.certain.pause"
			own = append(own, "pause", reports.Span(e.D))
		}
	}
	return certainty{event: c.Event, say: sentence(key, own...)}, nil
}

func (t *Teacher) certaintyOfSearch(o *race.Outcome) (certainty, error) {
	d, err := study.DoomOn(t.ctx, o.Strategy, o.Trace)
	large := (*explore.TooLargeError)(nil)
	switch {
	case errors.As(err, &large) || errors.Is(err, context.Canceled) || err != nil && o.Verdicts[0].Broken():
		return certainty{say: func(lang string) string { return text.SayError(lang, err) }}, nil
	case err != nil:
		return certainty{say: sentence("label.certain.none")}, nil
	}
	return certainty{event: d.Event, say: sentence("label.certain.step", "harm", string(d.Harm), "step", strconv.Itoa(d.NoReturn),
		"all", strconv.Itoa(d.Steps), "time", inMillis(d.At))}, nil
}

// inMillis writes an instant in milliseconds, with one place at most.
func inMillis(at time.Duration) string {
	return strconv.FormatFloat(float64(at.Round(time.Millisecond/10))/float64(time.Millisecond), 'f', -1, 64)
}

// otherLocks makes the same attack on each milestone. A run that a search has found has
// no script to play; there the same faults are allowed in a search of each lock.
func (t *Teacher) otherLocks(o *race.Outcome) {
	if o.Scenario.ID == study.SearchID {
		t.otherSearches(o)
		return
	}
	t.part(t.out.Say("label.next"))
	for _, e := range algorithms.Milestones() {
		result := ""
		if other, err := race.Play(e, o.Scenario, o.Settings); err != nil { // such as a lease in whole seconds
			result = t.out.Error(err)
		} else {
			result = t.results(other)
			if other.Forever() {
				result = t.out.Say("explain.price", "text", result, "price", t.out.Say("price.forever"))
			}
		}
		t.out.Wrap("  "+padded(e.ID, 14)+" ", result)
	}
}

// otherStates limits the search of each other lock to some seconds.
const otherStates = 600_000

func (t *Teacher) otherSearches(o *race.Outcome) {
	b, err := study.ParseBounds(o.Trace.Settings)
	if t.failed(err) {
		return
	}
	anyTiming := b.Timing == study.AnyTiming
	if anyTiming { // other locks may read no clock
		b.Timing, b.Idle = study.AutoTiming, false
	}
	if b.Uses != 0 { // they may offer something else
		b.Uses = client.AllUses
	}
	t.part(t.out.Say("label.next.search"))
	for _, e := range algorithms.Milestones() {
		with := b
		if anyTiming && e.Search.Once { // more attempts take too many states
			with.Attempts = 1
		}
		with.Nodes, with.Retries, with.MaxStates = study.FewServers(e), study.AutoRetries, otherStates
		result := ""
		if s, err := study.Explore(t.ctx, e, with); err != nil {
			result = t.out.Error(err)
		} else {
			result = found(s)
			if s.Complete && anyTiming && s.Scope() != study.ScopeAny {
				result += " (" + t.out.Say("certificate.other.timing."+s.Scope()) + ")"
			}
		}
		t.out.Wrap("  "+padded(e.ID, 14)+" ", result)
	}
}

// found returns what a search has found: each verdict with its par.
func found(s *study.Search) string {
	switch {
	case len(s.Witnesses) > 0:
		return strings.Join(s.AllPars(), " ")
	case s.Result.Complete && s.Unjudged() == nil:
		return string(verdict.Holds)
	}
	return string(verdict.Unknown)
}

// sentence returns a text that has its values at hand.
func sentence(key string, pairs ...string) func(lang string) string {
	return func(lang string) string { return text.Say(lang, key, pairs...) }
}
