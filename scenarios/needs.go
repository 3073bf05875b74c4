package scenarios

import (
	"cmp"

	"locklab/scenarios/race"
)

// What races need of a lock, for race.Scenario.Needs.

// unless returns "" if the condition holds, the reason otherwise.
func unless(ok bool, why race.Reason) race.Reason {
	if ok {
		return ""
	}
	return why
}

// needsServer: the lock uses a server.
func needsServer(p race.Profile) race.Reason { return unless(p.Remote, "no-server") }

// needsSeveralServers: the lock needs a majority of servers.
func needsSeveralServers(p race.Profile) race.Reason { return unless(p.Nodes > 1, "one-server") }

// needsFencingCounter: the lock has one server, which can count fencing tokens. A
// ZooKeeper ensemble is one server.
func needsFencingCounter(p race.Profile) race.Reason {
	return unless(p.Nodes == 1, "no-fencing-counter")
}

// needsReentry: the lock lets its holder in again.
func needsReentry(p race.Profile) race.Reason { return unless(p.Reenters, "not-reentrant") }

// needsWatchdog: the lock renews its lease by itself.
func needsWatchdog(p race.Profile) race.Reason { return unless(p.Renews, "no-watchdog") }

// needsRenew: the holder can renew its lease.
func needsRenew(p race.Profile) race.Reason { return unless(p.Extends, "no-renew") }

// needsCheck: the holder can check its lease.
func needsCheck(p race.Profile) race.Reason { return unless(p.Checks, "no-check") }

// needsShutdownHook: the lock's process uses the server when it shuts down.
func needsShutdownHook(p race.Profile) race.Reason { return unless(p.Closes, "no-shutdown-hook") }

// needsTakeover: the lock takes over a key that looks lapsed.
func needsTakeover(p race.Profile) race.Reason {
	return unless(p.UsesGETSET || p.Deletes, "no-takeover")
}

// needsGetset: the lock takes over with GETSET.
func needsGetset(p race.Profile) race.Reason { return unless(p.UsesGETSET, "no-getset") }

// needsNoWait: the lock does not wait for replicas, which in these races lag for longer
// than it would wait.
func needsNoWait(p race.Profile) race.Reason { return unless(!p.UsesWAIT, "waits-for-replica") }

// needsWakeup: waiters of the lock are woken by messages.
func needsWakeup(p race.Profile) race.Reason {
	return cmp.Or(unless(!p.ZooKeeper, "woken-by-watch"), unless(p.WaitsInLine, "polls"))
}

// needsZooKeeper: the lock is on ZooKeeper.
func needsZooKeeper(p race.Profile) race.Reason { return unless(p.ZooKeeper, "not-on-zookeeper") }

// needsZooKeeperCheck: the lock is on ZooKeeper and its holder can check its lease.
func needsZooKeeperCheck(p race.Profile) race.Reason {
	return cmp.Or(needsZooKeeper(p), needsCheck(p))
}
