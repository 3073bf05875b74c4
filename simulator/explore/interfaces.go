package explore

import (
	"time"

	"locklab/simulator"
)

// The interface of a view is what the other clients of a world can notice of it: who it is for the servers, what the
// judges know of it, which of its requests are under way, and whether time may pass. Where one client makes a move,
// each other one keeps its part: the move is the same beside all views with one interface, and makes the same of each
// of them. So one view of each interface is in a world with every view of the shared part, and what moves of others
// make of it is made of all with that interface. The views that are found are those of the worlds of any views, which
// are many times as many: see Plain.Interfaces.

// An interfaceOf has all of a view that the moves of another client in the same world depend on, or change.
type interfaceOf struct {
	viewOf                       // without its part, unless Plain.Interfaces
	due            time.Duration // until something happens, as far as it keeps time from passing by a step
	ready          bool          // something happens before time passes
	still          bool          // nothing happens but by time or faults
	finished, gone bool          // it has come to its end
	onVersion      bool          // see clientEntry
}

// neighbours are the views of one shared part with one interface.
type neighbours struct {
	first   viewOf   // of them: it is in a world with every other view
	at      int      // its place
	parts   []uint32 // of those that were expanded
	changes []change // what moves of others make of them
	known   map[change]bool
}

// A change is what a move of another client makes of views with one interface.
type change struct {
	of       *group
	viewOf        // without the part, which stays
	timeouts bool // but for time-outs that cannot come any more: see drop
}

// interfaceOf is the interface of a view.
func (p *prover) interfaceOf(s *shared, v *viewOf) (interfaceOf, error) {
	dead := p.idle
	dead.part = p.absent[0]
	if _, err := p.put(s, *v, dead); err != nil {
		return interfaceOf{}, err
	}
	n, e := p.search.successors, p.clientTab[0].Values[v.part]
	n.moves = n.moves[:0]
	f := interfaceOf{viewOf: *v, due: e.due, finished: e.finished, gone: v.part == p.absent[0], onVersion: e.onVersion}
	f.ready = n.listClient(0, false)
	f.still = len(n.moves) == 0
	if e.due != simulator.Never {
		f.due = min(e.due, n.step)
	}
	if !p.search.opt.Plain.Interfaces {
		f.part = 0
	}
	return f, nil
}

// expand makes the worlds of a view with those that were expanded before, and with itself.
func (p *prover) expand(q queued) error {
	g := q.of
	v := g.views[q.at]
	f, err := p.interfaceOf(&g.shared, &v)
	if err != nil {
		return err
	}
	own := g.byInterface[f]
	if own == nil {
		own = &neighbours{first: v, at: q.at, known: map[change]bool{}}
		g.byInterface[f], g.neighbours = own, append(g.neighbours, own)
		for before := range q.at {
			if err := p.worlds(g, before, 0, append(p.chosen[:0], own)); err != nil {
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
	return p.worlds(g, q.at, 0, p.chosen[:0])
}

// worlds makes the worlds of a view with these neighbours and more from the from-th on, any of them more than once.
func (p *prover) worlds(g *group, at, from int, chosen []*neighbours) error {
	if n := len(chosen); n > 0 {
		last := &chosen[n-1].first
		for _, before := range chosen[:n-1] {
			if !agree(&g.shared, &before.first, last) {
				return nil
			}
		}
		if !agree(&g.shared, &g.views[at], last) {
			return nil
		}
		if n == p.size-1 {
			return p.world(g, at, chosen)
		}
	}
	for i, one := range g.neighbours[from:] {
		if err := p.worlds(g, at, from+i, append(chosen, one)); err != nil {
			return err
		}
	}
	return nil
}

// changed notes what a move of another client makes of the views with one interface.
func (p *prover) changed(all *neighbours, to *change) error {
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
	p.add(to.of, v)
	return err
}
