package search

import (
	"cmp"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
)

// Bounds limit an exhaustive search, as they are written: explore.Scope, of which some may be left open, and what the
// rest of explore.Model is derived from. Clients are 1 to 6. Attempts are 1 to 9, for Explore also AutoAttempts and
// AnyAttempts. Nodes 0 are as many as the lock wants. Uses may be AutoUses. ClientRetries are 0 to MaxClientRetries.
type Bounds struct {
	explore.Scope
	// Retries is the number of times that a refused client asks again within one attempt, 0 to explore.MaxRetries, at
	// the times of explore.RetrySleeps; AutoRetries: as the faults and the skew want it.
	Retries int
	Budget  faults.Budget // faults that may be injected
	Endless bool          // with AnyAttempts, and in proofs: each fault of the budget strikes any number of times
	Timing  Mode          // how time passes
	// Work is a client's time inside, at any timing at most; 0: two fifths of a lease, a third at any timing.
	Work time.Duration
	// Latency is how long a message to or from a server takes, and Lateness how late a timer fires or a paused client
	// goes on: at any timing, at most, in whole steps of Step; AtOnce: not at all; 0: a step, and for messages to and
	// from several servers AtOnce. In lockstep each message to and from a Redis takes Latency, and no timer is late.
	Latency, Lateness time.Duration
	// Skew is by how much each client's clock may be off from the start, either way: a multiple of Step, or 0.
	Skew time.Duration
	// Idle bounds, with AnyTiming, how long a client waits before it wants the lock.
	// Explore sets it where code reads a clock: without a bound time has no end.
	Idle  bool
	Late  bool           // in lockstep: explore.Model.Late
	Epoch simulator.Date // when clocks begin
}

// AutoRetries in place of a number of retries: none, or one where a clock may jump or be off.
const AutoRetries = -1

// DefaultBounds are those of a small search that finds most of what there is to find.
func DefaultBounds() Bounds {
	return Bounds{Scope: explore.Scope{Clients: 2, Attempts: usualAttempts, TTL: 9 * time.Second},
		Retries: AutoRetries, Budget: "crash=1,pause=1"}
}

// OpenBounds are those of locklab explore without flags: DefaultBounds, and the rest as written beside a lock.
func OpenBounds() Bounds {
	b := DefaultBounds()
	b.Timing, b.Attempts, b.Uses, b.MaxStates = AutoTiming, AutoAttempts, AutoUses, UsualStates
	return b
}

// Leases and faults are as long as this, at least and at most: servers count in
// milliseconds, and a search's longest wait must be far from the end of time.
const (
	minTTL  = 2 * time.Millisecond
	longest = 365 * 24 * time.Hour
)

// Check says what is wrong with the bounds for this lock, and what would be right.
func (b Bounds) Check(entry lock.Entry) error {
	if b.TTL <= 0 && entry.Sessions() {
		return i18n.Errorf("error.bound.session", "value", b.TTL, "lock", entry.ID)
	}
	for _, one := range Table {
		if err := one.Check(b); err != nil {
			return i18n.Errorf("error.bound.range", "item", one.item(b), "want", err)
		}
	}
	always := b.Timing == AnyTiming
	switch {
	case b.Attempts < 1:
		return i18n.Errorf("error.bound.attempts", "item", b.Items("attempts")[0])
	case b.Endless:
		return i18n.Errorf("error.again.endless", "budget", writtenBudget(b))
	case b.Nodes > 1 && entry.Servers() == 1:
		return i18n.Errorf("error.bound.nodes.one", "value", b.Nodes, "lock", entry.ID)
	case always && b.TTL < minAnyTTL:
		return i18n.Errorf("error.bound.ttl.any", "value", b.TTL, "least", minAnyTTL)
	case always && b.Retries > 0:
		return i18n.Errorf("error.bound.retries.any", "value", b.Retries)
	case b.Timing == Lockstep && b.Uses == client.GiveUp:
		return i18n.Errorf("error.bound.uses.lockstep")
	case b.ClientRetries > 0 && (entry.Sessions() || entry.Database != ""):
		return i18n.Errorf("error.bound.client-retries.zookeeper", "lock", entry.ID)
	case b.Fenced && !entry.Fences() && entry.Database != "":
		return i18n.Errorf("error.bound.fenced.database", "lock", entry.ID)
	case b.Fenced && !entry.Fences() && b.Settled(entry).Nodes != 1: // see lock.Fence
		return i18n.Errorf("error.bound.fenced", "lock", entry.ID, "nodes", b.Settled(entry).Nodes)
	case b.Timing == Lockstep && (b.Lateness != 0 || b.Latency < 0 ||
		b.Latency > 0 && (entry.Sessions() || entry.Database != "")):
		return i18n.Errorf("error.bound.late.lockstep", "bounds", strings.Join(b.Items("latency", "lateness"), " "))
	case b.Timing != Lockstep && !b.isLate(b.Latency):
		return i18n.Errorf("error.bound.late", "name", "latency", "value", b.Latency, "step", b.Step(), "most",
			stepsPerLease*b.Step())
	case !b.isLate(b.Lateness):
		return i18n.Errorf("error.bound.late", "name", "lateness", "value", b.Lateness, "step", b.Step(), "most",
			stepsPerLease*b.Step())
	case b.Skew < 0 || b.Skew > maxSkewSteps*b.Step() || b.Skew%b.Step() != 0:
		return i18n.Errorf("error.bound.skew", "value", b.Skew, "step", b.Step(), "most", maxSkewSteps*b.Step())
	case b.Noisy > 0 && always: // two requests that are less than a step apart may be in one second or in two
		return i18n.Errorf("error.bound.noisy.any", "value", b.Noisy)
	}
	for _, can := range []func(lock.Entry) error{b.canInject, b.canUse, b.canTake} {
		if err := can(entry); err != nil {
			return err
		}
	}
	env := race.StubEnv(entry, b.TTL)
	if b.Nodes > 0 {
		env.Nodes = env.Nodes[:min(b.Nodes, len(env.Nodes))]
	}
	return race.CheckEnv(entry, env)
}

