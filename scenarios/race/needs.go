package race

import (
	"slices"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

// A Reason is a key of the catalogues of texts: na.<key> says why a race does not apply
// to a lock, why.<key> why a lock has its verdict. "" is no reason.
type Reason string

// A Need is what a race needs of a lock: how a profile shows it, and why the race does not apply to a lock without it.
type Need struct {
	Why Reason
	Has func(p Profile) bool
}

// What races need of a lock.
var (
	AnyServer      = Need{"no-server", func(p Profile) bool { return p.Remote }}
	SeveralServers = Need{"one-server", func(p Profile) bool { return p.Nodes > 1 }}
	Majority       = Need{"no-majority", func(p Profile) bool { return p.Nodes > 1 }}
	AsksAllServers = Need{"stops-at-majority", func(p Profile) bool { return !p.StopsAtMajority }}
	SingleGrant    = Need{"no-single-grant", func(p Profile) bool { return p.Nodes == 1 }}
	ReplicaCount   = Need{"no-replica-count", func(p Profile) bool { return p.Nodes == 1 }}
	ShardList      = Need{"not-sharded", func(p Profile) bool { return p.Shards }}
	ServerClock    = Need{"no-server-clock", func(p Profile) bool { return p.Expires }}
	TTL            = Need{"no-ttl", func(p Profile) bool { return p.Expires }}
	LateTTL        = Need{"ttl-never-missing", func(p Profile) bool { return p.TwoSteps }}
	NoTTL          = Need{"key-gone-with-stamp", func(p Profile) bool { return p.NeverExpires }}
	Takeover       = Need{"no-takeover", func(p Profile) bool { return p.UsesGETSET || p.Deletes }}
	GETSET         = Need{"no-getset", func(p Profile) bool { return p.UsesGETSET }}
	EVALSHA        = Need{"no-evalsha", func(p Profile) bool { return p.UsesEVALSHA }}
	CheckedRelease = Need{"release-without-check", func(p Profile) bool { return p.ChecksOwner }}
	OwnerCheck     = Need{"release-unchecked", func(p Profile) bool { return p.ChecksOwner }}
	Reentry        = Need{"not-reentrant", func(p Profile) bool { return p.Reenters }}
	LockPerKey     = Need{"second-key-assumed", func(p Profile) bool { return p.LocksPerKey }}
	Renewals       = Need{"no-watchdog", func(p Profile) bool { return p.Renews }}
	Renewable      = Need{"no-renew", func(p Profile) bool { return p.Extends }}
	Checkable      = Need{"no-check", func(p Profile) bool { return p.Checks }}
	ShutdownHook   = Need{"no-shutdown-hook", func(p Profile) bool { return p.Closes }}
	OnZooKeeper    = Need{"not-on-zookeeper", func(p Profile) bool { return p.ZooKeeper }}
	Session        = Need{"no-session", func(p Profile) bool { return p.ZooKeeper || p.Keyless }}

	// Fencing tokens are counted by one server. A ZooKeeper ensemble is one.
	FencingCounter = Need{"no-fencing-counter", func(p Profile) bool { return p.Nodes == 1 && !p.Shards }}
	LeaseNumber    = Need{"no-lease-number", func(p Profile) bool { return !p.NoCounter }}
	// In races that need it, replicas lag for longer than the lock would wait for them.
	NoWait = Need{"waits-for-replica", func(p Profile) bool { return !p.UsesWAIT }}
	// Waiters are woken by messages.
	NoWatches = Need{"woken-by-watch", func(p Profile) bool { return !p.ZooKeeper }}
	Queue     = Need{"polls", func(p Profile) bool { return p.WaitsInLine }}
	// Requests of one connection are executed in order, and answered without a time-out.
	NoSessionOrder    = Need{"session-in-order", func(p Profile) bool { return !p.ZooKeeper }}
	NoConnectionOrder = Need{"connection-in-order", func(p Profile) bool { return !p.Database }}
	NoSessionTimeout  = Need{"zookeeper-timeout", func(p Profile) bool { return !p.ZooKeeper }}
	NoPatientDatabase = Need{"database-no-timeout", func(p Profile) bool { return !p.Database }}
	// A write that is a statement of a transaction comes before its end, or not at all.
	WriteApart = Need{"writes-in-transaction", func(p Profile) bool { return !p.Transacts }}
	// What a database keeps for a session is on no replica, has no end to renew, and goes with a client that crashes.
	Replicated = Need{"session-not-replicated", func(p Profile) bool { return !p.Keyless }}
	LaterEnd   = Need{"session-no-end", func(p Profile) bool { return !p.Keyless }}
	LeftBehind = Need{"session-crashes", func(p Profile) bool { return !p.Keyless }}
)

// A fit is a race beside what plays in it.
type fit struct {
	Race
	Profile
	code    *Code // nil: a lock of the list
	clients []ClientSpec
}

const (
	ownProgram     Reason = "own-program"
	ownToken       Reason = "own-token"
	noFencingToken Reason = "no-fencing-token"
	wallClock      Reason = "wall-clock"
)

// CodeReasons returns why races may not apply to Code, besides the reasons of its profile.
func CodeReasons() []Reason { return []Reason{ownProgram, ownToken, noFencingToken, wallClock} }

// barriers are what keeps a lock from a race whatever that needs, in the order in which they are asked: what code of
// one attempt cannot do; what is no lock, or lets a second client in without any fault; faults that an ensemble,
// which is modelled as a whole, or a database does not have.
var barriers = []struct {
	why  Reason
	bars func(f fit) bool
}{
	{ownProgram, func(f fit) bool { return f.anyClient(func(c ClientSpec) bool { return c.Run != nil }) }},
	{ownToken, func(f fit) bool {
		return f.anyClient(func(c ClientSpec) bool { return c.Thread != "" || c.Token != "" })
	}},
	{noFencingToken, func(f fit) bool { return f.code != nil && f.Guard == history.Fenced && !f.code.Fences }},
	{wallClock, func(f fit) bool { return f.code != nil && f.strikes(faults.ClientClock) }},
	{"no-lock", func(f fit) bool { return f.Unlocked && (!f.Data || f.Guard != history.Naive) }},
	{"no-exclusion", func(f fit) bool { return !f.Excludes && !f.Unlocked && !f.IncludeNonExclusive }},
	{"zookeeper-replicates-first", func(f fit) bool { return f.ZooKeeper && f.Replicas > 0 }},
	{"zookeeper-timeout", func(f fit) bool { return f.ZooKeeper && f.Settings.Timeout > 0 }},
	{"zookeeper-clock", func(f fit) bool { return f.ZooKeeper && f.strikes(faults.NodeClock) }},
	{"zookeeper-survives-server", func(f fit) bool { return f.ZooKeeper && f.strikes(faults.Restart, faults.Hang) }},
	{"redis-only", func(f fit) bool {
		return f.ZooKeeper && f.strikes(faults.FailCall, faults.Evict, faults.Flush, faults.Delete)
	}},
	{"database-counts-no-replicas", func(f fit) bool { return f.Database && f.MinReplicas > 0 }},
	{"database-split", func(f fit) bool { return f.Database && f.strikes(faults.Split) }},
	{"database-keeps-commits",
		func(f fit) bool { return f.Database && f.strikes(faults.Restart) && f.AOF != simulator.Always }},
	{"redis-only", func(f fit) bool { return f.Database && f.strikes(faults.Evict) }},
	{"database-no-row", func(f fit) bool { return f.Keyless && f.strikes(faults.Delete, faults.Flush) }},
	{"shared", func(f fit) bool { return f.Shares && !f.AllowsShared }},
}

// anyClient reports whether code plays, and a client that it plays is so.
func (f fit) anyClient(is func(c ClientSpec) bool) bool {
	return f.code != nil && slices.ContainsFunc(f.clients, is)
}

// strikes reports whether one of the faults belongs to the race.
func (f fit) strikes(all ...*simulator.Fault) bool {
	return slices.ContainsFunc(all, f.ownBudget(1).Allows)
}

// WhyNotApplicable returns why the race does not apply to a lock with this profile; "": it applies.
func (sc Race) WhyNotApplicable(p Profile) Reason { return sc.whyNotApplicable(p, nil, sc.Settings) }

// whyNotApplicable is WhyNotApplicable with these settings; code plays in place of the lock, nil: the lock plays.
func (sc Race) whyNotApplicable(p Profile, code *Code, s Settings) Reason {
	f := fit{Race: sc, Profile: p, code: code, clients: sc.clients(s)}
	for _, b := range barriers {
		if b.bars(f) {
			return b.why
		}
	}
	for _, n := range sc.Needs {
		if !n.Has(p) {
			return n.Why
		}
	}
	return ""
}
