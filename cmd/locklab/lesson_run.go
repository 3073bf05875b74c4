package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/lessons"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

func (a *app) explainPair(id, raceID string) error {
	e, err := race.Strategy(id)
	if err != nil {
		return err
	}
	sc, err := scenarios.ByName(raceID)
	if err != nil {
		return err
	}
	o, err := a.stage.play(e, sc)
	if err != nil {
		return err
	}
	return a.explainRun(o)
}

// explainRun explains one run, of a race or found by search.
func (a *app) explainRun(o *race.Outcome) error {
	if a.json {
		return a.printRun(o)
	}
	a.wrap("", fmt.Sprintf("%s (%s): %s", o.Strategy.ID, article(o.Strategy), a.say(o.Strategy.Title.EN, o.Strategy.Title.ZH)))
	a.raceHead(o.Scenario, runTitle(o))
	if why := reason("na", o.NotApplicable); o.NotApplicable != "" {
		a.printf("\n%s: %s\n", verdict.NA, a.say(why.EN, why.ZH))
		a.tellUncontracted(o)
		a.next("locklab explain "+o.Scenario.ID, "locklab explain "+o.Strategy.ID)
		return nil
	}
	watched, err := study.ReplayWithCodeOn(o.Strategy, o.Trace)
	if err != nil {
		return internal(err)
	}
	from, event, err := a.certainty(o)
	if err != nil {
		return err
	}
	look := a.options()
	look.NoReturn = event
	a.part(a.label("lanes"))
	if err := reports.Lanes(a.stdout, watched.History, watched.Judgement, look); err != nil {
		return internal(err)
	}
	a.meanings(o)
	if o.Scenario.ID != study.SearchID {
		a.compare(o)
	}
	if contract.Expected(o) != nil && contract.AsExpected(o) {
		a.told("cause", reason("why", contract.Why(o.Strategy, o.Scenario)))
	}
	for i, text := range from {
		a.part(lessons.In(a.langs()[i]).Name("label.certain"))
		a.wrap("  ", text)
	}
	if err := a.tellDoom(); err != nil {
		return err
	}
	if err := a.mend(o); err != nil {
		return err
	}
	if slices.ContainsFunc(watched.History.Events, asksRedis) {
		a.part(a.label("code"))
	}
	if err := reports.Code(a.stdout, watched.History, a.options()); err != nil {
		return internal(err)
	}
	if err := a.nextLocks(o); err != nil {
		return err
	}
	a.next(nextAfter(o)...)
	return nil
}

// explainedRunJSON is a run with the lines of the lock's code.
type explainedRunJSON struct {
	runJSON
	Code []codeJSON `json:"code"`
}

// codeJSON are the lines by which an event of the run was asked for, the innermost
// call first.
type codeJSON struct {
	Event int      `json:"event"` // its place among the events, from 0
	Lines []string `json:"lines"`
}

func (a *app) printRun(o *race.Outcome) error {
	j := explainedRunJSON{runJSON: outcomeJSON(o), Code: []codeJSON{}}
	if o.History != nil {
		watched, err := study.ReplayWithCodeOn(o.Strategy, o.Trace)
		if err != nil {
			return internal(err)
		}
		for i, e := range watched.History.Events {
			if len(e.Code) > 0 {
				j.Code = append(j.Code, codeJSON{i, e.Code})
			}
		}
	}
	return a.printJSON(j)
}

// mend says what mends a race, or what else there is to go by.
func (a *app) mend(o *race.Outcome) error {
	if key := "race." + o.Scenario.ID + ".mends"; lessons.In("en").Has(key) {
		return a.text("fix", key)
	}
	a.told("fix", reports.Text{EN: cure(o, "en"), ZH: cure(o, "zh")})
	return nil
}

// certainty says, in each language, from when the harm of a run was certain, and at
// which of its events. Of what a search has found the curve of its doom says it.
func (a *app) certainty(o *race.Outcome) (text []string, event int, err error) {
	key, own := "label.certain.none", map[string]string{}
	if o.Scenario.ID == study.SearchID {
		d, err := study.DoomOn(a.ctx, o.Strategy, o.Trace, "")
		large := (*explore.TooLargeError)(nil)
		switch {
		case errors.As(err, &large) || errors.Is(err, context.Canceled):
			return a.inAll(err.Error()), 0, nil
		case err != nil && o.Verdicts[0].Broken():
			return a.inAll(err.Error()), 0, nil
		case err != nil:
			return a.ownText(key, own), 0, nil
		}
		a.doom = doomCurve(d)
		return nil, a.doom.NoReturnEvent(), nil
	}
	c, err := study.CertainFrom(o)
	switch {
	case errors.Is(err, study.ErrNoHarm):
	case err != nil:
		return nil, 0, internal(err)
	case c.Event == 0:
		key, own["harm"] = "label.certain.start", string(c.Harm)
	default:
		at := o.History.Events[c.Event-1].At
		key, own["harm"] = "label.certain.event", string(c.Harm)
		own["time"] = strconv.FormatFloat(float64(at.Round(time.Millisecond/10))/float64(time.Millisecond), 'f', -1, 64)
	}
	return a.ownText(key, own), c.Event, nil
}

// ownText is a text with places of its own, in each language.
func (a *app) ownText(key string, own map[string]string) (text []string) {
	for _, lang := range a.langs() {
		t := a.teacher(lang)
		t.own = own
		lines, err := t.lines(key)
		if err != nil {
			lines = []string{err.Error()}
		}
		text = append(text, strings.Join(lines, " "))
	}
	return text
}

func (a *app) inAll(text string) (all []string) {
	for range a.langs() {
		all = append(all, text)
	}
	return all
}

// nextLocks makes the same attack on each lock on which the story turns. What a search
// has found is no script that could be played: there the same bad luck is allowed.
func (a *app) nextLocks(o *race.Outcome) error {
	if o.Scenario.ID == study.SearchID {
		return a.nextSearched(o)
	}
	a.part(a.label("next"))
	for _, e := range algorithms.Milestones() {
		other, err := race.Play(e, o.Scenario, o.Settings)
		if err != nil { // its lease is of another kind, such as whole seconds
			a.wrap("  "+padded(e.ID, 14)+" ", err.Error())
			continue
		}
		a.wrap("  "+padded(e.ID, 14)+" ", a.outcomeWords(other))
	}
	return nil
}

// nextStates is how many states of each other lock are looked at: a second or two.
const nextStates = 300_000

func (a *app) nextSearched(o *race.Outcome) error {
	b, err := study.ParseBounds(o.Trace.Settings)
	if err != nil {
		return internal(err)
	}
	a.part(a.label("next.search"))
	for _, e := range algorithms.Milestones() {
		with := b
		with.Nodes, with.Retries, with.MaxStates = study.FewServers(e), study.AutoRetries, nextStates
		text := ""
		if s, err := study.Explore(a.ctx, e, with); err != nil {
			text = err.Error()
		} else {
			text = witnesses(s)
		}
		a.wrap("  "+padded(e.ID, 14)+" ", text)
	}
	return nil
}

// witnesses are what a search has found: each verdict with its par.
func witnesses(s *study.Search) string {
	var words []string
	for _, w := range s.Witnesses {
		words = append(words, fmt.Sprintf("%s@%d", w.Verdict, w.Par))
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, " ")
	case s.Result.Complete:
		return string(verdict.Holds)
	}
	return string(verdict.Unknown)
}
