package race

import (
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/client"
)

const (
	// longest is the greatest duration of a setting. Scenarios may multiply it without
	// an overflow.
	longest = 50_000 * time.Hour
	// mostTurns is how often all clients together may retry or renew within a run. It
	// keeps a run within about a second and some tens of MB.
	mostTurns = 10_000
)

// Check returns what is wrong with the settings for this lock, and what would be
// accepted.
func (sc Scenario) Check(entry lock.Entry, s Settings) error {
	for _, n := range durations {
		switch d := *n.get(&s); {
		case d < 0:
			return fmt.Errorf("%s=%v is negative: give a length from 0", n.name, d)
		case d > longest:
			return fmt.Errorf("%s=%v is more than a run can carry: give at most %v", n.name, d, longest)
		}
	}
	rhythm := min(s.Retry, s.TTL)
	switch {
	case s.TTL == 0:
		return fmt.Errorf("ttl=0s: a lease needs a length above 0, for example ttl=%v", sc.Settings.TTL)
	case s.TTL < time.Millisecond:
		return fmt.Errorf("ttl=%v: Redis counts leases in milliseconds, give at least 1ms", s.TTL)
	case s.Clients < 1 || s.Clients > simulator.MaxClients:
		return fmt.Errorf("clients=%d: give 1 to %d", s.Clients, simulator.MaxClients)
	case s.Horizon == 0:
		return fmt.Errorf("horizon=0s: the run would end before it began, give for example horizon=%v", sc.Settings.Horizon)
	case s.Retry == 0:
		return fmt.Errorf("retry=0s: a client that never rests stops the world, give for example retry=%v", sc.Settings.Retry)
	case s.Horizon < 3*s.TTL:
		return fmt.Errorf("horizon=%v is less than three leases of %v: a lock that recovers could not be told from one that does not; give at least horizon=%v", s.Horizon, s.TTL, 3*s.TTL)
	case int64(s.Horizon/rhythm) > mostTurns/int64(s.Clients):
		return fmt.Errorf("horizon=%v is too long for %d clients that come back every %v (the shorter of ttl and retry): give at most horizon=%v, or longer ttl and retry",
			s.Horizon, s.Clients, rhythm, rhythm*mostTurns/time.Duration(s.Clients))
	}
	if _, err := sc.budget(entry, s); err != nil {
		return err
	}
	return entry.Check(StubEnv(entry, s.TTL))
}

// StubEnv returns an environment that entry.Check can inspect. It cannot lock anything.
func StubEnv(entry lock.Entry, ttl time.Duration) lock.Env {
	env := lock.Env{Clock: clockwork.NewFakeClock(), Tokens: lock.RandomTokens{}, TTL: ttl}
	if entry.OnZooKeeper() {
		env.ZooKeeper = client.Session{}
	}
	for range entry.Nodes {
		env.Nodes = append(env.Nodes, redis.UniversalClient((*redis.Client)(nil)))
	}
	return env
}

// Quorum returns the smallest majority of n servers.
func Quorum(n int) int { return n/2 + 1 }

// FixedBudget is a Scenario.Budget that does not depend on the number of servers.
func FixedBudget(budget string) func(int) string { return func(int) string { return budget } }

// budget returns the faults that may be injected: the scenario's own, or the settings',
// which must cover what the script injects.
func (sc Scenario) budget(entry lock.Entry, s Settings) ([]simulator.FaultBudget, error) {
	text := ""
	if sc.Budget != nil {
		text = sc.Budget(entry.Servers())
	}
	needed, err := faults.ParseBudget(text)
	if err != nil || s.Budget == "" {
		return needed, err
	}
	given, err := faults.ParseBudget(s.Budget)
	if err != nil {
		return nil, err
	}
	for _, n := range needed {
		times, err := timesIn(given, n, s)
		if err != nil {
			return nil, err
		}
		if times < n.Times {
			return nil, fmt.Errorf("budget %q allows %s %d times, %s needs %d: give at least %s", s.Budget, n.Fault.Name(), times, sc.ID, n.Times, text)
		}
	}
	return given, nil
}

// timesIn returns how often the given budget allows a needed fault. It must allow the
// fault in the size of the settings.
func timesIn(given []simulator.FaultBudget, needed simulator.FaultBudget, s Settings) (times int, err error) {
	name := needed.Fault.Name()
	for _, g := range given {
		if g.Fault.Name() != name {
			continue
		}
		times = g.Times
		if size := s.size(name); g.Max > 0 && g.Max < size {
			return 0, fmt.Errorf("budget %q allows %s up to %v, and here it takes %v: give %s=%d@%v", s.Budget, name, g.Max, size, name, times, size)
		}
	}
	return times, nil
}
