package dense

import (
	"cmp"
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
	onlyFlag = flag.String("only", "", "only mutants whose source contains this")
	madeFlag = flag.Int("made", 0, "so many mutants; 0: 60 in a hunt, and 15 on a push")
)

// TestAttack: what a mutant comes to in runs within the limits of an inquiry is nothing that the lab says cannot
// happen.
func TestAttack(t *testing.T) {
	effort.OnlyPushed(t, "it makes thousands of runs")
	t.Log("locks on a ZooKeeper and in a database are left out: the bed has none")
	made, acquisitions, seed := effortOf()
	b, r := newBed(t, 20, 6), rand.New(rand.NewPCG(seed, 0))
	score := map[string]int{} // by kind of mutant, and what comes of it
	var all []*mutant
	inquiries := map[string][]inquiry{}
	for _, e := range redis.All() {
		all = append(all, mutantsOf(t, b, e)...)
		inquiries[e.ID] = inquiriesOf(e)
	}
	t.Logf("%d mutants in all", len(all))
	for range made {
		m := all[r.IntN(len(all))]
		q := inquiries[m.ID][r.IntN(len(inquiries[m.ID]))]
		if !strings.Contains(m.String(), *onlyFlag) {
			continue
		}
		score[m.edit.kind+": made"]++
		attack(t, b, m, q, acquisitions, score)
	}
	for _, kind := range slices.Sorted(maps.Keys(score)) {
		t.Logf("%-32s %6d", kind, score[kind])
	}
}

// effortOf returns the number of mutants, the acquisitions of each, and the seed by which the mutants are chosen.
func effortOf() (made, acquisitions int, seed uint64) {
	if effort.Exhaustive() {
		return cmp.Or(*madeFlag, 60), 10_000, *seedFlag
	}
	return cmp.Or(*madeFlag, 15), 2_000, 3 // a seed of which the lab answers every question within seconds
}

// patience is the longest time that the lab may take for an answer.
const patience = 30 * time.Second

// attack has a mutant run within the limits of an inquiry, and asks the lab where that comes to anything.
func attack(t *testing.T, b *bed, m *mutant, q inquiry, acquisitions int, score map[string]int) {
	found := b.find(m.Entry, q, acquisitions)
	if len(found) == 0 {
		return
	}
	score[m.edit.kind+": met"]++
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	a, err := q.asks(ctx, m.Entry)
	if err != nil || ctx.Err() != nil {
		score[m.edit.kind+": unanswered"]++
		t.Logf("unanswered: %v\n%s: %v", m, q.name, err)
		return
	}
	if len(a.proved) > 0 {
		score[m.edit.kind+": proved"]++
	}
	for _, word := range a.proved {
		at, met := found[word]
		switch {
		case !met || a.once && at.attempts > 1:
		case slices.ContainsFunc(m.breaks(), func(w string) bool { return slices.Contains(a.ifs, w) }):
			score[m.edit.kind+": conditional"]++
		default:
			t.Errorf("%v\n%s: %s in run %d of %dx%d, and the lab says that it cannot happen, if %v",
				m, q.name, word, at.number, at.clients, at.attempts, a.ifs)
		}
	}
}

// A sighting is the run that has come to a word.
type sighting struct{ number, clients, attempts int }

// find makes runs within the limits of an inquiry, with so many acquisitions in all. Those of any number of clients
// have up to 20 of them.
func (b *bed) find(e lock.Entry, q inquiry, acquisitions int) map[string]sighting {
	found := map[string]sighting{}
	for n, made := 0, 0; made < acquisitions; n++ {
		l := q.limits
		l.entry = e
		if q.any {
			l.clients, l.attempts = []int{2, 3, 5, 20}[n%4], []int{1, 1, 3, 6}[n/4%4]
		}
		made += l.clients * l.attempts
		for word := range b.play(&l, *seedFlag, uint64(n), nil).verdicts() {
			if old, is := found[word]; !is || old.attempts > l.attempts {
				found[word] = sighting{n, l.clients, l.attempts}
			}
		}
	}
	return found
}
