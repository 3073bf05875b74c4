package redisnode

import (
	"slices"
	"time"

	"locklab/simulator/node"
)

// A search that treats clients as interchangeable needs servers that do not depend on
// their names: if the clients in the data and in a request are renamed, the new data and
// the answer are the same, renamed. A script that compares, sorts, cuts or hashes tokens,
// or contains one, can break this; so can a command that orders by name what is equal
// otherwise (ZRANK, ZRANGE).
//
// So every effect is checked when it is used for the first time, by its results and not
// by its commands. The orbit of an effect is the set of all renamed forms of its data and
// batch, each with its own effect. For every element of the orbit and every swap of two
// neighbouring clients, the effect on the renamed element must be the renamed effect.
// Every permutation is a sequence of such swaps and the orbit contains every element on
// the way, so the same holds for every permutation. It would not suffice to check the
// swaps of one element: a script that knows one order of three tokens depends on names,
// but no single swap of another order need show it.
//
// The check executes at most what a search without symmetry executes.

// Alike has every effect checked from now on: that so many clients, from the first, are
// interchangeable. Where they are not, the step ends with a *node.AsymmetricError. Below
// 2 nothing is checked.
func (k *Kind) Alike(clients int) { k.alike = uint8(clients) }

// execution is a batch that is to be executed on data.
type execution struct {
	data  Data
	batch uint32
	eff   *effect
}

// interchange checks the orbit of an effect.
func (k *Kind) interchange(d *Data, now time.Duration, b uint32, eff *effect) error {
	orbit := []execution{{*d, b, eff}}
	eff.alike = k.alike
	err := k.close(&orbit, now)
	if err != nil {
		for _, x := range orbit { // not interchangeable: the next search must find that again
			x.eff.alike = 0
		}
	}
	return err
}

// close adds to the orbit what follows from it by renaming, and checks each pair.
func (k *Kind) close(orbit *[]execution, now time.Duration) error {
	for i := 0; i < len(*orbit); i++ {
		x := (*orbit)[i]
		for c := uint8(1); c < k.alike; c++ {
			swap := node.Swap(c, c+1)
			y, err := k.renamedExecution(x, now, swap)
			if err != nil {
				return err
			}
			if !k.commutes(&x, &y, swap) {
				return &node.AsymmetricError{Command: k.batches[x.batch&^refuseWrites].text}
			}
			if y.eff.alike < k.alike {
				y.eff.alike = k.alike
				*orbit = append(*orbit, y)
			}
		}
	}
	return nil
}

// renamedExecution is x on renamed data, of a renamed batch.
func (k *Kind) renamedExecution(x execution, now time.Duration, to *node.Names) (y execution, err error) {
	y.data = x.data
	k.renameData(&y.data, to)
	if y.batch, err = k.RenameRequest(x.batch&^refuseWrites, to); err != nil {
		return y, err
	}
	y.batch |= x.batch & refuseWrites
	if err := k.room.Exceeded; err != nil {
		return y, err
	}
	y.eff, err = k.look(&y.data, now, y.batch)
	return y, err
}

// commutes says whether the effect of y, which is x renamed, is the renamed effect of x.
// The order in which keys have changed may differ: it is that of their names, and the
// judges look at the lock's key only.
func (k *Kind) commutes(x, y *execution, to *node.Names) bool {
	if k.RenameAnswer(x.eff.reply, to) != y.eff.reply {
		return false
	}
	before, after := &k.keyspaces[x.data.keyspace], &k.keyspaces[x.eff.to]
	renamed, became := after.renamed(to), &k.keyspaces[y.eff.to]
	if renamed.id != became.id {
		return false
	}
	for i := range after.ttls {
		l := x.eff.lives[i]
		if l.keep >= 0 {
			l.keep = int8(k.keyspaces[y.data.keyspace].place(to.Rename(before.expiring(int(l.keep)).name)))
		}
		if y.eff.lives[became.place(to.Rename(after.expiring(i).name))] != l {
			return false
		}
	}
	return len(x.eff.changes) == len(y.eff.changes) && !slices.ContainsFunc(x.eff.changes, func(a change) bool {
		return !slices.ContainsFunc(y.eff.changes, func(b change) bool { return to.Rename(a.key) == b.key })
	})
}
