package search

import (
	"errors"
	"slices"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// Against plays the attack of a trace on another lock; that of the trace need not be listed. Of a race that is the
// script, with the trace's settings. Of a search it is the schedule: each choice of the trace is made where it is
// possible and left out where it is not, what the lock does besides happens before time passes, and in the end it runs
// on until nothing is left to do. Faults that could not be injected are in NotInjected; a lock that nothing else breaks
// has not survived the attack then, which does not apply to it.
func Against(entry lock.Entry, t simulator.Trace) (*race.Outcome, error) {
	if t.Race == SearchID {
		return searchAgainst(entry, t)
	}
	sc, s, err := resolve(entry, t)
	if err != nil {
		return nil, err
	}
	return race.Play(entry, sc, s)
}

func searchAgainst(entry lock.Entry, t simulator.Trace) (*race.Outcome, error) {
	b, err := ParseBounds(t.Settings)
	if err != nil {
		return nil, i18n.Errorf("error.replay.bounds", "cause", err)
	}
	if (b.Nodes > 1) != (entry.Servers() > 1) {
		b.Nodes = FewServers(entry)
	}
	search, sim, err := b.Simulator(entry)
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	f := &imitation{sim: sim, Recorder: schedule.Record(sim), probe: search.Clients + 1, hasty: b.Timing == Lockstep}
	for _, c := range t.Choices {
		if err := f.follow(c); err != nil {
			return nil, i18n.Errorf("error.cause", "of", entry.ID, "cause", err)
		}
	}
	_ = f.goOn(true) // as far as it comes
	o := b.Settled(entry).Opened(search, sim).Outcome(f.Run())
	if o.NotInjected = f.notInjected; o.NotInjected != nil && !verdict.Fails(o.Verdicts) {
		o.Verdicts = []verdict.Word{verdict.NA}
	}
	return o, nil
}

// Rival returns the lock to make an attack on first: token, or another of its family if a fault finds no place there.
// "": each has a fault that finds none.
func Rival(t simulator.Trace) string {
	token, _ := race.Lock("token")
	for _, e := range append([]lock.Entry{token}, algorithms.All()...) {
		if e.Family == token.Family {
			if o, err := Against(e, t); err == nil && o.NotInjected == nil && o.Verdicts[0] != verdict.NA {
				return e.ID
			}
		}
	}
	return ""
}

// maxFollowed is the number of choices that a lock may make beyond those of the trace: more than any search has.
const maxFollowed = 5000

// An imitation makes the choices of another lock's run.
type imitation struct {
	*schedule.Recorder
	sim         *simulator.Simulator
	probe       int  // the client that begins last
	hasty       bool // what can happen at once happens before time passes
	notInjected []error
}

// follow makes a choice if it is possible. The probe begins when all others are done, whenever that is here.
func (f *imitation) follow(c simulator.Choice) error {
	switch of := func(e history.Event) bool { return e.Client == int(c.Client) }; {
	case c.Verb == simulator.Start && int(c.Client) == f.probe:
		return nil
	case (c.Verb == faults.Crash.Verb || c.Verb == faults.Pause.Verb) && !slices.ContainsFunc(f.Run().Events, of):
		not := &simulator.NotEnabledError{Choice: f.sim.Describe(c), At: f.World().Now()}
		not.Why = i18n.New("refused.client.idle")
		f.notInjected = append(f.notInjected, not)
		return nil
	}
	if c.Verb == simulator.Pass && f.hasty {
		if err := f.goOn(false); err != nil {
			return err
		}
		c.D = min(c.D, f.sim.NextDeadline(f.World())-f.World().Now())
	}
	_, err := f.Step(c)
	if not := (*simulator.NotEnabledError)(nil); errors.As(err, &not) {
		if c.Verb >= simulator.FaultVerb {
			f.notInjected = append(f.notInjected, err)
		}
		return nil
	}
	return err
}

// goOn makes what goes on by itself; late is that of next.
func (f *imitation) goOn(late bool) error {
	for range maxFollowed {
		c, ok := f.next(late)
		if !ok {
			break
		}
		if _, err := f.Step(c); err != nil {
			return err
		}
	}
	return nil
}

// next is the first choice that goes on by itself; with late also a pause's end, the passing of time, the probe.
func (f *imitation) next(late bool) (simulator.Choice, bool) {
	later, last := simulator.Choice{}, simulator.Choice{}
	for _, c := range f.sim.Enabled(f.World(), nil) {
		switch {
		case c.Verb >= simulator.FaultVerb:
		case c.Verb == simulator.Start && int(c.Client) == f.probe:
			last = c
		case c.Verb == simulator.Pass || c.Verb == simulator.Resume:
			if later.Verb == 0 || later.Verb == simulator.Pass {
				later = c
			}
		default:
			return c, true
		}
	}
	if later.Verb == 0 {
		later = last
	}
	return later, late && later.Verb != 0
}
