package race

import (
	"fmt"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// An Outcome is what became of one lock in one scenario.
type Outcome struct {
	Strategy lock.Entry
	Scenario Scenario
	Settings Settings
	// NotApplicable says why the question has no meaning for this lock; then
	// there is no history.
	NotApplicable Reason
	History       *history.History
	Judgement     verdict.Judgement
	Reached       bool // the fault struck, as Scenario.Struck sees it; true where not applicable
	Verdicts      []verdict.Word
	Trace         simulator.Trace
	NotInjected   []error // strikes of the script that could not happen
	Runs, Broken  int     // seeded runs played beside this one, and how many broke the lock
}

// Play plays one lock in one scenario. The error is about the settings, or
// about code that the lab cannot carry.
func Play(entry lock.Entry, sc Scenario, s Settings) (*Outcome, error) {
	return new(Runner).Play(entry, sc, s)
}

// A Company plays many cells and asks each lock for its profile only once. The
// zero Company is ready; several goroutines may use it. Locks are told apart by
// their ID.
type Runner struct{ profiles sync.Map }

// Play is the function of that name.
func (c *Runner) Play(entry lock.Entry, sc Scenario, s Settings) (*Outcome, error) {
	if err := sc.Check(entry, s); err != nil {
		return nil, err
	}
	p, err := c.Profile(entry)
	if err != nil {
		return nil, err
	}
	if why := sc.WhyNotApplicable(p); why != "" {
		return sc.notApplicable(entry, s, why), nil
	}
	return sc.Play(entry, s)
}

func (sc Scenario) notApplicable(entry lock.Entry, s Settings, why Reason) *Outcome {
	return &Outcome{
		Strategy: entry, Scenario: sc, Settings: s, NotApplicable: why, Reached: true,
		Verdicts: []verdict.Word{verdict.NA},
		Trace:    simulator.Trace{Strategy: entry.ID, Scenario: sc.ID, Settings: s.String()},
	}
}

const (
	// longest is what a setting may be at most. Every multiple of it that a cast
	// or a script makes is still a time.
	longest = 50_000 * time.Hour
	// mostTurns is how often all clients together may come back within a run, be
	// it to ask or to prolong. It keeps a run within a second or so and some tens of MB.
	mostTurns = 10_000
)

// Check says what is wrong with the settings, with what would do.
func (sc Scenario) Check(entry lock.Entry, s Settings) error {
	for _, n := range settingNames {
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
	return entry.Check(PlaceholderEnv(entry, s.TTL))
}

// dummyEnv is enough of an environment to have a strategy's demands checked.
func PlaceholderEnv(entry lock.Entry, ttl time.Duration) lock.Env {
	env := lock.Env{Clock: clockwork.NewFakeClock(), Tokens: lock.RandomTokens{}, TTL: ttl}
	if entry.OnZooKeeper() {
		env.ZooKeeper = client.Session{}
	}
	for range entry.Nodes {
		env.Nodes = append(env.Nodes, redis.UniversalClient((*redis.Client)(nil)))
	}
	return env
}

// budget is what may strike. A budget that a user gives must cover what the
// script does, or the story could not be told.
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
		have := 0
		for _, g := range given {
			if g.Fault.Name() != n.Fault.Name() {
				continue
			}
			have = g.Times
			if size := s.size(n.Fault.Name()); g.Max > 0 && g.Max < size {
				return nil, fmt.Errorf("budget %q allows %s up to %v, and here it takes %v: give %s=%d@%v", s.Budget, n.Fault.Name(), g.Max, size, n.Fault.Name(), have, size)
			}
		}
		if have < n.Times {
			return nil, fmt.Errorf("budget %q allows %s %d times, %s needs %d: give at least %s", s.Budget, n.Fault.Name(), have, sc.ID, n.Times, text)
		}
	}
	return given, nil
}

func (c *Runner) Profile(entry lock.Entry) (Profile, error) {
	known, _ := c.profiles.LoadOrStore(entry.ID, sync.OnceValues(func() (Profile, error) { return ProfileOf(entry) }))
	return known.(func() (Profile, error))()
}

// WhyNotApplicable says why the question has no meaning for a lock with this profile.
func (sc Scenario) WhyNotApplicable(p Profile) Reason {
	switch {
	case !p.Excludes && !sc.IncludeNonExclusive:
		return "no-exclusion"
	case p.ZooKeeper && sc.wholeEnsemble() != "":
		return sc.wholeEnsemble()
	case p.Shares && !sc.AllowsShared:
		return "shared"
	case sc.Needs != nil:
		return sc.Needs(p)
	}
	return ""
}

