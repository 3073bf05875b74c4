package redisnode

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/translate"
)

// An execution is a batch to be executed on data. Its effect must commute with translations: see [memo.Effects].
type execution struct {
	data  Data
	now   time.Duration // by the server's clock
	batch uint32
	eff   *Effect
}

// command is the number of the batch without whether the server refuses writes.
func (e *execution) command() uint32 { return e.batch &^ refuseWrites }

// commandOf returns the command of an execution, for an error.
func (x *Executor) commandOf(e execution) []string { return x.batches.At(e.command()).text }

// executions are the checks of executions.
func (x *Executor) executions() memo.Effects[execution] {
	return memo.Effects[execution]{
		Checked: func(e execution) *memo.Checked { return &e.eff.checked },
		Map:     x.mapped, Commutes: x.commute, Text: x.commandOf, Try: x.try,
		Named: func(e execution) (asked, kept history.ClientSet) {
			return x.batches.Named(e.command()), x.keyspaces.Named(e.data.keyspace)
		},
		Stamps: func(e execution) (asked, kept clock.Stamps) {
			return x.batches.Stamps(e.command()), x.keyspaces.Stamps(e.data.keyspace)
		},
	}
}

// mapped is an execution in a translation.
func (x *Executor) mapped(e execution, t *translate.Translation) (execution, error) {
	to := e
	x.translate(&to.data, t)
	to.batch = x.batches.Map(e.command(), t) | e.batch&refuseWrites
	err := x.memo.Room.Exceeded
	if err == nil && to != e {
		to.eff, err = x.look(&to.data, e.now, to.batch)
	}
	return to, err
}

// commute reports whether the effect of b, which is a in a translation, is the effect of a in it. The order in which
// keys have changed may differ: it is that of their names, and the judges look at the lock's key only.
func (x *Executor) commute(a, b execution, t *translate.Translation) bool {
	if a == b && t.Names == nil {
		return true
	}
	same := x.replies.Same(a.eff.Reply, b.eff.Reply, t) &&
		x.keyspaces.Same(a.eff.To, b.eff.To, t) && x.sameLives(a, b, t)
	if !same || t.Names == nil {
		return same
	}
	return len(a.eff.Changes) == len(b.eff.Changes) && !slices.ContainsFunc(a.eff.Changes, func(a Change) bool {
		return !slices.ContainsFunc(b.eff.Changes, func(b Change) bool { return t.Text(a.Key) == b.Key })
	})
}

// sameLives reports whether two executions give keys the same lifetimes, which have other names in the second one.
func (x *Executor) sameLives(a, b execution, t *translate.Translation) bool {
	before, after, became := x.keys(&a.data), x.keyspaces.At(a.eff.To), x.keyspaces.At(b.eff.To)
	for i, l := range a.eff.Lives {
		if l.Keep >= 0 {
			l.Keep = x.keys(&b.data).place(t.Text(before.expiring(l.Keep).name))
		}
		if b.eff.Lives[became.place(t.Text(after.expiring(i).name))] != l {
			return false
		}
	}
	return true
}

// translate translates data: the keys keep their lives.
func (x *Executor) translate(d *Data, t *translate.Translation) {
	from, was := *x.keys(d), *d
	if d.keyspace = x.keyspaces.Map(d.keyspace, t); d.keyspace == was.keyspace && t.Moves() {
		return
	}
	for i := range from.ttls {
		place := x.keys(d).place(t.Text(from.expiring(i).name))
		d.deadline[place], d.with[place] = was.deadline[i], was.with[i]
	}
	x.regroup(d)
}

// try tries an effect in the ways in which only those of Redis stand for others.
func (x *Executor) try(e execution) error {
	sees, names := x.looksAt(e)
	looks := names || sees.into&contents != 0 && x.keyspaces.Named(e.data.keyspace) != 0
	if looks {
		x.asked.ID(node.Length{Of: node.Insight, Request: x.commandOf(e)})
	}
	if x.memo.Most > 0 {
		if err := x.checkCounters(e, sees); err != nil {
			return err
		}
	}
	if looks && x.memo.Attempts {
		return &hypothesis.Refuted{Of: hypothesis.Peers, Command: x.commandOf(e)}
	}
	return nil
}

// A counter is a string that a command raises by one. Of a lock that draws fencing tokens it grows without end. Where
// Memo.Most is above 0 it stops there, and stands for all that have counted further: servers are to do the same with
// these, but for the number. Some are tried in every effect, and so is code with their answers; see hypothesis.Counted.

