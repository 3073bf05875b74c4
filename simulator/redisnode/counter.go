package redisnode

import (
	"regexp"
	"slices"
	"strconv"

	"locklab/simulator/node"
)

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
	sees, _ := x.looksAt(e)
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
