package explore

import (
	"context"
	"slices"
	"sync"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/intern"
	"locklab/simulator/translate"
	"locklab/simulator/verdict"
)

// A search of any number of attempts has one state less for each attempt that it need not count. A client that rests,
// and of which nothing goes on, begins anew under another name if its code remembers nothing and draws its tokens anew:
// to code and servers it is a new client. Its former name is a spare one, which cannot act, and is mentioned by
// servers, judges and requests under way until none of them does any more; then it is free. Spare names are parts of
// dead clients, so that symmetry.go sorts them like all others. Where servers keep sessions, which outlast attempts, it
// begins anew under its own name; see recounts below. To the judges the attempts of a client then are clients of their
// own, and versions of the resource are older or not (verdict.Safety.ObserveVersion). Clients may stop at any rest: the
// probe may begin when all of them rest or are dead.
//
// A counter of a server stands still as in proofs for any number of clients: see views.go.
//
// This counts without end, and is named: memory that is kept between two attempts, tokens that are drawn once, ids of
// threads, threads that go on at rest in attempt after attempt, clocks that are read, more names than are spare.
//
// What is found has no choices: the way is that of clients that have more names than one. Its attempts are counted, and
// a search of so many attempts finds the witness.

// Spares is the number of spare names.
const Spares = 3

// overlapping is the number of attempts that a client makes at most before a rest at which nothing of it goes on.
const overlapping = 2

// rests are parts of clients that rest.
type rests struct {
	fresh  uint32                       // the class of a client that has made no attempt
	absent [simulator.MaxClients]uint32 // of clients that are dead, and of the probe, which has not begun
	drawn  bool                         // its code draws a token before the first attempt
}

// newRests computes the parts of clients that rest.
func newRests(s *search) (r rests, err error) {
	for c := range s.symmetric {
		r.absent[c] = s.clientTab[c].ID(simulator.DeadPart())
	}
	w := s.sim.NewWorld()
	r.absent[s.probe-1] = s.client(s.probe-1, &w)
	if _, err := s.sim.Step(&w, simulator.Choice{Verb: simulator.Start, Client: 1}); err != nil {
		return r, err
	}
	r.fresh, err = s.quotient.class(0, s.client(0, &w))
	r.drawn = s.sim.Parts().RestOf(1, &s.clientTab[0].Keys[r.fresh]).Drawn
	return r, err
}

// namedBy are the clients that a server's part names.
func (t *tables) namedBy(node uint32) (names history.ClientSet) {
	if in := t.named.At(node); in != intern.Unseen {
		return history.ClientSet(in)
	}
	t.numbers.Lacking()
	part := t.nodeTab.Keys[node]
	for c := 1; c <= t.symmetric; c++ {
		swap := translate.Rename(history.Swap(uint8(c), uint8(t.clients)))
		if renamed, err := t.sim.Symmetry().Node(part, swap); err != nil || renamed != part {
			names.Add(uint8(c))
		}
	}
	t.named.Set(node, uint32(names))
	return names
}

// again has clients begin anew.
type again struct {
	rests
	*tables
	quotient *quotient
	gone     uint32    // the class of spare names
	active   int       // clients that make attempts; the others of those that are symmetric are spare names
	endless  bool      // no fault is ever used up
	recounts *recounts // nil: clients begin anew under another name
	full     simulator.RestPart

	ready                 intern.Column // by class: how a client of it goes on; see goesOn
	refilled, unversioned intern.Column
	settled               [simulator.MaxClients]intern.Column
	attempted             [simulator.MaxClients][simulator.MaxClients]intern.Column
}

// The values of again.ready.
const (
	acting  uint32 = iota // it goes on
	resting               // it has begun anew
	anew                  // it begins anew
)

