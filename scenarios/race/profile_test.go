package race_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
)

// TestProfiles: what is observed of some locks.
func TestProfiles(t *testing.T) {
	want := map[string]race.Profile{
		"setnx":            {Nodes: 1, NeverExpires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"setnx-expire":     {Nodes: 1, TwoSteps: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"getset":           {Nodes: 1, NeverExpires: true, UsesGETSET: true, Excludes: true, Remote: true, LocksPerKey: true}, // no second command would set a TTL
		"takeover-del":     {Nodes: 1, NeverExpires: true, Deletes: true, Excludes: true, Remote: true, LocksPerKey: true},
		"cron-v2":          {Nodes: 1, TwoSteps: true, Closes: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"cron-v3":          {Nodes: 1, TwoSteps: true, UsesGETSET: true, Closes: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"token":            {Nodes: 1, ChecksOwner: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"watchdog":         {Nodes: 1, ChecksOwner: true, Renews: true, Expires: true, Excludes: true, Remote: true, Reenters: true, LocksPerKey: true, Extends: true},
		"redlock":          {Nodes: 5, ChecksOwner: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true, Checks: true}, // goes on after its first key, but that has a TTL
		"mutex":            {Nodes: 1},
		"zk-recheck":       {Nodes: 1, ChecksOwner: true, Excludes: true, Remote: true, LocksPerKey: true, Checks: true, ZooKeeper: true, WaitsInLine: true},
		"zk-semaphore":     {Nodes: 1, ChecksOwner: true, Excludes: true, Remote: true, Reenters: true, LocksPerKey: true, Checks: true, ZooKeeper: true, Shares: true, WaitsInLine: true},
		"redlock-failfast": {Nodes: 5, ChecksOwner: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true, Checks: true, StopsAtMajority: true},
		"token-wait":       {Nodes: 1, ChecksOwner: true, Expires: true, UsesWAIT: true, Excludes: true, Remote: true, LocksPerKey: true},
		"reentrant":        {Nodes: 1, ChecksOwner: true, Expires: true, Remote: true, Reenters: true}, // assumes another key to be locked
	}
	for id, w := range want {
		e, ok := algorithms.ByName(id)
		if !ok {
			t.Fatalf("there is no %s", id)
		}
		if got, err := race.ProfileOf(e); err != nil || got != w {
			t.Errorf("%s: %+v, %v, want %+v", id, got, err, w)
		}
	}
}

// TestNeedsGoByProfile: whether a scenario applies to a lock depends on its profile alone.
func TestNeedsGoByProfile(t *testing.T) {
	for _, f := range []struct {
		scenario string
		has      race.Profile // the least to which the scenario applies
	}{
		{"crash-before-expire", race.Profile{Nodes: 1, TwoSteps: true}},
		{"late-release", race.Profile{Nodes: 1, ChecksOwner: true}},
		{"double-del", race.Profile{Nodes: 1, Deletes: true}},
		{"getset-nil", race.Profile{Nodes: 1, NeverExpires: true, UsesGETSET: true}},
		{"get-nil", race.Profile{Nodes: 1, Deletes: true}},
		{"get-nil-taken", race.Profile{Nodes: 1, UsesGETSET: true}},
		{"overwritten-stamp", race.Profile{Nodes: 1, UsesGETSET: true}},
		{"same-second", race.Profile{Nodes: 1, UsesGETSET: true}},
		{"foreign-shutdown", race.Profile{Nodes: 1, Closes: true}},
		{"own-shutdown", race.Profile{Nodes: 1, Closes: true}},
		{"same-thread", race.Profile{Nodes: 1, ChecksOwner: true}},
		{"same-token", race.Profile{Nodes: 1, ChecksOwner: true}},
		{"late-renewal", race.Profile{Nodes: 1, Renews: true}},
		{"failed-renewal", race.Profile{Nodes: 1, Renews: true}},
		{"eviction", race.Profile{Nodes: 1, Expires: true}},
		{"server-drift", race.Profile{Nodes: 1, Expires: true}},
		{"dead-process", race.Profile{Nodes: 1, Renews: true}},
		{"split-renewed", race.Profile{Nodes: 1, Renews: true}},
		{"zombie-daemon", race.Profile{Nodes: 1, Renews: true}},
		{"zombie-keeps", race.Profile{Nodes: 1, Renews: true}},
		{"renewal-in-flight", race.Profile{Nodes: 1, Renews: true}},
		{"nested", race.Profile{Nodes: 1, Reenters: true}},
		{"late-re-entry", race.Profile{Nodes: 1, Reenters: true}},
		{"pooled-thread", race.Profile{Nodes: 1, Remote: true}},
		{"second-try", race.Profile{Nodes: 1, Remote: true}},
		{"second-key", race.Profile{Nodes: 1, Remote: true}},
		{"two-keys", race.Profile{Nodes: 1, Remote: true}},
		{"check-then-pause", race.Profile{Nodes: 1, Checks: true}},
		{"renew-held", race.Profile{Nodes: 1, Extends: true}},
		{"renew-free", race.Profile{Nodes: 1, Extends: true}},
		{"renew-late", race.Profile{Nodes: 1, Extends: true}},
		{"renew-partly", race.Profile{Nodes: 1, Extends: true}},
		{"opposite-order", race.Profile{Nodes: 1, LocksPerKey: true}},
		{"watch-herd", race.Profile{Nodes: 1, ZooKeeper: true}},
		{"in-line", race.Profile{Nodes: 1, ZooKeeper: true}},
		{"lost-create", race.Profile{Nodes: 1, ZooKeeper: true}},
		{"session-pause", race.Profile{Nodes: 1, ZooKeeper: true, Checks: true}},
		{"session-ends", race.Profile{Nodes: 1, ZooKeeper: true}},
		{"suspended", race.Profile{Nodes: 1, ZooKeeper: true, Checks: true}},
		{"suspended-ignored", race.Profile{Nodes: 1, ZooKeeper: true, Checks: true}},
		{"waiter-dies", race.Profile{Nodes: 1, ZooKeeper: true}},
		{"waiter-leaves", race.Profile{Nodes: 1, ZooKeeper: true}},
		{"numbers-end", race.Profile{Nodes: 1, ZooKeeper: true}},
		{"script-cache-lost", race.Profile{Nodes: 1, UsesEVALSHA: true}},
	} {
		_, sc := racetest.Cell(t, "token", f.scenario)
		if why := sc.Needs(f.has); why != "" {
			t.Errorf("%s does not apply to %+v: %s", f.scenario, f.has, why)
		}
		if sc.Needs(race.Profile{Nodes: 1}) == "" {
			t.Errorf("%s applies to a lock with an empty profile", f.scenario)
		}
	}
	shares := race.Profile{Nodes: 1, ZooKeeper: true, Excludes: true, Remote: true, Checks: true, Shares: true}
	for id, applies := range map[string]bool{"calm": true, "session-ends": true, "gc-pause": false, "waiter-dies": false} {
		if _, sc := racetest.Cell(t, "token", id); (sc.WhyNotApplicable(shares) == "") != applies {
			t.Errorf("%s applies to locks with several holders: not %v", id, applies)
		}
	}
	_, sc := racetest.Cell(t, "token", "gc-pause-fenced")
	if sc.Needs(race.Profile{Nodes: 1}) != "" || sc.Needs(race.Profile{Nodes: 5}) == "" {
		t.Error("gc-pause-fenced applies to locks on one server only")
	}
	_, sc = racetest.Cell(t, "token", "split-bounded")
	if sc.Needs(race.Profile{Nodes: 1}) != "" || sc.Needs(race.Profile{Nodes: 5}) == "" {
		t.Error("split-bounded applies to locks on one server only")
	}
	for _, id := range []string{"quorum-failover", "quorum-restart", "split-vote", "split-vote-spread", "partial-acquire"} {
		_, sc = racetest.Cell(t, "token", id)
		if sc.Needs(race.Profile{Nodes: 5}) != "" || sc.Needs(race.Profile{Nodes: 1}) == "" {
			t.Errorf("%s applies to locks on several servers only", id)
		}
	}
	if _, sc = racetest.Cell(t, "token", "quorum-restart"); sc.Needs(race.Profile{Nodes: 5, StopsAtMajority: true}) == "" {
		t.Error("quorum-restart applies to locks that stop at a majority")
	}
	_, sc = racetest.Cell(t, "token", "failover-other")
	if sc.Needs(race.Profile{Nodes: 1}) != "" || sc.Needs(race.Profile{Nodes: 5}) == "" {
		t.Error("failover-other applies to locks on one server only")
	}
}
