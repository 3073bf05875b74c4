package verdict_test

import (
	"cmp"
	"fmt"
	. "locklab/simulator/verdict"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/simulator/effort"
	"locklab/simulator/history"
)

// random makes a history in which clients do not respect each other, the
// key changes in every way on one node, on three, or on one of three, requests arrive long after they were
// sent, and the resource accepts most writes. The run makes no sense, but is well-formed.
func random(seed uint64) *history.History { return randomOf(seed, 0) }

// randomOf is random with so many clients; 0: two to four.
func randomOf(seed uint64, clients int) *history.History {
	g := &wild{Rand: rand.New(rand.NewPCG(seed, 1)), h: &history.History{
		Key: "lock", Nodes: 1 + 2*int(seed%2), Shards: seed%8 > 4 && seed%2 == 1, TTL: 10 * time.Millisecond,
		Horizon: seed%4 < 2,
	}}
	g.h.Clients = cmp.Or(clients, 2+g.IntN(3))
	g.now = make([]walker, g.h.Clients+1)
	for c := range g.now {
		g.now[c].next = history.Acquire
	}
	g.value, g.split = make([]string, 2*g.h.Nodes+1), map[int]bool{}
	for range 10 + g.IntN(80) {
		g.at += time.Duration(g.IntN(3)) * time.Millisecond
		g.event(1 + g.IntN(g.h.Clients))
	}
	g.h.End = g.at
	return g.h
}

type wild struct {
	*rand.Rand
	h       *history.History
	at      time.Duration
	now     []walker     // every client
	value   []string     // of the key, by node
	split   map[int]bool // nodes with an old master
	version int
}

// walker is where a client is.
type walker struct {
	next   history.EventKind // 0: it is dead
	inside bool              // it asks whether it still has the lock
	lease  int
}

func (g *wild) event(c int) {
	switch n := g.IntN(26); {
	case n < 10:
		g.walk(c)
	case n < 13:
		g.use(c)
	case n < 15:
		g.add(history.Event{Kind: history.Apply, Client: c, Node: g.node(), Lease: g.lease(c)})
	case n < 16:
		g.copy()
	case n < 18:
		g.add(history.Event{Kind: history.Sleep, Client: c, Rests: n == 16, D: time.Duration(g.IntN(2)) * g.h.TTL})
	default:
		g.change(c)
	}
}

func (g *wild) add(e history.Event) {
	e.At = g.at
	g.h.Events = append(g.h.Events, e)
}

// node is a server, or now and then the old master of one.
func (g *wild) node() int {
	n := 1 + g.IntN(g.h.Nodes)
	if g.split[n] && g.IntN(3) == 0 {
		n += g.h.Nodes
	}
	return n
}

// lease is that of a client, or an older one.
func (g *wild) lease(c int) int {
	return max(0, g.now[c].lease-max(0, g.IntN(4)-2))
}

// walk takes the next step of c.
func (g *wild) walk(c int) {
	w := &g.now[c]
	e := history.Event{Kind: w.next, Client: c}
	lucky := g.IntN(3) > 0
	switch w.next {
	case 0:
		if g.IntN(4) == 0 {
			w.next = history.Acquire
			g.add(history.Event{Kind: history.Return, Client: c, Lease: w.lease})
		}
		return
	case history.Acquire:
		if w.inside {
			e.Note = "renew"
		} else {
			w.lease++
		}
		w.next = history.Refuse
		if lucky {
			w.next = history.Enter
		}
	case history.Enter:
		e.Claims, e.OK = w.inside, w.inside
		w.inside, w.next = false, history.Leave
		if g.IntN(4) == 0 {
			w.inside, w.next = true, history.Acquire
		}
	case history.Refuse:
		e.Claims = lucky
		w.next = history.Acquire
		if w.inside {
			w.inside, w.next = false, history.Leave
		}
	case history.Leave:
		w.next = history.Release
		if !lucky {
			e.Note, w.next = history.Exception, history.Acquire
		}
	case history.Release:
		w.next = history.Released
	case history.Released:
		e.Claims, e.OK = true, g.IntN(2) == 0
		w.next = history.Acquire
	}
	e.Lease = w.lease
	if g.IntN(60) == 0 {
		e = history.Event{Kind: history.Crash, Client: c}
		w.inside, w.next = false, 0
	}
	g.add(e)
}

// use reads or writes the resource.
func (g *wild) use(c int) {
	e := history.Event{Kind: history.Read, Client: c, Node: history.Resource, Lease: g.lease(c)}
	if g.IntN(2) == 0 {
		e.Kind, e.OK = history.Write, g.IntN(5) > 0
		e.Base = max(0, g.version-g.IntN(3))
		if e.OK {
			g.version++
		}
	}
	e.Version = g.version
	g.add(e)
}

