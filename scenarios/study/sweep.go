package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// SweepRuns is the usual number of runs of a point.
const SweepRuns = 270

// A SweepOrder is what a sweep looks at.
type SweepOrder struct {
	Axes  []Axis         // one or two
	Fixed []Axis         // of one value each
	Lease bool           // as Situation.WholeLease
	Waits bool           // as Situation.Waits
	Words []verdict.Word // a run counts if it ends in one of them
	Runs  int            // of a point, from 1
}

// gcPause is the pause of a sweep in which nothing else would go wrong: that of the race gc-pause.
const gcPause = "pause/ttl=1.25"

// Complete fills in what was left open: a pause where nothing goes wrong and no axis is a
// length of work, and what is counted. The error says what does not go together.
func (o *SweepOrder) Complete() error {
	if len(o.Axes) < 1 || len(o.Axes) > 2 {
		return i18n.Errorf("error.sweep.axes", "n", len(o.Axes))
	}
	wrong := o.Lease // something goes wrong
	used := map[string]bool{"work": o.Lease}
	for _, a := range slices.Concat(o.Axes, o.Fixed) {
		if used[a.Setting.Name] {
			return i18n.Errorf("error.sweep.twice", "name", a.Setting.Name)
		}
		used[a.Setting.Name] = true
		wrong = wrong || a.Setting.Fault || a.Setting.Name == "work"
	}
	if o.Lease && used["renewal"] {
		return i18n.Errorf("error.sweep.lease", "name", "renewal")
	}
	if o.Words == nil {
		o.Words = o.Axes[0].Setting.words
	}
	if o.Words == nil {
		o.Words = []verdict.Word{verdict.Overlap}
	}
	if !wrong {
		a, err := ParseAxis(gcPause)
		o.Fixed = append(o.Fixed, a)
		return err
	}
	return nil
}

// Situation is that at a point: one value for each axis.
func (o *SweepOrder) Situation(at []float64) Situation {
	s := UsualSituation()
	s.WholeLease, s.Waits = o.Lease, o.Waits
	return s.with(append(slices.Clone(o.Fixed), o.at(at)...))
}

// at is the axes with one value each.
func (o *SweepOrder) at(point []float64) (axes []Axis) {
	for i, v := range point {
		axes = append(axes, Axis{o.Axes[i].Setting, o.Axes[i].PerTTL, []float64{v}})
	}
	return axes
}

// Points are the points of the grid: the values of the first axis, and for each those of the second.
func (o *SweepOrder) Points() (points [][]float64) {
	for _, x := range o.Axes[0].Values {
		if len(o.Axes) == 1 {
			points = append(points, []float64{x})
			continue
		}
		for _, y := range o.Axes[1].Values {
			points = append(points, []float64{x, y})
		}
	}
	return points
}

// Check reports whether a lock can be used at all points.
func (o *SweepOrder) Check(e lock.Entry) error {
	for _, at := range o.Points() {
		s := o.Situation(at)
		if err := s.race().Check(e, s.settings(o.deep())); err != nil {
			return i18n.Errorf("error.sweep.at", "point", o.name(at), "lock", e.ID, "cause", err)
		}
	}
	return nil
}

// name is a point in words.
func (o *SweepOrder) name(at []float64) string {
	return strings.Join(lists.Each(o.at(at), Axis.String), ",")
}

// deep reports whether runs need all judges, and time for what lasts.
func (o *SweepOrder) deep() bool {
	brief := []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie}
	return slices.ContainsFunc(o.Words, func(w verdict.Word) bool { return !slices.Contains(brief, w) })
}

// playCost is about how long a run takes, in seconds.
const playCost = 1e-4

// A Sweep is how often runs end in some verdicts, by the values of one or two settings.
type Sweep struct {
	Order  SweepOrder
	Series []SweepSeries // by lock
}

// A SweepSeries is one lock's points, by rising values.
type SweepSeries struct {
	Lock   string
	NA     race.Reason // why the sweep has no meaning for the lock; then it has no points
	Points []SweepPoint
}

