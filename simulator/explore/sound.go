package explore

import (
	"context"
	"errors"
	"iter"
	"slices"

	"locklab/simulator"
	"locklab/simulator/checkpoint"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
)

// A checkpoint whose checksum fits may still have been altered. What follows from other
// things in it is checked against them: every number names an entry, every state is one
// step after the one that it was reached from, and those that wait are made from those
// that were not visited. What follows from the states is computed again from the lock's code:
// from all of them, if there are few, and otherwise from a sample (see Kept.Sampled). What a
// pass has found that is done cannot be checked without that pass (Kept.Visited), but for
// its witnesses, which are replayed.

// errUnsound is a checkpoint that contradicts itself or the code.
var errUnsound = i18n.Errorf("error.checkpoint.unsound")

// hasChoice reports whether a choice is one of clients and servers that there are.
func hasChoice(s *tables, c simulator.Choice) bool {
	return c.Client >= 0 && int(c.Client) <= s.clients && c.Node >= 0 && int(c.Node) <= s.nodes && c.Thread >= 0 && c.D >= 0
}

func hasEvents(s *tables, list []history.Event) bool {
	return !slices.ContainsFunc(list, func(e history.Event) bool {
		return e.Client < 0 || e.Client > s.clients || e.Node < history.Resource || e.Node > s.nodes
	})
}

// checkResult checks the result of a pass that is done.
func (k *checkpointer) checkResult() error {
	if k.phase > finished || k.Kept.Had < 1 || k.Kept.Before < 0 {
		return errUnsound
	}
	if k.first == nil {
		return nil
	}
	if r := k.first; !r.Complete || !r.Limit.IsZero() || r.States < 1 || r.Transitions < r.States-1 || r.Open != 0 || r.Histories < 1 {
		return errUnsound
	}
	for i := range k.first.Found {
		if w := &k.first.Found[i]; !slices.Contains(order, w.Verdict) || !w.counted() {
			return errUnsound
		}
	}
	return nil
}

// counted reports whether a witness has as many steps and faults as it says.
func (w *Witness) counted() bool {
	return w.Par == simulator.FaultsIn(w.Choices) && w.Steps == len(w.Choices)
}

// How many states, and histories of each client, are computed again.
const (
	samples     = 1 << 13
	codeSamples = samples / 8
)

// loaded is a search that was read from a checkpoint.
type loaded struct{ search *search }

// check checks a search that was loaded, and makes what can be made from the rest. start is
// the world in which every run begins. whole: all of it was computed again, and not a sample.
func (s *loaded) check(ctx context.Context, start simulator.World) (whole bool, err error) {
	if err := s.checkStates(); err != nil {
		return false, err
	}
	present, err := s.requeue()
	if err != nil {
		return false, err
	}
	if err := s.checkFound(present); err != nil {
		return false, err
	}
	s.search.visited.states.indexAll()
	whole = s.search.visited.states.n <= samples && s.search.sim.Histories() <= codeSamples
	if err := s.search.sim.Tables().CheckCode(codeSamples); err != nil {
		return false, err
	}
	return whole, s.checkSteps(ctx, start, present)
}

func (s *loaded) checkStates() error {
	v := s.search.visited
	for i := range v.states.n {
		id := uint32(i)
		if !s.hasWords(v.states.words(id)) {
			return errUnsound
		}
		if id == 0 {
			if v.states.depth(0) != 0 {
				return errUnsound
			}
			continue
		}
		from, via := v.states.parent(id), int(v.states.via(id))
		if int(from) >= v.states.n || via >= len(s.search.choices) || v.states.depth(id) != v.states.depth(from)+1 {
			return errUnsound
		}
	}
	for i := range v.states.n { // all words are sound by now
		if id := uint32(i); id > 0 && s.faultsOf(id) != s.faultsOf(v.states.parent(id))+s.faultIn(v.states.via(id)) {
			return errUnsound
		}
	}
	return nil
}

// hasWords reports whether the words of a state name entries of the tables.
func (s *loaded) hasWords(words []uint32) bool {
	for c := range s.search.clients {
		of := c
		if c < s.search.symmetric && s.search.symmetric > 1 {
			of = 0 // a class
		}
		if int(words[c]) >= len(s.search.clientTab[of].keys) {
			return false
		}
	}
	for n := range s.search.nodes {
		if int(words[s.search.clients+n]) >= len(s.search.nodeTab.keys) {
			return false
		}
	}
	return int(words[s.search.restAt]) < len(s.search.restTab.keys) && int(words[s.search.judgeAt]) < len(s.search.judgeTab.keys) &&
		(!s.search.byCause || int(words[s.search.causeAt]) < len(s.search.causes.keys)) &&
		(len(words) <= s.search.timeAt || int(words[s.search.timeAt]) < len(s.search.times.keys))
}

// faultsOf returns the number of faults that were injected on the way to a state.
func (s *loaded) faultsOf(id uint32) int {
	return s.search.restTab.entries[s.search.visited.states.words(id)[s.search.restAt]].spent
}

func (s *loaded) faultIn(choice uint16) int {
	if s.search.choices[choice].Verb >= simulator.FaultVerb {
		return 1
	}
	return 0
}

