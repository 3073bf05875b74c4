package explore

import (
	"context"
	"slices"
	"strings"

	"locklab/simulator"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// With Options.Causes a state has the faults that were injected on the way to it, each
// with what the client was doing that it hit, sorted; for CausesOf only with where that one was in its use
// of the lock. Ways to one verdict by different causes then stay apart.

// cause is the number of a state's causes.
func (s *tables) cause(state []uint32) uint32 {
	if !s.byCause {
		return 0
	}
	return state[s.causeAt]
}

// blame adds the fault of move m to the causes of the state that follows.
func (s *successors) blame(state []uint32, m *move) {
	if !s.byCause {
		return
	}
	choice := s.choices[m.choice]
	label := s.sim.Describe(choice.Anonymous())
	switch c := int(m.client); {
	case s.victims:
		label = s.causeOf(choice).String()
	case c >= 0:
		label += ", " + s.sim.Parts().Doing(c+1, &s.clientTab[c].keys[s.cur[c]], int(choice.Thread)%simulator.MaxThreads) // see faults.PauseThread
	}
	all := append(slices.Clone(s.causes.entries[s.cause(s.cur)]), label)
	slices.Sort(all)
	state[s.causeAt] = numberList(&s.causes, all)
}

// A Victim is where a client was in its use of the lock when a fault struck it.
type Victim string

const (
	Waiter Victim = "waiter" // it had asked for the lock and had no answer
	Holder Victim = "holder" // from its Enter on, until the release has returned
)

// A Cause is a fault on a way to a verdict, by name, and its victim; "": it struck no client, or one that was neither.
type Cause struct {
	Fault  string
	Victim Victim
}

func (c Cause) String() string {
	if c.Victim == "" {
		return c.Fault
	}
	return c.Fault + ", " + string(c.Victim)
}

// causeOf is what a fault is to be blamed for in cur.
func (s *successors) causeOf(fault simulator.Choice) (c Cause) {
	for _, f := range s.sim.Config().Faults {
		if f.Fault.Verb == fault.Verb {
			c.Fault = f.Fault.Name
		}
	}
	if fault.Client > 0 {
		switch s.judgeTab.keys[s.cur[s.judgeAt]].Stage(int(fault.Client)) {
		case verdict.Acquiring:
			c.Victim = Waiter
		case verdict.Inside, verdict.Leaving, verdict.Releasing:
			c.Victim = Holder
		}
	}
	return c
}

// CausesOf searches m for all that a verdict can come about by with so many faults, which is its par: the causes of each such way, sorted.
// Not all: the search was cut short. The errors are those of [Exhaust].
func CausesOf(ctx context.Context, m *Model, of verdict.Word, par int) (ways [][]Cause, all bool, err error) {
	sim, err := m.Simulator()
	if err != nil {
		return nil, false, err
	}
	defer sim.Close()
	opt := m.Options()
	opt.Causes, opt.victims, opt.assumed = true, true, opt.assumptions(sim)
	r, err := pass(ctx, sim, &opt, []Witness{{Verdict: of, Par: par}})
	if r == nil {
		return nil, false, err
	}
	for _, w := range r.Found {
		if w.Verdict == of && w.Par == par {
			ways = append(ways, lists.Each(w.Cause, causeFrom))
		}
	}
	return ways, r.settled, err
}

// causeFrom reads what Cause.String has written.
func causeFrom(written string) Cause {
	fault, victim, _ := strings.Cut(written, ", ")
	return Cause{fault, Victim(victim)}
}
