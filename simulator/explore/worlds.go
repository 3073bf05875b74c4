package explore

import (
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/translate"
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

// worldSize is the number of clients of a world.
const worldSize = 2

// world makes the moves of the world of a view with those of one face, but for those of the others alone.
func (p *prover) world(s *shared, at int, others *faceViews) error {
	g := p.groups[*s]
	a, b := g.views[at], others.first
	if !agree(s, &a, &b) {
		return nil
	}
	p.proved.Worlds++
	gone, err := p.listWorld(s, &a, &b)
	if err != nil {
		return err
	}
	before := p.found // without what no move comes to
	for i := range p.moves {
		m := &p.moves[i]
		key := aloneAt{at, m.choice}
		if m.client > 0 || beginsAgain(p.tables, p.cur, m) || g.alone[key] {
			continue
		}
		alone, err := p.step(m, gone, s, others)
		if err != nil {
			return err
		}
		if alone && !p.search.opt.Plain.Faces {
			g.alone[key] = true
		}
		for _, w := range (p.found &^ before).Words() {
			p.culprits = append(p.culprits, culprit{w, *s, [2]int{at, g.known[b]}, p.choices[m.choice]})
		}
		before = p.found
	}
	return nil
}

// A culprit is the first world of two that has come to a verdict, by the places of its views, and by which move.
type culprit struct {
	verdict verdict.Word
	of      shared
	views   [2]int
	move    simulator.Choice
}

// listWorld puts the world of some views into cur, and its moves into moves.
func (p *prover) listWorld(s *shared, views ...*viewOf) (gone history.ClientSet, err error) {
	if gone, err = p.put(s, views...); err != nil {
		return 0, err
	}
	if err := p.search.successors.listMoves(); err != nil {
		return 0, err
	}
	p.moves, p.cur = append(p.moves[:0], p.search.successors.moves...), append(p.cur[:0], p.search.successors.cur...)
	for c, v := range views {
		p.bases[c] = v.base
	}
	for i := range p.moves {
		if m := &p.moves[i]; int(m.client) >= worldSize {
			p.found |= m.found // all wait without end
		}
	}
	return gone, nil
}

// put puts the world of some views, as clients 1, 2 and so on, into the searched state. gone are the outsiders that
// cannot act.
func (p *prover) put(s *shared, views ...*viewOf) (gone history.ClientSet, err error) {
	cur := p.search.successors.cur
	to := history.Same()
	for i := range s.names {
		outsider := uint8(worldSize + 1 + int(i))
		if views[0].names[i] == nobody {
			gone.Add(outsider)
		}
		for c, v := range views {
			if v.names[i] == self {
				to[outsider], to[c+1] = uint8(c+1), outsider
			}
		}
	}
	for c := range p.clients {
		cur[c] = p.absent[c]
	}
	for c, v := range views {
		if cur[c], err = p.search.quotient.ofClass(v.part, c); err != nil {
			return 0, err
		}
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
	for c, v := range views {
		if err := p.join(cur, v, c+1); err != nil {
			return 0, err
		}
	}
	return gone, nil
}

// join adds to a state what a view has of its client, as client c.
func (p *prover) join(state []uint32, v *viewOf, c int) error {
	to := *history.Swap(1, uint8(c))
	known := &p.joined[c-1]
	var err error
	if node := &state[p.clients]; v.conns != p.unbound {
		*node, err = known.conns.Get([2]uint32{*node, v.conns}, func() (uint32, error) {
			conns, err := p.sim.Symmetry().Node(p.nodeTab.Keys[v.conns], translate.Rename(&to))
			return p.nodeTab.ID(p.sim.Parts().WithConnections(p.nodeTab.Keys[*node], conns)), err
		})
	}
	if rest := &state[p.restAt]; v.orphans != p.calm && err == nil {
		*rest, err = known.orphans.Get([2]uint32{*rest, v.orphans}, func() (uint32, error) {
			orphans, err := p.sim.Symmetry().Rest(p.restTab.Keys[v.orphans], translate.Rename(&to))
			return p.restTab.ID(p.sim.Parts().WithOrphans(p.restTab.Keys[*rest], &orphans)), err
		})
	}
	if err != nil {
		return fmt.Errorf("explore: %w", err)
	}
	state[p.judgeAt], err = known.judges.Get([2]uint32{state[p.judgeAt], v.judge}, func() (uint32, error) {
		all, own := p.judgeTab.Keys[state[p.judgeAt]], p.judgeTab.Keys[v.judge]
		own.Rename(&to)
		all.Add(&own)
		return p.judgeTab.ID(all), nil
	})
	return err
}

// step makes a move of the world in cur, and enters what client 1 then is, and what the move makes of the others. It
// reports whether nothing else changes, so that it need not be made in other worlds; of time that passes, whether it is
// quiet.
func (p *prover) step(m *move, gone history.ClientSet, s *shared, others *faceViews) (alone bool, err error) {
	made, err := p.follow(m, gone)
	if err != nil {
		return false, err
	}
	same := false
	for i := range p.after {
		to := &p.after[i]
		if to.acting[0] {
			p.add(to.shared, to.views[0])
		}
		if m.client < 0 || m.pass > 0 || !to.acting[1] { // of time that passes, each of the others is client 1 too, beside views with the face of client 1
			continue
		}
		c := change{to.shared, to.views[1], made.timeouts}
		same = same || c.shared == *s && c.viewOf == others.first
		c.part = 0
		if err := p.changed(others, &c); err != nil {
			return false, err
		}
	}
	return made.quiet || made.seen == 0 && same, nil
}

// A made move has what the states that follow do not show of it.
type made struct {
	seen     uint32 // by the judges, who know all clients
	quiet    bool   // time passed, and nothing else
	timeouts bool   // see drop
}

// follow makes a move of the world in cur, and puts what its clients then are into after.
func (p *prover) follow(m *move, gone history.ClientSet) (done made, err error) {
	n, before := p.search.successors, p.bases
	copy(n.cur, p.cur)
	copy(n.next, p.cur)
	defer func() { p.bases = before }()
	var found verdict.Set
	if m.pass > 0 || m.together {
		if found, err = p.search.transitions.passTime(n.cur, n.next, n.choices[m.choice]); err != nil {
			return done, err
		}
		if done.quiet, err = p.search.transitions.quiet(n.cur, n.choices[m.choice]); err != nil {
			return done, err
		}
		done.quiet = done.quiet && m.pass > 0
	} else {
		if done.seen, err = n.apply(m); err != nil {
			return done, err
		}
		p.noteVersions(done.seen)
		found = p.search.transitions.judgeEvents(n.next, done.seen)
	}
	p.proved.Transitions++
	p.found |= found
	if m.fault {
		p.struck[n.choices[m.choice].Verb] = true
	}
	if m.client >= 0 && m.pass == 0 && restAfter(p.tables, int(m.client), n.cur[m.client]).Busy && changesKey(p.events.Values[done.seen]) {
		p.found.Add(verdict.Deadlock) // see deadlock
	}
	if p.endless { // before what no fault can need is dropped
		n.next[p.restAt] = p.restTab.Image(&p.renewed, n.next[p.restAt], func(r simulator.RestPart) simulator.RestPart { return r.WithBudgetOf(&p.full) })
	}
	done.timeouts = p.search.quotient.drop(n.next)
	return done, p.project(n.next, gone)
}

// changesKey reports whether a key changes in events.
func changesKey(events []history.Event) bool {
	return slices.ContainsFunc(events, func(e history.Event) bool { return e.Kind == history.Change })
}

// noteVersions tells the clients of a world, and its judges, which of them read and write.
func (p *prover) noteVersions(events uint32) {
	list := p.events.Values[events]
	for i := range list {
		switch e := &list[i]; {
		case e.Kind == history.Read:
			p.bases[e.Client-1] = newest
		case e.Kind == history.Write:
			judge := &p.search.successors.next[p.judgeAt]
			*judge = p.judgeTab.ID(p.judgeTab.Keys[*judge].Outdated(e.Client, p.bases[e.Client-1] == outdated))
			for c := range p.bases {
				if e.OK && c != e.Client-1 && p.bases[c] == newest {
					p.bases[c] = outdated
				}
			}
		}
	}
}

// An actor is what a client of a world has, as client 1 would have it.
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
		a.conns = p.nodeTab.Image(&own.conns, state[p.clients], func(n simulator.NodePart) simulator.NodePart {
			n, err = p.sim.Symmetry().Node(parts.ConnectionsOf(n, c+1), translate.Rename(swap))
			return n
		})
	}
	if err == nil {
		a.orphans = p.restTab.Image(&own.orphans, state[p.restAt], func(r simulator.RestPart) simulator.RestPart {
			r, err = p.sim.Symmetry().Rest(parts.OrphansOf(&r, c+1), translate.Rename(swap))
			return r
		})
	}
	if err != nil {
		return a, fmt.Errorf("explore: %w", err)
	}
	a.judge = p.judgeTab.Image(&own.judges, state[p.judgeAt], func(v verdict.Safety) verdict.Safety {
		v = v.Of(c + 1)
		v.Rename(swap)
		return v
	})
	a.ended = p.ended(c, state[c])
	a.isActing = !a.ended || p.restTab.Keys[a.orphans].Orphaned()
	return a, nil
}

