package scenarios

import (
	"cmp"

	"locklab/scenarios/race"
)

// What races need of a lock, for race.Race.Needs.
var (
	needsServer         = needs("no-server", func(p race.Profile) bool { return p.Remote })
	needsSeveralServers = needs("one-server", func(p race.Profile) bool { return p.Nodes > 1 })
	// Fencing tokens are counted by one server. A ZooKeeper ensemble is one.
	needsFencingCounter = both(needs("no-fencing-counter", func(p race.Profile) bool { return p.Nodes == 1 && !p.Shards }),
		needs("no-lease-number", func(p race.Profile) bool { return !p.NoCounter }))
	needsReentry      = needs("not-reentrant", func(p race.Profile) bool { return p.Reenters })
	needsWatchdog     = needs("no-watchdog", func(p race.Profile) bool { return p.Renews })
	needsRenew        = needs("no-renew", func(p race.Profile) bool { return p.Extends })
	needsCheck        = needs("no-check", func(p race.Profile) bool { return p.Checks })
	needsShutdownHook = needs("no-shutdown-hook", func(p race.Profile) bool { return p.Closes })
	needsTTL          = needs("no-ttl", func(p race.Profile) bool { return p.Expires })
	needsTakeover     = needs("no-takeover", func(p race.Profile) bool { return p.UsesGETSET || p.Deletes })
	needsGetset       = needs("no-getset", func(p race.Profile) bool { return p.UsesGETSET })
	// In races that need it, replicas lag for longer than the lock would wait for them.
	needsNoWait = needs("waits-for-replica", func(p race.Profile) bool { return !p.UsesWAIT })
	// Waiters are woken by messages.
	needsWakeup = both(needs("woken-by-watch", func(p race.Profile) bool { return !p.ZooKeeper }),
		needs("polls", func(p race.Profile) bool { return p.WaitsInLine }))
	// Requests of one connection are executed in order, and answered without a time-out.
	needsRequestsApart = both(needs("session-in-order", func(p race.Profile) bool { return !p.ZooKeeper }),
		needs("connection-in-order", func(p race.Profile) bool { return !p.Database }))
	// A write that is a statement of a transaction comes before its end, or not at all.
	needsWriteApart = needs("writes-in-transaction", func(p race.Profile) bool { return !p.Transacts })
	needsReplicated = needs("session-not-replicated", func(p race.Profile) bool { return !p.Keyless })
	// A renewal moves the end of a lease.
	needsLaterEnd = both(needsRenew, needs("session-no-end", func(p race.Profile) bool { return !p.Keyless }))
	// What a crashed client has locked stays for a while.
	needsLeftBehind     = both(needsWatchdog, needs("session-crashes", func(p race.Profile) bool { return !p.Keyless }))
	needsZooKeeper      = needs("not-on-zookeeper", func(p race.Profile) bool { return p.ZooKeeper })
	needsSession        = needs("no-session", func(p race.Profile) bool { return p.ZooKeeper || p.Keyless })
	needsZooKeeperCheck = both(needsZooKeeper, needsCheck)
)

// needs returns the need of a profile that is ok; otherwise why is the reason.
func needs(why race.Reason, ok func(p race.Profile) bool) func(race.Profile) race.Reason {
	return func(p race.Profile) race.Reason {
		if ok(p) {
			return ""
		}
		return why
	}
}

// both returns the first reason of two needs.
func both(a, b func(race.Profile) race.Reason) func(race.Profile) race.Reason {
	return func(p race.Profile) race.Reason { return cmp.Or(a(p), b(p)) }
}
