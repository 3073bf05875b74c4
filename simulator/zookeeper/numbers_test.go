package zookeeper

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
	"locklab/simulator/internal/table"
	"locklab/simulator/memo"
	"locklab/simulator/node"
)

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
				q := Request{Op: []Op{Exists, GetData, GetChildren}[r.IntN(3)], Path: paths[r.IntN(len(paths))], Watch: r.IntN(4) > 0}
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
		room := table.NewRoom()
		k := NewKind(Config{Session: time.Second}, memo.New(room))
		k.CountCreations(true)
		x := k.Executor
		begin := k.Start(1, 2).(EnsembleState)
		left := x.look(act{begin.contents, x.internRequest(Request{Op: GetChildren, Path: "/", Watch: true}), ActServe, 2})
		a := act{left.to, x.internRequest(Request{Op: Create, Path: "/c1.1-", Mode: Ephemeral | Sequential}), ActServe, 1}
		x.look(a)
		other := x.renamedAct(a, history.Swap(1, 2))
		alter(x, other.contents, x.look(other))
		x.memo.Symmetric = 2
		x.look(a)
		asymmetric := (*node.AsymmetricError)(nil)
		if found := errors.As(room.Take(), &asymmetric); found != (name != "nothing") {
			t.Errorf("%s is another: found out: %v", name, found)
		} else if found && asymmetric.Command[0] != "CREATE" {
			t.Errorf("%s is another: at %q", name, asymmetric.Command)
		}
	}
}
