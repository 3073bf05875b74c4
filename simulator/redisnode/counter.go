package redisnode

import (
	"regexp"
	"slices"
	"strconv"

	"locklab/simulator/node"
)

// A counter is a string that a command raises by one. Of a lock that draws fencing tokens it grows without end. Where Memo.Most is above
// 0 it stands still there, and stands for all that have counted further: servers are to do the same with these, but for the number
// itself, which is tried with two of them in every effect, and so is code, see simulator.Assumptions.Counters.

// countedFurther are how much further a counter has counted with which an effect is tried.
var countedFurther = [...]int{1, 1000}

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

// stand has the counters of to stand still that were at memo.Most in from, or as much further as is tried, and have counted by one.
func (x *Executor) stand(from *keyspace, to keyspace) (stood keyspace, stands bool) {
	for i := range to.keys {
		name := to.keys[i].name
		if was := from.find(name).counter(); x.memo.Most > 0 && was == x.memo.Most+x.further && to.keys[i].counter() == was+1 {
			to, stands, x.memo.Counts = to.with(name, was), true, true
		}
	}
	return to, stands
}

// checkCounters checks that the effect of a batch is the same, but for its number, where a counter has counted further.
func (x *Executor) checkCounters(e execution) error {
	if e.eff.counted {
		return nil
	}
	e.eff.counted = true
	from := *x.keys(&e.data)
	for i := range from.keys {
		if from.keys[i].counter() != x.memo.Most {
			continue
		}
		name := from.keys[i].name
		for _, by := range countedFurther {
			further, to := e.data, *x.keyspaces.At(e.eff.To)
			further.keyspace = x.keyspaces.ID(from.with(name, x.memo.Most+by))
			if to.find(name).counter() == x.memo.Most {
				to = to.with(name, x.memo.Most+by)
			}
			x.further = by
			eff, err := x.run(&further, e.now, e.batch, e.eff.needs) // not to be remembered: such a number that was set does not stand still
			x.further = 0
			if err != nil {
				return err
			}
			if eff.needs != e.eff.needs || eff.To != x.keyspaces.ID(to) || !slices.Equal(eff.Lives, e.eff.Lives) || !countsFurther(x.replies.At(e.eff.Reply).text, x.replies.At(eff.Reply).text, by) {
				return &node.CountError{Command: x.commandOf(e)}
			}
			if eff.Reply != e.eff.Reply {
				x.memo.Counted.ID([2]uint32{e.eff.Reply, eff.Reply})
			}
		}
	}
	return x.memo.Room.Exceeded
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
