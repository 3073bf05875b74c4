package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/translate"
	"locklab/simulator/verdict"
)

// A closure checks the set of views that the prover has found by a plain loop: the start is in it, every move of every
// world of two clients whose views are in it leads to views in it, and none shows what is said to be proved. Of the
// prover it uses the projection of a world to its views. Moves are those that Rules allow, by the simulator's Step.
type closure struct {
	*prover
	rules *Rules
	begun history.ClientSet         // all clients but the probe
	set   map[shared]map[viewOf]int // of views
	known verdict.Set               // all else is said to be impossible
	asked map[Position]bool
}

// Closed closes the views of m, most at most, and returns what is wrong with the set, "" if nothing is, and mistakes
// that are missed: a set without one of so many views that are drawn, and one that is to prove what the prover finds.
func Closed(ctx context.Context, m *Model, endless bool, most, drawn int) (wrong string, missed []string, err error) {
	wrong = "there is none"
	_, err = proveAnd(ctx, m, endless, most, func(p *prover) (err error) {
		defer func() {
			if failed := recover(); failed != nil {
				err = failed.(error)
			}
		}()
		c := &closure{prover: p, rules: NewRules(p.sim, &p.search.opt), set: map[shared]map[viewOf]int{}}
		c.begun = history.AllClients &^ history.Only(uint8(p.probe))
		for s, g := range p.groups {
			c.set[s] = maps.Clone(g.known)
		}
		wrong, missed = c.check(p.found), nil
		if harms := p.proof(nil).Harms; harms != nil && c.check(0) == "" {
			missed = append(missed, fmt.Sprint(harms))
		}
		for i := range drawn {
			q := p.queue[i*len(p.queue)/drawn]
			view := q.of.views[q.at]
			delete(c.set[q.of.shared], view)
			if !strings.HasSuffix(c.check(p.found), "missing") {
				missed = append(missed, fmt.Sprintf("%+v", view))
			}
			c.set[q.of.shared][view] = q.at
		}
		return nil
	})
	return wrong, missed, err
}

// must returns v, or ends the check with the error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// check returns what is wrong with the set, if all is said to be impossible but what is found.
func (c *closure) check(found verdict.Set) (wrong string) {
	c.known, c.asked = found, map[Position]bool{}
	w, start := c.sim.NewWorld(), make([]uint32, c.stride())
	for client := range int8(2) {
		must(c.sim.Step(&w, simulator.Choice{Verb: simulator.Start, Client: client + 1}))
	}
	c.takeState(&w, c.judgeTab.ID(verdict.Safety{}), start)
	copy(start[2:c.symmetric], c.absent[2:]) // no other one is there
	wrong = c.missing(start, 0, [simulator.MaxClients]freshness{}, "the start")
	for s, views := range c.set {
		for a := range views {
			wrong = cmp.Or(wrong, c.later(s, &a))
			for b := range views {
				if wrong == "" {
					wrong = c.world(&s, &a, &b)
				}
			}
		}
	}
	return wrong
}

// world makes all moves of the world of two views, if no two clients have one name and both know who can still act.
func (c *closure) world(s *shared, a, b *viewOf) string {
	for i := range s.names {
		if x, y := a.names[i], b.names[i]; (x == nobody) != (y == nobody) || x == self && y == self {
			return ""
		}
	}
	w, judge, gone := c.build(s, a, b)
	for _, choice := range c.rules.Allowed(&Position{World: w, begun: c.begun}) {
		var rest simulator.Rest // between two attempts
		if one := int(choice.Client); one > 0 && one <= 2 {
			rest = c.sim.Parts().RestOf(one, new(c.sim.Parts().Client(&w, one)))
		}
		if rest.Stage > 1 && choice.Verb == simulator.Start {
			continue // a new client begins
		}
		next, judges, found, reads := w, judge, verdict.Set(0), [simulator.MaxClients]freshness{a.read, b.read}
		if choice.Verb == simulator.Pass {
			judges, found = c.search.transitions.passJudges(judges, choice.D)
		}
		events := must(c.sim.Step(&next, choice))
		for _, e := range events {
			switch {
			case e.Kind == history.Change && rest.Stage > 1 && rest.Busy:
				found.Add(verdict.Deadlock) // later leaves it out
			case e.Kind == history.Read:
				reads[e.Client-1] = newest
			case e.Kind == history.Write: // judges are told by a version whether another client has written since
				known := c.judgeTab.Keys[judges].Outdated(e.Client, reads[e.Client-1] == outdated)
				if judges = c.judgeTab.ID(known); e.OK && reads[2-e.Client] == newest {
					reads[2-e.Client] = outdated
				}
			}
		}
		kept, state := c.recordEvents(next.Now(), events), make([]uint32, c.stride())
		c.takeState(&next, judges, state)
		found |= c.search.transitions.judgeEvents(state, kept)
		how := fmt.Sprintf("%s in the world of %+v and %+v", c.sim.Describe(choice), *a, *b)
		if found &^= c.known; found != 0 {
			return fmt.Sprintf("%s comes to %v", how, found.Words())
		}
		if c.endless {
			state[c.restAt] = c.restTab.ID(c.restTab.Keys[state[c.restAt]].WithBudgetOf(&c.full))
		}
		c.search.quotient.drop(state)
		if wrong := c.missing(state, gone, reads, how); wrong != "" && int(choice.Client) != c.probe {
			return wrong
		}
	}
	return ""
}

