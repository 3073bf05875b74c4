package chart

import (
	"locklab/algorithms/lock"
	"locklab/scenarios/study"
)

// toleranceSample has every kind of limit in it.
func toleranceSample() Tolerance {
	const never = study.MaxLeases
	cells := [][]study.Limit{
		{{Answer: study.NoLimit, Holds: never}, {Answer: study.NoLimit, Holds: never}, {Answer: study.NoLimit, Holds: never}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true}, {Answer: study.NoLimit, Holds: never}, {Answer: study.AnySize, Falls: 0.05}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true}, {Answer: study.Limited, Holds: 0.55, Falls: 0.6, Boundary: true}, {Answer: study.NoLimit, Holds: never}, {Answer: study.FallsOnce}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 1.95, Falls: 2}, {Answer: study.NoAnswer}, {Answer: study.NoLimit, Holds: never}, {Answer: study.NoAnswer}, {Answer: study.FallsOnce}},
		{{Answer: study.Limited, Holds: 0.85, Falls: 0.9}, {Answer: study.Limited, Holds: 0.5, Falls: 0.55, Boundary: true}, {Answer: study.NoLimit, Holds: never}, {Answer: study.HoldsOnce}, {Answer: study.NoAnswer}},
	}
	f := Tolerance{Tolerance: study.Tolerance{
		Locks:   append(locksOf("setnx", "getset", "token", "watchdog"), lock.Entry{ID: "redlock", Nodes: 5}),
		Hazards: []study.Hazard{{Fault: "pause", Sized: true}, {Fault: "node-clock", Sized: true}, {Fault: "client-clock", Sized: true}, {Fault: "failover"}, {Fault: "restart"}},
	}}
	for i, row := range cells {
		for n, l := range row {
			l.Strategy, l.Fault = f.Locks[i].ID, f.Hazards[n].Fault
			f.Limits = append(f.Limits, l)
		}
	}
	return f
}