// newAgain makes the again of a search, whose clients without the probe are active ones and spares.
func newAgain(s *search, active int, endless bool) (err error) {
	a := &again{tables: s.tables, quotient: s.quotient, active: active, endless: endless}
	if a.rests, err = newRests(s); err != nil {
		return err
	}
	if a.gone, err = s.quotient.class(0, a.absent[0]); err != nil {
		return err
	}
	if a.drawn {
		s.numbers.Exceed("limit.again.token")
	}
	w := s.sim.NewWorld()
	a.full = s.sim.Parts().Rest(&w)
	if s.sim.KeepsSessions() {
		a.recounts = &recounts{again: a, images: map[recounting]uint32{}, adding: &sync.RWMutex{}}
	}
	s.tables.again, s.quotient.again = a, a
	return nil
}

// describe adds to what is known of judges.
func (a *again) describe(e *judgeEntry, v *verdict.Safety, c int) {
	role := v.Role(c)
	e.roles[c-1] = uint32(role ^ role>>24)
	e.left = v.Unsettled()
	if v.Mentions(c) {
		e.known.Add(uint8(c))
	}
}

// begin makes the spare names of the first state.
func (a *again) begin(state []uint32) {
	for c := a.active; c < a.symmetric; c++ {
		state[c] = a.absent[c]
	}
}

// refill has a state forget how many faults were injected, and the version of the resource.
func (a *again) refill(state []uint32) {
	if a.endless {
		refilled := func(r simulator.RestPart) simulator.RestPart { return r.WithBudgetOf(&a.full) }
		state[a.restAt] = a.restTab.Image(&a.refilled, state[a.restAt], refilled)
	}
	state[a.restAt] = a.restTab.Image(&a.unversioned, state[a.restAt], simulator.RestPart.WithoutVersion)
}

// goesOn returns what a client of a class does next.
func (a *again) goesOn(class uint32) uint32 {
	how := a.ready.At(class)
	if how == intern.Unseen {
		a.numbers.Lacking()
		if how = resting; class != a.fresh {
			how = a.after(0, class)
		}
		a.ready.Set(class, how)
	}
	return how
}

// after returns what client c, from 0, does next in a state of its own.
func (a *again) after(c int, id uint32) uint32 {
	r := a.sim.Parts().RestOf(c+1, &a.clientTab[c].Keys[id])
	switch {
	case r.Stage > 0 && r.Busy && r.Stage > overlapping:
		a.numbers.Exceed("limit.again.busy", "n", overlapping)
	case r.Stage == 0 || r.Busy:
	case r.Kept:
		a.numbers.Exceed("limit.again.memory")
	case r.Stage == 1 && a.recounts != nil:
		return resting
	default:
		return anew
	}
	return acting
}

// mentioned are the clients that something in a state mentions.
func (a *again) mentioned(state []uint32) history.ClientSet {
	names := a.restTab.Values[state[a.restAt]].senders | a.judgeTab.Values[state[a.judgeAt]].known
	for n := range a.nodes {
		names |= a.namedBy(state[a.clients+n])
	}
	return names
}

// renew has clients of a state, in which they are classes, begin anew. to has the new places of all.
func (a *again) renew(state []uint32, to *history.Names) {
	for c := range a.symmetric {
		if a.goesOn(state[c]) != anew {
			continue
		}
		next := c
		if named := a.mentioned(state); named.Has(uint8(c + 1)) {
			if next = a.spare(state, named); next < 0 {
				a.numbers.Lacking()
				a.numbers.Exceed("limit.again.names", "n", a.symmetric)
				return
			}
		}
		state[c], state[next] = a.gone, a.fresh
		to[c+1], to[next+1] = to[next+1], to[c+1]
		a.attempt(state, c, next)
	}
}

// attempt notes that client c has made an attempt and goes on as another one, both from 0.
func (a *again) attempt(state []uint32, c, next int) {
	attempted := func(v verdict.Safety) verdict.Safety { return v.Attempted(c+1, next+1) }
	state[a.judgeAt] = a.judgeTab.Image(&a.attempted[c][next], state[a.judgeAt], attempted)
}

// spare is a name, from 0, that is not mentioned; below 0: there is none.
func (a *again) spare(state []uint32, named history.ClientSet) int {
	for c := range a.symmetric {
		if state[c] == a.gone && !named.Has(uint8(c+1)) {
			return c
		}
	}
	return none
}

