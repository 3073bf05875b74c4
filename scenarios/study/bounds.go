package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// Bounds are what an exhaustive search covers.
type Bounds struct {
	Clients  int    // 1 to 6; a probe that looks for deadlocks comes on top
	Attempts int    // how often each client wants the lock, 1 to 9
	Asks     int    // how often it asks for it each time at most, 1 to 6, see AskingTimes; 0: once, or twice where a clock may jump
	Budget   string // faults that may strike, as in crash=1,pause=1@5s
	Nodes    int    // servers; 0: as many as the lock wants
	TTL      time.Duration
	Fenced   bool
	// Causes, MaxStates, MaxBytes and Progress are as in explore.Options.
	Causes     bool
	MaxStates  int
	MaxBytes   int64
	Progress   func(r *explore.Result)
	Checkpoint string           // file that keeps the search, see explore.Checkpoint; "": none
	Now        func() time.Time // wall clock for Checkpoint
}

// DefaultBounds are those of the smallest search that shows most of what there
// is to see.
func DefaultBounds() Bounds {
	return Bounds{Clients: 2, Attempts: 2, Budget: "crash=1,pause=1", TTL: 9 * time.Second}
}

// The numbers of a search, in parts of a lease: a client works for less than a
// lease, and one that was refused, or is done, wants the lock again after more
// than one. A lease of nine seconds makes all of them, and a third of a lease,
// whole milliseconds: states recur that way.
func (b Bounds) work() time.Duration {
	if b.Asks > 1 {
		return b.TTL*2/5 + moment // a rival that asks again does so at its very end
	}
	return b.TTL * 2 / 5
}

func (b Bounds) retry() time.Duration { return b.TTL + b.TTL/10 }

// AskingTimes are when a client asks that is refused again and again, in
// twentieths of a lease, all but the first a moment later: as two clients work
// for two fifths of a lease, the second asks when the first one's work ends, and
// just after a lease has ended. Who asked all the time would see no more.
func RetryTimes() []int { return []int{0, 8, 20, 28, 40, 48} }

// moment keeps clients from asking at the instant at which a lease ends, when
// some servers would still say no.
const moment = time.Millisecond

// Check says what is wrong with the bounds, with what would do.
func (b Bounds) Check(entry lock.Entry) error {
	switch {
	case b.Clients < 1 || b.Clients > simulator.MaxClients-2:
		return fmt.Errorf("clients=%d: give 1 to %d", b.Clients, simulator.MaxClients-2)
	case b.Attempts < 1 || b.Attempts > 9:
		return fmt.Errorf("attempts=%d: give 1 to 9", b.Attempts)
	case b.Asks < 0 || b.Asks > len(RetryTimes()):
		return fmt.Errorf("asks=%d: give 1 to %d, or 0 for what the faults want", b.Asks, len(RetryTimes()))
	case b.Nodes < 0 || b.Nodes > simulator.MaxNodes:
		return fmt.Errorf("nodes=%d: give 1 to %d, or 0 for what the lock wants", b.Nodes, simulator.MaxNodes)
	case b.Nodes > 1 && entry.Servers() == 1:
		return fmt.Errorf("nodes=%d: %s locks on one server", b.Nodes, entry.ID)
	case b.TTL <= 0 && entry.OnZooKeeper():
		return fmt.Errorf("ttl=%v: %s locks by a session, which has a time-out above 0: give a length such as 9s", b.TTL, entry.ID)
	case b.MaxStates < 0:
		return fmt.Errorf("max-states=%d: give a number above 0, or 0 for no limit", b.MaxStates)
	}
	if err := b.canStrike(); err != nil {
		return err
	}
	env := race.StubEnv(entry, b.TTL)
	if b.Nodes > 0 {
		env.Nodes = env.Nodes[:min(b.Nodes, len(env.Nodes))]
	}
	return entry.Check(env)
}

// canStrike refuses a budget by which nothing would ever happen: a proof against
// a jump of no size is none.
func (b Bounds) canStrike() error {
	budget, err := faults.ParseBudget(b.Budget)
	for _, a := range budget {
		switch a.Fault.(type) {
		case faults.ClientClock, faults.NodeClock:
			if a.Times > 0 && a.Max == 0 {
				return fmt.Errorf("budget %q: a clock jumps by some length: write %s=%d@10s", b.Budget, a.Fault.Name(), a.Times)
			}
		}
	}
	return err
}