// play plays without asking whether it makes sense.
func (sc Scenario) Play(entry lock.Entry, s Settings) (*Outcome, error) {
	p, err := sc.Prepare(entry, s)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	run, err := p.Player.Play(p.Options(s))
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w", entry.ID, sc.ID, err)
	}
	return p.Outcome(run, s), nil
}

// A production is a scenario with its lock, ready to be played many times.
type Prepared struct {
	Entry     lock.Entry
	Scenario  Scenario
	Clients   []Client
	Simulator *simulator.Simulator
	Player    *schedule.Player
}

func (p *Prepared) Close() { p.Simulator.Close() }

// stage builds the lab. Its tables depend on the settings that the clients'
// code sees (ttl, retry, the cast's times); the rest may change from run to run.
func (sc Scenario) Prepare(entry lock.Entry, s Settings) (*Prepared, error) {
	budget, err := sc.budget(entry, s)
	if err != nil {
		return nil, err
	}
	setup := simulator.Config{Faults: budget, Timeout: s.Timeout, Guard: sc.Guard}
	if setup.Timeout == 0 && entry.Nodes > 1 {
		setup.Timeout = 50 * time.Millisecond
	}
	cast := sc.cast(s)
	for _, r := range cast {
		setup.Clients = append(setup.Clients, simulator.ClientConfig{
			Program: Program(entry, s, r, entry.Servers(), sc.Guard == history.Fenced), Offset: r.Skew, PPM: r.PPM,
		})
	}
	setup.Nodes = client.Servers(entry, s.TTL, simulator.NodeConfig{Replicas: max(sc.Replicas, entry.Replicas), MinReplicas: sc.MinReplicas, AOF: sc.AOF, PPM: sc.NodePPM}, entry.Nodes)
	if sc.SequenceExhausted && entry.OnZooKeeper() {
		if setup.Nodes[0].Znodes, err = worn(entry); err != nil {
			return nil, err
		}
	}
	sim, err := simulator.New(setup)
	if err != nil {
		return nil, err
	}
	return &Prepared{Entry: entry, Scenario: sc, Clients: cast, Simulator: sim, Player: schedule.NewPlayer(sim)}, nil
}

func (sc Scenario) cast(s Settings) []Client {
	cast := sc.Clients(s)
	for len(cast) < s.Clients {
		next := cast[len(cast)-1]
		next.Start += s.Retry * 3 / 10
		cast = append(cast, next)
	}
	return cast[:s.Clients]
}

func (p *Prepared) Options(s Settings) schedule.Options {
	opt := schedule.Options{Seed: s.Seed, Latency: s.Latency, Horizon: s.Horizon, Lag: s.Lag}
	for _, r := range p.Clients {
		opt.Start = append(opt.Start, r.Start)
	}
	if p.Scenario.Script != nil {
		opt.Script = RunTriggers(p.Scenario.Script(s, p.Entry.Servers()))
	}
	return opt
}

func (p *Prepared) History(run *schedule.Run, s Settings) *history.History {
	return &history.History{
		Strategy: p.Entry.ID, Scenario: p.Scenario.ID, Clients: len(p.Clients), Nodes: p.Entry.Servers(),
		Key: client.Key, ZooKeeper: p.Entry.OnZooKeeper(), Holders: client.Holders(p.Entry, len(p.Clients)), TTL: s.TTL, Guard: p.Scenario.Guard, End: run.End, Horizon: run.Horizon, Events: MergeTaskThreads(run.Events),
	}
}

// inOneThread tells what tasks do that run side by side as their caller's deeds:
// they are one call of one client, and to a reader another thread is a timer. A
// timer sleeps before all else.
func MergeTaskThreads(events []history.Event) []history.Event {
	type thread struct{ client, number int }
	timer := map[thread]bool{}
	for i := range events {
		e := &events[i]
		who := thread{e.Client, e.Thread}
		if e.Kind == history.Sleep {
			timer[who] = true
		}
		if !timer[who] {
			e.Thread = 0
		}
	}
	return events
}

func (p *Prepared) Outcome(run *schedule.Run, s Settings) *Outcome {
	h := p.History(run, s)
	o := &Outcome{
		Strategy: p.Entry, Scenario: p.Scenario, Settings: s, History: h, NotInjected: run.NotInjected,
		Judgement: verdict.Judge(h),
		Trace:     simulator.Trace{Strategy: p.Entry.ID, Scenario: p.Scenario.ID, Settings: s.String(), Choices: run.Choices},
	}
	o.Reached = p.Scenario.Triggered == nil || p.Scenario.Triggered(h)
	o.Verdicts = verdict.Settle(o.Judgement, o.Reached && o.Judgement.Contended, true)
	return o
}