// A SweepPoint is how often runs ended in one of the verdicts.
type SweepPoint struct {
	At []float64 // the value of each axis
	K  int       // runs that did
	N  int       // runs
}

// Find plays the runs. Locks must pass Check. progress announces so many tasks, and returns
// how to compute them and what to call at the end.
//
// The random numbers of a run follow from its number: they are the same for every lock and at every point. When ctx
// ends the error is ctx's, and points have the runs that were finished.
func (o *SweepOrder) Find(ctx context.Context, locks []lock.Entry,
	progress func(steps int) (w *share.Work, end func())) (*Sweep, error) {
	out := &Sweep{Order: *o}
	var all []sweepTask
	var tasks []share.Task
	for i, e := range locks {
		one := SweepSeries{Lock: e.ID}
		profile, err := race.ProfileOf(e)
		if err != nil {
			return nil, err
		}
		if one.NA = o.notApplicable(profile); one.NA == "" {
			all = append(all, o.tasks(i, o.Points())...)
		}
		out.Series = append(out.Series, one)
	}
	for _, t := range all {
		tasks = append(tasks, share.Task{ID: o.id(locks[t.lock], t),
			Cost: playCost * float64(len(t.points)*(t.to-t.from))})
	}
	w, end := progress(len(tasks))
	counts, err := share.Each(ctx, tasks, w, func(ctx context.Context, i int) ([]int, error) {
		return o.play(ctx, locks[all[i].lock], all[i])
	})
	end()
	for i, t := range all {
		if counts[i] == nil {
			continue
		}
		for n, at := range t.points {
			out.Series[t.lock].count(at, (*counts[i])[n], t.to-t.from)
		}
	}
	return out, err
}

// count adds runs to a point.
func (s *SweepSeries) count(at []float64, k, n int) {
	i, found := slices.BinarySearchFunc(s.Points, at,
		func(p SweepPoint, at []float64) int { return slices.Compare(p.At, at) })
	if !found {
		s.Points = slices.Insert(s.Points, i, SweepPoint{At: at})
	}
	s.Points[i].K += k
	s.Points[i].N += n
}

// notApplicable says why a sweep has no meaning for a lock; "": it has.
func (o *SweepOrder) notApplicable(p race.Profile) race.Reason {
	for _, at := range o.Points() {
		switch s := o.Situation(at); {
		case s.Failover && p.ZooKeeper:
			return "zookeeper-replicates-first"
		case s.Failover && !p.Remote:
			return "no-server"
		case s.Renewal > 0 && !p.Extends:
			return "no-renew"
		case s.Renewal > 0 && p.Renews:
			return "own-renewals"
		}
	}
	return ""
}

// A sweepTask is a number of runs of one lock at some points.
type sweepTask struct {
	lock     int
	points   [][]float64
	from, to int // runs, from 0
}

// What a task plays: some seconds at most.
const (
	seedsPerTask = 2_700
	playsPerTask = 10_000
)

// tasks divides the runs. Points whose runs can share a simulator stay together.
func (o *SweepOrder) tasks(l int, points [][]float64) (tasks []sweepTask) {
	for len(points) > 0 {
		n := 1
		for n < len(points) && o.Situation(points[n]).built() == o.Situation(points[0]).built() {
			n++
		}
		group := points[:n]
		points = points[n:]
		runs := min(max(playsPerTask/n, 1), seedsPerTask)
		for from := 0; from < o.Runs; from += runs {
			tasks = append(tasks, sweepTask{l, group, from, min(from+runs, o.Runs)})
		}
	}
	return tasks
}

// id names a task: what it plays, wherever it is played.
func (o *SweepOrder) id(e lock.Entry, t sweepTask) string {
	at := o.name(t.points[0])
	if n := len(t.points); n > 1 {
		at += fmt.Sprintf(",..%s(%d)", o.name(t.points[n-1]), n)
	}
	return fmt.Sprintf("sweep %s/%s/runs=%d-%d", e.ID, at, t.from+1, t.to)
}

// ErrLosses is a run in which more messages were lost than a simulator counts.
var ErrLosses = i18n.Errorf("error.sweep.losses")
