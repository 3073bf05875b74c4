package zookeeper

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/intern"
	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	"locklab/simulator/translate"
)

// numberedAlike is an ensemble with what its clients have been answered, and what they may ask for.
type numberedAlike struct {
	x        *Executor
	contents uint32
	answers  [2][]uint32 // by client
	memories [2]uint32
}

// recount has all numbers be the smallest ones in their order.
func (n *numberedAlike) recount(t *testing.T) {
	all, counters, far := history.NoNumbers(), history.NoNumbers(), false
	for _, f := range []history.Recount{all.Note(&counters, &far), all.Ranks} {
		n.contents = n.x.contents.Map(n.contents, translate.Recount(f))
		for c := range n.answers {
			n.memories[c] = n.x.memories.Map(n.memories[c], translate.Recount(f))
			n.answers[c] = slices.Clone(n.answers[c])
			for i := range n.answers[c] {
				n.answers[c][i] = n.x.answers.Map(n.answers[c][i], translate.Recount(f))
			}
		}
	}
	if far {
		t.Fatal("a number is above 63")
	}
}

// asked is a request of a client by its last answers, and by chance.
func (n *numberedAlike) asked(c int, r *rand.Rand) Request {
	paths := []string{"/q"}
	for _, answer := range n.answers[c] {
		reply := n.x.answers.At(answer).reply
		if reply.Path != "" && reply.Path != "/q" {
			paths = append(paths, reply.Path)
		}
		for _, name := range slices.Sorted(slices.Values(reply.Children)) {
			paths = append(paths, "/q/"+name)
		}
	}
	op := []Op{Create, Create, Delete, Exists, GetData, GetChildren}[r.IntN(6)]
	at := paths[r.IntN(len(paths))]
	switch {
	case op == Create && r.IntN(4) > 0:
		return Request{Op: op, Path: fmt.Sprintf("/q/_c_c%d.1-lock-", c+1), Mode: Ephemeral | Sequential}
	case op == Create:
		return Request{Op: op, Path: "/q"}
	case op == GetChildren:
		at = "/q"
	case at == "/q" && op == Delete:
		op = Exists
	}
	return Request{Op: op, Path: at, Version: AnyVersion, Watch: op >= Exists && r.IntN(2) == 0}
}

// remember has a client's library know the watches that it has left, as a Session does.
func (n *numberedAlike) remember(c int, q Request, answer uint32) {
	m, a := *n.x.memories.At(n.memories[c]), n.x.answers.At(answer)
	m.watches, m.left = slices.Clone(m.watches), slices.Clone(m.left)
	for i := len(m.watches) - 1; i >= 0; i-- {
		if slices.ContainsFunc(a.events, func(e Event) bool { return ends(e, m.watches[i]) }) {
			m.watches, m.left = slices.Delete(m.watches, i, i+1), slices.Delete(m.left, i, i+1)
		}
	}
	if w, leaves := q.leaves(a.reply.Code); leaves && !slices.Contains(m.watches, w) {
		m.watches, m.left = append(m.watches, w), append(m.left, a.left)
	}
	n.memories[c] = n.x.memories.ID(m)
	if n.answers[c] = append(n.answers[c], answer); len(n.answers[c]) > 3 {
		n.answers[c] = n.answers[c][1:]
	}
}

// step has an ensemble do one thing, by chance.
func (n *numberedAlike) step(r *rand.Rand) {
	c := r.IntN(2)
	a := act{contents: n.contents, client: int8(c + 1)}
	switch own := n.x.contents.At(n.contents).peers[c]; r.IntN(12) {
	case 0:
		a.kind = ActEnd
	case 1, 2:
		a.kind = ActCut
		n.contents = n.x.look(a).to
		n.step(rand.New(rand.NewPCG(r.Uint64(), 0))) // what it misses
		a.contents, a.kind, a.arg = n.contents, ActConnect, n.memories[c]
		if n.x.contents.At(n.contents).peers[c].sessionEnded() ||
			!n.x.contents.At(n.contents).state.Alive(own.session) {
			n.memories[c] = 0
		}
	default:
		q := n.asked(c, r)
		a.kind, a.arg = ActServe, n.x.internRequest(wireRequest{Request: q})
		eff := n.x.look(a)
		n.contents = eff.to
		if !eff.refused {
			n.remember(c, q, eff.answer)
		}
		return
	}
	n.contents = n.x.look(a).to
}

// TestRecount: an ensemble whose numbers are the smallest ones in their order does what it does with its own, but for
// these: also for clients that know some of the numbers, and whose watches may have missed something.
func TestRecount(t *testing.T) {
	k := NewKind(Config{Session: time.Second}, memo.New(intern.NewRoom()))
	k.CountCreations(true)
	smaller := 0
	for seed := range uint64(60) {
		begin := k.Start(1, 2).(EnsembleState)
		own := numberedAlike{x: k.Executor, contents: begin.contents}
		least := own
		least.recount(t)
		for i := range uint64(40) {
			own.step(rand.New(rand.NewPCG(seed, i)))
			least.step(rand.New(rand.NewPCG(seed, i)))
			least.recount(t)
			want := own
			want.recount(t)
			known := slices.Equal(want.answers[0], least.answers[0]) && slices.Equal(want.answers[1], least.answers[1])
			if !known || want.contents != least.contents || want.memories != least.memories {
				t.Fatalf("seed %d, step %d: with the smallest numbers the ensemble holds\n%v\n"+
					"and with its own, which are then made smaller,\n%v", seed, i,
					*k.Executor.contents.At(least.contents), *k.Executor.contents.At(want.contents))
			}
			if own.contents != want.contents {
				smaller++
			}
		}
	}
	if smaller < 500 {
		t.Errorf("numbers were made smaller %d times only", smaller)
	}
}

