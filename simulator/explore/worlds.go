package explore

import (
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/intern"
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

// Divisions are what a state has of each client beside its process: of the only server, the rest, and what judges know.
const (
	connections = iota // which keys they watch, and what replicas lack of them
	requests           // under way, for which the client does not wait
	judged
	divisions
)

// A cut is a function of a part of a state that has something of each client.
type cut struct {
	part, own uint32
	what      function
	who       uint8 // client, from 1; of common: the set of those that cannot act
}

type function uint8

const (
	ownOf  function = iota // what a client has of the part, as client 1 would have it
	common                 // what no client has alone
	joined                 // the part, with what a client has of it
)

// divide makes cuts of parts in tab, each once. of, bare and with do so without names; rename renames a part's clients.
func divide[K comparable, E any](tab *intern.Table[K, E], rename func(K, *history.Names) (K, error),
	of func(K, int) K, bare func(K, history.ClientSet) K, with func(K, K) K,
) func(cut) (uint32, error) {
	var known [joined][1 << simulator.MaxClients]intern.Column // by who
	joins := map[cut]uint32{}
	return func(f cut) (to uint32, err error) {
		if f.what == joined {
			if to, ok := joins[f]; ok {
				return to, nil
			}
		} else if to = known[f.what][f.who].At(f.part); to != intern.Unseen {
			return to, nil
		}
		part := tab.Keys[f.part]
		switch f.what {
		case ownOf:
			part, err = rename(of(part, int(f.who)), history.Swap(1, f.who))
		case common:
			part = bare(part, history.ClientSet(f.who))
		case joined:
			var own K
			own, err = rename(tab.Keys[f.own], history.Swap(1, f.who))
			part = with(part, own)
		}
		if err != nil {
			return 0, fmt.Errorf("explore: %w", err)
		}
		if to = tab.ID(part); f.what == joined {
			joins[f] = to
		} else {
			known[f.what][f.who].Set(f.part, to)
		}
		return to, nil
	}
}

// cuts are the divisions' functions. Servers without connections, or of which there are several, are shared whole.
func (p *prover) cuts() (all [divisions]func(cut) (uint32, error)) {
	parts, symmetry := p.sim.Parts(), p.sim.Symmetry()
	all[connections] = func(f cut) (uint32, error) {
		if f.what == common {
			return f.part, nil
		}
		return 0, nil
	}
	if p.nodes == 1 && parts.Connected() {
		all[connections] = divide(&p.nodeTab,
			func(n simulator.NodePart, to *history.Names) (simulator.NodePart, error) {
				return symmetry.Node(n, translate.Rename(to))
			},
			parts.ConnectionsOf,
			func(n simulator.NodePart, _ history.ClientSet) simulator.NodePart { return parts.WithoutConnections(n) },
			parts.WithConnections)
	}
	all[requests] = divide(&p.restTab,
		func(r simulator.RestPart, to *history.Names) (simulator.RestPart, error) {
			return symmetry.Rest(r, translate.Rename(to))
		},
		func(r simulator.RestPart, c int) simulator.RestPart { return parts.OrphansOf(&r, c) },
		func(r simulator.RestPart, _ history.ClientSet) simulator.RestPart { return r.WithoutOrphans() },
		func(r, own simulator.RestPart) simulator.RestPart { return parts.WithOrphans(r, &own) })
	all[judged] = divide(&p.judgeTab,
		func(v verdict.Safety, to *history.Names) (verdict.Safety, error) { v.Rename(to); return v, nil },
		func(v verdict.Safety, c int) verdict.Safety { return v.Of(c) },
		func(v verdict.Safety, gone history.ClientSet) verdict.Safety { return v.Shared(gone) },
		func(v, own verdict.Safety) verdict.Safety { v.Add(&own); return v })
	return all
}

// world makes the moves of client 1 in the world of a view with the first of each of its neighbours.
func (p *prover) world(g *group, at int, others []*neighbours) error {
	views, places := append(p.views[:0], g.views[at]), [mostWorld]int{at}
	for c, n := range others {
		views, places[c+1] = append(views, n.first), n.at
	}
	p.views = views
	p.proved.Worlds++
	gone, err := p.listWorld(&g.shared, views)
	if err != nil {
		return err
	}
	before := p.found // without what no move comes to
	for i := range p.moves {
		m := &p.moves[i]
		if m.client > 0 || slices.Contains(g.alone[at], m.choice) || beginsAgain(p.tables, p.cur, m) {
			continue
		}
		alone, err := p.step(m, gone, g, others)
		if err != nil {
			return err
		}
		if alone && !p.search.opt.Plain.Interfaces {
			g.alone[at] = append(g.alone[at], m.choice)
		}
		if p.found == before {
			continue
		}
		for _, w := range (p.found &^ before).Words() {
			p.violations = append(p.violations, violation{w, g, places, p.choices[m.choice]})
		}
		before = p.found
	}
	return nil
}

// A violation is the first world that has come to a verdict, by the places of its views, and by which move.
type violation struct {
	verdict verdict.Word
	of      *group
	views   [mostWorld]int
	move    simulator.Choice
}

// listWorld puts the world of some views into cur, and its moves into moves.
func (p *prover) listWorld(s *shared, views []viewOf) (gone history.ClientSet, err error) {
	if gone, err = p.put(s, views...); err != nil {
		return 0, err
	}
	p.search.successors.lone = true // of the others only what keeps time from passing is asked
	err = p.search.successors.listMoves()
	p.search.successors.lone = false
	if err != nil {
		return 0, err
	}
	p.moves, p.cur = append(p.moves[:0], p.search.successors.moves...), append(p.cur[:0], p.search.successors.cur...)
	for c := range views {
		p.reads[c] = views[c].read
	}
	for i := range p.moves {
		if m := &p.moves[i]; int(m.client) >= p.size {
			p.found |= m.found // all wait without end
		}
	}
	return gone, nil
}

// put puts the world of views, as clients 1, 2 and so on, into the searched state. gone are outsiders that cannot act.
func (p *prover) put(s *shared, views ...viewOf) (gone history.ClientSet, err error) {
	cur, to := p.search.successors.cur, history.Same()
	for i := range s.names {
		outsider := uint8(p.size + 1 + int(i))
		if len(views) > 0 && views[0].names[i] == nobody {
			gone.Add(outsider)
		}
		for c := range views {
			if views[c].names[i] == self {
				to[outsider], to[c+1] = uint8(c+1), outsider
			}
		}
	}
	copy(cur, p.absent[:p.clients])
	s.put(p.tables, cur)
	for c := range views {
		if cur[c], err = p.search.quotient.ofClass(views[c].part, c); err != nil {
			return 0, err
		}
	}
	if to != history.Same() {
		if err := p.search.quotient.rename(cur, &to); err != nil {
			return 0, err
		}
	}
	for c := range views {
		for k, at := range p.words {
			if own := views[c].own[k]; own != p.idle.own[k] {
				if cur[at], err = p.cut[k](cut{cur[at], own, joined, uint8(c + 1)}); err != nil {
					return 0, err
				}
			}
		}
	}
	return gone, nil
}

// step makes a move of the world in cur, and enters what client 1 then is and what becomes of the others. It reports
// whether nothing else changes, so it need not be made in other worlds; of time that passes, whether it is quiet.
func (p *prover) step(m *move, gone history.ClientSet, g *group, others []*neighbours) (alone bool, err error) {
	made, err := p.follow(m, gone)
	if err != nil {
		return false, err
	}
	unchanged := false
	for i := range p.after {
		to := &p.after[i]
		if to.acting.Has(1) {
			p.add(to.of, to.views[0])
		}
		// Each of the others is client 1 too, beside views with the interface of client 1.
		if m.client < 0 || m.pass > 0 {
			continue
		}
		same := true
		for k, n := range others {
			if !to.acting.Has(uint8(k + 2)) {
				same = false
				continue
			}
			c := change{to.of, to.views[k+1], made.timeouts}
			if c.of == g && c.viewOf == n.first && !c.timeouts { // nothing
				continue
			}
			same, c.part = same && c.of == g && c.viewOf == n.first, 0
			if err := p.changed(n, &c); err != nil {
				return false, err
			}
		}
		unchanged = unchanged || same
	}
	return made.quiet || made.seen == 0 && unchanged, nil
}

// A made move has what the states that follow do not show of it.
type made struct {
	seen     uint32 // by the judges, who know all clients
	quiet    bool   // time passed, and nothing else
	timeouts bool   // see drop
}

// follow makes a move of the world in cur, and puts what its clients then are into after.
func (p *prover) follow(m *move, gone history.ClientSet) (done made, err error) {
	n, before := p.search.successors, p.reads
	copy(n.cur, p.cur)
	copy(n.next, p.cur)
	defer func() { p.reads = before }()
	seen, found, err := p.advance(m)
	if err != nil {
		return done, err
	}
	if done.seen = seen; m.pass > 0 {
		if done.quiet, err = n.transitions.quiet(n.cur, n.choices[m.choice]); err != nil {
			return done, err
		}
	}
	p.proved.Transitions++
	p.found |= found
	if m.fault {
		p.struck[n.choices[m.choice].Verb] = true
	}
	changesKey := func(e history.Event) bool { return e.Kind == history.Change }
	if m.client >= 0 && m.pass == 0 && restAfter(p.tables, int(m.client), n.cur[m.client]).Busy &&
		slices.ContainsFunc(p.events.Values[done.seen], changesKey) {
		p.found.Add(verdict.Deadlock) // see deadlock
	}
	if p.endless { // before what no fault can need is dropped
		refilled := func(r simulator.RestPart) simulator.RestPart { return r.WithBudgetOf(&p.full) }
		n.next[p.restAt] = p.restTab.Image(&p.renewed, n.next[p.restAt], refilled)
	}
	done.timeouts = p.search.quotient.drop(n.next)
	return done, p.project(n.next, gone)
}

// advance makes a move of the searched state in next. seen are its events, and found what judges find.
func (p *prover) advance(m *move) (seen uint32, found verdict.Set, err error) {
	n := p.search.successors
	if m.pass > 0 || m.together {
		found, err = n.transitions.passTime(n.cur, n.next, n.choices[m.choice])
		return 0, found, err
	}
	if seen, err = n.apply(m); err != nil {
		return 0, 0, err
	}
	p.noteVersions(seen)
	return seen, n.transitions.judgeEvents(n.next, seen), nil
}

// noteVersions tells the clients of a world, and its judges, which of them read and write.
func (p *prover) noteVersions(events uint32) {
	list := p.events.Values[events]
	for i := range list {
		switch e := &list[i]; {
		case e.Kind == history.Read:
			p.reads[e.Client-1] = newest
		case e.Kind == history.Write:
			judge := &p.search.successors.next[p.judgeAt]
			*judge = p.judgeTab.ID(p.judgeTab.Keys[*judge].Outdated(e.Client, p.reads[e.Client-1] == outdated))
			for c := range p.reads {
				if e.OK && c != e.Client-1 && p.reads[c] == newest {
					p.reads[c] = outdated
				}
			}
		}
	}
}

// A projection has the views of the clients of a world, and what they share, under some names.
type projection struct {
	of     *group
	views  [mostWorld]viewOf
	acting history.ClientSet // those that have one
}

// project puts what the clients of a state are into after.
func (p *prover) project(state []uint32, gone history.ClientSet) (err error) {
	var views [mostWorld]viewOf
	var ended [mostWorld]bool
	var acting history.ClientSet
	for c := range p.size {
		v := &views[c]
		for k, at := range p.words {
			if v.own[k], err = p.cut[k](cut{state[at], 0, ownOf, uint8(c + 1)}); err != nil {
				return err
			}
		}
		ended[c] = p.ended(c, state[c])
		if ended[c] && v.own[connections] != p.idle.own[connections] && restAfter(p.tables, c, state[c]).Stage > 0 {
			p.proved.Once = i18n.New("prove.once.connection")
		}
		if acts := !ended[c] || p.restTab.Keys[v.own[requests]].Orphaned(); acts {
			acting.Add(uint8(c + 1))
		} else {
			gone.Add(uint8(c + 1))
		}
	}
	p.shared, p.after = append(p.shared[:0], state...), p.after[:0]
	for k, at := range p.words {
		if p.shared[at], err = p.cut[k](cut{state[at], 0, common, uint8(gone)}); err != nil {
			return err
		}
	}
	namings, err := p.canonical(p.shared)
	if err != nil {
		return err
	}
	for left := acting; left != 0; left &= left - 1 {
		c := int(left.First()) - 1
		v := &views[c]
		if p.clientTab[c].Values[state[c]].onVersion || p.restTab.Values[v.own[requests]].onVersion {
			v.read = p.reads[c]
		}
		if v.part = p.absent[0]; !ended[c] {
			if v.part, err = p.search.quotient.class(c, state[c]); err != nil {
				return err
			}
		}
	}
	for _, f := range namings {
		to := projection{f.of, views, acting}
		for c := range p.size {
			to.views[c].names = statuses(f.slots, gone, c+1)
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
