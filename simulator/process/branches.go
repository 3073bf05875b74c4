package process

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"locklab/simulator/internal/clock"
)

// A select with several ready branches takes one by chance, so code may go on in several ways after the same
// observations. Where that was seen, each history is executed until executions show nothing new. The ways that were
// seen become entries: the thread that observed comes to a Branch, an operation that takes no time, and the observation
// that ends it has the number of the way. One that repeats such a history begins again until the code takes its way.

// Branches are places in the code of a Host at which executions of one history have gone on in different ways, each
// with the number of executions in a row that are to show no further way. Processes may share it.
type Branches map[string]int

const (
	leastQuiet = 20   // executions that show nothing new, for each way but the first
	mostQuiet  = 80   // likewise: code that shows more even then goes by chance
	leastSeen  = 4    // executions that take a way
	mostRuns   = 150  // executions in which each way is taken so often: code that takes one more seldom goes by chance
	mostPlaces = 20   // of Branches
	mostTries  = 1000 // executions until one takes the ways of a history
)

// MostWays is the number of ways of a history: code that has more goes by chance.
const MostWays = 4

// Learn adds the place at which an error of Advance says that the code is not deterministic, or has its histories
// executed twice as often there. It reports whether all is to begin anew; false: the code is nothing for Branches.
func (b Branches) Learn(err error) bool {
	e := (*NondeterministicError)(nil)
	if b == nil || !errors.As(err, &e) || e.place == "" {
		return false
	}
	quiet := max(leastQuiet, 2*b[e.place])
	if _, known := b[e.place]; quiet > mostQuiet || !known && len(b) >= mostPlaces {
		return false
	}
	b[e.place] = quiet
	return true
}

// errOtherWay is an execution that does not take the ways of the history that it is to repeat.
var errOtherWay = errors.New("simulator: the code has taken another way")

// everywhere in place of the name of a place is any other one.
const everywhere = "everywhere"

// Everywhere has histories executed so at every place: if it is not known where a run's code went on in several ways.
func (b Branches) Everywhere() { b[everywhere] = leastQuiet }

// Quiet is the least number of executions that have shown no further way, for each but the first.
func (b Branches) Quiet() int { return slices.Min(slices.Collect(maps.Values(b))) }

// at is the number of executions at a place that are to show no further way; 0: the code goes on in one way there.
func (b Branches) at(place string) int { return max(b[place], b[everywhere]) }

// place names where in the code a turn begins: what the code waits for, without its numbers, and what it observes.
func (t turn) place(p *Process) string {
	waits := withoutDigits(p.waitsFor(&p.entries[t.from].Ops))
	return fmt.Sprintf("%s: %d by thread %d", waits, t.what.Kind, t.what.Thread)
}

// differs is the error that an execution does something else than an entry has, to which a turn leads: errOtherWay if
// that is another way of its history.
func (t turn) differs(p *Process, does *Entry) error {
	e := &p.entries[t.to]
	for way := range int64(MostWays) {
		to, ok := p.known(e.Parent, Observation{Thread: e.Seen.Thread, Kind: Slept, Val: way})
		if t.what.Branch && ok && p.entries[to].SameActions(does) {
			return errOtherWay
		}
	}
	different := different(p, e, does)
	different.place = t.place(p)
	return different
}

// failed is an error of an execution that was to make turns, as of Advance: one of them is a DifferentError's reason.
func failed(p *Process, err error, all []turn) error {
	d := (*DifferentError)(nil)
	switch {
	case !errors.As(err, &d):
		return err
	case d.Branch:
		return errOtherWay
	}
	different := different(p, &d.Was, &d.Is)
	if 0 <= d.At && d.At < len(all) {
		different.place = all[d.At].place(p)
	}
	return different
}

// untilTaken tries until an execution takes the ways of its history.
func untilTaken(p *Process, try func() error) (err error) {
	for range mostTries {
		if err = try(); err != errOtherWay {
			return err
		}
	}
	return &NondeterministicError{Client: p.code.id, Was: "what it has done in a history",
		Is: fmt.Sprintf("something else in each of %d executions", mostTries)}
}

// observes has an execution at an entry observe what, and returns what the code does; p.run is that execution.
func observes(p *Process, from uint32, what TimedObservation) (does Entry, err error) {
	err = untilTaken(p, func() error {
		if (p.run == nil || p.at != from || p.noMemo) && !p.unpark(from) {
			if _, err := p.rerun(from, clock.Shift{}); err != nil {
				return err
			}
		}
		if does, err = p.run.Observe(what, nil); err == nil {
			return nil
		}
		p.stop() // it stands nowhere now
		_, before := p.turns(from)
		return failed(p, err, append(before, turn{from: from, what: what}))
	})
	return does, err
}

// ByBranch returns a *NondeterministicError if the code may go on in several ways where it has come to an entry, and an
// execution elsewhere has come to something else; nil: it may not.
func ByBranch(p *Process, at uint32, is string) error {
	_, all := p.turns(at)
	if len(all) == 0 {
		return nil
	}
	place := all[len(all)-1].place(p)
	if p.Branches.at(place) == 0 {
		return nil
	}
	return &NondeterministicError{Client: p.code.id, Was: p.Describe(&p.entries[at]), Is: is, place: place}
}

// A way has what the code does after a history.
type way struct {
	does Entry
	seen int // executions that have taken it
}

// ways executes a history until so many executions for each way but the first have shown nothing new, and each way was
// seen several times. The ways are in the order of the words for them.
func ways(p *Process, from uint32, what TimedObservation, quiet int) (all []way, err error) {
	seldom := func() bool { return slices.ContainsFunc(all, func(w way) bool { return w.seen < leastSeen }) }
	for runs, since := 0, 0; since < quiet*max(1, len(all)-1) || seldom(); runs++ {
		what.Last = runs > 0
		does, err := observes(p, from, what)
		i := slices.IndexFunc(all, func(w way) bool { return w.does.SameActions(&does) })
		if err == nil && (i < 0 && len(all) == MostWays || runs > mostRuns && seldom()) {
			err = different(p, &all[0].does, &all[len(all)-1].does) // without a place: more executions are of no use
		}
		if p.stop(); err != nil {
			return nil, err
		}
		if since++; i < 0 {
			i, since = len(all), 0
			all = append(all, way{does: does})
		}
		all[i].seen++
	}
	words := func(w way) string {
		ops := w.does.Ops
		for t := range ops {
			ops[t].Arg = 0 // a number of its words, which are described
		}
		return fmt.Sprint(p.Describe(&w.does), w.does.Fresh, ops, w.does.Notes)
	}
	slices.SortFunc(all, func(a, b way) int { return cmp.Compare(words(a), words(b)) })
	return all, nil
}

// branch enters what the code does when s is observed at an entry, in one way or in several.
func branch(p *Process, at uint32, s Observation, quiet int) (uint32, error) {
	from, what := p.input(at, s)
	what.Branch = true
	all, err := ways(p, from, what, quiet)
	switch {
	case err != nil:
		return 0, err
	case len(all) == 1:
		return p.record(at, s, all[0].does)
	}
	e := Entry{Ops: p.entries[at].Ops, Fresh: 1 << s.Thread, Outcome: Outcome{Memory: p.entries[at].Memory}}
	e.Ops[s.Thread] = Op{Kind: Branch, Arg: uint32(len(all) - 1)}
	to, err := p.record(at, s, e)
	for i := 0; i < len(all) && err == nil; i++ {
		_, err = p.record(to, Observation{Thread: s.Thread, Kind: Slept, Val: int64(i)}, all[i].does)
	}
	return to, err
}
