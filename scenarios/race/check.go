package race

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/i18n"
)

const (
	// longest is the greatest duration of a setting. Races may multiply it without an overflow.
	longest = 50_000 * time.Hour
	// mostTurns bounds all clients' retries and renewals in a run, which then takes about a second and tens of MB.
	mostTurns = 10_000
)

// Check returns what is wrong with the settings for this lock, and what would be accepted.
func (sc Race) Check(entry lock.Entry, s Settings) error {
	for _, n := range durations {
		switch d := *n.get(&s); {
		case d < 0:
			return i18n.Errorf("error.check.negative", "name", n.name, "value", d)
		case d > longest:
			return i18n.Errorf("error.check.long", "name", n.name, "value", d, "most", longest)
		}
	}
	if s.Drift > MaxDrift {
		return i18n.Errorf("error.check.long", "name", "drift", "value", s.Drift, "most", MaxDrift)
	}
	rhythm := min(s.Retry, s.TTL)
	switch {
	case s.Idle > 0 && (entry.Database == "" || !entry.Sessions()):
		return i18n.Errorf("error.check.idle", "value", s.Idle, "lock", entry.ID)
	case s.TTL == 0:
		return i18n.Errorf("error.check.ttl.zero", "example", sc.Settings.TTL)
	case s.TTL < time.Millisecond:
		return i18n.Errorf("error.check.ttl.short", "value", s.TTL)
	case s.Clients < 1 || s.Clients > simulator.MaxClients:
		return i18n.Errorf("error.check.clients", "value", s.Clients, "most", simulator.MaxClients)
	case s.Horizon == 0:
		return i18n.Errorf("error.check.horizon.zero", "example", sc.Settings.Horizon)
	case s.Retry == 0:
		return i18n.Errorf("error.check.retry.zero", "example", sc.Settings.Retry)
	case s.Horizon < 3*s.TTL:
		return i18n.Errorf("error.check.horizon.short", "value", s.Horizon, "ttl", s.TTL, "least", 3*s.TTL)
	case int64(s.Horizon/rhythm) > mostTurns/int64(s.Clients):
		return i18n.Errorf("error.check.horizon.long", "value", s.Horizon, "clients", s.Clients, "rhythm", rhythm,
			"most", rhythm*mostTurns/time.Duration(s.Clients))
	}
	if _, err := sc.budget(entry, s); err != nil {
		return err
	}
	return CheckEnv(entry, StubEnv(entry, s.TTL))
}

// CheckEnv is entry.Check. It says in the user's words what is wrong with the lease or with the number of servers.
func CheckEnv(entry lock.Entry, env lock.Env) error {
	err := entry.Check(env)
	ttl, servers := (*lock.TTLError)(nil), (*lock.ServersError)(nil)
	switch {
	case errors.As(err, &servers) && servers.Least > 1:
		return i18n.Errorf("error.check.majority", "lock", entry.ID,
			"given", servers.Given, "least", servers.Least, "usual", entry.Nodes)
	case errors.As(err, &ttl) && ttl.TTL <= 0:
		return i18n.Errorf("error.check.ttl.none", "value", ttl.TTL, "lock", entry.ID, "try", ttl.Try)
	case errors.As(err, &ttl):
		return i18n.Errorf("error.check.ttl.unit", "value", ttl.TTL, "unit", entry.Unit,
			"lock", entry.ID, "try", ttl.Try)
	}
	return err
}

// StubEnv returns an environment that entry.Check can inspect. It cannot lock anything.
func StubEnv(entry lock.Entry, ttl time.Duration) lock.Env {
	env := lock.Env{Clock: clockwork.NewFakeClock(), Tokens: lock.RandomTokens{}, TTL: ttl}
	switch {
	case entry.Database != "":
		env.DB = &sql.DB{}
	case entry.OnZooKeeper():
		env.ZooKeeper = client.Session{}
	}
	for range entry.Servers() {
		env.Nodes = append(env.Nodes, redis.UniversalClient((*redis.Client)(nil)))
	}
	return env
}

// Quorum returns the smallest majority of n servers.
func Quorum(n int) int { return n/2 + 1 }

// FixedBudget is a Race.Budget that does not depend on the number of servers.
func FixedBudget(budget string) func(int) string { return func(int) string { return budget } }

// Votes says of how many of the servers that a lock asks it has the votes, as "3/5", where the race takes a lock from a
// server: of a bare majority, since the race loses requests to the others, or of all; "": it does not, or there is one.
func (sc Race) Votes(asked int) string {
	one, all := string(sc.ownBudget(1)), string(sc.ownBudget(asked))
	switch {
	case asked < 2:
		return ""
	case strings.Contains(all, "lose-request") && !strings.Contains(one, "lose-request"):
		return fmt.Sprintf("%d/%d", Quorum(asked), asked)
	case strings.Contains(all, "failover") && all == one:
		return fmt.Sprintf("%d/%d", asked, asked)
	}
	return ""
}

// ownBudget is Budget; "": the race has none.
func (sc Race) ownBudget(servers int) faults.Budget {
	if sc.Budget == nil {
		return ""
	}
	return faults.Budget(sc.Budget(servers))
}

// budget returns the faults that may be injected: the race's own, or the settings', which must cover the script's.
func (sc Race) budget(entry lock.Entry, s Settings) ([]simulator.FaultBudget, error) {
	own := sc.ownBudget(entry.Asked())
	needed, err := own.Parse()
	if err != nil || s.Budget == "" {
		return needed, err
	}
	given, err := s.Budget.Parse()
	if err != nil {
		return nil, err
	}
	for _, n := range needed {
		times, err := timesIn(given, n, s)
		if err != nil {
			return nil, err
		}
		if times < n.Times {
			return nil, i18n.Errorf("error.check.budget.times", "budget", s.Budget, "fault", n.Fault.Name,
				"times", times, "race", sc.ID, "needed", n.Times, "least", own)
		}
	}
	return given, nil
}

// timesIn returns how often a budget allows a needed fault. It must allow the fault in the settings' size.
func timesIn(given []simulator.FaultBudget, needed simulator.FaultBudget, s Settings) (times int, err error) {
	name := needed.Fault.Name
	for _, g := range given {
		if g.Fault.Name != name {
			continue
		}
		times = g.Times
		if size := s.size(name); g.Max > 0 && g.Max < size {
			return 0, i18n.Errorf("error.check.budget.size", "budget", s.Budget, "fault", name,
				"max", g.Max, "size", size, "times", times)
		}
	}
	return times, nil
}