// build makes the world of some views, as clients 1 and 2. gone are the others that cannot act.
func (c *closure) build(s *shared, views ...*viewOf) (w simulator.World, judge uint32, gone history.ClientSet) {
	parts, symmetry, names, state := c.sim.Parts(), c.sim.Symmetry(), history.Same(), make([]uint32, c.stride())
	copy(state, c.absent[:c.clients])
	copy(state[c.clients:], s.nodes[:c.nodes])
	if state[c.restAt], state[c.judgeAt] = s.rest, s.judge; len(state) > c.timeAt {
		state[c.timeAt] = s.present
	}
	for one, v := range views {
		state[one] = must(c.search.quotient.ofClass(v.part, one))
		for i := range s.names {
			switch outsider := 3 + i; v.names[i] {
			case nobody:
				gone.Add(uint8(outsider))
			case self:
				names[outsider], names[one+1] = uint8(one+1), outsider
			}
		}
	}
	must(0, c.search.quotient.rename(state, &names))
	w = c.tables.world(state)
	rest, known := c.restTab.Keys[s.rest], c.judgeTab.Keys[state[c.judgeAt]]
	for one, v := range views {
		to, own := history.Swap(1, uint8(one+1)), c.judgeTab.Keys[v.own[judged]]
		own.Rename(to)
		known.Add(&own)
		rest = parts.WithOrphans(rest, new(must(symmetry.Rest(c.restTab.Keys[v.own[requests]], translate.Rename(to)))))
		if c.nodes == 1 && c.sim.Parts().Connected() {
			conns := must(symmetry.Node(c.nodeTab.Keys[v.own[connections]], translate.Rename(to)))
			parts.SetNode(&w, 1, new(parts.WithConnections(parts.Node(&w, 1), conns)))
		}
	}
	parts.SetRest(&w, &rest)
	return w, c.judgeTab.ID(known), gone
}

// missing projects a state, and returns a view that the set lacks.
func (c *closure) missing(state []uint32, gone history.ClientSet, reads [simulator.MaxClients]freshness,
	how string) string {
	c.reads = reads
	must(0, c.project(state, gone))
	for _, to := range c.after {
		for i, v := range to.views {
			if _, has := c.set[to.of.shared][v]; to.acting.Has(uint8(i+1)) && !has {
				return fmt.Sprintf("%s leads to %+v, which is missing", how, v)
			}
		}
	}
	return ""
}

// later has the probe ask for the lock where all clients have come to their ends: the view is that of a client that has
// not begun, while none is named that can act, or of which something goes on at rest.
func (c *closure) later(s shared, v *viewOf) string {
	named := slices.ContainsFunc(v.names[:s.names], func(is status) bool { return is != nobody })
	rest := c.sim.Parts().RestOf(1, &c.clientTab[0].Keys[v.part])
	s.rest = c.idle.own[requests]
	w, _, _ := c.build(&s)
	at := Position{World: w, begun: c.begun, ended: c.begun}
	ask := (v.part == c.fresh && !named || rest.Stage > 1 && rest.Busy) && c.rules.settled(&at)
	if ask && !slices.Contains(c.known.Words(), verdict.Deadlock) && c.refuses(at) {
		return "no later client gets the lock"
	}
	return ""
}

// refuses reports whether anything that follows from a position, and was not met before, comes to a DEADLOCK.
func (c *closure) refuses(at Position) bool {
	if c.asked[at] {
		return false
	}
	c.asked[at] = true
	for _, choice := range c.rules.Allowed(&at) {
		next := at
		_, words, err := c.rules.Step(&next, choice)
		if slices.Contains(must(words, err), verdict.Deadlock) || c.refuses(next) {
			return true
		}
	}
	return false
}
