package study

import (
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/explore"
)

// A Grid compares the lengths that a search of every timing has met with its step.
type Grid struct {
	Rounded  []simulator.FaultBudget // bounds of faults that count for less, a whole number of steps
	OffLease time.Duration           // the lease, if it is no whole number of steps; 0: it is
	Off      [][]simulator.Length    // those that are no whole number of steps, by kind, the shortest first
	Finer    time.Duration           // a step of which all lengths are multiples; 0: it would be too fine
}

// Grid compares what the search has met with the step of b, by which it was made.
func (s *Search) Grid(b *explore.Model) (g Grid) {
	step := b.Timing.Step
	if b.TTL%step != 0 {
		g.OffLease = b.TTL
	}
	whole := b.TTL
	for _, f := range b.Faults {
		if f.Times > 0 && f.Max > 0 && f.Max <= longest {
			whole = divisor(whole, f.Max)
		}
		if f.Times > 0 && f.Max%step != 0 && !(jumps(f) && f.Max < step) {
			g.Rounded = append(g.Rounded, f)
		}
	}
	for i, list := range byKind(s.Result.Lengths) {
		of := simulator.LengthOf(i)
		if of >= simulator.Remainders {
			continue
		}
		if of != simulator.Inside || s.Bounds.Work > 0 { // otherwise it is made of steps
			for _, one := range list {
				whole = divisor(whole, one.D)
			}
		}
		list = slices.DeleteFunc(list, func(one simulator.Length) bool { return one.D%step == 0 })
		g.Off = append(g.Off, list)
	}
	g.Finer = wholeStep(whole, step)
	return g
}

// byKind returns lengths by what they are of.
func byKind(list []simulator.Length) [simulator.Insight + 1][]simulator.Length {
	var kinds [simulator.Insight + 1][]simulator.Length
	for _, one := range list {
		kinds[one.Of] = append(kinds[one.Of], one)
	}
	return kinds
}

// divisor returns the greatest common divisor of two lengths.
func divisor(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// finest is the factor by which a step that is named may be finer than that of the search: with
// finer ones a search has far too many states.
const finest = 10

// wholeStep returns the longest step up to a given one, in whole milliseconds, of which d is a
// multiple; 0: it would be too fine.
func wholeStep(d, most time.Duration) time.Duration {
	for n := max((d+most-1)/most, 1); d/n*finest >= most && d/n >= time.Millisecond; n++ {
		if d%n == 0 && d/n%time.Millisecond == 0 {
			return d / n
		}
	}
	return 0
}