// A projection has the views of the clients of a world, and what they share, under some names.
type projection struct {
	shared
	views  [worldSize]viewOf
	acting [worldSize]bool // those that have one
}

// project puts what the clients of a state are into after.
func (p *prover) project(state []uint32, gone history.ClientSet) error {
	var clients [worldSize]actor
	for c := range worldSize {
		one, err := p.actor(state, c)
		if err != nil {
			return err
		}
		clients[c] = one
		if !one.isActing {
			gone.Add(uint8(c + 1))
		}
		if one.ended && one.conns != p.unbound && restAfter(p.tables, c, state[c]).Stage > 0 {
			p.proved.Once = i18n.New("prove.once.connection")
		}
	}
	common := append(p.shares[:0], state...)
	p.shares, p.after = common, p.after[:0]
	if p.divides {
		common[p.clients] = p.nodeTab.Image(&p.bare, state[p.clients], p.sim.Parts().WithoutConnections)
	}
	common[p.restAt] = p.restTab.Image(&p.calmed, state[p.restAt], simulator.RestPart.WithoutOrphans)
	common[p.judgeAt], _ = p.common.Get([2]uint32{state[p.judgeAt], uint32(gone)}, func() (uint32, error) {
		return p.judgeTab.ID(p.judgeTab.Keys[state[p.judgeAt]].Shared(gone)), nil
	})
	namings, err := p.canonical(common)
	if err != nil {
		return err
	}
	for _, f := range namings {
		to := projection{shared: f.shared}
		for c := range worldSize {
			one := &clients[c]
			if to.acting[c] = one.isActing; !one.isActing {
				continue
			}
			to.views[c].names = statuses(f.slots, gone, c+1)
			if err := p.describe(&to.views[c], state, c, one); err != nil {
				return err
			}
		}
		p.after = append(p.after, to)
	}
	return nil
}

// statuses are those of the names of a shared part for client c, from 1, which can act. gone cannot.
func statuses(slots []int, gone history.ClientSet, c int) (of [Outsiders]status) {
	for i, name := range slots {
		switch {
		case gone.Has(uint8(name)):
			of[i] = nobody
		case name == c:
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
	if p.clientTab[c].Values[state[c]].onVersion || p.restTab.Values[v.orphans].onVersion {
		v.base = p.bases[c]
	}
	if v.part = p.absent[0]; !is.ended {
		v.part, err = p.search.quotient.class(c, state[c])
	}
	return err
}
