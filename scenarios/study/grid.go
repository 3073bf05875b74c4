package study

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/explore"
)

// offSteps says which lengths are no whole number of steps, or that none is. rounded: a
// bound of a fault is none and has been named.
func (s *Search) offSteps(b *explore.Bounds, rounded bool, say sentences) (lines []string) {
	step := b.Timing.Step
	var off []string
	whole := b.TTL
	if b.TTL%step != 0 {
		off = append(off, say("off.lease", "d", b.TTL.String()))
	}
	for _, f := range b.Faults {
		if f.Times > 0 && f.Max > 0 && f.Max <= longest {
			whole = divisor(whole, f.Max)
		}
	}
	compares := s.comparesTimes()
	for i, list := range byKind(s.Result.Lengths) {
		of := simulator.LengthOf(i)
		if of == simulator.Remainders {
			continue
		}
		if of != simulator.Inside || s.Bounds.Work > 0 { // otherwise it is made of steps
			for _, one := range list {
				whole = divisor(whole, one.D)
			}
		}
		list = slices.DeleteFunc(list, func(one simulator.Length) bool { return one.D%step == 0 })
		off = append(off, sayLengths(list, say)...)
	}
	switch finer := wholeStep(whole, step); {
	case len(off) == 0 && (!s.Result.Complete || compares || rounded):
	case len(off) == 0:
		lines = append(lines, say("on"))
	case finer == 0:
		lines = append(lines, say("off", "constants", strings.Join(off, ", "), "finer", say("off.none")))
	default:
		lines = append(lines, say("off", "constants", strings.Join(off, ", "), "finer", say("off.finer", "step", finer.String())))
	}
	if compares {
		lines = append(lines, say("compared"))
	}
	return lines
}

// byKind are lengths by what they are of.
func byKind(list []simulator.Length) [simulator.Remainders + 1][]simulator.Length {
	var kinds [simulator.Remainders + 1][]simulator.Length
	for _, one := range list {
		kinds[one.Of] = append(kinds[one.Of], one)
	}
	return kinds
}

// maxNamed is how many lengths of one kind are named one by one. More of them were drawn or
// computed.
const maxNamed = 3

var lengthNames = [...]string{
	simulator.KeyLife: "key", simulator.Session: "session", simulator.Timer: "timer", simulator.Patience: "patience",
	simulator.WaitLimit: "wait", simulator.Inside: "inside",
}

// sayLengths names lengths of one kind, the shortest first.
func sayLengths(list []simulator.Length, say sentences) (named []string) {
	if len(list) > maxNamed {
		last := list[len(list)-1]
		return []string{say("off."+lengthNames[last.Of]+".many", "n", strconv.Itoa(len(list)), "d", list[0].D.String(), "last", last.D.String())}
	}
	for _, one := range list {
		named = append(named, say("off."+lengthNames[one.Of], "d", one.D.String(), "request", quoted(strings.Join(one.Request, " "))))
	}
	return named
}

// divisor is the greatest common divisor of two lengths.
func divisor(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// finest is how many times as fine as the step of a search a step may be that is named: with
// finer ones a search has far too many states.
const finest = 10

// wholeStep is the longest step up to a given one, in whole milliseconds, of which d is a
// multiple; 0: it would be too fine.
func wholeStep(d, most time.Duration) time.Duration {
	for n := max((d+most-1)/most, 1); d/n*finest >= most && d/n >= time.Millisecond; n++ {
		if d%n == 0 && d/n%time.Millisecond == 0 {
			return d / n
		}
	}
	return 0
}
