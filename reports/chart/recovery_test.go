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
		title: `^A crash during the work keeps (.*) locked for ever, the others for up to ([\d.]+)s on average, at these ` +
			`lengths of work$`,
		claims: func(c *Chart, m title) bool {
			most := 0.0
			for _, r := range c.Table.records() {
				longest := r.number("blocked_mean_ns") / 1e9
				if math.IsInf(longest, 1) != slices.Contains(m.names(1), r.text("lock")) {
					return false
				}
				if longest > most && !math.IsInf(longest, 1) {
					most = longest
				}
			}
			return most == m.number(2)
		},
		others: map[string]Result{
			"A crash during the work keeps a lock locked for up to 9.5s on average, at these lengths of " +
				"work": &RecoveryChart{all[20:60]},
			"A crash during the work keeps watchdog locked for up to 12s on average, the others for less, at these lengths of " +
				"work": &RecoveryChart{renewed},
			"No lock here is known to be free again after a " +
				"crash": &RecoveryChart{},
		},
		empty: []Result{&RecoveryChart{}},
	}
}