// canInject refuses a budget with a clock that jumps by nothing, or with lists of servers that may
// change where no client has one: a proof against that would prove nothing.
func (b Bounds) canInject(entry lock.Entry) error {
	budget, err := b.Budget.Parse()
	total := time.Duration(0)
	for _, a := range budget {
		if a.Max > longest {
			return i18n.Errorf("error.bound.fault", "budget", b.Budget, "fault", a.Fault.Name, "value", a.Max, "most",
				longest)
		}
		if total += time.Duration(a.Times) * a.Max; total > 10*longest {
			return i18n.Errorf("error.bound.faults", "budget", b.Budget, "most", 10*longest)
		}
		if a.Fault == faults.ServerList && a.Times > 0 && entry.Shards == 0 {
			return i18n.Errorf("error.bound.list", "budget", b.Budget, "lock", entry.ID)
		}
		if jumps(a) && a.Times > 0 && a.Max == 0 {
			return i18n.Errorf("error.bound.jump", "budget", b.Budget, "fault", a.Fault.Name, "times", a.Times)
		}
	}
	if err == nil && (entry.Sessions() || entry.Database != "") && b.Allows(faults.Return) {
		return i18n.Errorf("error.bound.return", "budget", b.Budget, "lock", entry.ID, "clients", b.Clients+1)
	}
	return err
}

// Allows reports whether the budget has a fault.
func (b Bounds) Allows(fault *simulator.Fault) bool { return b.Budget.Allows(fault) }

// jumps reports whether a fault makes a clock jump.
func jumps(a simulator.FaultBudget) bool {
	return a.Fault == faults.ClientClock || a.Fault == faults.NodeClock
}

// Settled fills in what is open. A clock that jumps or is off ends a lease early, seen only if a client asks early.
func (b Bounds) Settled(entry lock.Entry) Bounds {
	b = b.as(entry.Search, entry)
	if b.Nodes == 0 {
		b.Nodes = entry.Servers()
	}
	if b.Retries == AutoRetries {
		b.Retries = 0
		if b.Timing != AnyTiming && clockJumps(b.Budget.Faults())+b.Skew > 0 {
			b.Retries = 1
		}
	}
	b.Uses = b.settledUses(entry)
	b.Budget = b.Budget.Canonical()
	return b
}

// clockJumps is by how much a budget can set clocks wrong in all.
func clockJumps(budget []simulator.FaultBudget) (d time.Duration) {
	for _, a := range budget {
		if jumps(a) {
			d += time.Duration(a.Times) * a.Max
		}
	}
	return d
}

// FewServers returns the number of servers that a lock gets where many are searched: as many as it wants, but
// no more than three, the least number that makes a majority of more than one.
func FewServers(entry lock.Entry) int { return min(entry.Servers(), 3) }

// Model returns what is searched of one lock, with what was left open filled in. The error is about the budget.
func (b Bounds) Model(entry lock.Entry) (*explore.Model, error) {
	b = b.Settled(entry)
	budget, err := b.Budget.Parse()
	if err != nil {
		return nil, err
	}
	m := &explore.Model{
		Scope: b.Scope, Entry: entry, Timing: b.timing(entry), Inside: b.Work, Epoch: b.Epoch,
		Late: b.Late, Retries: explore.RetrySleeps(b.TTL, b.Retries),
		Faults: budget, ClockJumps: clockJumps(budget) + b.Skew, Skews: b.skews(),
	}
	if b.Timing != AnyTiming {
		m.Travel = b.Latency
	}
	if b.Allows(faults.Failover) || b.Allows(faults.Split) {
		m.Replicas = 1
	}
	return m, nil
}

// Race stands in place of a race in an outcome.
func (b Bounds) Race() race.Race { return race.Race{ID: SearchID} }

// Faults is the budget as bounds are written with it; "none" if it is empty.
func (b Bounds) Faults() string { return cmp.Or(writtenBudget(b), faults.NoFaults) }

// writtenBudget writes the budget of b as ParseBudget reads it; "" if it is empty.
func writtenBudget(b Bounds) string {
	if b.Endless {
		return string(inTimes(b.Budget, AnyTimes))
	}
	return string(b.Budget)
}
