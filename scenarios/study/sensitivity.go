package study

import (
	"context"
	"encoding/json"

	"locklab/algorithms/lock"
	"locklab/scenarios/share"
	"locklab/simulator/verdict"
)

// A Sensitivity is how often a pause of each length lets two clients in at once.
type Sensitivity struct {
	Series []Series // one for each lock that was finished
	Runs   int      // of a point
	Waits  bool     // see Situation
}

// A Series is one lock's points, by increasing X.
type Series struct {
	Strategy string  `json:"strategy"`
	Points   []Point `json:"points"`
}

// A Point is how often two clients were inside at once at one size of a fault.
type Point struct {
	X float64 `json:"x"` // size of the fault, in leases
	K int     `json:"k"` // runs in which they were
	N int     `json:"n"` // runs
}

// MarshalJSON adds the Wilson interval.
func (p Point) MarshalJSON() ([]byte, error) {
	type point Point
	lo, hi := Wilson(p.K, p.N)
	return json.Marshal(struct {
		point
		Lo float64 `json:"wilson_lo"`
		Hi float64 `json:"wilson_hi"`
	}{point(p), lo, hi})
}

// FindSensitivity counts, for each lock and each pause/TTL in xs, the runs out of n in
// which two clients were inside at once.
//
// In a run both clients work for 1 to 9 s with a lease of 10 s, each whole number equally
// often, and c1's process is paused once, from a random moment of its work on. c2 asks once
// a second from a random moment of the first second on. The random moments are the same
// for every lock and every size.
//
// waits is as in Situation; w and ctx are as for Matrix.
func FindSensitivity(ctx context.Context, locks []lock.Entry, xs []float64, n int, waits bool, w *share.Work) (*Sensitivity, error) {
	pause, err := settingOf("pause")
	if err != nil {
		return nil, err
	}
	o := SweepOrder{Axes: []Axis{{Setting: pause, PerTTL: true, Values: xs}}, Words: []verdict.Word{verdict.Overlap}, Runs: n, Waits: waits}
	found, err := o.Find(ctx, locks, func(int) (*share.Work, func()) { return w, func() {} })
	out := &Sensitivity{Series: []Series{}, Runs: n, Waits: waits}
	if found == nil {
		return out, err
	}
	for _, s := range found.Series {
		one := Series{Strategy: s.Strategy}
		for _, p := range s.Points {
			one.Points = append(one.Points, Point{X: p.At[0], K: p.K, N: p.N})
		}
		if len(one.Points) == len(xs) && one.Points[0].N == n {
			out.Series = append(out.Series, one)
		}
	}
	return out, err
}

// SensitivitySteps returns the number of tasks of FindSensitivity, for progress.
func SensitivitySteps(locks, sizes, n int) int {
	o := SweepOrder{Runs: n}
	return locks * len(o.tasks(0, make([][]float64, sizes)))
}

// playCost is about how long a run takes, in seconds.
const playCost = 1e-4

// pauseWorks is the number of lengths of work; run i has the length i modulo it.
const pauseWorks = 9
