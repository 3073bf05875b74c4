package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// View abstraction (Abdulla, Haziza and Holik, "All for the price of few", VMCAI 2013) proves for any number of
// clients what a search shows for a few. A view is one client, and what it shares with all others: the servers and the
// faults that are left. The set of views begins with a client at rest. Any two views of it that agree about what is
// shared make a world of two clients; each of its moves is made by the simulator's own Step; and both clients of the
// world that follows are views of the set, until nothing is new. Then every client of every run, with however many
// others, is in one of the views, and a harm that no world of two shows does not exist. That holds since a move reaches
// one client and the shared part, or time passes for all: a client that does not move is in a world with the one that
// does, and keeps its part. What else happens in worlds of two is too much and not too little: deadlines of the clients
// that are left out do not keep time from passing.
//
// A client has everything that bears its name: its process, its requests under way, also when it has given up or died
// (a ghost), what the only server keeps of its connections (which keys they watch), and what the judges know of it. In what is shared it is named: the owner of a key is the client of the
// view, another one, or none that can still act. These are never mixed up: of the clients of a world one at most is the
// owner, and a key without an owner stays so. A client that has come to its end begins anew as another one; its former name
// has no owner, or is that of a ghost. So does a process that rests after an attempt: if nothing of it goes on, it remembers
// nothing and draws its tokens anew, it is a new client to code and servers, and the views are those of any number of attempts. The
// id of its thread would be an old name: [simulator.Parts.Lasting].
// To the judges its attempts then are clients of their own. Else each client takes the lock once (Proof.Once).
//
// What a client learns of others by name, as the owner of a key, is not renamed with them: code is to do the same whichever
// other client an answer names, and whether two answers name the same one. That is a hypothesis, held against the code in
// all of its histories (simulator.Assumptions, Strangers); of code that compares others there is no proof.
//
// Of what a client has read of the resource, its view keeps whether another client has written since. A write that was stale
// makes what others have read old as well: then STALE-WRITE is among the harms already. An ORPHAN is a refusal while neither
// client of the world has the lock. If a client outside it has, that is no ORPHAN: views may show too many of them, never too few.
// A DEADLOCK is found by the probe from a shared part whose clients have all come to their ends, or where both clients of a
// world wait without end (see deadlock.go).
//
// Time stamps in data grow older without end. From some age on code and servers are to do the same however old they are: see
// [simulator.Ages], which begin small and are doubled where a step, or a check of the code, refutes them.
//
// Not looked for are FENCED, BLOCKED and STARVED.

// Provable are the verdicts that views are asked about.
var Provable = []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock}

// Outsiders is the number of clients that a shared part can name beside the two of a world.
const Outsiders = 3

// A Proof is what the set of views has shown.
type Proof struct {
	Views, Worlds, Transitions int
	// Harms are the verdicts that some world of two has come to. It may be that no run does.
	Harms  []verdict.Word
	Closed bool // nothing is new: what is not among the harms is impossible
	// Assumed, Lengths, Measures, Grain, Histories and Triggered are as those of a [Result].
	Assumed   simulator.Assumptions
	Lengths   []simulator.Length
	Measures  bool
	Grain     time.Duration
	Histories int
	Triggered []simulator.Verb
	Refused   error // why there is no proof; nil: there is one
	// Invariant is the set of views, if it is closed.
	Invariant *Invariant
	// Once gives the reason for which each client takes the lock once; zero: any number of times.
	Once i18n.Message
}

// leasesToAncient is the number of leases after which a time stamp is ancient at the latest: see simulator.Ages.
const leasesToAncient = 4

// worldsPerView bounds the worlds of two: so many times as many as there may be views.
const worldsPerView = 100

