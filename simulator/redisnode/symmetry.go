package redisnode

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	if looksAtNames(x, e) {
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

// A counter is a string that a command raises by one. Of a lock that draws fencing tokens it grows without end. Where Memo.Most is above
// 0 it stands still there, and stands for all that have counted further: servers are to do the same with these, but for the number
// itself. Some of them are tried in every effect, and so is code with their answers; see simulator.Assumptions, Counters.

// mostFurther is the most by which a counter counts further when an effect is tried, and triedFurther are so many numbers each time. The text
// prove.assumed.counters has them.
const mostFurther, triedFurther = 1 << 50, 10

// far are counters that have counted further by so much.
type far struct {
	names []string
	by    int
}

// counter is the number that a string is; below 0: it is none.
func (k *keyValue) counter() int {
	if k == nil || k.kind != "string" {
		return -1
	}
	n, err := strconv.Atoi(k.parts[0])
	if err != nil || strconv.Itoa(n) != k.parts[0] {
		return -1
	}
	return n
}

// with is s with another value of a string.
func (s keyspace) with(key string, value int) keyspace {
	s.keys, s.ttls = slices.Clone(s.keys), 0
	s.find(key).parts = []string{strconv.Itoa(value)}
	return s
}

// stand has the counters of to stand still that were at memo.Most in from, or further if that is tried, and have counted by one; stood are
// their names.
func (x *Executor) stand(from *keyspace, to keyspace) (_ keyspace, stood []string) {
	if x.memo.Most == 0 {
		return to, nil
	}
	for i := range to.keys {
		name, most := to.keys[i].name, x.memo.Most
		if slices.Contains(x.far.names, name) {
			most += x.far.by
		}
		if from.find(name).counter() == most && to.keys[i].counter() == most+1 {
			to, stood, x.memo.Counts = to.with(name, most), append(stood, name), true
		}
	}
	return to, stood
}

// checkCounters checks that the effect of a batch is the same, but for its number, where a counter has counted further.
func (x *Executor) checkCounters(e execution) error {
	from, sets, all := *x.keys(&e.data), [][]string{}, []string{}
	for _, k := range from.keys {
		if k.counter() == x.memo.Most {
			sets, all = append(sets, []string{k.name}), append(all, k.name)
		}
	}
	if len(all) > 1 {
		sets = append(sets, all)
	}
	sees, _ := looksAt(x, e)
	if len(all) > 0 && sees.into&counts != 0 {
		return &node.CountError{Command: x.commandOf(e)}
	}
	for _, names := range sets {
		for _, by := range append(numerals(sees, x.memo.Most), x.memo.Further(triedFurther, mostFurther)...) {
			further, before, to := e.data, from, *x.keyspaces.At(e.eff.To)
			for _, name := range names {
				if before = before.with(name, x.memo.Most+by); to.find(name).counter() == x.memo.Most {
					to = to.with(name, x.memo.Most+by)
				}
			}
			further.keyspace = x.keyspaces.ID(before)
			x.far = far{names, by}
			eff, err := x.run(&further, e.now, e.batch, e.eff.needs) // not to be remembered: such a number that was set does not stand still
			x.far = far{}
			if err != nil {
				return err
			}
			same := eff.needs == e.eff.needs && slices.Equal(eff.stood, e.eff.stood) && slices.Equal(eff.Lives, e.eff.Lives)
			if !same || eff.To != x.keyspaces.ID(to) || !countsFurther(x.replies.At(e.eff.Reply).text, x.replies.At(eff.Reply).text, by) {
				return &node.CountError{Command: x.commandOf(e)}
			}
			if eff.Reply != e.eff.Reply {
				x.memo.Counted.ID([2]uint32{e.eff.Reply, eff.Reply})
			}
		}
	}
	return x.memo.Room.Exceeded
}

// numerals are by how much higher than most a counter is at the numerals of scripts, and beside them.
func numerals(sees insight, most int) (list []int) {
	for _, n := range sees.numerals {
		for by := max(n-most-1, 1); by <= n-most+1; by++ {
			list = append(list, by)
		}
	}
	return list
}

var numbers = regexp.MustCompile("[0-9]+")

// countsFurther reports whether texts differ in numbers only, each of which is equal or higher by so much.
func countsFurther(a, b string, by int) bool {
	x, y := numbers.FindAllString(a, -1), numbers.FindAllString(b, -1)
	if numbers.ReplaceAllString(a, "0") != numbers.ReplaceAllString(b, "0") {
		return false
	}
	for i := range x {
		if m, err := strconv.Atoi(x[i]); x[i] != y[i] && (err != nil || strconv.Itoa(m+by) != y[i]) {
			return false
		}
	}
	return true
}

var _ node.Connected = (*Kind)(nil)

// connections divides states into the connections that watch keys and what replicas lack of them, each of which matters to its client
// only, and the rest. Those that have subscribed stay there: PUBLISH answers how many there are.
type connections struct{ x *Executor }

// Connections implements [node.Connected].
func (k *Kind) Connections() node.Connections { return connections{k.Executor} }

// Of implements [node.Connections].
func (cs connections) Of(state node.State, c int8) node.State {
	own := cs.in(state, func(conn connection) bool {
		return len(conn.channels) == 0 && strings.HasPrefix(conn.name, connectionPrefix(c))
	})
	of := State{data: Data{keyspace: cs.x.keyspaces.ID(keyspace{conns: own})}}
	for i, lacking := range state.(State).lacks {
		of.lacks[i] = lacking & history.Only(uint8(c))
	}
	return of
}

// Without implements [node.Connections].
func (cs connections) Without(state node.State) node.State {
	s := state.(State)
	s.lacks = [MaxReplicas]history.ClientSet{}
	return cs.with(s, cs.in(state, func(conn connection) bool { return len(conn.channels) > 0 }))
}

// With implements [node.Connections].
func (cs connections) With(state, other node.State) node.State {
	all := func(connection) bool { return true }
	s := state.(State)
	for i, lacking := range other.(State).lacks {
		s.lacks[i] |= lacking
	}
	return cs.with(s, slices.Concat(cs.in(state, all), cs.in(other, all)))
}

// in are the connections of a state that a function selects; nil: none.
func (cs connections) in(state node.State, selects func(connection) bool) (list []connection) {
	s := state.(State)
	for _, c := range cs.x.keys(&s.data).conns {
		if selects(c) {
			list = append(list, c)
		}
	}
	return list
}

// with is a state with other connections.
func (cs connections) with(state node.State, conns []connection) node.State {
	s := state.(State)
	to := *cs.x.keys(&s.data)
	to.conns, to.ttls = conns, 0
	s.data.keyspace = cs.x.keyspaces.ID(to.sorted())
	return s
}
