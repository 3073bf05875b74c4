package study

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Sensitivity is how often a pause of each length lets two clients in at once.
type Sensitivity struct {
	Series []Series // one for each lock that was finished
	Runs   int      // of a point
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
// In a run c1 works for 1 to 9 s with a lease of 10 s, each whole number equally often,
// and its process is paused once, from a random moment of its work on. c2 asks once a
// second from a random moment of the first second on. The random moments are the same
// for every lock and every size.
//
// done and ctx are as for Matrix.
func FindSensitivity(ctx context.Context, locks []lock.Entry, xs []float64, n int, done func(n int)) (*Sensitivity, error) {
	counts := make([][pauseWorks][]int, len(locks))
	err := Each(ctx, len(locks)*pauseWorks, done, func(i int) (err error) {
		l, work := i/pauseWorks, i%pauseWorks
		counts[l][work], err = pauseRuns(ctx, locks[l], work, xs, n)
		return err
	})
	out := &Sensitivity{Series: []Series{}, Runs: n}
	for l, e := range locks {
		if points := sum(counts[l], xs, n); points != nil {
			out.Series = append(out.Series, Series{e.ID, points})
		}
	}
	return out, err
}

// sum adds the runs of all lengths of work; nil if a part is missing.
func sum(parts [pauseWorks][]int, xs []float64, n int) []Point {
	points := make([]Point, len(xs))
	for i, x := range xs {
		points[i] = Point{X: x, N: n}
		for _, k := range parts {
			if k == nil {
				return nil
			}
			points[i].K += k[i]
		}
	}
	return points
}

// pauseWorks is the number of lengths of work; run i has the length i modulo it.
const pauseWorks = 9

// SensitivitySteps is how often FindSensitivity calls done at most, for progress.
func SensitivitySteps(locks int) int { return locks * pauseWorks }

func pauseRuns(ctx context.Context, entry lock.Entry, work int, xs []float64, n int) (counts []int, err error) {
	s := race.Standard()
	sc := race.Scenario{
		ID: "pause-sweep", Settings: s, Budget: race.FixedBudget("pause=1"),
		Clients: func(s race.Settings) []race.Client {
			length := time.Duration(work+1) * s.TTL / (pauseWorks + 1)
			return []race.Client{{Work: length / 2, Tail: length - length/2}, {Work: s.Retry}}
		},
	}
	p, err := sc.Prepare(entry, s)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	length := p.Clients[0].Work + p.Clients[0].Tail
	counts = make([]int, len(xs))
	for i := work; i < n; i += pauseWorks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.Seed = uint64(i + 1)
		draw := race.Stream(s.Seed, "pause sweep")
		begin := time.Duration(draw.Int64N(int64(length))).Truncate(time.Microsecond)
		p.Clients[1].Start = time.Duration(draw.Int64N(int64(s.Retry))).Truncate(time.Microsecond)
		for j, x := range xs {
			pause := time.Duration(x * float64(s.TTL)).Truncate(time.Millisecond)
			broken, err := overlaps(p, s, begin, pause)
			if err != nil {
				return nil, err
			}
			if broken {
				counts[j]++
			}
		}
	}
	return counts, nil
}

func overlaps(p *race.Prepared, s race.Settings, begin, pause time.Duration) (bool, error) {
	p.Scenario.Script = nil
	if pause > 0 {
		p.Scenario.Script = func(race.Settings, int) []race.Trigger {
			return []race.Trigger{{On: race.Event(history.Enter, 1), Do: race.Inject(begin, faults.PauseOf(1, pause))}}
		}
	}
	run, err := p.Player.Play(p.Options(s))
	if err != nil {
		return false, err
	}
	var judge verdict.Safety
	c := verdict.CaseOf(&history.History{Clients: len(p.Clients), Nodes: p.Entry.Servers(), Key: client.Key, ZooKeeper: p.Entry.OnZooKeeper(), Holders: client.Holders(p.Entry, len(p.Clients)), TTL: s.TTL})
	for i := range run.Events {
		judge.Observe(&c, i, &run.Events[i], nil)
	}
	return slices.Contains(judge.Words(), verdict.Overlap), nil
}
