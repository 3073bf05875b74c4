package chart

import (
	"io"
	"strings"

	"locklab/reports"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
)

// rateChart has three sources and pauses of a user.
func rateChart() sample {
	subjects := sampleLeases()
	for i, limit := range []study.Limit{
		{Answer: study.NoLimit, Holds: study.MaxLeases}, {Answer: study.Limited, Holds: 0.55, Falls: 0.6},
		{Answer: study.Limited, Holds: 0.55, Falls: 0.6}, {Answer: study.Limited, Holds: 0.65, Falls: 0.7},
		{Answer: study.Limited, Holds: 0.55, Falls: 0.6}, {Answer: study.NoLimit, Holds: study.MaxLeases},
	} {
		subjects[i].Limit = limit
	}
	o := cost.UsualRateOrder()
	own, err := cost.ParseSource("4/year p50=2s,p100=20s")
	if err != nil {
		panic(err)
	}
	o.Sources = append(o.Sources[:3:3], own)
	r := &Rate{Rates: *o.Of(subjects)}
	return sample{
		Result: r,
		title: `^1,000 machines, pauses of 2 s \(p50\), 20 s \(p100\), 4 a year alone: at most ([\d,.]+) ` +
			`overlaps a year with each of four locks \(of six\) at a TTL of (\d+) s, none from ([\d.]+) s on$`,
		claims: func(c *Chart, m title) bool {
			worst := 0
			for _, r := range rowsOf(c, "ttl_ns", m[2]+"000000000") {
				n := r.number("overlaps_a_year_at_most")
				if n > m.number(1) || r.text("source") != own.ID && n > 0.99*m.number(1) {
					return false
				}
				if n >= 0.9*m.number(1) {
					worst++
				}
			}
			return worst == 4 && m[3] == "21" // the longest pause, and the work that it delays
		},
		others: map[string]Result{"No pause of these sources is known to let two clients in at a TTL of 0 s; " +
			"restarts and failovers are not counted": &Rate{}},
		empty: []Result{&Rate{}},
		texts: map[string]reports.Look{"rate.en": {Width: 120, Lang: "en"}, "rate.zh": {Width: 120, Lang: "zh"}},
		csv:   someTTLs(r),
	}
}

// someTTLs writes the head of a table and its lines for three lengths of a lease.
func someTTLs(r *Rate) func(w io.Writer) error {
	return func(w io.Writer) error {
		var all strings.Builder
		if err := r.Table().CSV(&all); err != nil {
			return err
		}
		for line := range strings.Lines(all.String()) {
			if ttl := strings.Split(line, ",")[2]; ttl == "ttl_ns" || ttl == "1000000000" || ttl == "10000000000" ||
				ttl == "120000000000" {
				io.WriteString(w, line)
			}
		}
		return nil
	}
}
