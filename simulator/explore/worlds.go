package explore

import (
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

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

// world makes the moves of the world of a view with those of one face, but for those of the others alone.
func (p *prover) world(s *shared, at int, others *faceViews) error {
	g := p.groups[*s]
	a, b := g.views[at], others.first
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
	p.bases = [2]base{a.base, b.base}
	for i := range p.moves {
		m := &p.moves[i]
		if m.client >= 2 {
			p.found |= m.found // both wait without end
		}
		key := aloneAt{at, m.choice}
		if m.client > 0 || p.again(p.cur, m) || g.alone[key] {
			continue
		}
		copy(p.search.successors.cur, p.cur)
		alone, err := p.step(m, gone, s, others)
		if err != nil {
			return err
		}
		if alone && !p.search.opt.Plain.Faces {
			g.alone[key] = true
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
	known := &p.joined[c-1]
	var wrong error
	if node := &state[p.clients]; v.conns != p.unbound {
		*node = known.conns.value(*node, v.conns, func() uint32 {
			conns, err := p.sim.Symmetry().Node(p.nodeTab.keys[v.conns], &to)
			wrong = err
			return p.nodeTab.id(p.sim.Parts().WithConnections(p.nodeTab.keys[*node], conns))
		})
	}
	if rest := &state[p.restAt]; v.orphans != p.calm && wrong == nil {
		*rest = known.orphans.value(*rest, v.orphans, func() uint32 {
			orphans, err := p.sim.Symmetry().Rest(p.restTab.keys[v.orphans], &to)
			wrong = err
			return p.restTab.id(p.sim.Parts().WithOrphans(p.restTab.keys[*rest], &orphans))
		})
	}
	if wrong != nil {
		return fmt.Errorf("explore: %w", wrong)
	}
	state[p.judgeAt] = known.judges.value(state[p.judgeAt], v.judge, func() uint32 {
		all, own := p.judgeTab.keys[state[p.judgeAt]], p.judgeTab.keys[v.judge]
		own.Rename(&to)
		all.Add(&own)
		return p.judgeTab.id(all)
	})
	return nil
}

// step makes a move of the world in cur, and enters what client 1 then is, and what the move makes of the others. It reports
// whether nothing else changes, so that it need not be made in other worlds; of time that passes, whether it is quiet.
func (p *prover) step(m *move, gone uint16, s *shared, others *faceViews) (alone bool, err error) {
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
		if alone, err = p.search.transitions.quiet(n.cur, n.choices[m.choice]); err != nil {
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
	timeouts := p.search.quotient.drop(n.next)
	changes, err := p.project(n.next, gone)
	if err != nil {
		return false, err
	}
	if m.client < 0 || m.pass > 0 { // each of the others makes this move too, beside views with the face of client 1
		return alone && m.pass > 0, nil
	}
	same := false
	for i := range changes {
		c := &changes[i]
		same = same || c.shared == *s && c.viewOf == others.first
		c.part, c.timeouts = 0, timeouts
		if err := p.changed(others, c); err != nil {
			return false, err
		}
	}
	if restAfter(p.tables, int(m.client), n.cur[m.client]).Busy && changesKey(p.events.entries[seen]) {
		p.found.add(verdict.Deadlock) // see deadlock
	}
	return seen == 0 && same, nil
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

// project enters the view of client 1, and those of clients that begin anew, and returns what client 2 is.
func (p *prover) project(state []uint32, gone uint16) (second []change, err error) {
	var clients [2]actor
	for c := range clients {
		one, err := p.actor(state, c)
		if err != nil {
			return nil, err
		}
		clients[c] = one
		if !one.isActing {
			gone |= 1 << (c + 1)
		}
		if one.ended && one.conns != p.unbound && restAfter(p.tables, c, state[c]).Stage > 0 {
			p.proved.Once = i18n.New("prove.once.connection")
		}
	}
	common := append(p.shares[:0], state...)
	p.shares, p.second = common, p.second[:0]
	if p.divides {
		common[p.clients] = p.nodeTab.image(&p.bare, state[p.clients], p.sim.Parts().WithoutConnections)
	}
	common[p.restAt] = p.restTab.image(&p.calmed, state[p.restAt], simulator.RestPart.WithoutOrphans)
	common[p.judgeAt] = p.common.value(state[p.judgeAt], uint32(gone), func() uint32 {
		return p.judgeTab.id(p.judgeTab.keys[state[p.judgeAt]].Shared(gone))
	})
	namings, err := p.canonical(common)
	if err != nil {
		return nil, err
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
				return nil, err
			}
			if c == 0 {
				p.add(f.shared, v)
				continue
			}
			p.second = append(p.second, change{shared: f.shared, viewOf: v})
		}
	}
	return p.second, nil
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
