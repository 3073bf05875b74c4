package search_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestProve: a proof says what is impossible, what breaks with which clients, and nothing where a fault strikes
// nowhere. What a second attempt comes to is not proved, although each client takes the lock once; and where there is
// no proof, searches still find what breaks.
func TestProve(t *testing.T) {
	effort.OnlyExhaustive(t, "it proves twenty locks; one goroutine searches")
	for _, c := range []struct {
		lock, budget string
		proved       []verdict.Word
		overlap      int // its par; -1: no search finds it
		refused      bool
		once         bool
	}{
		{"token", "crash=any", explore.Provable, -1, false, false},
		{"token", "restart=1", []verdict.Word{verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock}, 1,
			false, false},
		{"token", "pause=any@1s", []verdict.Word{verdict.WrongDel, verdict.Lie, verdict.Deadlock}, 4, false, false},
		{"token", "expire-session=1", nil, -1, true, false},
		{"reentrant", "crash=1", []verdict.Word{verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock}, 0,
			false, true},
		{"queue", "pause=1", nil, 1, true, true},
	} {
		b := search.ProofBounds()
		if err := b.Set("budget", c.budget); err != nil {
			t.Fatal(err)
		}
		p := racetest.Must(search.Prove(t.Context(), racetest.Lock(t, c.lock), b))(t)
		overlap := -1
		if _, w := p.BrokenBy(verdict.Overlap); w != nil {
			overlap = w.Par
		}
		if !slices.Equal(p.Proved(), c.proved) || overlap != c.overlap || (p.Refused != nil) != c.refused ||
			p.Closed && len(p.Open) > 0 || p.Once.IsZero() == c.once {
			t.Errorf("%s, %s: proved %v, OVERLAP by %d faults, refused %v, open %v, once %v",
				c.lock, c.budget, p.Proved(), overlap, p.Refused, p.Open, p.Once)
		}
	}
}

// TestProveLeavesOpen: what two views come to and no search finds, as of a lock whose key names no client, is neither
// proved nor broken, also on its way between machines.
func TestProveLeavesOpen(t *testing.T) {
	nameless := own("nameless", func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			taken, err := env.Nodes[0].SetNX(ctx, key+":taken", "x", 0).Result()
			if err == nil && !taken {
				err = lock.ErrNotAcquired
			}
			return deleting(env, key+":taken"), err
		})
	})
	p := racetest.Must(search.Prove(t.Context(), nameless, search.ProofBounds()))(t)
	open := []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Deadlock}
	if !slices.Equal(p.Open, open) || slices.Contains(p.Proved(), verdict.Overlap) ||
		!slices.Contains(p.Proved(), verdict.WrongDel) || p.Broken != nil {
		t.Errorf("open are %v, proved %v, broken %v", p.Open, p.Proved(), p.Broken)
	}
	if views, move := p.Violation(verdict.Overlap); views[0].Stage != "inside" && views[1].Stage != "inside" ||
		move == "" {
		t.Errorf("the step %q of %v comes to an OVERLAP", move, views)
	}
	var got search.Proof
	if err := json.Unmarshal(racetest.Must(json.Marshal(p))(t), &got); err != nil || !slices.Equal(got.Open, open) {
		t.Errorf("read again, open are %v: %v", got.Open, err)
	}
}

// TestProveAgreesWithAModel: an independent model of three locks in whole steps of time, with a lease of six steps and
// clients that come for ever, has the same verdicts. A key that is left for ever, which the model calls an orphan, is
// a DEADLOCK here.
func TestProveAgreesWithAModel(t *testing.T) {
	t.Parallel()
	asked := []verdict.Word{verdict.Overlap, verdict.WrongDel, verdict.Deadlock}
	for _, c := range []struct {
		id, budget string
		want       []verdict.Word
	}{
		{"setnx", "crash=1", []verdict.Word{verdict.Deadlock}},
		{"constant", "crash=1", nil},
		{"token", "crash=1", nil},
		{"token", "pause=1@4500ms", []verdict.Word{verdict.Overlap}},
		{"token", "crash=1,delay=1@1s", nil},
	} {
		entry := racetest.Lock(t, c.id)
		b := small(entry, 2, 2, c.budget)
		b.Timing, b.Nodes, b.TTL, b.Work, b.Budget = search.AnyTiming, 1, 4500*time.Millisecond, 750*time.Millisecond,
			faults.Budget(c.budget)
		b.Clients = 2 + explore.Outsiders
		m := racetest.Must(b.Settled(entry).Model(entry))(t)
		proof := racetest.Must(explore.ProveFor(t.Context(), m, false, 60_000))(t)
		var got []verdict.Word
		for _, w := range asked {
			if slices.Contains(proof.Harms, w) {
				got = append(got, w)
			}
		}
		if !proof.Closed || !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: closed %t (%v), %v, the model has %v",
				c.id, c.budget, proof.Closed, proof.Refused, got, c.want)
		}
	}
}
