package explore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
)

// namesOf are the clients that the shared part of a state names.
func (p *prover) namesOf(state []uint32) (names history.ClientSet) {
	shared := p.judgeTab.Keys[state[p.judgeAt]]
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

// canonical returns the shared part of a state under canonical names, with each order of the clients that gives the
// same.
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
	if most := min(Outsiders, p.symmetric-worldSize); names.Len() > most {
		return nil, &NotProvableError{i18n.New("prove.many", "most", fmt.Sprint(most))}
	}
	var list []int
	for c := 1; c <= p.symmetric; c++ {
		if names.Has(uint8(c)) {
			list = append(list, c)
		}
	}
	var all []naming
	for _, order := range permutations(len(list)) {
		slots := make([]int, len(list))
		for i, k := range order {
			slots[i] = list[k]
		}
		to, used := history.Same(), history.ClientSet(0)
		for i, name := range slots {
			outsider := worldSize + 1 + i
			to[name] = uint8(outsider)
			used.Add(uint8(outsider))
		}
		// The names that are not used get what is left.
		free := 1
		for c := 1; c <= p.symmetric; c++ {
			if names.Has(uint8(c)) {
				continue
			}
			for used.Has(uint8(free)) {
				free++
			}
			to[c] = uint8(free)
			used.Add(uint8(free))
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
		parts = append(parts, t.nodeTab.Keys[n])
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

// A view's face is what the other client of a world can notice of it: who it is for the servers, what the judges know
// of it, which of its requests are under way, and whether time may pass. Where one of two clients makes a move, the
// other keeps its part: the move is the same beside all views with one face, and makes the same of each of them. So one
// view of each face is in a world with every view of the shared part, and what moves of others make of it is made of
// all with that face. The views that are found are those of the worlds of any two, which are many times as many: see
// Plain.Faces.

// A face is all of a view that the moves of another client in the same world depend on, or change.
type face struct {
	viewOf                       // without its part, unless Plain.Faces
	due            time.Duration // until something happens, as far as it keeps time from passing by a step
	ready          bool          // something happens before time passes
	still          bool          // nothing happens but by time or faults
	finished, gone bool          // it has come to its end
	onVersion      bool          // see clientEntry
}

// faceViews are the views of one shared part with one face.
type faceViews struct {
	first   viewOf   // of them: it is in a world with every other view
	parts   []uint32 // of those that were met
	changes []change // what moves of others make of them
	known   map[change]bool
}

// A change is what a move of another client makes of views with one face.
type change struct {
	shared
	viewOf        // without the part, which stays
	timeouts bool // but for time-outs that cannot come any more: see drop
}

// faceOf is the face of a view.
func (p *prover) faceOf(s *shared, v *viewOf) (face, error) {
	alone := viewOf{part: p.absent[0], orphans: p.calm, judge: p.idle, conns: p.unbound}
	if _, err := p.put(s, v, &alone); err != nil {
		return face{}, err
	}
	n, e := p.search.successors, p.clientTab[0].Values[v.part]
	n.moves = n.moves[:0]
	f := face{viewOf: *v, due: e.due, finished: e.finished, gone: v.part == p.absent[0], onVersion: e.onVersion}
	f.ready = n.listClient(0, false)
	f.still = len(n.moves) == 0
	if e.due != simulator.Never {
		f.due = min(e.due, n.step)
	}
	if !p.search.opt.Plain.Faces {
		f.part = 0
	}
	return f, nil
}

// meet makes the worlds of a view with itself and all that were met before.
func (p *prover) meet(q queued) error {
	g := p.groups[q.of]
	v := g.views[q.at]
	f, err := p.faceOf(&q.of, &v)
	if err != nil {
		return err
	}
	own := g.byFace[f]
	if own == nil {
		own = &faceViews{first: v, known: map[change]bool{}}
		g.byFace[f], g.faces = own, append(g.faces, own)
		for before := range q.at {
			if err := p.world(&q.of, before, own); err != nil {
				return err
			}
		}
	}
	own.parts = append(own.parts, v.part)
	for i := range own.changes {
		if err := p.change(v.part, &own.changes[i]); err != nil {
			return err
		}
	}
	for _, other := range g.faces {
		if err := p.world(&q.of, q.at, other); err != nil {
			return err
		}
	}
	return nil
}

// changed notes what a move of another client makes of the views with one face.
func (p *prover) changed(all *faceViews, to *change) error {
	if all.known[*to] {
		return nil
	}
	all.known[*to] = true
	all.changes = append(all.changes, *to)
	for _, part := range all.parts {
		if err := p.change(part, to); err != nil {
			return err
		}
	}
	return nil
}

// change enters what a move of another client makes of the view with that part.
func (p *prover) change(part uint32, to *change) (err error) {
	v := to.viewOf
	if v.part = part; to.timeouts && part != p.absent[0] {
		if v.part, err = p.search.quotient.ofClass(part, 1); err == nil {
			v.part, err = p.search.quotient.class(1, p.search.quotient.withoutTimeouts(1, v.part))
		}
	}
	p.add(to.shared, v)
	return err
}
