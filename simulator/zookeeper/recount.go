package zookeeper

import (
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
	world "locklab/simulator/node"
)

// All numbers of an ensemble only grow: those of transactions, and those in the names of sequential znodes. What it does depends on their
// order: of two znodes with different czxids, of two children of one znode with different numbers, and of a znode now and when a watch was
// left on it. So with others in the same order it does the same, but for these. A session that begins in place of one that has ended has
// the number of that; see Kind.CountCreations, without which nothing here applies.

// Recounted implements [world.Sessions].
func (k *Kind) Recounted(state world.State, f history.Recount) world.State {
	s := state.(EnsembleState)
	s.contents = k.Executor.contents.Recounted(s.contents, f)
	return s
}

// recounted is contents with other numbers.
func (from contents) recounted(f history.Recount) contents {
	s := codec.Replace(from, f.Text)
	s.state.zxid = f(history.Creations, s.state.zxid, true)
	for i := range s.state.nodes {
		n := &s.state.nodes[i]
		n.czxid = f(history.Creations, n.czxid, false)
		n.mzxid, n.pzxid = f(history.Changes, n.mzxid, false), f(history.Changes, n.pzxid, false)
		if n.creates > 0 {
			n.creates = int32(f(history.Places, int64(n.creates-1), true)) + 1
		}
	}
	slices.SortFunc(s.state.nodes, znode.compare)
	slices.SortFunc(s.state.watches, watch.compare)
	return s
}

// recounted is an answer with other numbers.
func (from storedAnswer) recounted(f history.Recount) storedAnswer {
	a := codec.Replace(from, f.Text)
	a.left = a.left.recounted(f)
	if czxid := &a.reply.Stat.Czxid; *czxid != 0 {
		*czxid = f(history.Creations, *czxid, false)
		a.text = replyText(Request{Op: Exists}, a.reply)
	}
	return a.sorted()
}

// recounted is a memory with other numbers.
func (from memory) recounted(f history.Recount) memory {
	m := codec.Replace(from, f.Text)
	for i := range m.left {
		m.left[i] = m.left[i].recounted(f)
	}
	return m
}

func (s stamp) recounted(f history.Recount) stamp {
	return stamp{f(history.Creations, s.created, false), f(history.Changes, s.changed, false)}
}
