package attack

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/simulator/effort"
)

var (
	seedFlag = flag.Uint64("seed", 1, "which mutants are made, and what happens in their runs")
	onlyFlag = flag.String("only", "", "only mutants whose source contains this")
	madeFlag = flag.Int("made", 0, "so many mutants")
)

// known are differences that are known: the source of the mutant, the question and the word, each with the reason.
var known = map[string]string{}

// A tally is the score of one kind of mutant.
type tally struct {
	made, met, unanswered, proved, conditional, differences int
	took                                                    time.Duration
}

// TestAttack: what a mutant comes to in runs within the limits of a question is nothing that the lab says cannot happen.
func TestAttack(t *testing.T) {
	effort.Unwatched(t, "the runner has one lock for all that its goroutines share")
	made, runs, most := 12, 25, 3*time.Second
	switch {
	case effort.Exhaustive():
		made, runs, most = 6000, 150, 40*time.Minute
	case effort.Pushed():
		made, runs, most = 450, 40, time.Minute
	}
	if *madeFlag > 0 {
		made, most = *madeFlag, time.Hour
	}
	t.Log("locks on a ZooKeeper and in a database are left out: the bed has none")
	b, r, began := newBed(t, 6), rand.New(rand.NewPCG(*seedFlag, 0)), time.Now()
	score := map[string]*tally{}
	var all []*mutant
	questions := map[string][]question{}
	for _, e := range algorithms.OnRedis() {
		all = append(all, mutantsOf(t, b, e)...)
		questions[e.ID] = questionsOf(e)
	}
	t.Logf("%d mutants in all, %v", len(all), time.Since(began).Round(time.Millisecond))
	for n := range made {
		m := all[r.IntN(len(all))]
		q := questions[m.ID][r.IntN(len(questions[m.ID]))]
		if !strings.Contains(m.String(), *onlyFlag) {
			continue
		}
		if time.Since(began) > most {
			t.Logf("%d of %d mutants: the time is over", n, made)
			break
		}
		at := time.Now()
		s := score[m.edit.kind]
		if s == nil {
			s = &tally{}
			score[m.edit.kind] = s
		}
		s.made++
		attack(t, b, m, q, runs, s)
		s.took += time.Since(at)
	}
	sum := &tally{}
	t.Logf("%-18s %6s %6s %10s %7s %12s %12s %8s", "kind", "made", "met", "unanswered", "proved", "conditional", "differences", "seconds")
	for _, kind := range slices.Sorted(maps.Keys(score)) {
		s := score[kind]
		t.Log(s.line(kind))
		sum.made, sum.met, sum.unanswered = sum.made+s.made, sum.met+s.met, sum.unanswered+s.unanswered
		sum.proved, sum.took = sum.proved+s.proved, sum.took+s.took
		sum.conditional, sum.differences = sum.conditional+s.conditional, sum.differences+s.differences
	}
	t.Log(sum.line("all"))
}

func (s *tally) line(kind string) string {
	return fmt.Sprintf("%-18s %6d %6d %10d %7d %12d %12d %8.1f", kind, s.made, s.met, s.unanswered, s.proved, s.conditional, s.differences, s.took.Seconds())
}

// patience is how long the lab may take for an answer.
func patience() time.Duration {
	if effort.Exhaustive() {
		return 30 * time.Second
	}
	return 2 * time.Second
}

// attack has a mutant run within the limits of a question, and asks the lab where that comes to anything.
func attack(t *testing.T, b *bed, m *mutant, q question, runs int, s *tally) {
	found := b.find(t, m.Entry, q, runs)
	if len(found) == 0 {
		return
	}
	s.met++
	ctx, cancel := context.WithTimeout(t.Context(), patience())
	defer cancel()
	a, err := q.asks(ctx, m.Entry)
	if ctx.Err() != nil {
		s.unanswered++
		return
	}
	if err != nil {
		t.Logf("%v, %s: %v", m, q.name, err)
		return
	}
	if len(a.proved) > 0 {
		s.proved++
	}
	for _, word := range a.proved {
		at, met := found[word]
		switch why, is := known[m.ID+" "+q.name+" "+word+" "+m.edit.what]; {
		case !met || a.once && at.attempts > 1:
		case slices.ContainsFunc(slices.Concat(m.guard.breaks, m.edit.breaks), func(w string) bool { return slices.Contains(a.ifs, w) }):
			s.conditional++
		case is:
			t.Log("known:", m, why)
		default:
			s.differences++
			t.Errorf("%v\n%s: %s in run %d of %d clients with %d attempts, and the lab says that it cannot happen, if %v", m, q.name, word, at.seed, at.clients, at.attempts, a.ifs)
		}
	}
}

// A sighting is the run that has come to a word.
type sighting struct {
	seed              uint64
	clients, attempts int
}

// find makes runs within the limits of a question; those of any number of clients have up to 20.
func (b *bed) find(t *testing.T, e lock.Entry, q question, runs int) map[string]sighting {
	found := map[string]sighting{}
	for n := range runs {
		l, seed := q.limits, *seedFlag<<32+uint64(n)
		if q.any {
			l.clients, l.attempts = []int{2, 3, 5, 20}[n%4], []int{1, 1, 3, 6}[n/4%4]
		}
		l.anyDate = n%2 > 0
		for word := range b.play(t, e, l, seed) {
			if old, is := found[word]; !is || old.attempts > l.attempts {
				found[word] = sighting{seed, l.clients, l.attempts}
			}
		}
	}
	return found
}