// settled fills in what was left open. A clock that jumps ends a lease early:
// somebody must ask early, or nothing would be learned of it.
func (b Bounds) Settled(entry lock.Entry) Bounds {
	if b.Nodes == 0 {
		b.Nodes = entry.Servers()
	}
	if b.Asks == 0 {
		b.Asks = 1
		if b.clocksJump() > 0 {
			b.Asks = 2
		}
	}
	return b
}

// clocksJump is how much clocks can jump in all.
func (b Bounds) clocksJump() (d time.Duration) {
	budget, _ := faults.ParseBudget(b.Budget) // Check has read it
	for _, a := range budget {
		switch a.Fault.(type) {
		case faults.ClientClock, faults.NodeClock:
			d += time.Duration(a.Times) * a.Max
		}
	}
	return d
}

// String writes the bounds as ParseBounds reads them.
func (b Bounds) String() string {
	return fmt.Sprintf("clients=%d,attempts=%d,asks=%d,nodes=%d,ttl=%v,fenced=%t,budget=%s",
		b.Clients, b.Attempts, b.Asks, b.Nodes, b.TTL, b.Fenced, strings.ReplaceAll(b.Budget, ",", "+"))
}

// ParseBounds reads what String wrote. The error names the item.
func ParseBounds(text string) (b Bounds, err error) {
	for _, item := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		err, want := error(nil), "give a whole number"
		switch name {
		case "clients":
			b.Clients, err = strconv.Atoi(value)
		case "attempts":
			b.Attempts, err = strconv.Atoi(value)
		case "asks":
			b.Asks, err = strconv.Atoi(value)
		case "nodes":
			b.Nodes, err = strconv.Atoi(value)
		case "ttl":
			b.TTL, err = time.ParseDuration(value)
			want = "give a length with its unit, such as 10s"
		case "fenced":
			b.Fenced, err = strconv.ParseBool(value)
			want = "write true or false"
		case "budget":
			b.Budget = strings.ReplaceAll(value, "+", ",")
		default:
			return b, fmt.Errorf("bound %q: there is no such bound", item)
		}
		if err != nil {
			return b, fmt.Errorf("bound %q: %s", item, want)
		}
	}
	return b, nil
}

func (b Bounds) Options(entry lock.Entry) explore.Options {
	search := entry.ID + " " + b.String()
	if b.Causes {
		search += " by cause"
	}
	return explore.Options{
		Case: *b.Head(entry), Probe: b.Clients + 1, Symmetric: b.Clients, Causes: b.Causes, MaxStates: b.MaxStates, MaxBytes: b.MaxBytes, Progress: b.Progress,
		Checkpoint: explore.Checkpoint{File: b.Checkpoint, Search: search, Now: b.Now},
	}
}

// judge hears the judges on a run of a search, and the probe's word.
func (b Bounds) judge(entry lock.Entry, run *schedule.Run, choices []simulator.Choice) (*race.Outcome, []verdict.Word) {
	h := b.Head(entry)
	h.Events, h.End, h.Horizon = race.MergeParallel(run.Events), run.End, run.Horizon
	o := &race.Outcome{Strategy: entry, Scenario: b.Scenario(), History: h, Judgement: verdict.Judge(h), Reached: true}
	o.Verdicts = append(o.Verdicts, o.Judgement.Safety()...)
	if haunted(h) {
		o.Verdicts = append(o.Verdicts, verdict.Orphan)
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Refuse && e.Note == explore.ProbeRefused {
			o.Verdicts = append(o.Verdicts, verdict.Deadlock)
			settleStall(o)
			break
		}
	}
	if b.allInVain(h) && InjectedFaults(choices) == "" {
		o.Verdicts = append(o.Verdicts, verdict.Starved)
		f := verdict.Finding{Verdict: verdict.Starved, To: h.End, Event: len(h.Events) - 1}
		for c := range b.Clients {
			f.Clients = append(f.Clients, c+1)
		}
		o.Judgement.Findings = append(o.Judgement.Findings, f)
	}
	if o.Verdicts == nil {
		o.Verdicts = []verdict.Word{verdict.Holds}
	}
	return o, o.Verdicts
}

