package redisnode

import (
	"slices"
	"time"

	"locklab/simulator/node"
)

// execution is a batch that is to be executed on data. A search that treats clients as
// interchangeable needs that it does not depend on which is which: see [memo.Check].
type execution struct {
	data  Data
	now   time.Duration // by the server's clock
	batch uint32
	eff   *effect
}

// executed is what x executes.
func (k *Kind) executed(x execution) []string { return k.batches.At(x.batch &^ refuseWrites).text }

// renamedExecution is x on renamed data, of a renamed batch.
func (k *Kind) renamedExecution(x execution, to *node.Names) (y execution, err error) {
	y.data, y.now = x.data, x.now
	k.renameData(&y.data, to)
	if y.batch, err = k.batches.Renamed(x.batch&^refuseWrites, to); err != nil {
		return y, err
	}
	y.batch |= x.batch & refuseWrites
	if err := k.memo.Room.Exceeded; err != nil {
		return y, err
	}
	y.eff, err = k.look(&y.data, y.now, y.batch)
	return y, err
}

// commute reports whether the effect of y, which is x renamed, is the renamed effect of x.
// The order in which keys have changed may differ: it is that of their names, and the
// judges look at the lock's key only.
func (k *Kind) commute(x, y execution, to *node.Names) bool {
	if !k.replies.Same(x.eff.reply, y.eff.reply, to) || !k.keyspaces.Same(x.eff.to, y.eff.to, to) {
		return false
	}
	before, after, became := k.keyspaces.At(x.data.keyspace), k.keyspaces.At(x.eff.to), k.keyspaces.At(y.eff.to)
	for i := range after.ttls {
		l := x.eff.lives[i]
		if l.keep >= 0 {
			l.keep = int8(k.keyspaces.At(y.data.keyspace).place(to.Rename(before.expiring(int(l.keep)).name)))
		}
		if y.eff.lives[became.place(to.Rename(after.expiring(i).name))] != l {
			return false
		}
	}
	return len(x.eff.changes) == len(y.eff.changes) && !slices.ContainsFunc(x.eff.changes, func(a change) bool {
		return !slices.ContainsFunc(y.eff.changes, func(b change) bool { return to.Rename(a.key) == b.key })
	})
}