// settle has the judges forget what clients of a state have read and will not write on.
func (a *again) settle(state []uint32) {
	rest := a.restTab.Values[state[a.restAt]]
	for left := a.judgeTab.Values[state[a.judgeAt]].left &^ rest.senders; left != 0; left &= left - 1 {
		c := int(left.First()) - 1
		e := a.clientTab[0].Values[state[c]]
		if e.onVersion || a.numbers.traits(a.sim).OldBases && !e.finished && a.goesOn(state[c]) == acting {
			continue
		}
		settled := func(v verdict.Safety) verdict.Safety { return v.Settled(c + 1) }
		state[a.judgeAt] = a.judgeTab.Image(&a.settled[c], state[a.judgeAt], settled)
	}
}

// rested reports whether client c, from 0, under its own number, rests before an attempt: it may make no other.
func (s *successors) rested(c int, state []uint32) bool {
	if s.again == nil || c >= s.symmetric {
		return false
	}
	class, err := s.quotient.class(c, state[c])
	return err == nil && s.again.goesOn(class) == resting
}

// checkAgain returns an error if a process was seen to have a name for its whole life.
func (s *search) checkAgain() error {
	if s.again != nil && s.sim.Parts().Lasting() {
		return &simulator.LimitError{What: i18n.New("limit.again.thread")}
	}
	return nil
}

// attemptsOn returns the largest number of attempts of a client on the way to a discovery, 1 at least.
func attemptsOn(s *search, d *discovery) (most int, err error) {
	states, choices := []uint32{d.state}, []uint16{d.choice} // from the last one to the first
	for at := d.state; at != 0; at = s.visited.states.parent(at) {
		states, choices = append(states, s.visited.states.parent(at)), append(choices, s.visited.states.via(at))
	}
	owner, made := history.Same(), [simulator.MaxClients + 1]int{}
	for i, state := range slices.Backward(states) {
		c := s.choices[choices[i]]
		if err := s.loadState(state); err != nil {
			return 0, err
		}
		if one := int(c.Client); c.Verb == simulator.Start && one <= s.symmetric &&
			s.sim.Parts().RestOf(one, &s.clientTab[one-1].Keys[s.successors.cur[one-1]]).Stage > 0 {
			made[owner[one]]++
		}
		to, _, err := s.redo(state, c)
		if err != nil {
			return 0, err
		}
		before := owner
		for place, now := range to {
			owner[now] = before[place]
		}
	}
	return max(1, slices.Max(made[:])), nil
}

// countsWithoutEnd names what makes a search of any number of attempts endless, if something was refuted; or zero.
func (o *Options) countsWithoutEnd(weaker assumptions, seen simulator.Traits) i18n.Message {
	switch {
	case o.active == 0:
	case seen.ReadsClock, seen.Grain > 0: // time stamps grow older
		return i18n.New("limit.again.clock")
	case o.assumed.Rests && !weaker.Rests:
		return i18n.New("limit.again.rest")
	case o.assumed.Ordered && !weaker.Ordered:
		return i18n.New("limit.again.order", "why", weaker.disorder)
	case weaker.Symmetric == 0:
		return i18n.New("limit.again.alike", "why", weaker.asymmetry.Error())
	}
	return i18n.Message{}
}

// SearchAgain searches m with any number of attempts in place of m's; endless: with faults that are never used up. What
// it finds has as many attempts as its way takes, and no choices. m must have a probe. The errors are [Exhaust]'s.
func SearchAgain(ctx context.Context, m *Model, endless bool) (*Result, error) {
	named := *m
	named.Attempts = attemptsTried
	if !m.Entry.Sessions() {
		named.Clients = min(m.Clients+Spares, simulator.MaxClients-1)
	}
	sim, err := named.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	opt := named.Options()
	opt.active, opt.endless = m.Clients, endless
	r, err := Exhaust(ctx, sim, opt)
	if r != nil && endless { // the states do not tell how many faults were injected
		r.Found = slices.DeleteFunc(r.Found, func(w Witness) bool { return w.Verdict == verdict.Starved && w.Par > 0 })
	}
	return r, err
}

