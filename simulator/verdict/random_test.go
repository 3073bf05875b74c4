package verdict

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict/secondopinion"
)

// random makes a history in which clients do not respect each other, the key of one node
// changes in every way, and the resource accepts most writes. The run makes no sense, but
// is well-formed.
func random(seed uint64) *history.History {
	g := &wild{Rand: rand.New(rand.NewPCG(seed, 1)), h: &history.History{
		Key: "lock", Nodes: 1, TTL: 10 * time.Millisecond, Horizon: seed%2 == 0,
	}}
	g.h.Clients = 2 + g.IntN(3)
	g.next = make([]history.Kind, g.h.Clients+1)
	for c := range g.next {
		g.next[c] = history.Acquire
	}
	for range 10 + g.IntN(50) {
		g.now += time.Duration(g.IntN(3)) * time.Millisecond
		g.event(1 + g.IntN(g.h.Clients))
	}
	g.h.End = g.now
	return g.h
}

type wild struct {
	*rand.Rand
	h       *history.History
	now     time.Duration
	next    []history.Kind // of every client
	value   string
	version int
}

func (g *wild) event(c int) {
	switch n := g.IntN(20); {
	case n < 11:
		g.walk(c)
	case n < 14:
		g.write(c)
	default:
		g.change(c)
	}
}

func (g *wild) add(e history.Event) {
	e.At = g.now
	g.h.Events = append(g.h.Events, e)
}

// walk takes the next step of c.
func (g *wild) walk(c int) {
	e := history.Event{Kind: g.next[c], Client: c}
	lucky := g.IntN(3) > 0
	switch g.next[c] {
	case 0:
		return // dead
	case history.Acquire:
		g.next[c] = history.Refuse
		if lucky {
			g.next[c] = history.Enter
		}
	case history.Enter:
		g.next[c] = history.Leave
	case history.Leave:
		g.next[c] = history.Release
		if !lucky {
			e.Note, g.next[c] = history.Exception, history.Acquire
		}
	case history.Release:
		g.next[c] = history.Released
	case history.Released:
		e.Claims, e.OK = true, lucky
		g.next[c] = history.Acquire
	case history.Refuse:
		g.next[c] = history.Acquire
	}
	if g.IntN(40) == 0 {
		e.Kind, g.next[c] = history.Crash, 0
	}
	g.add(e)
}

func (g *wild) write(c int) {
	e := history.Event{Kind: history.Write, Client: c, Node: history.Resource, OK: g.IntN(5) > 0}
	e.Base = max(0, g.version-g.IntN(3))
	if e.OK {
		g.version++
	}
	e.Version = g.version
	g.add(e)
}

func (g *wild) change(c int) {
	e := history.Event{Kind: history.Change, Client: c, Node: 1, Key: g.h.Key, Before: g.value}
	switch g.IntN(4) {
	case 0: // removed
		if g.value == "" {
			return
		}
		if g.IntN(2) == 0 {
			e.Kind, e.Client = history.Expire, 0
		}
	case 1: // prolonged
		if g.value == "" {
			return
		}
		e.After = g.value
	default:
		e.After = string(rune('a' + g.IntN(4)))
	}
	e.Until = g.now + g.h.TTL
	if g.IntN(2) == 0 {
		e.Until = history.Forever
	}
	g.value = e.After
	g.add(e)
}

// found are the findings of one word.
func found(j Judgement, w Word) []Finding {
	return slices.DeleteFunc(slices.Clone(j.Findings), func(f Finding) bool { return f.Verdict != w })
}

// OVERLAP against its definition, pair by pair.
func TestOverlapTwin(t *testing.T) {
	type stay struct {
		client, from, to int // events; to: one past the last if it never ends
	}
	hit := 0
	for seed := range uint64(2000) {
		h := random(seed)
		var stays []stay
		for i, e := range h.Events {
			if e.Kind != history.Enter {
				continue
			}
			end := slices.IndexFunc(h.Events[i:], func(f history.Event) bool {
				return f.Client == e.Client && (f.Kind == history.Leave || f.Kind == history.Crash)
			})
			if end < 0 {
				end = len(h.Events) - i
			}
			stays = append(stays, stay{e.Client, i, i + end})
		}
		var want []Finding
		for _, b := range stays {
			for _, a := range stays {
				if a.from < b.from && b.from < a.to {
					f := Finding{Verdict: Overlap, Clients: []int{a.client, b.client}, Event: b.from, From: h.Events[b.from].At, To: h.End}
					if end := min(a.to, b.to); end < len(h.Events) {
						f.To = h.Events[end].At
					}
					want = append(want, f)
				}
			}
		}
		hit += len(want)
		sameFindings(t, seed, found(Judge(h), Overlap), want)
	}
	if hit == 0 {
		t.Error("no overlap in any of the histories")
	}
}

// STALE-WRITE against its definition, write by write.
func TestStaleWriteTwin(t *testing.T) {
	hit := 0
	for seed := range uint64(2000) {
		h := random(seed)
		var want []Finding
		for i, w := range h.Events {
			if w.Kind != history.Write || !w.OK {
				continue
			}
			lost := 0
			for _, o := range h.Events[:i] {
				if o.Kind == history.Write && o.OK && o.Client != w.Client && o.Version > w.Base {
					lost = o.Client
				}
			}
			if lost != 0 {
				want = append(want, Finding{Verdict: StaleWrite, Clients: []int{w.Client, lost}, From: w.At, To: w.At, Event: i})
			}
		}
		hit += len(want)
		sameFindings(t, seed, found(Judge(h), StaleWrite), want)
	}
	if hit == 0 {
		t.Error("no stale write in any of the histories")
	}
}

