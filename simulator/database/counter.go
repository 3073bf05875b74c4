package database

import (
	"regexp"
	"slices"
	"strconv"

	world "locklab/simulator/node"
)

// A counter is an integer of a row that a statement raises by one. Of a lock whose rows have a version it grows without end. Where
// Memo.Most is above 0 it stands still there, and stands for all that have counted further: the server is to do the same
// with these, but for the number itself. Some of them are tried in every effect, and so is code with their answers; see
// simulator.Assumptions, Counters.

// mostFurther is the most by which a counter counts further when an effect is tried. The text prove.assumed.counters has the numbers.
const mostFurther = 1 << 50

// stand has the counters of to stand still that were at most in from and have counted by one.
func stand(from *State, to State, most int64) (_ State, stood bool) {
	stands := func(was, is []Value) []Value {
		for i := range is {
			counts := is[i].Type == Integer && is[i].Int == most+1 && i < len(was) && was[i] == IntegerValue(most)
			if counts {
				is, stood = slices.Clone(is), true
				is[i].Int = most
			}
		}
		return is
	}
	to = to.clone()
	for ti, t := range to.tables {
		for ri := range t.rows {
			r := &t.rows[ri]
			if at, ok := from.tables[ti].at(r.key); ok {
				was := &from.tables[ti].rows[at]
				r.old, r.new = stands(was.old, r.old), stands(was.old, r.new)
			}
		}
	}
	return to, stood
}

// counted is s with other numbers in the place of counters at one of them.
func counted(s State, at, is int64) (_ State, any bool) {
	change := func(version []Value) []Value {
		version = slices.Clone(version)
		for i := range version {
			if version[i] == IntegerValue(at) {
				version[i].Int, any = is, true
			}
		}
		return version
	}
	s = s.clone()
	for _, t := range s.tables {
		for i := range t.rows {
			t.rows[i].old, t.rows[i].new = change(t.rows[i].old), change(t.rows[i].new)
		}
	}
	return s, any
}

// checkCounters checks that an effect is the same, but for its number, where a counter has counted further.
func (x *Executor) checkCounters(a step, eff *effect) error {
	from, to := x.contents.At(a.contents), *x.contents.At(eff.to)
	most := int64(x.memo.Most)
	for _, n := range x.memo.Further(10, mostFurther) {
		by := int64(n)
		further, before := a, *from
		state, any := counted(from.state, most, most+by)
		if !any {
			return nil
		}
		before.state = state
		further.contents = x.contents.ID(before)
		is := x.runAt(further, most+by)
		then := to
		then.state, _ = counted(to.state, most, most+by)
		same := is.waits == eff.waits && slices.Equal(is.leases, eff.leases) && is.to == x.contents.ID(then)
		if !same || !countsFurther(x.answers.At(eff.answer).words()[0], x.answers.At(is.answer).words()[0], by) {
			return &world.CountError{Command: x.stepText(a)}
		}
		if is.answer != eff.answer {
			x.memo.Counted.ID([2]uint32{eff.answer, is.answer})
		}
	}
	return nil
}

var digits = regexp.MustCompile("[0-9]+")

// countsFurther reports whether texts differ in numbers only, each of which is equal or higher by so much.
func countsFurther(a, b string, by int64) bool {
	if digits.ReplaceAllString(a, "0") != digits.ReplaceAllString(b, "0") {
		return false
	}
	y := digits.FindAllString(b, -1)
	for i, m := range digits.FindAllString(a, -1) {
		if n, err := strconv.ParseInt(m, 10, 64); m != y[i] && (err != nil || strconv.FormatInt(n+by, 10) != y[i]) {
			return false
		}
	}
	return true
}