// ProveFor computes the views of m, most at most, which has five clients and a probe, and two attempts, of which only the first is made. With
// endless, no fault is ever used up. The error is about code that the simulator cannot run, or ctx's.
func ProveFor(ctx context.Context, m *Model, endless bool, most int) (*Proof, error) {
	sim, err := m.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	defer sim.Assume(simulator.Usual)
	opt := m.Options()
	opt.assumed = opt.viewAssumptions(sim)
	for {
		sim.Assume(opt.assumed.Assumptions)
		p, err := newProver(sim, opt, endless, most)
		if err != nil {
			return nil, err
		}
		err = p.close(ctx)
		switch weaker, refuted := opt.assumed.refine(err, sim.Traits()); {
		case refuted && weaker.Symmetric == 0:
			return p.proof(&NotProvableError{i18n.New("prove.names", "why", weaker.asymmetry.Error())}), nil
		case errors.Is(err, errNewTrait) && sim.Traits().Grain > 0 && !sim.Traits().ReadsClock:
			opt.assumed = weaker
			opt.assumed.Ages = simulator.Ages{Ancient: m.TTL / 6, Span: m.TTL * 5 / 4} // else time stamps would grow older without end
			continue
		case opt.assumed.olderStamps(err, leasesToAncient*m.TTL):
			continue
		case refuted && (sim.Traits().ReadsClock || sim.Traits().Grain > 0):
			return p.proof(&NotProvableError{i18n.New("prove.clock", "leases", fmt.Sprint(leasesToAncient))}), nil
		case refuted:
			opt.assumed = weaker
			continue
		}
		var why *NotProvableError
		if what := limit(err); !what.IsZero() {
			why, err = &NotProvableError{what}, nil
		} else if errors.As(err, &why) {
			err = nil
		}
		if err == nil && m.Afterwards != nil {
			err = m.Afterwards(sim)
		}
		return p.proof(why), err
	}
}

// viewAssumptions are those with which views begin.
func (o *Options) viewAssumptions(sim *simulator.Simulator) assumptions {
	a := o.assumptions(sim)
	a.Strangers = true
	return a
}

// A NotProvableError is the reason why views do not do for a lock.
type NotProvableError struct{ Why i18n.Message }

func (e *NotProvableError) Error() string { return fmt.Sprint(e.Why) }

// shared holds the parts that all clients share, with the clients that it names as the first outsiders.
type shared struct {
	nodes       [simulator.MaxNodes]uint32
	rest, judge uint32
	present     uint32 // where in a whole grain of time stamps the present is, if that makes a difference
	names       uint8  // how many it names
}

// A status says who a name of the shared part is for a view.
type status uint8

const (
	other  status = iota + 1 // another client, or the ghost of one
	self                     // the client of the view
	nobody                   // none that can still act
)

// A base says how new is what a client has read of the resource, and may write on.
type base uint8

const (
	unread   base = iota // it has read nothing, or will not write any more
	newest               // no other client has written since
	outdated             // another one has
)

// A viewOf is one client, as client 1, of some shared part.
type viewOf struct {
	part, orphans, judge uint32
	conns                uint32 // a server with its connections only
	base                 base
	names                [Outsiders]status
}

// A prover computes the set of views.
type prover struct {
	*tables
	search  *search
	endless bool
	most    int
	full    simulator.RestPart // with all faults
	rests
	idle    uint32 // what the judges know of a client at rest
	calm    uint32 // the rest without orphans and faults
	unbound uint32 // a server with no connections, and nothing else
	divides bool   // views have the connections of their clients
	namings map[shared][]naming
	owned   [2]owned   // by client
	bare    column     // servers without what they keep of connections
	calmed  column     // the rest without orphans
	renewed column     // the rest with all faults
	joined  [2]judging // what the judges know with what they know in a view, by client
	common  judging    // what the judges know of no client, by who cannot act
	anew    viewOf     // a client at rest without a name

	groups map[shared]*group
	queue  []queued
	moves  []move   // of the present world
	cur    []uint32 // the present world
	bases  [2]base  // of its clients
	found  wordSet
	struck map[simulator.Verb]bool // the faults that were injected
	proved Proof

	unchanged shared // of the last step
	unmoved   viewOf
}

// A group is the views of one shared part.
type group struct {
	views []viewOf
	known map[viewOf]bool
	// alone are the choices of a view's client, as client 1, that change nothing but its own part and that no judge sees:
	// what they lead to was entered once, with whomever it shares a world.
	// The same goes for time that passes.
	alone map[aloneAt]bool
}

type aloneAt struct {
	view   viewOf
	choice simulator.Choice
}

