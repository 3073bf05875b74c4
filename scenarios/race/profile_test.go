package race_test

import (
	"testing"

	"locklab/algorithms"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
)

// TestProfiles: what the lab observes of each lock, by which scenarios decide
// whether their question has a meaning for it.
func TestProfiles(t *testing.T) {
	want := map[string]race.Profile{
		"setnx":            {Nodes: 1, NeverExpires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"setnx-expire":     {Nodes: 1, TwoSteps: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"getset":           {Nodes: 1, NeverExpires: true, UsesGETSET: true, Excludes: true, Remote: true, LocksPerKey: true}, // no second command is to give its key a time to live
		"takeover-del":     {Nodes: 1, NeverExpires: true, Deletes: true, Excludes: true, Remote: true, LocksPerKey: true},
		"cron-v2":          {Nodes: 1, TwoSteps: true, Closes: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"cron-v3":          {Nodes: 1, TwoSteps: true, UsesGETSET: true, Closes: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"token":            {Nodes: 1, ChecksOwner: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true},
		"watchdog":         {Nodes: 1, ChecksOwner: true, Renews: true, Expires: true, Excludes: true, Remote: true, Reenters: true, LocksPerKey: true, Extends: true},
		"redlock":          {Nodes: 5, ChecksOwner: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true, Checks: true}, // sends on after its first key, which has a time to live
		"mutex":            {Nodes: 1},
		"zk-recheck":       {Nodes: 1, ChecksOwner: true, Excludes: true, Remote: true, LocksPerKey: true, Checks: true, ZooKeeper: true, WaitsInLine: true},
		"zk-semaphore":     {Nodes: 1, ChecksOwner: true, Excludes: true, Remote: true, Reenters: true, LocksPerKey: true, Checks: true, ZooKeeper: true, Shares: true, WaitsInLine: true},
		"redlock-failfast": {Nodes: 5, ChecksOwner: true, Expires: true, Excludes: true, Remote: true, LocksPerKey: true, Checks: true, StopsAtMajority: true},
		"token-wait":       {Nodes: 1, ChecksOwner: true, Expires: true, UsesWAIT: true, Excludes: true, Remote: true, LocksPerKey: true},
		"reentrant":        {Nodes: 1, ChecksOwner: true, Expires: true, Remote: true, Reenters: true}, // takes another key for locked
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

// TestNeedsGoByProfile: a question is asked of a lock exactly if the lock shows
// what the question is about, whatever the lock's name.
func TestNeedsGoByProfile(t *testing.T) {
	for _, f := range []struct {
		scenario string
		has      race.Profile // the least that gives the question a meaning
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
			t.Errorf("%s is not asked of %+v: %s", f.scenario, f.has, why)
		}
		if sc.Needs(race.Profile{Nodes: 1}) == "" {
			t.Errorf("%s is asked of a lock that shows nothing", f.scenario)
		}
	}
	shares := race.Profile{Nodes: 1, ZooKeeper: true, Excludes: true, Remote: true, Checks: true, Shares: true}
	for id, asked := range map[string]bool{"calm": true, "session-ends": true, "gc-pause": false, "waiter-dies": false} {
		if _, sc := racetest.Cell(t, "token", id); (sc.WhyNotApplicable(shares) == "") != asked {
			t.Errorf("%s of locks of whose two clients none waits: asked is not %v", id, asked)
		}
	}
	_, sc := racetest.Cell(t, "token", "gc-pause-fenced")
	if sc.Needs(race.Profile{Nodes: 1}) != "" || sc.Needs(race.Profile{Nodes: 5}) == "" {
		t.Error("gc-pause-fenced is asked of locks on one server, and of no other")
	}
	_, sc = racetest.Cell(t, "token", "split-bounded")
	if sc.Needs(race.Profile{Nodes: 1}) != "" || sc.Needs(race.Profile{Nodes: 5}) == "" {
		t.Error("split-bounded is asked of locks on one server, and of no other")
	}
	for _, id := range []string{"quorum-failover", "quorum-restart", "split-vote", "split-vote-spread", "partial-acquire"} {
		_, sc = racetest.Cell(t, "token", id)
		if sc.Needs(race.Profile{Nodes: 5}) != "" || sc.Needs(race.Profile{Nodes: 1}) == "" {
			t.Errorf("%s is asked of locks on several servers, and of no other", id)
		}
	}
	if _, sc = racetest.Cell(t, "token", "quorum-restart"); sc.Needs(race.Profile{Nodes: 5, StopsAtMajority: true}) == "" {
		t.Error("quorum-restart is asked of locks that stop asking, where nothing is shared")
	}
	_, sc = racetest.Cell(t, "token", "failover-other")
	if sc.Needs(race.Profile{Nodes: 1}) != "" || sc.Needs(race.Profile{Nodes: 5}) == "" {
		t.Error("failover-other is asked of locks on one server, and of no other")
	}
}