// allInVain says whether every client came to its end, and none was ever given
// the lock.
func (b Bounds) allInVain(h *history.History) bool {
	done := 0
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Client > b.Clients: // the probe
		case e.Kind == history.Enter:
			return false
		case e.Kind == history.Done:
			done++
		}
	}
	return done == b.Clients
}

func (b Bounds) Scenario() race.Scenario { return race.Scenario{ID: SearchID} }

func (b Bounds) Faults() string { return cmp.Or(b.Budget, "none") }

func (b Bounds) Head(entry lock.Entry) *history.History {
	return &history.History{Strategy: entry.ID, Scenario: "search", Clients: b.Clients + 1, Nodes: b.Nodes, Key: client.Key, ZooKeeper: entry.OnZooKeeper(), Holders: client.Holders(entry, b.Clients+1), TTL: b.TTL, Guard: b.guard()}
}

func (b Bounds) guard() history.Guard {
	if b.Fenced {
		return history.Fenced
	}
	return history.Naive
}

func (b Bounds) Lab(entry lock.Entry) (*simulator.Simulator, error) {
	b = b.Settled(entry)
	budget, err := faults.ParseBudget(b.Budget)
	if err != nil {
		return nil, err
	}
	setup := simulator.Config{Faults: budget, Guard: b.guard()}
	if b.Nodes > 1 {
		setup.Timeout = 50 * time.Millisecond
	}
	for range b.Clients {
		setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: b.contender(entry, RetryTimes()[:b.Asks])})
	}
	setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: b.probe(entry)})
	replicas := entry.Replicas
	for _, a := range budget {
		switch a.Fault.(type) {
		case faults.Failover, faults.Split:
			replicas = max(replicas, 1)
		}
	}
	setup.Nodes = client.Servers(entry, b.TTL, simulator.NodeConfig{Replicas: replicas}, b.Nodes)
	return simulator.New(setup)
}

func (b Bounds) lock(entry lock.Entry, c *simulator.Client) lock.Strategy {
	env := client.Environment(c, b.TTL, b.Nodes)
	strategy := entry.New(env)
	if b.Fenced && !entry.OnZooKeeper() {
		strategy = lock.Fence(strategy, env)
	}
	return strategy
}

// contender wants the lock so many times, and does its work when it gets it.
func (b Bounds) contender(entry lock.Entry, times []int) func(*simulator.Client) {
	return func(c *simulator.Client) {
		strategy := b.lock(entry, c)
		for i := range b.Attempts {
			if i > 0 {
				c.Clock().Sleep(b.retry())
			}
			if lease, err := b.ask(c, strategy, times); err == nil {
				client.Work(c, lease, client.Section{Work: b.work()})
				client.Release(c, lease)
			}
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// ask asks at the given times, until it is given the lock.
func (b Bounds) ask(c *simulator.Client, strategy lock.Strategy, times []int) (lease lock.Lease, err error) {
	for i, at := range times {
		if i > 0 {
			d := b.TTL * time.Duration(at-times[i-1]) / LeaseParts
			if i == 1 {
				d += moment
			}
			c.Clock().Sleep(d)
		}
		if lease, err = client.Try(c, strategy); err == nil {
			break
		}
	}
	return lease, err
}

// probe asks when everybody else is at an end, and once more after every lease
// must have ended. Refused again, it reports a deadlock.
func (b Bounds) probe(entry lock.Entry) func(*simulator.Client) {
	// longer than any lease: a clock that jumps can prolong one by as much
	patience := 2*b.retry() + b.clocksJump()
	return func(c *simulator.Client) {
		strategy := b.lock(entry, c)
		if lease, err := client.Try(c, strategy); err == nil {
			Give(c, lease)
			return
		}
		for {
			c.Clock().Sleep(patience)
			c.Record(history.Event{Kind: history.Acquire})
			lease, err := strategy.Acquire(context.Background(), client.Key)
			switch {
			case errors.Is(err, lock.ErrNotAcquired):
				c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeRefused})
				return
			case err == nil:
				c.Record(history.Event{Kind: history.Enter})
				Give(c, lease)
				return
			}
			c.Record(history.Event{Kind: history.Refuse, Note: client.Note(err)}) // no answer is no refusal
		}
	}
}
