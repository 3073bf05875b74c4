package chart

import (
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
		title: `^OVERLAP in at least half of the runs, by pause: (\S+) from ([\d.]+) leases on.*, ` +
			`watchdog from ([\d.]+) leases on(.*); (\S+) in none \(<([\d.]+) %\)$`,
		claims: func(c *Chart, m title) bool {
			from := func(lock, at string) bool {
				before := 0.0
				for _, r := range rowsOf(c, "lock", lock) {
					if r.text("pause/ttl") == at {
						return before < 0.5 && r.number("share") >= 0.5
					}
					before = r.number("share")
				}
				return false
			}
			return from(m[1], m[2]) && from("watchdog", m[3]) && !slices.ContainsFunc(rowsOf(c, "lock", m[5]),
				func(r record) bool { return r.number("k") > 0 || 100*r.number("wilson_hi") > m.number(6) })
		},
		others: map[string]Result{
			"OVERLAP in at least half of the runs, by pause: setnx-expire from 0.8 leases on; " +
				"setnx in none (<0.4 %)": of(s.Series[:2]...),
			"token in at most 20 % of the runs": of(study.SweepSeries{Lock: "token", Points: s.Series[4].Points[:11]}),
		},
		empty: []Result{of(), of(study.SweepSeries{Lock: "setnx"}), of(point(1, 1)), of(point(0, 0))},
		work:  true,
	}
}
