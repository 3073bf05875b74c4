package race

import (
	"slices"

	"locklab/faults"
	"locklab/simulator"
)

// notInDatabase returns why a scenario does not apply to a lock in a database; "": it applies.
func (sc Scenario) notInDatabase(p Profile) Reason {
	strikes := func(all ...*simulator.Fault) bool {
		return slices.ContainsFunc(sc.ownBudget(1).Faults(), func(b simulator.FaultBudget) bool { return slices.Contains(all, b.Fault) })
	}
	switch {
	case sc.MinReplicas > 0:
		return "database-counts-no-replicas"
	case strikes(faults.Split):
		return "database-split"
	case strikes(faults.Restart) && sc.AOF != simulator.Always:
		return "database-keeps-commits"
	case strikes(faults.Evict):
		return "redis-only"
	case p.Keyless && strikes(faults.Delete, faults.Flush):
		return "database-no-row"
	}
	return ""
}
