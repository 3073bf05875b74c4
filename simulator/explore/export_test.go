package explore

import (
	"context"
	"fmt"
	"slices"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/translate"
)

// A Covering is of states of so many clients, which were visited: the number of the clients' views that are not among
// the known ones.
type Covering struct{ Clients, States, Missing int }

// Uncovered closes the views of m, most at most, and visits the states that can follow, some at most, for each number
// of clients. With without, every so many-th view is taken out. The list is empty if the views are not closed.
func Uncovered(ctx context.Context, m *Model, endless bool, most int, clients []int, some,
	without int) (list []Covering, err error) {
	_, err = proveAnd(ctx, m, endless, most, func(p *prover) (err error) {
		n := 0
		for _, g := range p.groups {
			for _, v := range g.views {
				if n++; without > 0 && n%without == 0 {
					delete(g.known, v)
				}
			}
		}
		for _, c := range clients {
			covering, err := p.visit(c, some)
			if err != nil {
				return err
			}
			list = append(list, covering)
		}
		return nil
	})
	return list, err
}

// visit visits some states of so many clients.
func (p *prover) visit(clients, most int) (c Covering, err error) {
	w := p.sim.NewWorld()
	start := make([]uint32, p.stride())
	copy(start, p.absent[:p.clients])
	for one := range clients {
		if start[one], err = p.search.quotient.ofClass(p.fresh, one); err != nil {
			return c, err
		}
	}
	for n := range p.nodes {
		start[p.clients+n] = p.node(n, &w)
	}
	start[p.restAt], start[p.judgeAt] = p.restTab.ID(p.full.WithoutOrphans()), p.idle.own[judged]
	type position struct {
		state []uint32
		resource
	}
	key := func(at position) string { return fmt.Sprint(at) }
	first := position{state: start}
	seen := map[string]bool{key(first): true}
	for queue := []position{first}; len(queue) > 0 && c.States < most; queue = queue[1:] {
		at := queue[0]
		state := at.state
		c.States++
		c.Missing += p.missing(state, clients, &at.resource)
		copy(p.search.successors.cur, state)
		if err := p.search.successors.listMoves(); err != nil {
			return c, err
		}
		for _, m := range slices.Clone(p.search.successors.moves) {
			if int(m.client) >= clients || beginsAgain(p.tables, state, &m) {
				continue
			}
			n := p.search.successors
			copy(n.cur, state)
			copy(n.next, state)
			to := at.resource
			if m.pass > 0 || m.together {
				if _, err = p.search.transitions.passTime(n.cur, n.next, n.choices[m.choice]); err != nil {
					return c, err
				}
			} else {
				events, err := n.apply(&m)
				if err != nil {
					return c, err
				}
				p.search.transitions.judgeEvents(n.next, numberList(&p.events, to.serve(p.events.Values[events])))
			}
			if p.endless {
				n.next[p.restAt] = p.restTab.ID(p.restTab.Keys[n.next[p.restAt]].WithBudgetOf(&p.full))
			}
			p.search.quotient.drop(n.next)
			n.next[p.restAt] = p.restTab.ID(p.restTab.Keys[n.next[p.restAt]].WithoutVersion()) // as in the views
			if next := (position{slices.Clone(n.next), to}); !seen[key(next)] {
				seen[key(next)] = true
				queue = append(queue, next)
			}
		}
	}
	c.Clients = clients
	return c, nil
}

// A resource has true versions: what each client has read, and one more, and what it has written.
type resource struct {
	version       int
	read, written [simulator.MaxClients + 1]int
}

// serve returns events with their true versions.
func (r *resource) serve(list []history.Event) []history.Event {
	list = slices.Clone(list)
	for i := range list {
		switch e := &list[i]; e.Kind {
		case history.Read:
			r.read[e.Client] = r.version + 1
		case history.Write:
			e.Base = r.read[e.Client] - 1
			if e.OK {
				r.version++
				r.written[e.Client] = r.version
			}
			e.Version = r.version
		}
	}
	return list
}

// freshness is that of what client c has read.
func (r *resource) freshness(c int) freshness {
	if r.read[c] == 0 {
		return unread
	}
	for other, version := range r.written {
		if other != c && version >= r.read[c] {
			return outdated
		}
	}
	return newest
}

