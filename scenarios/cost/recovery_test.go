package cost

import (
	"math"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
)

func recoveryOf(t *testing.T, id string, ttl, hold time.Duration) Recovery {
	t.Helper()
	e, ok := algorithms.ByName(id)
	if !ok {
		t.Fatal(id)
	}
	o := RecoveryOrder{TTLs: []time.Duration{ttl}, Hold: hold}
	if err := o.Check(e); err != nil {
		t.Fatal(err)
	}
	all := racetest.Must(FindRecovery(t.Context(), []lock.Entry{e}, o, nil))(t)
	return all[0]
}

// What follows from how a lock works.
func TestRecovery(t *testing.T) {
	const ttl, hold, slack = 10 * time.Second, 4 * time.Second, 10 * time.Millisecond
	near := func(t *testing.T, what string, got, want time.Duration) {
		t.Helper()
		if (got - want).Abs() > slack {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	t.Run("token", func(t *testing.T) { // what is left of its lease: 10 s at first, 6 s at the end
		r := recoveryOf(t, "token", ttl, hold)
		near(t, "the mean", r.Mean(), 8*time.Second)
		near(t, "the longest", r.Longest(), ttl)
		near(t, "the median", r.Quantile(0.5), 8*time.Second)
		near(t, "the 90th percentile", r.Quantile(0.9), 9600*time.Millisecond)
		if r.Ever() != 0 {
			t.Errorf("%v of all crashes block for ever", r.Ever())
		}
	})
	t.Run("setnx", func(t *testing.T) {
		r := recoveryOf(t, "setnx", ttl, hold)
		if r.Mean() != Forever || r.Quantile(0.5) != Forever || r.Ever() < 0.99 || r.Ever() >= 1 {
			t.Errorf("%v of all crashes block for ever", r.Ever())
		}
	})
	t.Run("setnx-expire", func(t *testing.T) { // from SETNX to EXPIRE: a round trip
		r := recoveryOf(t, "setnx-expire", ttl, hold)
		if got, want := r.Ever()*float64(span(r)), float64(time.Millisecond); math.Abs(got-want) > want/10 {
			t.Errorf("it blocks for ever in %v of a run, want %v", time.Duration(got), time.Duration(want))
		}
	})
	t.Run("watchdog", func(t *testing.T) { // renewed after a third of a lease
		r := recoveryOf(t, "watchdog", ttl, 9*time.Second)
		near(t, "the longest", r.Longest(), ttl)
		// 10 s to 20/3 s, twice, for 10/3 s each, and to 23/3 s for the 7/3 s that are left
		near(t, "the mean", r.Mean(), 8463*time.Millisecond)
	})
}

func TestRecoveryOfPieces(t *testing.T) {
	r := Recovery{Pieces: []Piece{{From: 0, To: 2, First: 0, Last: 0}, {From: 2, To: 6, First: 8 * time.Second, Last: 4 * time.Second}, {From: 6, To: 8, First: Forever, Last: Forever}}}
	for d, want := range map[time.Duration]float64{0: 0.75, 4 * time.Second: 0.75, 6 * time.Second: 0.5, 8 * time.Second: 0.25, Forever - 1: 0.25} {
		if got := r.LongerThan(d); math.Abs(got-want) > 1e-9 {
			t.Errorf("longer than %v: %v, want %v", d, got, want)
		}
	}
	for p, want := range map[float64]time.Duration{0.2: 0, 0.5: 6 * time.Second, 0.75: 8 * time.Second, 0.8: Forever} {
		if got := r.Quantile(p); (got - want).Abs() > time.Millisecond {
			t.Errorf("quantile %v: %v, want %v", p, got, want)
		}
	}
	if r.Longest() != 8*time.Second || r.Ever() != 0.25 || r.Mean() != Forever {
		t.Errorf("%v, %v, %v", r.Longest(), r.Ever(), r.Mean())
	}
	if none := (Recovery{}); none.Mean() != 0 || none.LongerThan(0) != 0 || span(none) != 0 {
		t.Error("without pieces")
	}
}

// span returns the time for which the client uses the lock.
func span(r Recovery) time.Duration {
	if len(r.Pieces) == 0 {
		return 0
	}
	return r.Pieces[len(r.Pieces)-1].To - r.Pieces[0].From
}