// judging is a function of what the judges know and of another number, as far as it is known.
type judging map[uint64]uint32

// owned are what a client has of the servers, of the rest and of what the judges know, as client 1 would have it, by their numbers.
type owned struct{ conns, orphans, judges column }

// A queued view is at a place of its group.
type queued struct {
	of shared
	at int
}

func newProver(sim *simulator.Simulator, opt Options, endless bool, most int) (*prover, error) {
	p := &prover{search: newSearch(sim, opt), endless: endless, most: most, groups: map[shared]*group{},
		namings: map[shared][]naming{},
		struck:  map[simulator.Verb]bool{}, joined: [2]judging{{}, {}}, common: judging{}}
	p.tables = p.search.tables
	p.search.successors.noReduction = true
	w := sim.NewWorld()
	p.full = sim.Parts().Rest(&w)
	p.calm = p.restTab.id(simulator.RestPart{})
	p.idle = p.judgeTab.id(verdict.Safety{})
	p.divides = p.nodes == 1 && sim.Parts().Connected()
	if p.divides {
		p.unbound = p.nodeTab.id(sim.Parts().ConnectionsOf(p.nodeTab.keys[p.node(0, &w)], 1))
	}
	var err error
	p.rests, err = newRests(p.search)
	p.anew = viewOf{part: p.fresh, orphans: p.calm, judge: p.idle, conns: p.unbound}
	if p.drawn {
		p.proved.Once = i18n.New("prove.once.token")
	}
	return p, err
}

// restAfter is that of client c, from 0, after its attempt; zero: it does not rest, or has not made the attempt.
func restAfter(t *tables, c int, id uint32) simulator.Rest {
	if r := t.sim.Parts().RestOf(c+1, &t.clientTab[c].keys[id]); r.Stage > 1 {
		return r
	}
	return simulator.Rest{}
}

// ended reports whether client c, from 0, has come to its end, or rests after its attempt and nothing of it goes on.
func (p *prover) ended(c int, id uint32) bool {
	r := restAfter(p.tables, c, id)
	switch {
	case r.Stage == 0:
		return p.clientTab[c].keys[id].Ended()
	case r.Busy:
		p.proved.Once = i18n.New("prove.once.busy")
	case r.Kept:
		p.proved.Once = i18n.New("prove.once.memory")
	}
	return !r.Busy
}

// again reports whether a move begins a second attempt.
func (p *prover) again(state []uint32, m *move) bool {
	return m.client >= 0 && p.choices[m.choice].Verb == simulator.Start && restAfter(p.tables, int(m.client), state[m.client]).Stage > 1
}

// close computes all views.
func (p *prover) close(ctx context.Context) error {
	seen := p.sim.Traits()
	w := p.sim.NewWorld()
	s := shared{rest: p.restTab.id(p.full.WithoutOrphans()), judge: p.idle}
	for n := range p.nodes {
		s.nodes[n] = p.node(n, &w)
	}
	if p.stride() > p.timeAt {
		s.present = p.times.id(p.sim.Stamps().Recent(w.Now()))
	}
	p.add(s, p.anew)
	for i := 0; i < len(p.queue); i++ {
		q := p.queue[i]
		g := p.groups[q.of]
		for _, b := range g.views[:q.at+1] {
			if err := p.world(&q.of, g.views[q.at], b); err != nil {
				return err
			}
		}
		p.report(i)
		if err := p.search.checkSoon(); err != nil {
			return err
		}
		switch {
		case p.sim.Traits() != seen:
			return errNewTrait
		case ctx.Err() != nil:
			return ctx.Err()
		case p.proved.Views > p.most:
			return &NotProvableError{i18n.New("prove.views", "most", fmt.Sprint(p.most))}
		case p.proved.Worlds > worldsPerView*p.most:
			return &NotProvableError{i18n.New("prove.worlds", "most", fmt.Sprint(worldsPerView*p.most))}
		case p.numbers.full != nil:
			return p.numbers.full
		}
	}
	if err := p.deadlock(); err != nil {
		return err
	}
	if err := p.sim.Symmetry().CheckStrangers(); err != nil {
		return err
	}
	p.proved.Closed = true
	if p.sim.Parts().Lasting() {
		p.proved.Once = i18n.New("prove.once.thread")
	}
	if err := p.search.checkCode(); err != nil {
		return err
	}
	var err error
	p.proved.Invariant, err = p.invariant()
	return err
}

