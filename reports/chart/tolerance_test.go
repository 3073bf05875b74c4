package chart

import (
	"slices"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios/study"
)

// toleranceChart has every kind of limit in it.
func toleranceChart() sample {
	const never = study.MaxLeases
	cells := [][]study.Limit{
		{{Answer: study.NoLimit, Holds: never}, {Answer: study.NoLimit, Holds: never},
			{Answer: study.NoLimit, Holds: never}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true}, {Answer: study.NoLimit, Holds: never},
			{Answer: study.AnySize, Falls: 0.05}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true},
			{Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true},
			{Answer: study.NoLimit, Holds: never}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 1.95, Falls: 2}, {Answer: study.NoAnswer},
			{Answer: study.NoLimit, Holds: never}, {Answer: study.NoAnswer}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.85, Falls: 0.9},
			{Answer: study.Limited, Holds: 0.5, Falls: 0.55, Boundary: true},
			{Answer: study.NoLimit, Holds: never}, {Answer: study.HoldsOnce}, {Answer: study.NoAnswer}},
	}
	f := &Tolerance{Tolerance: study.Tolerance{
		Locks: append(locksOf("setnx", "getset", "token", "watchdog"),
			lock.Entry{ID: "redlock", Server: lock.OnRedis(5)}),
		Hazards: []study.Hazard{{Fault: "pause", Sized: true}, {Fault: "node-clock", Sized: true},
			{Fault: "client-clock", Sized: true}, {Fault: "failover"}, {Fault: "restart"}},
	}}
	for i, row := range cells {
		for n, l := range row {
			l.Lock, l.Fault = f.Locks[i].ID, f.Hazards[n].Fault
			f.Limits = append(f.Limits, l)
		}
	}
	one := *f
	one.Locks, one.Limits = f.Locks[:1], f.Limits[:5]
	same := *f
	same.Limits = append(slices.Clone(f.Limits[:20]), f.Limits[10])
	same.Limits[20].Lock = "redlock"
	return sample{
		Result: f,
		title: `^redlock survives a pause of less than ([\d.]+) of a lease, ` +
			`token on one server of less than ([\d.]+), with work of 2/5 of a lease$`,
		claims: func(c *Chart, m title) bool {
			many := rowsOf(c, "lock", "redlock", "fault", "pause")[0]
			one := rowsOf(c, "lock", "token", "fault", "pause")[0]
			return many.number("fails_at") == m.number(1) && one.number("fails_at") == m.number(2)
		},
		others: map[string]Result{"No pause of up to 2 leases is known to let two clients in": &one,
			"redlock survives no longer pause than token on one server: less than 0.60 of a lease, " +
				"with work of 2/5 of a lease": &same},
		empty: []Result{&Tolerance{}, &Tolerance{Tolerance: study.Tolerance{Locks: locksOf("token")}},
			&Tolerance{Tolerance: study.Tolerance{Hazards: []study.Hazard{{Fault: "pause", Sized: true}}}}},
		texts: map[string]reports.Look{"tolerance": {Width: reports.NarrowWidth}},
		csv:   f.Table().CSV,
		work:  true,
	}
}