// TestStamps: what watches looked at when they were left tells which of them have missed
// something, as the protocol does by the last transaction that the client has heard of.
func TestStamps(t *testing.T) {
	fired := map[EventType]int{}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		s, me := New().Connect()
		s, other := s.Connect()
		paths := []string{"/q", "/q/x", "/q/y"}
		var m memory
		var coming []Event
		hear := func() {
			for i := len(m.watches) - 1; i >= 0; i-- {
				if slices.ContainsFunc(coming, func(e Event) bool { return ends(e, m.watches[i]) }) {
					m.watches, m.left = slices.Delete(m.watches, i, i+1), slices.Delete(m.left, i, i+1)
				}
			}
			coming = nil
		}
		change := func(connected bool) {
			ops := []Op{Create, Create, Delete, SetData}
			q := Request{Op: ops[r.IntN(len(ops))], Path: paths[r.IntN(len(paths))], Version: AnyVersion}
			var events []Event
			if s, _, events = s.Apply(other, q); connected {
				coming = append(coming, events...)
			}
		}
		for range 40 {
			switch r.IntN(6) {
			case 0, 1, 2:
				change(true)
			case 3, 4:
				q := Request{
					Op: []Op{Exists, GetData, GetChildren}[r.IntN(3)], Path: paths[r.IntN(len(paths))],
					Watch: r.IntN(4) > 0,
				}
				var reply Reply
				s, reply, _ = s.Apply(me, q)
				hear() // what was sent before the reply
				m.seen = reply.Zxid
				if w, leaves := q.leaves(reply.Code); leaves && !slices.Contains(m.watches, w) {
					m.watches, m.left = append(m.watches, w), append(m.left, s.stamp(w))
				}
			case 5: // the connection breaks, and what was on its way is lost
				s, coming = s.Disconnect(me), nil
				for range r.IntN(4) {
					change(false)
				}
				want, _, events := s.Reconnect(me, m.seen, m.watches)
				got, _, same := s.reconnect(me, m.watches, func(at int, is stamp) bool { return is != m.left[at] })
				if !slices.Equal(events, same) || codec.Key(want) != codec.Key(got) {
					t.Fatalf("seed %d: by the transaction %d fire %v, by what was seen %v", seed, m.seen, events, same)
				}
				last, _, events := s.Reconnect(me, m.last(), m.watches)
				if !slices.Equal(events, same) || codec.Key(last) != codec.Key(got) {
					t.Fatalf("seed %d: by the transaction %d fire %v, by %d %v", seed, m.seen, same, m.last(), events)
				}
				s, coming = got, events
				for _, e := range events {
					fired[e.Type]++
				}
			}
		}
	}
	for _, kind := range []EventType{NodeCreated, NodeDeleted, NodeDataChanged, NodeChildrenChanged} {
		if fired[kind] == 0 {
			t.Errorf("no watch has missed %s", eventText(kind))
		}
	}
}

// An ensemble that did something else for a client of another name is found out, whatever it
// did. This one does not, so that an effect is altered.
func TestInterchange(t *testing.T) {
	for name, alter := range map[string]func(x *Executor, before uint32, eff *effect){
		"nothing":      func(*Executor, uint32, *effect) {},
		"the contents": func(_ *Executor, before uint32, eff *effect) { eff.to = before },
		"the answer": func(x *Executor, _ uint32, eff *effect) {
			eff.answer = x.answers.ID(storedAnswer{reply: Reply{Code: NoNode}})
		},
		"a refusal":     func(_ *Executor, _ uint32, eff *effect) { eff.refused = true },
		"a line's head": func(_ *Executor, _ uint32, eff *effect) { eff.lines[0].owner = 1 },
		"no line":       func(_ *Executor, _ uint32, eff *effect) { eff.lines = nil },
		"a watch":       func(_ *Executor, _ uint32, eff *effect) { eff.fired[0].client = 2 },
		"no watch":      func(_ *Executor, _ uint32, eff *effect) { eff.fired = nil },
	} {
		room := intern.NewRoom()
		k := NewKind(Config{Session: time.Second}, memo.New(room))
		k.CountCreations(true)
		x := k.Executor
		begin := k.Start(1, 2).(EnsembleState)
		request := func(r Request) uint32 { return x.internRequest(wireRequest{Request: r}) }
		left := x.look(act{begin.contents, request(Request{Op: GetChildren, Path: "/", Watch: true}), ActServe, 2})
		create := request(Request{Op: Create, Path: "/c1.1-", Mode: Ephemeral | Sequential})
		a := act{left.to, create, ActServe, 1}
		x.look(a)
		other, err := x.mapped(a, translate.Rename(history.Swap(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		alter(x, other.contents, x.look(other))
		x.memo.Symmetric = 2
		x.look(a)
		asymmetric := (*hypothesis.Refuted)(nil)
		if found := errors.As(room.Take(), &asymmetric); found != (name != "nothing") {
			t.Errorf("%s is another: found out: %v", name, found)
		} else if found && asymmetric.Command[0] != "CREATE" {
			t.Errorf("%s is another: at %q", name, asymmetric.Command)
		}
	}
}