// report calls Progress now and then: a view counts as a state.
func (p *prover) report(made int) {
	if show := p.search.opt.Progress; show != nil && made%256 == 0 {
		show(&Result{States: p.proved.Views, Transitions: p.proved.Transitions, Open: len(p.queue) - made})
	}
}

// add enters a view of a shared part.
func (p *prover) add(s shared, v viewOf) {
	g := p.groups[s]
	if g == nil {
		g = &group{known: map[viewOf]bool{}, alone: map[aloneAt]bool{}}
		p.groups[s] = g
	}
	if g.known[v] {
		return
	}
	g.known[v] = true
	g.views = append(g.views, v)
	p.proved.Views++
	p.queue = append(p.queue, queued{s, len(g.views) - 1})
}

// agree reports whether two views can be of one world.
func agree(s *shared, a, b *viewOf) bool {
	for i := range s.names {
		x, y := a.names[i], b.names[i]
		if !(x == y && x != self || x == self && y == other || x == other && y == self) {
			return false
		}
	}
	return true
}

// world makes all moves of the world of two views.
func (p *prover) world(s *shared, a, b viewOf) error {
	if !agree(s, &a, &b) {
		return nil
	}
	p.proved.Worlds++
	gone, err := p.put(s, &a, &b)
	if err != nil {
		return err
	}
	if err := p.search.successors.listMoves(); err != nil {
		return err
	}
	p.moves, p.cur = append(p.moves[:0], p.search.successors.moves...), append(p.cur[:0], p.search.successors.cur...)
	state, g, views := p.cur, p.groups[*s], [2]viewOf{a, b}
	p.bases = [2]base{a.base, b.base}
	for i := range p.moves {
		m := &p.moves[i]
		if m.client >= 2 {
			p.found |= m.found // both wait without end
			continue
		}
		copy(p.search.successors.cur, state)
		by, first := views[:], p.choices[m.choice] // the views that it changes, and the choice as client 1 would make it
		if first.Client = 1; m.pass == 0 {
			by = views[max(m.client, 0) : m.client+1] // none: it is a move of no client
		}
		if p.again(state, m) || len(by) > 0 && !slices.ContainsFunc(by, func(v viewOf) bool { return !g.alone[aloneAt{v, first}] }) {
			continue
		}
		same, err := p.step(m, gone, s, &views[1-max(m.client, 0)])
		if err != nil {
			return err
		}
		if same {
			for _, v := range by {
				g.alone[aloneAt{v, first}] = true
			}
		}
	}
	return nil
}

// put puts the world of two views into cur. gone are the outsiders, bit c for client c, that cannot act.
func (p *prover) put(s *shared, a, b *viewOf) (gone uint16, err error) {
	cur := p.search.successors.cur
	to := history.Same()
	for i := range s.names {
		outsider := uint8(3 + i)
		switch {
		case a.names[i] == self:
			to[outsider], to[1] = 1, outsider
		case b.names[i] == self:
			to[outsider], to[2] = 2, outsider
		case a.names[i] == nobody:
			gone |= 1 << outsider
		}
	}
	cur[0] = a.part
	if cur[1], err = p.search.quotient.ofClass(b.part, 1); err != nil {
		return 0, err
	}
	for c := 2; c < p.clients; c++ {
		cur[c] = p.absent[c]
	}
	for n := range p.nodes {
		cur[p.clients+n] = s.nodes[n]
	}
	if len(cur) > p.timeAt {
		cur[p.timeAt] = s.present
	}
	cur[p.restAt], cur[p.judgeAt] = s.rest, s.judge
	if to != history.Same() {
		if err := p.search.quotient.rename(cur, &to); err != nil {
			return 0, err
		}
	}
	if err := p.join(cur, a, 1); err != nil {
		return 0, err
	}
	return gone, p.join(cur, b, 2)
}

