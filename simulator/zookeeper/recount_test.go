package zookeeper

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/table"
	"locklab/simulator/memo"
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
		n.contents = n.x.contents.Recounted(n.contents, f)
		for c := range n.answers {
			n.memories[c] = n.x.memories.Recounted(n.memories[c], f)
			n.answers[c] = slices.Clone(n.answers[c])
			for i := range n.answers[c] {
				n.answers[c][i] = n.x.answers.Recounted(n.answers[c][i], f)
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
		if n.x.contents.At(n.contents).peers[c].sessionEnded() || !n.x.contents.At(n.contents).state.Alive(own.session) {
			n.memories[c] = 0
		}
	default:
		q := n.asked(c, r)
		a.kind, a.arg = ActServe, n.x.internRequest(q)
		eff := n.x.look(a)
		n.contents = eff.to
		if !eff.refused {
			n.remember(c, q, eff.answer)
		}
		return
	}
	n.contents = n.x.look(a).to
}

// TestRecount: an ensemble whose numbers are the smallest ones in their order does what it does with its own, but for these: also
// for clients that know some of the numbers, and whose watches may have missed something.
func TestRecount(t *testing.T) {
	k := NewKind(Config{Session: time.Second}, memo.New(table.NewRoom()))
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
				t.Fatalf("seed %d, step %d: with the smallest numbers the ensemble holds\n%v\nand with its own, which are then made smaller,\n%v", seed, i,
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