// sameFindings compares regardless of the order within one event.
func sameFindings(t *testing.T, seed uint64, got, want []Finding) {
	t.Helper()
	order := func(a, b Finding) int {
		if a.Event != b.Event {
			return a.Event - b.Event
		}
		return slices.Compare(a.Clients, b.Clients)
	}
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.EqualFunc(got, want, func(a, b Finding) bool { return a.Event == b.Event && short([]Finding{a}) == short([]Finding{b}) }) {
		t.Fatalf("seed %d: found %s\nwant %s", seed, short(got), short(want))
	}
}

// An independent checker must reject a history exactly when two clients were inside at
// once.
func TestSecondOpinion(t *testing.T) {
	var count [2]int
	for seed := range uint64(1000) {
		h := random(seed)
		overlap := len(found(Judge(h), Overlap)) > 0
		if secondopinion.Linearizable(h) == overlap {
			t.Fatalf("seed %d: overlap %t, linearizable %t", seed, overlap, overlap)
		}
		if overlap {
			count[1]++
		} else {
			count[0]++
		}
	}
	if min(count[0], count[1]) < 50 {
		t.Errorf("%d histories without and %d with an overlap are too few to compare", count[0], count[1])
	}
}

// Rebasing time at any event changes no finding.
func TestRebase(t *testing.T) {
	for seed := range uint64(2000) {
		h := random(seed)
		r := rand.New(rand.NewPCG(seed, 2))
		c := CaseOf(h)
		var plain, moved Safety
		var base time.Duration
		for i := range h.Events {
			e := h.Events[i]
			plain.Observe(&c, i, &e, nil)
			e.At -= base
			moved.Observe(&c, i, &e, nil)
			if r.IntN(3) == 0 {
				moved.Rebase(e.At)
				base += e.At
			}
			if !slices.Equal(plain.Words(), moved.Words()) {
				t.Fatalf("seed %d, event %d: %v, rebased %v", seed, i, plain.Words(), moved.Words())
			}
		}
	}
}

// Runs that differ only in what no longer matters lead to the same state.
func TestStatesRecur(t *testing.T) {
	const run = "0 c1 acquire | 0 c1 set a until never | 0 c1 enter"
	state := func(text string) Safety {
		h := tell(t, text)
		h.Clients = 2
		c := CaseOf(h)
		var s Safety
		for i := range h.Events {
			s.Observe(&c, i, &h.Events[i], nil)
		}
		s.Rebase(h.End)
		return s
	}
	for _, r := range []struct {
		rule string
		a, b string
		same bool
	}{
		{"a second later", run, "1000 c1 acquire | 1000 c1 set a until never | 1000 c1 enter", true},
		{"a lease that lapsed long ago, or just now", run + " | 10 c2 acquire", run + " | 99 c2 acquire", true},
		{"one that has not lapsed", run + " | 9 c2 acquire", run + " | 99 c2 acquire", false},
		{"how old a dead client's stamp is", run + " | 1 c1 crash", run + " | 9 c1 crash", true},
		{"how far the dead one had got", run + " | 1 c1 leave | 1 c1 crash", run + " | 1 c1 leave | 1 c1 release | 1 c1 crash", true},
		{"who has the key", run, "0 c2 acquire | 0 c2 set a until never | 0 c2 enter", false},
	} {
		if got := state(r.a) == state(r.b); got != r.same {
			t.Errorf("%s: one state %t, want %t", r.rule, got, r.same)
		}
	}
	_ = map[Monitor]bool{} // compiles because a Monitor can be a key
}

// A copy of a Monitor is a branch of its run.
func TestBranch(t *testing.T) {
	h := tell(t, has+"1 c2 acquire | 2 c2 enter")
	c := CaseOf(h)
	var m Monitor
	last := len(h.Events) - 1
	for i := range last {
		m.Observe(&c, i, &h.Events[i], nil)
	}
	branch := m
	branch.Observe(&c, last, &h.Events[last], nil)
	if m.Broken() || !branch.Broken() {
		t.Errorf("broken: before %t, after %t, want false and true", m.Broken(), branch.Broken())
	}
}

func TestLimits(t *testing.T) {
	for what, h := range map[string]*history.History{
		"clients":          {Clients: MaxClients + 1, Nodes: 1},
		"nodes":            {Clients: 1, Nodes: MaxNodes + 1},
		"unknown client":   {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Enter, Client: 2}}},
		"nobody enters":    {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Enter}}},
		"unknown node":     {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Change, Node: 2}}},
		"change nowhere":   {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Change, Client: 1}}},
		"negative client":  {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Enter, Client: -1}}},
		"resource expires": {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Expire, Node: history.Resource}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: judged", what)
				}
			}()
			Judge(h)
		}()
	}
	full := &history.History{Clients: MaxClients, Nodes: MaxNodes, Key: "lock"}
	for n := 1; n <= MaxNodes; n++ {
		full.Events = append(full.Events, history.Event{Kind: history.Change, Client: MaxClients, Node: n, Key: "lock", After: "a", Until: history.Forever})
	}
	if got := short(Judge(full).Findings); got != "ORPHAN 8 0 forever" {
		t.Errorf("the last client on all nodes: %q", got)
	}
}