// join adds to a state what a view has of its client, as client c.
func (p *prover) join(state []uint32, v *viewOf, c int) error {
	to := *history.Swap(1, uint8(c))
	if v.conns != p.unbound {
		conns, err := p.sim.Symmetry().Node(p.nodeTab.keys[v.conns], &to)
		if err != nil {
			return fmt.Errorf("explore: %w", err)
		}
		node := &state[p.clients]
		*node = p.nodeTab.id(p.sim.Parts().WithConnections(p.nodeTab.keys[*node], conns))
	}
	if rest := p.restTab.keys[v.orphans]; rest.Orphaned() {
		rest, err := p.sim.Symmetry().Rest(rest, &to)
		if err != nil {
			return fmt.Errorf("explore: %w", err)
		}
		state[p.restAt] = p.restTab.id(p.sim.Parts().WithOrphans(p.restTab.keys[state[p.restAt]], &rest))
	}
	state[p.judgeAt] = p.judge(p.joined[c-1], state[p.judgeAt], v.judge, func(all *verdict.Safety) {
		judge := p.judgeTab.keys[v.judge]
		judge.Rename(&to)
		all.Add(&judge)
	})
	return nil
}

// judge returns the number of what judges know after a change, which is made once for each key of known.
func (p *prover) judge(known judging, judges, by uint32, change func(*verdict.Safety)) uint32 {
	key := uint64(judges)<<32 | uint64(by)
	to, is := known[key]
	if !is {
		all := p.judgeTab.keys[judges]
		change(&all)
		to = p.judgeTab.id(all)
		known[key] = to
	}
	return to
}

// step makes a move of the world in cur, and enters what the two clients then are. It reports whether what is shared, before
// the shared part of, and the client that did not move, before the view of it, are the same; or, of time that passes, whether it is
// quiet.
func (p *prover) step(m *move, gone uint16, of *shared, idle *viewOf) (same bool, err error) {
	n := p.search.successors
	copy(n.next, n.cur)
	var found wordSet
	seen := uint32(0) // by the judges, who know both clients
	if m.pass > 0 || m.together {
		words, err := p.search.transitions.passTime(n.cur, n.next, n.choices[m.choice])
		if err != nil {
			return false, err
		}
		found = words
		if same, err = p.search.transitions.quiet(n.cur, n.choices[m.choice]); err != nil {
			return false, err
		}
	} else {
		if seen, err = n.apply(m); err != nil {
			return false, err
		}
		before := p.bases
		p.noteVersions(seen)
		found = p.search.transitions.judgeEvents(n.next, seen)
		defer func() { p.bases = before }()
	}
	p.proved.Transitions++
	p.found |= found
	if m.fault {
		p.struck[n.choices[m.choice].Verb] = true
	}
	if p.endless { // before what no fault can need is dropped
		n.next[p.restAt] = p.restTab.image(&p.renewed, n.next[p.restAt], func(r simulator.RestPart) simulator.RestPart { return r.WithBudgetOf(&p.full) })
	}
	p.search.quotient.drop(n.next)
	p.unchanged = shared{}
	if err := p.project(n.next, gone, 1-int(max(m.client, 0))); err != nil {
		return false, err
	}
	if m.client >= 0 && m.pass == 0 && restAfter(p.tables, int(m.client), n.cur[m.client]).Busy && changesKey(p.events.entries[seen]) {
		p.found.add(verdict.Deadlock) // see deadlock
	}
	if m.pass > 0 {
		return same, nil
	}
	return seen == 0 && p.unchanged == *of && p.unmoved == *idle, nil
}

// changesKey reports whether a key changes in events.
func changesKey(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Change })
}

// noteVersions tells the clients of a world, and its judges, which of them read and write.
func (p *prover) noteVersions(events uint32) {
	list := p.events.entries[events]
	for i := range list {
		switch e := &list[i]; {
		case e.Kind == history.Read:
			p.bases[e.Client-1] = newest
		case e.Kind == history.Write:
			judge := &p.search.successors.next[p.judgeAt]
			*judge = p.judgeTab.id(p.judgeTab.keys[*judge].Outdated(e.Client, p.bases[e.Client-1] == outdated))
			if other := &p.bases[2-e.Client]; e.OK && *other == newest {
				*other = outdated
			}
		}
	}
}

