package redisnode

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	"locklab/simulator/node"
)

// An execution is a batch that is to be executed on data. A search that treats clients as
// interchangeable requires that it does not depend on which client is which: see [memo.Check].
type execution struct {
	data  Data
	now   time.Duration // by the server's clock
	batch uint32
	eff   *Effect
}

// commandOf returns the command of an execution, for an error.
func (x *Executor) commandOf(e execution) []string { return x.batches.At(e.batch &^ refuseWrites).text }

// renamedExecution returns an execution on renamed data, of the renamed batch.
func (x *Executor) renamedExecution(e execution, to *history.Names) (execution, error) {
	x.rename(&e.data, to)
	e.batch = x.batches.Renamed(e.batch&^refuseWrites, to) | e.batch&refuseWrites
	err := x.memo.Room.Exceeded
	if err == nil {
		e.eff, err = x.look(&e.data, e.now, e.batch)
	}
	return e, err
}

// commute reports whether the effect of b, which is a renamed, is the renamed effect of a.
// The order in which keys have changed may differ: it is that of their names, and the
// judges look at the lock's key only.
func (x *Executor) commute(a, b execution, to *history.Names) bool {
	if !x.replies.Same(a.eff.Reply, b.eff.Reply, to) || !x.keyspaces.Same(a.eff.To, b.eff.To, to) {
		return false
	}
	return x.sameLives(a, b, to.Rename) && len(a.eff.Changes) == len(b.eff.Changes) && !slices.ContainsFunc(a.eff.Changes, func(a Change) bool {
		return !slices.ContainsFunc(b.eff.Changes, func(b Change) bool { return to.Rename(a.Key) == b.Key })
	})
}

// sameLives reports whether two executions give keys the same lifetimes, of which the second one has other names.
func (x *Executor) sameLives(a, b execution, name func(string) string) bool {
	before, after, became := x.keys(&a.data), x.keyspaces.At(a.eff.To), x.keyspaces.At(b.eff.To)
	for i, l := range a.eff.Lives {
		if l.Keep >= 0 {
			l.Keep = x.keys(&b.data).place(name(before.expiring(l.Keep).name))
		}
		if b.eff.Lives[became.place(name(after.expiring(i).name))] != l {
			return false
		}
	}
	return true
}

// rename renames the clients in data.
func (x *Executor) rename(d *Data, to *history.Names) {
	from := *x.keys(d)
	x.become(d, codec.Replace(from, to.Rename).sortedWithin(), to.Rename)
}

// move moves the time stamps in data.
func (x *Executor) move(d *Data, by clock.Shift) {
	if to := x.keyspaces.Moved(d.keyspace, by); to != d.keyspace {
		x.become(d, *x.keyspaces.At(to), func(name string) string { return clock.MoveStamps(name, by) })
	}
}

// checkStamps checks that the effect of a batch is the same at other times of day, with stamps that are as much later; and
// where data holds ancient ones, that it is the same with more ancient ones.
func (x *Executor) checkStamps(e execution) error {
	batch, refuses := e.batch&^refuseWrites, e.batch&refuseWrites
	if e.eff.moved {
		return nil
	}
	for _, by := range x.memo.StampShifts(x.batches.Stamps(batch), x.keyspaces.Stamps(e.data.keyspace)) {
		later := e.data
		x.move(&later, by)
		eff, err := x.look(&later, e.now, x.batches.Moved(batch, by)|refuses)
		switch {
		case err != nil:
			return err
		case eff.Reply != x.replies.Moved(e.eff.Reply, by) || eff.To != x.keyspaces.Moved(e.eff.To, by) || !slices.Equal(eff.Lives, e.eff.Lives):
			return &node.StampError{Command: x.commandOf(e)}
		}
	}
	e.eff.moved = true
	return nil
}

// try tries an effect in each way in which it stands for others.
func (x *Executor) try(e execution) (err error) {
	if x.memo.Most > 0 {
		err = x.checkCounters(e)
	}
	if err == nil && x.memo.Attempts {
		err = x.checkAttempts(e)
	}
	if err == nil && x.Drawn != nil {
		err = x.checkDrawn(e)
	}
	return err
}

// checkDrawn checks that the effect of a batch is the same, but for names, with values as code draws them in the place of names: a
// script that takes a value for a number, for example, does something else with a name.
func (x *Executor) checkDrawn(e execution) error {
	valued, err := x.replaced(e, x.Drawn)
	switch {
	case err != nil:
		return err
	case valued == nil:
		return &node.DrawnError{Command: x.commandOf(e)}
	}
	valued.tried = true
	return nil
}

// checkAttempts checks that the effect of a batch is the same, but for names, in later attempts, and where other attempts of the client are
// in the place of other clients.
func (x *Executor) checkAttempts(e execution) error {
	if x.looksAtNames(e) {
		return &node.AsymmetricError{Command: x.commandOf(e)}
	}
	for _, text := range memo.LaterTexts(x.memo, x.batches.At(e.batch&^refuseWrites).commands, *x.keys(&e.data)) {
		if eff, err := x.replaced(e, text); err != nil {
			return err
		} else if eff == nil {
			return &node.AsymmetricError{Command: x.commandOf(e)}
		}
	}
	return nil
}

// replaced returns the effect of a batch on data, both with other texts; nil: it is not the effect with those.
func (x *Executor) replaced(e execution, text func(string) string) (*Effect, error) {
	to, batch := e.data, x.batches.Replaced(e.batch&^refuseWrites, text)
	x.become(&to, x.keys(&e.data).replaced(text), text)
	if to.keyspace == e.data.keyspace && batch == e.batch&^refuseWrites {
		return e.eff, nil
	}
	eff, err := x.look(&to, e.now, batch|e.batch&refuseWrites)
	if err != nil {
		return nil, err
	}
	same := x.replies.Replaced(e.eff.Reply, text) == eff.Reply && x.keyspaces.Replaced(e.eff.To, text) == eff.To
	if !same || !x.sameLives(e, execution{data: to, eff: eff}, text) {
		return nil, x.memo.Room.Exceeded
	}
	return eff, x.memo.Room.Exceeded
}

// become gives data another keyspace, in which the keys have other names.
func (x *Executor) become(d *Data, to keyspace, name func(string) string) {
	from, was := *x.keys(d), *d
	for i := range from.ttls {
		place := to.place(name(from.expiring(i).name))
		d.deadline[place], d.with[place] = was.deadline[i], was.with[i]
	}
	d.keyspace = x.keyspaces.ID(to)
	x.regroup(d)
}