// isDone reports whether a state belongs to a layer before the present one.
func (s *loaded) isDone(id uint32) bool {
	v, f := s.search.visited, s.faultsOf(id)
	return f < v.spent || f == v.spent && int(v.states.depth(id)) < v.depth
}

// checkFound checks where the verdicts were found. visited are the states of the present
// layer from which all that follows is entered.
func (s *loaded) checkFound(visited []uint32) error {
	v := s.search.visited
	for f, d := range v.found {
		switch {
		case !slices.Contains(order, f.word) || int(f.cause) >= len(s.search.causes.keys):
			return errUnsound
		case int(d.state) >= v.states.n || !s.isDone(d.state) && !slices.Contains(visited, d.state) || int(d.choice) >= len(s.search.choices):
			return errUnsound
		case d.steps != int(v.states.depth(d.state))+1 || d.par != s.faultsOf(d.state)+s.faultIn(d.choice):
			return errUnsound
		}
	}
	return nil
}

// checkSteps computes again what follows from the states that were visited, or from a sample of
// them, by the moves of the search itself, which adds nothing to the tables: see checkpoint.go.
// The start is among the states, and so is all that follows from others, by a way that is
// no longer; every state of the sample is reached by the move that the file names; what the
// judges find is among the verdicts found. present are the states of the present layer that
// were visited.
func (s *loaded) checkSteps(ctx context.Context, start simulator.World, present []uint32) error {
	v := s.search.visited
	if err := s.search.takeStart(start); err != nil {
		return err
	}
	if !slices.Equal(s.search.successors.next, v.states.words(0)) {
		return errUnsound
	}
	s.search.successors.out = &batch{width: v.states.width}
	defer func() { s.search.successors.out = nil }()
	again := tally{triggered: make([]bool, len(v.triggered))}
	present = slices.Sorted(slices.Values(present))
	for id := range sampled(v.states.n) {
		if err := errors.Join(ctx.Err(), s.checkWay(id)); err != nil {
			return err
		}
		if _, visited := slices.BinarySearch(present, id); !visited && !s.isDone(id) {
			continue
		}
		if err := s.checkMoves(id, &again); err != nil {
			return err
		}
	}
	if v.states.n <= samples && (again.transitions != v.transitions || !slices.Equal(again.triggered, v.triggered)) {
		return errUnsound
	}
	return nil
}

// sampled returns the first n numbers, or a sample of them at equal distances.
func sampled(n int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range min(samples, n) {
			if !yield(uint32(i * n / min(samples, n))) {
				return
			}
		}
	}
}

// expandAgain puts all arcs from a state into out.
func (s *loaded) expandAgain(id uint32) error {
	s.search.successors.out.clear()
	if err := s.search.loadState(id); err != nil {
		return err
	}
	return errors.Join(s.search.successors.expand(id), s.search.numbers.full)
}

// checkWay checks that a state is reached from the one before it, by the move that the file
// names.
func (s *loaded) checkWay(id uint32) error {
	if id == 0 {
		return nil
	}
	st := s.search.visited.states
	if err := s.expandAgain(st.parent(id)); err != nil {
		return err
	}
	for i := range s.search.successors.out.arcs {
		if s.search.successors.out.arcs[i].via == st.via(id) && slices.Equal(s.search.successors.out.wordsOf(i), st.words(id)) {
			return nil
		}
	}
	return errUnsound
}

// checkMoves checks all that follows from a state that was visited, and counts it.
func (s *loaded) checkMoves(id uint32, again *tally) error {
	v := s.search.visited
	if err := s.expandAgain(id); err != nil {
		return err
	}
	again.transitions += len(s.search.successors.out.arcs)
	faults, steps := s.faultsOf(id), int(v.states.depth(id))+1
	for i := range s.search.successors.out.arcs {
		a := &s.search.successors.out.arcs[i]
		to, known := v.states.find(s.search.successors.out.wordsOf(i))
		if !known || int(v.states.depth(to)) > steps || !v.discovered(a, faults+int(a.faults), steps) {
			return errUnsound
		}
		if a.faults > 0 {
			if int(a.via) >= len(v.triggered) || !v.triggered[a.via] {
				return errUnsound
			}
			again.triggered[a.via] = true
		}
	}
	return nil
}

// discovered reports whether what is found on an arc is among the verdicts found, with as few
// faults and steps or fewer.
func (v *visited) discovered(a *arc, par, steps int) bool {
	for i, w := range order {
		if a.found&(1<<i) == 0 {
			continue
		}
		if d := v.found[finding{w, a.cause}]; d == nil || d.par > par || d.par == par && d.steps > steps {
			return false
		}
	}
	return true
}

// checkWitnesses replays the witnesses of a search that went on from its checkpoint.
func (m *Model) checkWitnesses(sim *simulator.Simulator, r *Result) (err error) {
	if r.Kept.Had == 0 {
		return nil
	}
	k := &checkpointer{File: &checkpoint.File{Config: m.Checkpoint, Kept: r.Kept}}
	defer k.unfit(&r, &err)
	for _, w := range r.Found {
		if !w.counted() || !m.leadTo(sim, w.Choices, w.Verdict) {
			return k.Unreadable(errUnsound)
		}
	}
	return nil
}