// An actor is what a client of a world of two has, as client 1 would have it.
type actor struct {
	conns, orphans, judge uint32
	ended                 bool
	isActing              bool // it can still act: it lives on, or is a ghost
}

// actor is client c, from 0, of a state.
func (p *prover) actor(state []uint32, c int) (a actor, err error) {
	parts, swap, own := p.sim.Parts(), history.Swap(1, uint8(c+1)), &p.owned[c]
	a.conns = p.unbound
	if p.divides {
		a.conns = p.nodeTab.image(&own.conns, state[p.clients], func(n simulator.NodePart) simulator.NodePart {
			n, err = p.sim.Symmetry().Node(parts.ConnectionsOf(n, c+1), swap)
			return n
		})
	}
	if err == nil {
		a.orphans = p.restTab.image(&own.orphans, state[p.restAt], func(r simulator.RestPart) simulator.RestPart {
			r, err = p.sim.Symmetry().Rest(parts.OrphansOf(&r, c+1), swap)
			return r
		})
	}
	if err != nil {
		return a, fmt.Errorf("explore: %w", err)
	}
	a.judge = p.judgeTab.image(&own.judges, state[p.judgeAt], func(v verdict.Safety) verdict.Safety {
		v = v.Of(c + 1)
		v.Rename(swap)
		return v
	})
	a.ended = p.ended(c, state[c])
	a.isActing = !a.ended || p.restTab.keys[a.orphans].Orphaned()
	return a, nil
}

// project enters the views of the two clients of a world, and notes that of one of them, from 0.
func (p *prover) project(state []uint32, gone uint16, idle int) error {
	var clients [2]actor
	for c := range clients {
		one, err := p.actor(state, c)
		if err != nil {
			return err
		}
		clients[c] = one
		if !one.isActing {
			gone |= 1 << (c + 1)
		}
		if one.ended && one.conns != p.unbound && restAfter(p.tables, c, state[c]).Stage > 0 {
			p.proved.Once = i18n.New("prove.once.connection")
		}
	}
	common := slices.Clone(state)
	if p.divides {
		common[p.clients] = p.nodeTab.image(&p.bare, state[p.clients], p.sim.Parts().WithoutConnections)
	}
	common[p.restAt] = p.restTab.image(&p.calmed, state[p.restAt], simulator.RestPart.WithoutOrphans)
	common[p.judgeAt] = p.judge(p.common, state[p.judgeAt], uint32(gone), func(all *verdict.Safety) { *all = all.Shared(gone) })
	namings, err := p.canonical(common)
	if err != nil {
		return err
	}
	for _, f := range namings {
		for c := range clients {
			one := &clients[c]
			v := p.anew
			v.names = statuses(f.slots, gone, c+1, one.isActing)
			if one.ended { // it begins anew, under a name of its own
				next := v
				for i := range f.slots {
					if next.names[i] == self {
						next.names[i] = other
					}
				}
				p.add(f.shared, next)
			}
			if !one.isActing {
				continue
			}
			if err := p.describe(&v, state, c, one); err != nil {
				return err
			}
			p.add(f.shared, v)
			if c == idle {
				p.unchanged, p.unmoved = f.shared, v
			}
		}
	}
	return nil
}

// statuses are those of the names of a shared part for client c, from 1. gone cannot act.
func statuses(slots []int, gone uint16, c int, acting bool) (of [Outsiders]status) {
	for i, name := range slots {
		switch {
		case gone>>name&1 != 0:
			of[i] = nobody
		case name == c && acting:
			of[i] = self
		default:
			of[i] = other
		}
	}
	return of
}

// describe puts what client c, from 0, is into a view.
func (p *prover) describe(v *viewOf, state []uint32, c int, is *actor) (err error) {
	v.conns, v.orphans, v.judge = is.conns, is.orphans, is.judge
	if p.clientTab[c].entries[state[c]].onVersion || p.restTab.entries[v.orphans].onVersion {
		v.base = p.bases[c]
	}
	if v.part = p.absent[0]; !is.ended {
		v.part, err = p.search.quotient.class(c, state[c])
	}
	return err
}