// missing counts the clients of a state whose views are not known under any names.
func (p *prover) missing(state []uint32, clients int, of *resource) (missing int) {
	views, named := p.viewsOf(state, clients, of)
	for _, v := range views {
		if !slices.ContainsFunc(named,
			func(n namedGroup) bool { _, known := p.groups[n.of].known[v(n)]; return known }) {
			missing++
		}
	}
	return missing
}

// viewsOf are the views of the clients of a state that can act, under the names of a group, and the groups of its
// shared part.
func (p *prover) viewsOf(state []uint32, clients int, of *resource) (views []func(namedGroup) viewOf,
	named []namedGroup) {
	rest, judge := p.restTab.Keys[state[p.restAt]], p.judgeTab.Keys[state[p.judgeAt]]
	common := slices.Clone(state)
	acts := func(c int) bool {
		orphans := p.sim.Parts().OrphansOf(&rest, c)
		return c <= clients && (!p.ended(c-1, state[c-1]) || orphans.Orphaned())
	}
	gone := history.ClientSet(0)
	for c := 1; c <= p.symmetric; c++ {
		if !acts(c) {
			gone.Add(uint8(c))
		}
	}
	common[p.restAt], common[p.judgeAt] = p.restTab.ID(rest.WithoutOrphans()), p.judgeTab.ID(judge.Shared(gone))
	if p.nodes == 1 && p.sim.Parts().Connected() {
		common[p.clients] = p.nodeTab.ID(p.sim.Parts().WithoutConnections(p.nodeTab.Keys[state[p.clients]]))
	}
	for c := 1; c <= clients; c++ {
		if !acts(c) {
			continue
		}
		own, mine := judge.Of(c), p.sim.Parts().OrphansOf(&rest, c)
		swap := *history.Swap(1, uint8(c))
		own.Rename(&swap)
		mine, _ = p.sim.Symmetry().Rest(mine, translate.Rename(&swap))
		v := viewOf{part: p.absent[0], own: [divisions]uint32{p.idle.own[connections], p.restTab.ID(mine),
			p.judgeTab.ID(own)}}
		if p.nodes == 1 && p.sim.Parts().Connected() {
			conns, _ := p.sim.Symmetry().Node(p.sim.Parts().ConnectionsOf(p.nodeTab.Keys[state[p.clients]], c),
				translate.Rename(&swap))
			v.own[connections] = p.nodeTab.ID(conns)
		}
		if p.clientTab[c-1].Values[state[c-1]].onVersion || p.restTab.Values[v.own[requests]].onVersion {
			v.read = of.freshness(c)
		}
		if !p.ended(c-1, state[c-1]) {
			v.part, _ = p.search.quotient.class(c-1, state[c-1])
		}
		views = append(views, func(n namedGroup) viewOf {
			v := v
			for i := range n.of.names {
				for who := 1; who <= p.symmetric; who++ {
					switch {
					case int(n.to[who]) != p.size+1+int(i):
					case !acts(who):
						v.names[i] = nobody
					case who == c:
						v.names[i] = self
					default:
						v.names[i] = other
					}
				}
			}
			return v
		})
	}
	return views, p.named(common, clients)
}

// A namedGroup is a known shared part that a state has under some names.
type namedGroup struct {
	to history.Names
	of shared
}

// named finds what is known with the shared part of a state, in every way to call its clients.
func (p *prover) named(common []uint32, clients int) (list []namedGroup) {
	for _, order := range permutations(p.symmetric) {
		if !slices.IsSorted(order[clients:]) {
			continue // it calls its clients as another one does
		}
		to := history.Same()
		for i, name := range order {
			to[i+1] = uint8(name + 1)
		}
		renamed := slices.Clone(common)
		if p.search.quotient.rename(renamed, &to) != nil {
			continue
		}
		s := shared{rest: renamed[p.restAt], judge: renamed[p.judgeAt]}
		for n := range p.nodes {
			s.nodes[n] = renamed[p.clients+n]
		}
		for s.names = range uint8(Outsiders + 1) {
			if p.groups[s] != nil {
				list = append(list, namedGroup{to, s})
			}
		}
	}
	return list
}