// Where servers keep sessions, a client that rests begins anew under its own name: its session goes on, and with it
// what its earlier attempts have left. What tells attempts apart are the numbers of its tokens and leases. They count
// without end, and so do the numbers that an ensemble gives to transactions and a znode's children. But all of them are
// only compared (hypothesis.Ordered). So in each state those that anything mentions (servers, what clients have
// observed, judges, requests under way) are the smallest ones in their order, and each counter stands at the greatest
// one that is mentioned and that it has counted. A counter that stands back gives a number again that nothing mentions.

// recounts has the numbers of states be the smallest ones.
type recounts struct {
	*again
	mentions [simulator.MaxClients + simulator.MaxNodes + 2][]*mention // by word and component; nil: not known yet
	images   map[recounting]uint32
	adding   *sync.RWMutex // of mentions and images, which copies share; see lookahead.go
}

// A mention has the numbers of a component.
type mention struct {
	numbers, counters history.Numbers
	anew              bool // it is a client that begins anew
}

// recounting is a component in whose state some numbers are mentioned.
type recounting struct {
	word, id uint32
	numbers  history.Numbers
}

// recount has clients of a state begin anew, and its numbers be the smallest ones.
func (r *recounts) recount(state []uint32) error {
	if r.numbers.ReadOnly {
		r.adding.RLock()
		defer r.adding.RUnlock()
	}
	for c := range r.symmetric {
		if m, err := r.mentionedIn(c, state[c]); err != nil {
			return err
		} else if m.anew {
			r.attempt(state, c, c)
		}
	}
	all := history.NoNumbers()
	for word := range r.judgeAt + 1 {
		m, err := r.mentionedIn(word, state[word])
		if err != nil {
			return err
		}
		all.Add(&m.numbers)
	}
	for word := range r.judgeAt + 1 {
		if m := r.mentions[word][state[word]]; !m.anew && all.Keep(&m.numbers) && all.Keep(&m.counters) {
			continue
		}
		key := recounting{uint32(word), state[word], all}
		to, known := r.images[key]
		if !known {
			r.numbers.Lacking()
			var err error
			if to, err = r.with(word, state[word], all.Ranks); err != nil {
				return err
			}
			r.adding.Lock()
			r.images[key] = to
			r.adding.Unlock()
		}
		state[word] = to
	}
	return nil
}

// mentionedIn returns the numbers of a component, and what it does next if it is a client.
func (r *recounts) mentionedIn(word int, id uint32) (*mention, error) {
	list := &r.mentions[word]
	if int(id) < len(*list) && (*list)[id] != nil {
		return (*list)[id], nil
	}
	r.numbers.Lacking()
	m, far := &mention{numbers: history.NoNumbers(), counters: history.NoNumbers()}, false
	if _, err := r.with(word, id, m.numbers.Note(&m.counters, &far)); err != nil {
		return nil, err
	}
	if far {
		r.numbers.Exceed("limit.again.numbers")
	}
	m.anew = word < r.symmetric && r.after(word, id) == anew
	r.adding.Lock()
	defer r.adding.Unlock()
	for len(*list) <= int(id) {
		*list = append(*list, nil)
	}
	(*list)[id] = m
	return m, nil
}

// with is a component with other numbers.
func (r *recounts) with(word int, id uint32, f history.Recount) (to uint32, err error) {
	symmetry := r.sim.Symmetry()
	switch {
	case word < r.clients:
		part, err := symmetry.Recounted(r.clientTab[word].Keys[id], word+1, f)
		if err != nil {
			return id, err
		}
		return r.clientTab[word].ID(part), nil
	case word < r.restAt:
		part, err := symmetry.Node(r.nodeTab.Keys[id], translate.Recount(f))
		return r.nodeTab.ID(part), err
	case word == r.restAt:
		part, err := symmetry.Rest(r.restTab.Keys[id], translate.Recount(f))
		return r.restTab.ID(part), err
	}
	return r.judgeTab.ID(r.judgeTab.Keys[id].Recounted(f)), nil
}