// namesOf is the set of clients, bit c for client c from 1, that the shared part of a state names.
func (p *prover) namesOf(state []uint32) (names uint16) {
	shared := p.judgeTab.keys[state[p.judgeAt]]
	names = shared.Names()
	for n := range p.nodes {
		names |= p.namedBy(state[p.clients+n])
	}
	return names
}

// A naming is the shared part of a state under canonical names, and the clients, from 1, that these are.
type naming struct {
	shared
	slots []int
}

// sharedBy is the shared part of a state.
func sharedBy(t *tables, state []uint32) (s shared) {
	copy(s.nodes[:], state[t.clients:t.restAt])
	s.rest, s.judge = state[t.restAt], state[t.judgeAt]
	if len(state) > t.timeAt {
		s.present = state[t.timeAt]
	}
	return s
}

// canonical returns the shared part of a state under canonical names, with each order of the clients that gives the same.
func (p *prover) canonical(state []uint32) (least []naming, err error) {
	key := sharedBy(p.tables, state)
	if p.namings[key] == nil {
		p.namings[key], err = p.canonize(state)
	}
	return p.namings[key], err
}

// canonize is canonical, computed anew.
func (p *prover) canonize(state []uint32) ([]naming, error) {
	if err := p.sim.Stamps().CheckOld(serversOf(p.tables, state)...); err != nil {
		return nil, err
	}
	names := p.namesOf(state)
	if bits.OnesCount16(names) > Outsiders {
		return nil, &NotProvableError{i18n.New("prove.many", "most", fmt.Sprint(Outsiders))}
	}
	var list []int
	for c := 1; c <= p.symmetric; c++ {
		if names>>c&1 != 0 {
			list = append(list, c)
		}
	}
	var all []naming
	for _, order := range permutations(len(list)) {
		slots := make([]int, len(list))
		for i, k := range order {
			slots[i] = list[k]
		}
		to, used := history.Same(), uint16(0)
		for i, name := range slots {
			to[name] = uint8(3 + i)
			used |= 1 << (3 + i)
		}
		// The names that are not used get what is left.
		free := 1
		for c := 1; c <= p.symmetric; c++ {
			if names>>c&1 != 0 {
				continue
			}
			for used>>free&1 != 0 {
				free++
			}
			to[c] = uint8(free)
			used |= 1 << free
		}
		renamed := slices.Clone(state)
		if to != history.Same() {
			if err := p.search.quotient.rename(renamed, &to); err != nil {
				return nil, err
			}
		}
		f := naming{sharedBy(p.tables, renamed), slots}
		f.names = uint8(len(list))
		all = append(all, f)
	}
	compare := func(a, b naming) int {
		return cmp.Or(slices.Compare(a.nodes[:], b.nodes[:]), cmp.Compare(a.judge, b.judge), cmp.Compare(a.rest, b.rest))
	}
	least := slices.MinFunc(all, compare)
	return slices.DeleteFunc(all, func(f naming) bool { return compare(f, least) != 0 }), nil
}

// serversOf are the servers' parts of a state.
func serversOf(t *tables, state []uint32) (parts []simulator.NodePart) {
	for _, n := range state[t.clients:t.restAt] {
		parts = append(parts, t.nodeTab.keys[n])
	}
	return parts
}

// permutations are the orders of n things.
func permutations(n int) [][]int {
	all := [][]int{{}}
	for i := range n {
		var longer [][]int
		for _, o := range all {
			for at := 0; at <= len(o); at++ {
				longer = append(longer, slices.Insert(slices.Clone(o), at, i))
			}
		}
		all = longer
	}
	return all
}

// proof returns what the views have shown.
func (p *prover) proof(why *NotProvableError) *Proof {
	r := &p.proved
	if why != nil {
		r.Refused, r.Closed = why, false
	}
	p.search.learn()
	r.Histories, r.Assumed, r.Lengths = p.sim.Histories(), p.search.opt.assumed.Assumptions, p.search.lengths.List
	r.Measures, r.Grain, r.Triggered = p.sim.Traits().Measured, p.sim.Stamps().Grain(), slices.Sorted(maps.Keys(p.struck))
	r.Harms = slices.DeleteFunc(p.found.list(), func(w verdict.Word) bool { return !slices.Contains(Provable, w) })
	return r
}
