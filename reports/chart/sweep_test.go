package chart

import (
	"regexp"
	"slices"

	"locklab/scenarios/study"
)

// sweepChart has six locks: some fall early, some late, one never.
func sweepChart() sample {
	axis, err := study.ParseAxis("pause/ttl")
	if err != nil {
		panic(err)
	}
	s := &Sweep{Sweep: study.Sweep{Order: study.SweepOrder{Axes: []study.Axis{axis}, Runs: 1000}}}
	if err := s.Order.Complete(); err != nil {
		panic(err)
	}
	for i, id := range []string{"setnx", "setnx-expire", "getset", "watchdog", "token", "redlock"} {
		one := study.SweepSeries{Lock: id}
		for n := range 21 {
			x := float64(n) / 10
			k := 0
			if over := x - 0.5 - 0.1*float64(i); i > 0 && over > 0 {
				k = int(1000 * over / (over + 0.1*float64(i)))
			}
			one.Points = append(one.Points, study.SweepPoint{At: []float64{x}, K: k, N: 1000})
		}
		s.Series = append(s.Series, one)
	}
	of := func(all ...study.SweepSeries) Result {
		return &Sweep{Sweep: study.Sweep{Order: s.Order, Series: all}}
	}
	point := func(k, n int) study.SweepSeries {
		return study.SweepSeries{Lock: "setnx", Points: []study.SweepPoint{{At: []float64{1}, K: k, N: n}}}
	}
	return sample{
		Result: s,
		title:  `^Half of the runs end in OVERLAP at pause/ttl (.*), never with (\S+) \(0 of 1,000: < ([\d.]+) %\)$`,
		claims: func(c *Chart, m title) bool {
			for _, part := range regexp.MustCompile(`([\d.]+) to ([\d.]+) \(([^)]*)\)`).FindAllStringSubmatch(m[1], -1) {
				for _, lock := range title(part).names(3) {
					below, above := rowsOf(c, "lock", lock, "pause/ttl", part[1]), rowsOf(c, "lock", lock, "pause/ttl", part[2])
					if len(below) != 1 || len(above) != 1 || below[0].number("share") >= 0.5 || above[0].number("share") < 0.5 {
						return false
					}
				}
			}
			return !slices.ContainsFunc(rowsOf(c, "lock", m[2]),
				func(r record) bool { return r.number("k") > 0 || 100*r.number("wilson_hi") > m.number(3) })
		},
		others: map[string]Result{
			"Half of the runs end in OVERLAP at pause/ttl 0.7 to 0.8 (setnx-expire), never with setnx (0 of 1,000: < 0.4 %)": of(s.Series[:2]...),
		},
		empty: []Result{of(), of(study.SweepSeries{Lock: "setnx"}), of(point(1, 1)), of(point(0, 0))},
		work:  true,
	}
}
