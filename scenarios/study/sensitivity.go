package study

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
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
	var tasks []share.Task
	chunks := chunksOf(n)
	for _, e := range locks {
		for work := range pauseWorks {
			for from := 0; from < n; from += seedsPerTask {
				to := min(from+seedsPerTask, n)
				tasks = append(tasks, share.Task{
					ID:   fmt.Sprintf("sweep %s/work=%d,seeds=%d-%d", e.ID, work+1, from+1, to),
					Cost: playCost * float64(len(xs)*(to-from)) / pauseWorks,
				})
			}
		}
	}
	counts, err := share.Each(ctx, tasks, done, func(ctx context.Context, i int) ([]int, error) {
		part, from := i/chunks, i%chunks*seedsPerTask
		return pauseRuns(ctx, locks[part/pauseWorks], part%pauseWorks, xs, from, min(from+seedsPerTask, n))
	})
	out := &Sensitivity{Series: []Series{}, Runs: n}
	for l, e := range locks {
		if points := sum(counts[l*pauseWorks*chunks:(l+1)*pauseWorks*chunks], xs, n); points != nil {
			out.Series = append(out.Series, Series{e.ID, points})
		}
	}
	return out, err
}

// seedsPerTask is how many seeds one task plays at most. A multiple of pauseWorks.
const seedsPerTask = 300 * pauseWorks

// playCost is about how long a run takes, in seconds.
const playCost = 1e-4

func chunksOf(n int) int { return (n + seedsPerTask - 1) / seedsPerTask }

// sum adds the runs of all parts; nil if a part is missing.
func sum(parts []*[]int, xs []float64, n int) []Point {
	points := make([]Point, len(xs))
	for i, x := range xs {
		points[i] = Point{X: x, N: n}
		for _, k := range parts {
			if k == nil {
				return nil
			}
			points[i].K += (*k)[i]
		}
	}
	return points
}

// pauseWorks is the number of lengths of work; run i has the length i modulo it.
const pauseWorks = 9

// SensitivitySteps is how often FindSensitivity calls done at most, for progress.
func SensitivitySteps(locks, n int) int { return locks * pauseWorks * chunksOf(n) }

// pauseRuns plays the runs of one length of work from the from-th of all runs to before the
// to-th, from 0. from is a multiple of pauseWorks.
func pauseRuns(ctx context.Context, entry lock.Entry, work int, xs []float64, from, to int) (counts []int, err error) {
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
	for i := from + work; i < to; i += pauseWorks {
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
