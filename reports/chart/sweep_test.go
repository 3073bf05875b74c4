package chart

import (
	"slices"
	"strings"

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
		title: `^Runs that end in OVERLAP: at least (\d+) % with (\w+) of six locks, if the pause is ([\d.]+) times the ` +
			`lease, ` +
			`never with (\S+) \(0 of 1,000: < ([\d.]+) %\)$`,
		claims: func(c *Chart, m title) bool {
			fail, numbers := 0, strings.Split(say("en", "chart.numbers"), "/")
			for _, r := range rowsOf(c, "pause/ttl", m[3]) {
				if r.number("share") >= m.number(1)/100 {
					fail++
				}
			}
			if fail < 2 || m.number(1) < 50 || numbers[fail] != m[2] {
				return false
			}
			return !slices.ContainsFunc(rowsOf(c, "lock", m[4]),
				func(r record) bool { return r.number("k") > 0 || 100*r.number("wilson_hi") > m.number(5) })
		},
		others: map[string]Result{
			"Runs that end in OVERLAP: at least 66 % with one of two locks, if the pause is 0.8 times the lease, never with " +
				"setnx " +
				"(0 of 1,000: < 0.4 %)": of(s.Series[:2]...),
		},
		empty: []Result{of(), of(study.SweepSeries{Lock: "setnx"}), of(point(1, 1)), of(point(0, 0))},
		work:  true,
	}
}
