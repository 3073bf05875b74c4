package search

import (
	"cmp"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/node"
	"locklab/simulator/verdict"
)

// A Grid compares the lengths that a search of every timing has met with its step.
type Grid struct {
	Rounded  []simulator.FaultBudget // bounds of faults that count for less, a whole number of steps
	OffLease time.Duration           // the lease, if it is no whole number of steps; 0: it is
	Off      [][]node.Length         // those that are no whole number of steps, by kind, the shortest first
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
		of := node.LengthOf(i)
		if of >= node.Remainders {
			continue
		}
		if of != node.Inside || s.Bounds.Work > 0 { // otherwise it is made of steps
			for _, one := range list {
				whole = divisor(whole, one.D)
			}
		}
		list = slices.DeleteFunc(list, func(one node.Length) bool { return one.D%step == 0 })
		g.Off = append(g.Off, list)
	}
	g.Finer = wholeStep(whole, step)
	return g
}

// byKind returns lengths by what they are of.
func byKind(list []node.Length) [node.Insight + 1][]node.Length {
	var kinds [node.Insight + 1][]node.Length
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

// finest is the factor by which a named step may be finer than the search's: finer ones have far too many states.
const finest = 10

// wholeStep returns the longest step up to a given one, in whole milliseconds, that divides d; 0: it would be too fine.
func wholeStep(d, most time.Duration) time.Duration {
	for n := max((d+most-1)/most, 1); d/n*finest >= most && d/n >= time.Millisecond; n++ {
		if d%n == 0 && d/n%time.Millisecond == 0 {
			return d / n
		}
	}
	return 0
}

// A ViewRow is the views of a proof, on one server, that agree in where their client is and in whose the key is.
type ViewRow struct {
	Stage, Owner string // of an explore.Summary
	Views        int
	// Least and Most are what is left of the key's time to live; simulator.Never: it has none.
	Least, Most time.Duration
}

var (
	viewStages = []string{"idle", "acquiring", "inside", "leaving", "releasing", "gone"}
	viewOwners = []string{"free", "self", "other", "nobody", "unmade"}
)

// ViewRows sorts the views of a closed proof into rows, by the client and then the key. nil: there are several servers.
func ViewRows(p *Proof) (rows []ViewRow) {
	if p.Search.Bounds.Nodes != 1 {
		return nil
	}
	for _, v := range p.Summaries {
		at := slices.IndexFunc(rows, func(r ViewRow) bool { return r.Stage == v.Stage && r.Owner == v.Owner })
		if at < 0 {
			rows = append(rows, ViewRow{v.Stage, v.Owner, 1, v.Left, v.Left})
			continue
		}
		r := &rows[at]
		r.Views, r.Least, r.Most = r.Views+1, min(r.Least, v.Left), max(r.Most, v.Left)
	}
	slices.SortFunc(rows, func(a, b ViewRow) int {
		stages := slices.Index(viewStages, a.Stage) - slices.Index(viewStages, b.Stage)
		return cmp.Or(stages, slices.Index(viewOwners, a.Owner)-slices.Index(viewOwners, b.Owner))
	})
	return rows
}

// Violation returns the views of the first world that came to a verdict, and the move; "": it is not known.
func (p *Proof) Violation(word verdict.Word) (views []explore.Summary, move string) {
	for _, v := range p.Violations {
		if v.Verdict == word {
			return v.Views, v.Move
		}
	}
	return nil, ""
}

// A Lemma is a sentence about all views of a proof, by the key of its text. Of is the number of views that it is
// about, and Against that of those of which it is not true.
type Lemma struct {
	Key         string
	Of, Against int
}

// Lemmas returns what the views of a proof say of all clients: computed from the rows, whatever the lock is.
func Lemmas(rows []ViewRow) []Lemma {
	count := func(key string, about, true func(r *ViewRow) bool) Lemma {
		l := Lemma{Key: key}
		for i := range rows {
			if r := &rows[i]; about(r) {
				l.Of += r.Views
				if !true(r) {
					l.Against += r.Views
				}
			}
		}
		return l
	}
	stage := func(s string) func(*ViewRow) bool { return func(r *ViewRow) bool { return r.Stage == s } }
	own := func(r *ViewRow) bool { return r.Owner == "self" }
	return []Lemma{
		count("inside", stage("inside"), own),
		count("kept", func(r *ViewRow) bool { return r.Stage == "idle" && r.Owner != "free" },
			func(r *ViewRow) bool { return !own(r) }),
		count("ends", func(r *ViewRow) bool { return r.Owner == "nobody" },
			func(r *ViewRow) bool { return r.Most != simulator.Never }),
	}
}