// mostFurther is the most by which a counter counts further when an effect is tried, and triedFurther
// are so many numbers each time. The text prove.assumed.counters has them.
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
	s.keys = slices.Clone(s.keys)
	s.find(key).parts = []string{strconv.Itoa(value)}
	return s
}

// stand has the counters of to stand still that were at memo.Most in from, or further if that is tried,
// and have counted by one; stood are their names.
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

// checkCounters checks that the effect of a batch, which looks into what sees has, is the same, but for
// its number, where a counter has counted further: each of those that stand still, and all of them.
func (x *Executor) checkCounters(e execution, sees insight) error {
	var sets [][]string
	var all []string
	for _, k := range x.keys(&e.data).keys {
		if k.counter() == x.memo.Most {
			sets, all = append(sets, []string{k.name}), append(all, k.name)
		}
	}
	if len(all) > 1 {
		sets = append(sets, all)
	}
	refuted := &hypothesis.Refuted{Of: hypothesis.Counted, Command: x.commandOf(e)}
	if len(all) > 0 && sees.into&counts != 0 {
		return refuted
	}
	for _, names := range sets {
		for _, by := range append(numerals(sees, x.memo.Most), x.memo.Further(triedFurther, mostFurther)...) {
			if same, err := x.sameFurther(e, far{names, by}); err != nil {
				return err
			} else if !same {
				return refuted
			}
		}
	}
	return x.memo.Room.Exceeded
}

// sameFurther reports whether an effect is the same, but for its number, where counters have counted further.
func (x *Executor) sameFurther(e execution, f far) (same bool, err error) {
	further, before, to := e.data, *x.keys(&e.data), *x.keyspaces.At(e.eff.To)
	for _, name := range f.names {
		if before = before.with(name, x.memo.Most+f.by); to.find(name).counter() == x.memo.Most {
			to = to.with(name, x.memo.Most+f.by)
		}
	}
	further.keyspace = x.keyspaces.ID(before)
	x.far = f
	// It is not to be remembered: such a number that was set does not stand still.
	eff, err := x.run(&further, e.now, e.batch, e.eff.needs)
	x.far = far{}
	if err != nil {
		return false, err
	}
	same = eff.needs == e.eff.needs && slices.Equal(eff.stood, e.eff.stood) && slices.Equal(eff.Lives, e.eff.Lives)
	was, is := x.replies.At(e.eff.Reply).text, x.replies.At(eff.Reply).text
	if !same || eff.To != x.keyspaces.ID(to) || !memo.CountsFurther(was, is, f.by) {
		return false, nil
	}
	if eff.Reply != e.eff.Reply {
		x.memo.Counted.ID([2]uint32{e.eff.Reply, eff.Reply})
	}
	return true, nil
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

var _ node.Connected = (*Kind)(nil)

// The connections that watch keys, and what replicas lack of them, matter to their clients only. Those that
// have subscribed do not: PUBLISH answers how many there are.

// ConnectionsOf implements [node.Connected].
func (k *Kind) ConnectionsOf(state node.State, c int8) node.State {
	s := state.(State)
	own := slices.DeleteFunc(k.connections(&s), func(conn connection) bool {
		return len(conn.channels) > 0 || !strings.HasPrefix(conn.name, connectionPrefix(c))
	})
	of := State{data: Data{keyspace: k.Executor.keyspaces.ID(keyspace{conns: own})}}
	for i, lacking := range s.lacks {
		of.lacks[i] = lacking & history.Only(uint8(c))
	}
	return of
}

// WithoutConnections implements [node.Connected].
func (k *Kind) WithoutConnections(state node.State) node.State {
	s := state.(State)
	s.lacks = [MaxReplicas]history.ClientSet{}
	subscribed := slices.DeleteFunc(k.connections(&s), func(c connection) bool { return len(c.channels) == 0 })
	return k.withConnections(s, subscribed)
}

// WithConnections implements [node.Connected].
func (k *Kind) WithConnections(state, other node.State) node.State {
	s, more := state.(State), other.(State)
	for i, lacking := range more.lacks {
		s.lacks[i] |= lacking
	}
	return k.withConnections(s, slices.Concat(k.connections(&s), k.connections(&more)))
}

// connections are a copy of those of which a server keeps something; nil: none.
func (k *Kind) connections(s *State) []connection {
	return slices.Concat(k.Executor.keys(&s.data).conns)
}

// withConnections is a server with other connections.
func (k *Kind) withConnections(s State, conns []connection) State {
	to := *k.Executor.keys(&s.data)
	to.conns = conns
	s.data.keyspace = k.Executor.keyspaces.ID(to.sorted())
	return s
}