// copy has a replica or the disk of a node catch up, or take its place, or lets an old master live on.
func (g *wild) copy() {
	n := 1 + g.IntN(g.h.Nodes)
	switch g.IntN(5) {
	case 3:
		g.add(history.Event{Kind: history.Split, Client: 1, Node: n})
		if !g.split[n] {
			g.split[n], g.value[g.h.Nodes+n] = true, g.value[n]
		}
	case 4:
		if g.split[n] {
			g.add(history.Event{Kind: history.Heal, Node: n})
			delete(g.split, n)
		}
	case 0:
		g.add(history.Event{Kind: history.Replicate, Node: n})
	case 1:
		g.add(history.Event{Kind: history.Sync, Node: n})
	default:
		e := history.Event{Kind: history.Change, Node: n, Key: g.h.Key, Before: g.value[n], Until: history.Forever}
		if g.IntN(3) > 0 {
			e.After = "old" + g.value[n]
			e.Replica = int8(g.IntN(2)) * history.Disk
		}
		g.value[n] = e.After
		g.add(e)
	}
}

func (g *wild) change(c int) {
	n := g.node()
	e := history.Event{Kind: history.Change, Client: c, Node: n, Lease: g.lease(c), Key: g.h.Key, Before: g.value[n]}
	switch g.IntN(4) {
	case 0: // removed
		if g.value[n] == "" {
			return
		}
		if g.IntN(2) == 0 {
			e.Kind, e.Client, e.Lease = history.Expire, 0, 0
		}
	case 1: // prolonged
		if g.value[n] == "" {
			return
		}
		e.After = g.value[n]
	default:
		e.After = string(rune('a' + g.IntN(4)))
	}
	e.Until = g.at + g.h.TTL
	if g.IntN(2) == 0 {
		e.Until = history.Forever
	}
	g.value[n] = e.After
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
			inside := slices.ContainsFunc(stays, func(s stay) bool { return s.client == e.Client && i < s.to })
			if e.Kind != history.Enter || inside {
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
					f := Finding{Verdict: Overlap, Clients: []int{a.client, b.client}, Event: b.from,
						From: h.Events[b.from].At, To: h.End}
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

// SLOW against its definition, attempt by attempt.
func TestSlowTwin(t *testing.T) {
	hit := 0
	for seed := range uint64(2000) {
		h := random(seed)
		h.Slow = 5 * time.Millisecond
		var want []Finding
		for i, e := range h.Events {
			if e.Kind != history.Acquire || e.Note != "" {
				continue
			}
			f := Finding{Verdict: Slow, Clients: []int{e.Client}, From: e.At, To: h.End, Event: len(h.Events) - 1}
			rest := h.Events[i+1:]
			if n := slices.IndexFunc(rest, func(f history.Event) bool {
				return f.Client == e.Client &&
					(f.Kind == history.Enter || f.Kind == history.Refuse || f.Kind == history.Crash)
			}); n >= 0 {
				f.To = rest[n].At
			}
			if n := slices.IndexFunc(rest, func(f history.Event) bool {
				return f.At > e.At+h.Slow &&
					f.Kind != history.Sleep
			}); n >= 0 {
				f.Event = i + 1 + n // the first by which it shows
			}
			if f.To-f.From > h.Slow {
				want = append(want, f)
			}
		}
		hit += len(want)
		sameFindings(t, seed, found(Judge(h), Slow), want)
	}
	if hit == 0 {
		t.Error("no attempt is slow in any of the histories")
	}
}

// TestBoundsRebase: what the judges of the bounds know counts from the present, and names clients by their new names.
func TestBoundsRebase(t *testing.T) {
	state := func(text string, bound history.History) (Case, Safety) {
		h := tell(t, text)
		h.Clients, h.Slow, h.Noisy = 2, bound.Slow, bound.Noisy
		c := CaseOf(h)
		var s Safety
		for i := range h.Events {
			s.Observe(&c, i, &h.Events[i], nil)
		}
		s.Rebase(h.End)
		return c, s
	}
	swap := history.Swap(1, 2)
	for _, bound := range []history.History{{}, {Slow: 5 * time.Millisecond}, {Noisy: 1}} {
		given := bound.Slow > 0 || bound.Noisy > 0
		c, soon := state("0 c1 acquire | 0 c1 send | 2 n1 up", bound)
		_, late := state("7 c1 acquire | 7 c1 send | 9 n1 up", bound)
		_, other := state("0 c2 acquire | 0 c2 send | 2 n1 up", bound)
		_, longer := state("0 c1 acquire | 0 c1 send | 3 n1 up", bound)
		if other.Rename(swap); soon != late || soon != other {
			t.Errorf("%+v: a later time or another name makes another state", bound)
		}
		if (soon == longer) == given {
			t.Errorf("%+v: how long a client waits is in the state: %t, want %t", bound, !given, given)
		}
		var words []Word
		note := func(f Finding) { words = append(words, f.Verdict) }
		if soon.Pass(&c, 0, 3*time.Millisecond, note); words != nil {
			t.Errorf("%+v: after 5 ms: %v", bound, words)
		}
		soon.Pass(&c, 0, 4*time.Millisecond, note)
		soon.Observe(&c, 0, &history.Event{Kind: history.Send, Client: 1, Node: 1, At: 4 * time.Millisecond}, note)
		if want := map[bool][]Word{bound.Slow > 0: {Slow}, bound.Noisy > 0: {Noisy}}[true]; !slices.Equal(words, want) {
			t.Errorf("%+v: after 6 ms, with one more request: %v, want %v", bound, words, want)
		}
	}
}

// charges are what the judges say of what the second opinion judges too, in its words.
func charges(h *history.History) (list []violation) {
	c := CaseOf(h)
	var s Safety
	for i := range h.Events {
		e := &h.Events[i]
		if s.RefusedByOrphan(e) {
			list = append(list, violation{Word: string(Orphan), Event: i})
		}
		s.Observe(&c, i, e, func(f Finding) {
			if f.Verdict != Overlap && f.Verdict != Slow && f.Verdict != Noisy {
				list = append(list, violation{Word: string(f.Verdict), Clients: f.Clients, Event: i})
			}
		})
	}
	for _, f := range found(Judge(h), Fenced) {
		list = append(list, violation{Word: string(Fenced), Clients: f.Clients, Event: f.Event})
	}
	return list
}

// sameCharges says how the judges and the second opinion differ; "": they agree. Whose
// orphan made a refusal is not compared: the judges do not say.
func sameCharges(h *history.History) string {
	theirs := violations(h)
	for i := range theirs {
		if theirs[i].Word == string(Orphan) {
			theirs[i].Clients = nil
		}
	}
	ours := charges(h)
	order := func(a, b violation) int {
		return cmp.Or(a.Event-b.Event, strings.Compare(a.Word, b.Word), slices.Compare(a.Clients, b.Clients))
	}
	slices.SortFunc(ours, order)
	slices.SortFunc(theirs, order)
	if fmt.Sprint(ours) == fmt.Sprint(theirs) {
		return ""
	}
	return fmt.Sprintf("the judges %v\nthe second opinion %v", ours, theirs)
}

// The second opinion must say of every history what the judges say.
func TestSecondOpinionOfCharges(t *testing.T) {
	for _, holders := range [][]int{nil, slices.Repeat([]int{history.NoLock}, 4), {1, history.AnyNumber, 2, 1}} {
		secondOpinionOfCharges(t, holders)
	}
}

func secondOpinionOfCharges(t *testing.T, holders []int) {
	count := map[string]int{}
	seeds := uint64(3000)
	if effort.Exhaustive() {
		seeds = 20_000
	}
	for seed := range seeds {
		h := random(seed)
		if holders != nil {
			h.Holders = holders[:h.Clients]
		}
		if diff := sameCharges(h); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		for _, c := range charges(h) {
			count[c.Word]++
		}
	}
	for _, w := range []Word{StaleWrite, Fenced, WrongDel, Lie, Orphan} {
		if count[string(w)] < 20 && !((w == Lie || w == WrongDel) && holders != nil) {
			t.Errorf("%s occurs %d times: agreement says nothing", w, count[string(w)])
		}
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
	if !slices.EqualFunc(got, want, func(a, b Finding) bool {
		return a.Event == b.Event &&
			short([]Finding{a}) == short([]Finding{b})
	}) {
		t.Fatalf("seed %d: found %s\nwant %s", seed, short(got), short(want))
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
		{"how far the dead one had got", run + " | 1 c1 leave | 1 c1 crash", run +
			" | 1 c1 leave | 1 c1 release | 1 c1 crash", true},
		{"who has the key", run, "0 c2 acquire | 0 c2 set a until never | 0 c2 enter", false},
	} {
		if got := state(r.a) == state(r.b); got != r.same {
			t.Errorf("%s: one state %t, want %t", r.rule, got, r.same)
		}
	}
	_ = map[Monitor]bool{} // compiles because a Monitor can be a key
}

func TestLimits(t *testing.T) {
	for what, h := range map[string]*history.History{
		"clients":         {Clients: MaxClients + 1, Nodes: 1},
		"nodes":           {Clients: 1, Nodes: MaxNodes + 1},
		"unknown client":  {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Enter, Client: 2}}},
		"nobody enters":   {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Enter}}},
		"unknown node":    {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Change, Node: 2}}},
		"change nowhere":  {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Change, Client: 1}}},
		"negative client": {Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Enter, Client: -1}}},
		"resource expires": {Clients: 1, Nodes: 1,
			Events: []history.Event{{Kind: history.Expire, Node: history.Resource}}},
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
		full.Events = append(full.Events, history.Event{Kind: history.Change, Client: MaxClients, Node: n, Key: "lock",
			After: "a", Until: history.Forever})
	}
	if got := short(Judge(full).Findings); got != "ORPHAN 8 0 forever" {
		t.Errorf("the last client on all nodes: %q", got)
	}
}
