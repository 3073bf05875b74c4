package chart

import (
	"math"
	"slices"
	"time"

	"locklab/scenarios/cost"
)

// recoveryChart has a lock that never comes back, and one that was not measured.
func recoveryChart() sample {
	const ttl = 10 * time.Second
	var all []cost.Recovery // twenty of each lock
	for _, s := range sampleLeases() {
		for work := time.Second; work <= 20*time.Second; work += time.Second {
			all = append(all, cost.Recovery{Lock: s.Lock, TTL: ttl, Work: work, Blocked: s.Lease.Blocked(ttl, work)})
		}
	}
	renewed := slices.Clone(all[20:80])
	for i := range renewed[40:] {
		renewed[40+i].Mean = 12 * time.Second
	}
	return sample{
		Result: &RecoveryChart{all},
		title: `^A crash during the work keeps (.*) locked for ever, the others for ([\d.]+) s to ([\d.]+) s on ` +
			`average, with work of 1 s to 20 s$`,
		claims: func(c *Chart, m title) bool {
			least, most := math.Inf(1), 0.0
			for _, r := range c.Table.records() {
				longest := r.number("blocked_mean_ns") / 1e9
				if math.IsInf(longest, 1) != slices.Contains(m.names(1), r.text("lock")) {
					return false
				}
				if !math.IsInf(longest, 1) && !math.IsNaN(longest) {
					least, most = min(least, longest), max(most, longest)
				}
			}
			return least == m.number(2) && most == m.number(3)
		},
		others: map[string]Result{
			"A crash during the work keeps a lock locked for 2.5 s to 9.5 s on average, " +
				"with work of 1 s to 20 s": &RecoveryChart{all[20:60]},
			"A crash during the work keeps watchdog locked for up to 12 s on average, " +
				"the others for less, with work of 1 s to 20 s": &RecoveryChart{renewed},
			"No lock here is known to be free again after a crash": &RecoveryChart{},
		},
		empty: []Result{&RecoveryChart{}},
	}
}
