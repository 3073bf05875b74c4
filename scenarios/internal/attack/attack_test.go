package attack

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/algorithms/redis"
	"locklab/simulator/effort"
)

var (
	seedFlag = flag.Uint64("seed", 1, "which mutants are made, and what happens in their runs")
	onlyFlag = flag.String("only", "", "only mutants whose source contains this")
	madeFlag = flag.Int("made", 60, "so many mutants")
)

// A tally is the score of one kind of mutant.
type tally struct {
	made, met, unanswered, proved, conditional, differences int
	took                                                    time.Duration
}

// TestAttack: what a mutant comes to in runs within the limits of a question is nothing that the lab says cannot
// happen.
func TestAttack(t *testing.T) {
	effort.OnlyExhaustive(t, "the order of goroutines at one instant is drawn anew in each run")
	const runs = 150
	t.Log("locks on a ZooKeeper and in a database are left out: the bed has none")
	b, r := newBed(t, 6), rand.New(rand.NewPCG(*seedFlag, 0))
	score := map[string]*tally{}
	var all []*mutant
	questions := map[string][]question{}
	for _, e := range redis.All() {
		all = append(all, mutantsOf(t, b, e)...)
		questions[e.ID] = questionsOf(e)
	}
	t.Logf("%d mutants in all", len(all))
	for range *madeFlag {
		m := all[r.IntN(len(all))]
		q := questions[m.ID][r.IntN(len(questions[m.ID]))]
		if !strings.Contains(m.String(), *onlyFlag) {
			continue
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
	t.Logf("%-18s %6s %6s %10s %7s %11s %11s %8s",
		"kind", "made", "met", "unanswered", "proved", "conditional", "differences", "seconds")
	for _, kind := range slices.Sorted(maps.Keys(score)) {
		s := score[kind]
		t.Logf("%-18s %6d %6d %10d %7d %11d %11d %8.1f",
			kind, s.made, s.met, s.unanswered, s.proved, s.conditional, s.differences, s.took.Seconds())
	}
}

// patience is the longest time that the lab may take for an answer.
const patience = 30 * time.Second

// attack has a mutant run within the limits of a question, and asks the lab where that comes to anything.
func attack(t *testing.T, b *bed, m *mutant, q question, runs int, s *tally) {
	found := b.find(t, m.Entry, q, runs)
	if len(found) == 0 {
		return
	}
	s.met++
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a, err := q.asks(ctx, m.Entry)
	if err != nil || ctx.Err() != nil {
		s.unanswered++
		t.Logf("unanswered: %v\n%s: %v", m, q.name, err)
		return
	}
	if len(a.proved) > 0 {
		s.proved++
	}
	for _, word := range a.proved {
		at, met := found[word]
		switch {
		case !met || a.once && at.attempts > 1:
		case slices.ContainsFunc(m.breaks(), func(w string) bool { return slices.Contains(a.ifs, w) }):
			s.conditional++
		default:
			s.differences++
			t.Errorf("%v\n%s: %s in run %d of %dx%d, and the lab says that it cannot happen, if %v",
				m, q.name, word, at.seed, at.clients, at.attempts, a.ifs)
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
