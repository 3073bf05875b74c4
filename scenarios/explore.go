package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/simulator"
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
func AskingTimes() []int { return []int{0, 8, 20, 28, 40, 48} }

// moment keeps clients from asking at the instant at which a lease ends, when
// some servers would still say no.
const moment = time.Millisecond

// Check says what is wrong with the bounds, with what would do.
func (b Bounds) Check(entry algorithms.Entry) error {
	switch {
	case b.Clients < 1 || b.Clients > simulator.MaxClients-2:
		return fmt.Errorf("clients=%d: give 1 to %d", b.Clients, simulator.MaxClients-2)
	case b.Attempts < 1 || b.Attempts > 9:
		return fmt.Errorf("attempts=%d: give 1 to 9", b.Attempts)
	case b.Asks < 0 || b.Asks > len(AskingTimes()):
		return fmt.Errorf("asks=%d: give 1 to %d, or 0 for what the faults want", b.Asks, len(AskingTimes()))
	case b.Nodes < 0 || b.Nodes > simulator.MaxNodes:
		return fmt.Errorf("nodes=%d: give 1 to %d, or 0 for what the lock wants", b.Nodes, simulator.MaxNodes)
	case b.Nodes > 1 && servers(entry) == 1:
		return fmt.Errorf("nodes=%d: %s locks on one server", b.Nodes, entry.ID)
	case b.TTL <= 0 && onZooKeeper(entry):
		return fmt.Errorf("ttl=%v: %s locks by a session, which has a time-out above 0: give a length such as 9s", b.TTL, entry.ID)
	case b.MaxStates < 0:
		return fmt.Errorf("max-states=%d: give a number above 0, or 0 for no limit", b.MaxStates)
	}
	if err := b.canStrike(); err != nil {
		return err
	}
	env := dummyEnv(entry, b.TTL)
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
func (b Bounds) settled(entry algorithms.Entry) Bounds {
	if b.Nodes == 0 {
		b.Nodes = servers(entry)
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

// A Search is what an exhaustive search of one lock has covered and found.
type Search struct {
	Strategy  algorithms.Entry
	Bounds    Bounds
	Result    *explore.Result
	Witnesses []Witness // one for each verdict, in the verdicts' order; with Bounds.Causes one for each cause
}

// A Witness is the shortest way to a verdict.
type Witness struct {
	Verdict verdict.Word
	Par     int      // fewest unlucky moves: strikes of faults
	Steps   int      // fewest choices with that many
	Cause   []string // with Bounds.Causes: what struck, and what its victim was at
	Trace   simulator.Trace
}

// Unstruck names the faults of the budget that could strike nowhere: of them the
// search says nothing.
func (s *Search) Unstruck() (names []string) {
	budget, _ := faults.ParseBudget(s.Bounds.Budget) // Check has read it
	for _, a := range budget {
		if a.Times > 0 && !slices.Contains(s.Result.Struck, a.Fault.Verb()) {
			names = append(names, a.Fault.Name())
		}
	}
	return names
}

// SearchID is the scenario of traces that a search has found.
const SearchID = "search"

// Explore searches everything that a lock can come to within the bounds. When
// ctx ends, the search so far comes with ctx's error.
func Explore(ctx context.Context, entry algorithms.Entry, b Bounds) (*Search, error) {
	if err := b.Check(entry); err != nil {
		return nil, err
	}
	b = b.settled(entry)
	lab, err := b.lab(entry)
	if err != nil {
		return nil, err
	}
	defer lab.Close()
	result, err := explore.Run(ctx, lab, b.options(entry))
	if unfit := (*explore.CheckpointError)(nil); errors.As(err, &unfit) {
		return nil, err
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		return nil, fmt.Errorf("%s: %w", entry.ID, err)
	}
	s := &Search{Strategy: entry, Bounds: b, Result: result}
	for _, f := range result.Found {
		if !slices.ContainsFunc(result.Found, func(g explore.Found) bool { return g.Verdict == f.Verdict && lesser(g.Cause, f.Cause) }) {
			s.Witnesses = append(s.Witnesses, s.witness(lab, f))
		}
	}
	return s, err
}

// lesser says whether cause a is b with something left out: b then says nothing
// new. Both are sorted.
func lesser(a, b []string) bool {
	if len(a) >= len(b) {
		return false
	}
	for _, what := range b {
		if len(a) > 0 && a[0] == what {
			a = a[1:]
		}
	}
	return len(a) == 0
}

func (b Bounds) options(entry algorithms.Entry) explore.Options {
	search := entry.ID + " " + b.String()
	if b.Causes {
		search += " by cause"
	}
	return explore.Options{
		Head: *b.head(entry), Probe: b.Clients + 1, Alike: b.Clients, Causes: b.Causes, MaxStates: b.MaxStates, MaxBytes: b.MaxBytes, Progress: b.Progress,
		Checkpoint: explore.Checkpoint{File: b.Checkpoint, Search: search, Now: b.Now},
	}
}

// witness tells a discovery so that each client's story stays together.
func (s *Search) witness(lab *simulator.Lab, f explore.Found) Witness {
	choices := explore.Tidy(f.Choices, func(choices []simulator.Choice) bool {
		run, err := schedule.Replay(lab, choices)
		if err != nil {
			return false
		}
		_, words := s.Bounds.judge(s.Strategy, run, choices)
		return slices.Contains(words, f.Verdict)
	})
	return Witness{f.Verdict, f.Par, f.Steps, f.Cause, simulator.Trace{
		Strategy: s.Strategy.ID, Scenario: SearchID, Settings: s.Bounds.String(), Choices: choices,
	}}
}

// judge hears the judges on a run of a search, and the probe's word.
func (b Bounds) judge(entry algorithms.Entry, run *schedule.Run, choices []simulator.Choice) (*Outcome, []verdict.Word) {
	h := b.head(entry)
	h.Events, h.End, h.Horizon = inOneThread(run.Events), run.End, run.Horizon
	o := &Outcome{Strategy: entry, Scenario: b.scenario(), History: h, Judgement: verdict.Judge(h), Reached: true}
	o.Verdicts = append(o.Verdicts, o.Judgement.Safety()...)
	if haunted(h) {
		o.Verdicts = append(o.Verdicts, verdict.Phantom)
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Refuse && e.Note == explore.Stuck {
			o.Verdicts = append(o.Verdicts, verdict.Stall)
			o.settleStall()
			break
		}
	}
	if b.allInVain(h) && strikes(choices) == "" {
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

// haunted says whether a phantom refused somebody. One that has not yet done so
// when the run ends is none for a search.
func haunted(h *history.History) bool {
	var judges verdict.Safety
	c := verdict.CaseOf(h)
	for i := range h.Events {
		if judges.Haunted(&c, &h.Events[i]) {
			return true
		}
		judges.Observe(&c, i, &h.Events[i], nil)
	}
	return false
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

// settleStall turns what the judges had to leave open, because the run has come
// to its end, into what the probe has shown: nothing is left that could end it.
func (o *Outcome) settleStall() {
	for i := range o.Judgement.Findings {
		if f := &o.Judgement.Findings[i]; f.Verdict == verdict.Unknown {
			f.Verdict, f.Forever = verdict.Stall, true
		}
	}
}

func (b Bounds) scenario() Scenario {
	return Scenario{ID: SearchID, Title: Text{
		EN: fmt.Sprintf("found by search: %d clients, %d attempts each, faults: %s", b.Clients, b.Attempts, b.faults()),
		ZH: fmt.Sprintf("搜索发现：%d 个客户端，各申请 %d 次，故障：%s", b.Clients, b.Attempts, cmp.Or(b.Budget, "无")),
	}}
}

func (b Bounds) faults() string { return cmp.Or(b.Budget, "none") }

// replaySearch plays a trace that a search has found.
func replaySearch(entry algorithms.Entry, t simulator.Trace, watched string) (*Outcome, error) {
	b, err := ParseBounds(t.Settings)
	if err == nil {
		err = b.Check(entry)
	}
	if err != nil {
		return nil, fmt.Errorf("the trace's bounds: %w", err)
	}
	b = b.settled(entry)
	lab, err := b.lab(entry)
	if err != nil {
		return nil, err
	}
	defer lab.Close()
	lab.ShowCode(watched)
	run, err := schedule.Replay(lab, t.Choices)
	if err != nil {
		return nil, fmt.Errorf("this trace does not fit this version of %s: %w", entry.ID, err)
	}
	o, _ := b.judge(entry, run, t.Choices)
	o.Trace = t
	return o, nil
}

func (b Bounds) head(entry algorithms.Entry) *history.History {
	return &history.History{Strategy: entry.ID, Scenario: "search", Clients: b.Clients + 1, Nodes: b.Nodes, Key: key, ZooKeeper: onZooKeeper(entry), Holders: holders(entry, b.Clients+1), TTL: b.TTL, Guard: b.guard()}
}

func (b Bounds) guard() history.Guard {
	if b.Fenced {
		return history.Fenced
	}
	return history.Naive
}

func (b Bounds) lab(entry algorithms.Entry) (*simulator.Lab, error) {
	b = b.settled(entry)
	budget, err := faults.ParseBudget(b.Budget)
	if err != nil {
		return nil, err
	}
	setup := simulator.Setup{Faults: budget, Guard: b.guard()}
	if b.Nodes > 1 {
		setup.Timeout = 50 * time.Millisecond
	}
	for range b.Clients {
		setup.Clients = append(setup.Clients, simulator.ClientSetup{Program: b.contender(entry, AskingTimes()[:b.Asks])})
	}
	setup.Clients = append(setup.Clients, simulator.ClientSetup{Program: b.probe(entry)})
	replicas := entry.Replicas
	for _, a := range budget {
		switch a.Fault.(type) {
		case faults.Failover, faults.Split:
			replicas = max(replicas, 1)
		}
	}
	setup.Nodes = nodes(entry, b.TTL, simulator.NodeSetup{Replicas: replicas}, b.Nodes)
	return simulator.New(setup)
}

func (b Bounds) lock(entry algorithms.Entry, c *simulator.Client) algorithms.Strategy {
	env := environment(c, b.TTL, b.Nodes)
	lock := entry.New(env)
	if b.Fenced && !onZooKeeper(entry) {
		lock = algorithms.Fence(lock, env)
	}
	return lock
}

// contender wants the lock so many times, and does its work when it gets it.
func (b Bounds) contender(entry algorithms.Entry, times []int) func(*simulator.Client) {
	return func(c *simulator.Client) {
		lock := b.lock(entry, c)
		for i := range b.Attempts {
			if i > 0 {
				c.Clock().Sleep(b.retry())
			}
			if lease, err := b.ask(c, lock, times); err == nil {
				work(c, lease, Role{Work: b.work()})
				release(c, lease)
			}
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

// ask asks at the given times, until it is given the lock.
func (b Bounds) ask(c *simulator.Client, lock algorithms.Strategy, times []int) (lease algorithms.Lease, err error) {
	for i, at := range times {
		if i > 0 {
			d := b.TTL * time.Duration(at-times[i-1]) / FrontierParts
			if i == 1 {
				d += moment
			}
			c.Clock().Sleep(d)
		}
		if lease, err = try(c, lock); err == nil {
			break
		}
	}
	return lease, err
}

// give is a visit without work.
func give(c *simulator.Client, lease algorithms.Lease) {
	c.Record(history.Event{Kind: history.Leave})
	release(c, lease)
}

// probe asks when everybody else is at an end, and once more after every lease
// must have ended. Refused again, it reports a deadlock.
func (b Bounds) probe(entry algorithms.Entry) func(*simulator.Client) {
	// longer than any lease: a clock that jumps can prolong one by as much
	patience := 2*b.retry() + b.clocksJump()
	return func(c *simulator.Client) {
		lock := b.lock(entry, c)
		if lease, err := try(c, lock); err == nil {
			give(c, lease)
			return
		}
		for {
			c.Clock().Sleep(patience)
			c.Record(history.Event{Kind: history.Acquire})
			lease, err := lock.Acquire(context.Background(), key)
			switch {
			case errors.Is(err, algorithms.ErrNotAcquired):
				c.Record(history.Event{Kind: history.Refuse, Note: explore.Stuck})
				return
			case err == nil:
				c.Record(history.Event{Kind: history.Enter})
				give(c, lease)
				return
			}
			c.Record(history.Event{Kind: history.Refuse, Note: note(err)}) // no answer is no refusal
		}
	}
}
