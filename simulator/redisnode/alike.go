package redisnode

import (
	"slices"
	"time"

	"locklab/simulator/node"
)

// Whoever takes clients for interchangeable assumes that a server does not care who is
// who: if the clients in its data and in a request are renamed, it does the same, with
// the new names in what becomes of its data and in the answer. A script that compares or
// sorts tokens, cuts or hashes them, or knows one of them by heart does not; nor does a
// command that orders by name what else is equal (ZRANK, ZRANGE).
//
// So every effect is checked when it is looked up first: not by what the command is, but
// by what it does. With the effect on data d of batch b come those on all renamed pairs
// of d and b (its orbit), and of each it is asked whether executing what swap renames is
// renaming what was executed, for every swap of two neighbours in number. Every
// permutation is a sequence of such swaps, and the orbit is closed under them, so that
// then holds for every permutation. To look at the swaps of d and b alone would not do:
// a script that treats one order of three tokens in a special way may be found out by
// none of them.
//
// This costs no more than to execute what clients that are told apart would send.

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
		for _, x := range orbit { // to be found again by whoever asks again
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

// renamedExecution is x with the clients renamed before.
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

// commutes says whether y, which is x renamed before, has become x renamed afterwards.
// In which order keys have changed is left open: it is that of their names, and only the
// lock's own key means anything to a judge.
func (k *Kind) commutes(x, y *execution, to *node.Names) bool {
	if to.Rename(k.replies[x.eff.reply].resp) != k.replies[y.eff.reply].resp {
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
