package explore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/checkpoint"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
	"locklab/simulator/zookeeper"
)

// Bounds say what is searched: one lock, the clients that use it, its servers and
// the faults; and how far the search goes.
type Bounds struct {
	Entry lock.Entry
	// Code, if it is not nil, makes the clients, and the probe, in place of Entry's lock.
	// They record what the programs in this file record.
	Code func(probe bool) simulator.ClientConfig
	Key  string // that Code's clients lock; "": client.Key
	// Znodes is what a ZooKeeper holds when Code begins; the zero value: only a root.
	Znodes   zookeeper.State
	Clients  int // all run the same code; the probe comes on top
	Attempts int // how often each client wants the lock
	// Retries are the sleeps after which a client that was refused asks again within
	// one attempt, by its own clock; see [RetrySleeps]. Empty: it asks once.
	Retries  []time.Duration
	Nodes    int // servers
	Replicas int // each server has at least so many; the lock may want more
	TTL      time.Duration
	Fenced   bool // leases carry fencing tokens, and the resource checks them
	Faults   []simulator.FaultBudget
	// ClockJumps is by how much Faults and Skews can set clocks wrong in all. A lease may last
	// that much longer, and the probe waits that much longer.
	ClockJumps time.Duration
	NoProbe    bool          // no deadlock is looked for
	Timing     *Timing       // nil: lockstep
	Inside     time.Duration // how long a client works in lockstep; 0: two fifths of a lease
	// Uses is what clients may do besides; see package client. GiveUp needs a Timing.
	Uses client.Uses
	// ClientRetries is how often the clients' library sends a command again; see
	// simulator.Config.
	ClientRetries int
	// Skews are by how much the clock of a client may be ahead from the start; see
	// simulator.ClientConfig. The probe's is right. Not for Code.
	Skews  []time.Duration
	Tokens client.Tokens // what the clients and the probe take as their own value

	// As in Options.
	Causes     bool
	MaxStates  int
	Hopeful    int
	MaxBytes   int64
	Progress   func(r *Result)
	Checkpoint checkpoint.Config
	Plain      Plain
}

// Search builds the simulator of b and searches it. The choices of each witness
// are reordered so that the steps of one client stay together, and with b.Causes a
// witness whose causes contain all those of another to the same verdict is left
// out. The errors are those of [Run].
func Search(ctx context.Context, b *Bounds) (*Result, error) {
	sim, err := b.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	r, err := Run(ctx, sim, b.Options())
	if r == nil {
		return nil, err
	}
	if err := b.checkWitnesses(sim, r); err != nil {
		return nil, err
	}
	all := r.Found
	r.Found = slices.DeleteFunc(slices.Clone(all), func(w Witness) bool {
		return slices.ContainsFunc(all, func(o Witness) bool { return o.Verdict == w.Verdict && properSubset(o.Cause, w.Cause) })
	})
	for i := range r.Found {
		w := &r.Found[i]
		w.Choices = reorder(w.Choices, func(choices []simulator.Choice) bool { return b.leadTo(sim, choices, w.Verdict) })
	}
	return r, err
}

// leadTo says whether choices can be made one after the other and come to a verdict.
func (b *Bounds) leadTo(sim *simulator.Simulator, choices []simulator.Choice, to verdict.Word) bool {
	h, w := b.Case(), sim.NewWorld()
	for _, c := range choices {
		if int(c.Client) > b.Clients && c.Verb == simulator.Start && !b.probeMayBegin(sim, &w, &h) {
			return false
		}
		events, err := sim.Step(&w, c)
		if err != nil {
			return false
		}
		h.Events = append(h.Events, events...)
	}
	return slices.Contains(b.Verdicts(&h, choices), to)
}

// probeMayBegin says whether all clients have come to their end in h, which has led to w,
// or nothing is left to happen there but faults.
func (b *Bounds) probeMayBegin(sim *simulator.Simulator, w *simulator.World, h *history.History) bool {
	if b.unended(h.Events) == nil {
		return true
	}
	for _, c := range sim.Enabled(w, nil) {
		if int(c.Client) <= b.Clients && c.Verb < simulator.FaultVerb {
			return false
		}
	}
	return true
}

// properSubset says whether a is b without some of its elements. Both are sorted.
func properSubset(a, b []string) bool {
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

// Options are those of a search of b's simulator.
func (b *Bounds) Options() Options {
	opt := Options{
		Step: b.step(), Unending: b.Timing != nil && b.Timing.Idle == simulator.Never,
		Case: b.Case(), Symmetric: b.Clients, Causes: b.Causes,
		MaxStates: b.MaxStates, Hopeful: b.Hopeful, MaxBytes: b.MaxBytes, Progress: b.Progress, Checkpoint: b.Checkpoint, Plain: b.Plain,
	}
	if !b.NoProbe {
		opt.Probe = b.Clients + 1
	}
	return opt
}

// Case is a history of b without its events.
func (b *Bounds) Case() history.History {
	clients, probe := b.Clients+1, b.Clients+1
	if b.NoProbe {
		clients, probe = b.Clients, 0
	}
	return history.History{
		Strategy: b.Entry.ID, Clients: clients, Probe: probe, Nodes: b.Nodes, Key: cmp.Or(b.Key, client.Key), ZooKeeper: b.Entry.OnZooKeeper(),
		Holders: client.Holders(b.Entry, clients), TTL: b.TTL, Guard: b.guard(),
	}
}

func (b *Bounds) guard() history.Guard {
	if b.Fenced {
		return history.Fenced
	}
	return history.Naive
}

// Patience is how long a client waits for an answer: of a lease of 9 s go-redis's default
// of 3 s, and 50 ms where there are several servers.
func (b *Bounds) Patience() time.Duration {
	switch {
	case b.Timing != nil:
		return b.Timing.Timeout
	case b.Nodes > 1: // one silent server costs little of a lease
		return b.TTL / 180
	}
	return b.TTL / 3
}

// Simulator builds the simulator; the caller closes it.
func (b *Bounds) Simulator() (*simulator.Simulator, error) {
	config := simulator.Config{Faults: b.Faults, Guard: b.guard(), Timeout: b.Patience(), ClientRetries: b.ClientRetries}
	if t := b.Timing; t != nil {
		config.Timing = &simulator.Timing{Step: t.Step, Latency: t.Latency, Lateness: t.Lateness}
	}
	code := b.Code
	if code == nil {
		code = b.client
	}
	for range b.Clients {
		config.Clients = append(config.Clients, code(false))
	}
	if !b.NoProbe {
		config.Clients = append(config.Clients, code(true))
	}
	config.Nodes = client.Servers(b.Entry, b.TTL, simulator.NodeConfig{Replicas: max(b.Entry.Replicas, b.Replicas)}, b.Nodes)
	if b.Code != nil && b.Entry.OnZooKeeper() {
		config.Nodes[0].Znodes, config.Nodes[0].Lines = b.Znodes, nil
	}
	return simulator.New(config)
}

// client runs Entry's lock.
func (b *Bounds) client(probe bool) simulator.ClientConfig {
	if probe {
		return simulator.ClientConfig{Program: b.probe, Near: true} // a refusal is not to come from slow messages
	}
	return simulator.ClientConfig{Program: b.contender, Skews: b.Skews}
}

// The lengths of a client's program, in parts of a lease: a client works for less
// than a lease, and waits for more than one between two attempts. A lease of nine
// seconds makes both, and a third of a lease, whole milliseconds, so that states
// recur.

// Work is how long a client works while it has the lock.
func (b *Bounds) Work() time.Duration {
	work := cmp.Or(b.Inside, b.TTL*2/5)
	if len(b.Retries) > 0 {
		return work + moment // a client that retries does so at its very end
	}
	return work
}

// Between is how long a client waits between two attempts.
func (b *Bounds) Between() time.Duration { return b.TTL + max(b.TTL/10, 2*moment) }

// MaxRetries is the most that RetrySleeps knows.
const MaxRetries = 5

// retryAt is when a client asks that is refused each time, in twentieths of a
// lease after it asked first, and a moment later: as two clients work for two
// fifths of a lease, the second asks when the first one's work ends, and just
// after a lease has ended. Asking all the time would find no more.
var retryAt = [MaxRetries + 1]int{0, 8, 20, 28, 40, 48}

// moment keeps clients from asking at the very instant at which a lease ends, when
// some servers would still refuse.
const moment = time.Millisecond

// RetrySleeps are the sleeps before n retries, 0 to MaxRetries: a client that was
// refused asks again 2/5, 1, 7/5, 2 and 12/5 leases, and a millisecond, after it
// asked first.
func RetrySleeps(ttl time.Duration, n int) []time.Duration {
	return sleepsUntil(ttl, retryAt[:n+1])
}

// sleepsUntil are the sleeps between requests at the given times, in twentieths of a
// lease.
func sleepsUntil(ttl time.Duration, at []int) (sleeps []time.Duration) {
	for i := 1; i < len(at); i++ {
		sleeps = append(sleeps, ttl*time.Duration(at[i]-at[i-1])/20)
	}
	if sleeps != nil {
		sleeps[0] += moment
	}
	return sleeps
}

// RetrySpan is the time from the first request of an attempt to its last, if the
// lock refuses at once, without the moment; 0 without retries.
func (b *Bounds) RetrySpan() (d time.Duration) {
	for _, sleep := range b.Retries {
		d += sleep
	}
	return max(d-moment, 0)
}

// contender is the program of a client: it wants the lock so many times, and works
// when it has it.
func (b *Bounds) contender(c *simulator.Client) {
	if b.Timing != nil {
		b.anytime(c)
		return
	}
	u := b.user(c)
	for i := c.Stage(); i < b.Attempts; i++ {
		if i > c.Stage() {
			c.RestFor(i, b.Between(), u.memory(c))
		}
		if lease, err := b.try(c, u.strategy, u.line); err == nil {
			client.Work(c, lease, client.Section{Work: b.Work(), Uses: b.Uses, Lock: u.strategy})
			client.Release(c, lease)
		}
	}
	c.Record(history.Event{Kind: history.Done})
}

// A user is a process that uses the lock: one Strategy for its whole life.
type user struct {
	strategy lock.Strategy
	line     *client.Line
	fresh    string // what the Strategy's memory held when it was new
	asks     bool   // to make it is something that a server or a clock sees
}

// user makes the lock of a process, wherever its program begins.
func (b *Bounds) user(c *simulator.Client) (u user) {
	used := c.Uses()
	c.Anew(func() { u.strategy, u.line = b.strategy(c) })
	u.asks = c.Uses() != used
	u.fresh, _ = memoryOf(c, u.strategy)
	return u
}

// memory returns what the process keeps between two attempts.
func (u *user) memory(c *simulator.Client) process.Memory {
	switch now, plain := memoryOf(c, u.strategy); {
	case !plain:
		return process.Unreadable
	case now == u.fresh && !u.asks: // it can be made anew
		return process.NoMemory
	default:
		return process.MemoryOf(now)
	}
}

// try is one attempt with its retries.
func (b *Bounds) try(c *simulator.Client, strategy lock.Strategy, line *client.Line) (lock.Lease, error) {
	lease, err := client.Attempt(c, strategy, line, b.Uses)
	for _, sleep := range b.Retries {
		if err == nil {
			break
		}
		c.Clock().Sleep(sleep)
		lease, err = client.Try(c, strategy)
	}
	return lease, err
}

// mostFailed is how many attempts of the probe may end in an error, longer than any lease apart: a
// lock may need one to mend itself. A further one would be no other, because no fault is injected
// any more, every server runs, and nothing is under way.
const mostFailed = 3

// probe is the program of the probe, which begins when all other clients have
// finished or died: it asks for the lock, and once more after every lease must have
// ended. If the lock is refused even then nobody can ever have it again; nor can anybody if all
// attempts end in errors.
func (b *Bounds) probe(c *simulator.Client) {
	strategy, _ := b.strategy(c)
	lease, err := client.Try(c, strategy)
	if err == nil {
		LeaveAndRelease(c, lease)
		return
	}
	for failed := 0; failed < mostFailed; failed++ {
		if failed > 0 {
			c.Record(client.Refusal(err)) // an error is no refusal
		}
		c.Clock().Sleep(2*b.Between() + b.ClockJumps)
		c.Record(history.Event{Kind: history.Acquire})
		lease, err = strategy.Acquire(context.Background(), client.Key)
		switch {
		case errors.Is(err, lock.ErrNotAcquired):
			c.Record(history.Event{Kind: history.Refuse, Claims: true, Note: ProbeRefused})
			return
		case err == nil:
			c.Record(history.Event{Kind: history.Enter})
			LeaveAndRelease(c, lease)
			return
		}
	}
	c.Record(history.Event{Kind: history.Refuse, Note: ProbeFailed})
}

// LeaveAndRelease ends a critical section without work.
func LeaveAndRelease(c *simulator.Client, lease lock.Lease) {
	c.Record(history.Event{Kind: history.Leave})
	client.Release(c, lease)
}

// strategy makes a client's lock, and its line, if it has one and clients may wait.
func (b *Bounds) strategy(c *simulator.Client) (strategy lock.Strategy, line *client.Line) {
	env := b.Tokens.In(client.Environment(c, b.TTL, b.Nodes), c)
	strategy = b.Entry.New(env)
	if q, ok := strategy.(lock.Queuer); ok && b.Uses.Has(client.Wait) {
		line = &client.Line{Queuer: q}
		strategy = line
	}
	if b.Fenced && !b.Entry.OnZooKeeper() {
		strategy = lock.Fence(strategy, env)
	}
	return strategy, line
}

// Words are the verdicts that a search looks for, in their order. ORPHAN counts
// when it refused another client. DEADLOCK is what the probe reports. STARVED means
// that every attempt of every client was refused in vain, although no fault was injected:
// a bounded search has no more rounds than that. DEADLOCK is also a client that waits for
// its turn when nothing is left to happen.
func Words() []verdict.Word { return slices.Clone(order) }

// Verdicts are those of Words that a search finds in a run of b, in their order.
func (b *Bounds) Verdicts(h *history.History, choices []simulator.Choice) (words []verdict.Word) {
	var judges verdict.Safety
	var found wordSet
	inVain := true
	c := verdict.CaseOf(h)
	if b.Waiting(h) != nil {
		found.add(verdict.Deadlock)
	}
	for i := range h.Events {
		found |= observe(&judges, &c, b.Clients+1, i, &h.Events[i])
		if h.Events[i].Client <= b.Clients { // not the probe
			inVain = judges.InVain()
		}
	}
	for _, w := range judges.Words() {
		found.add(w)
	}
	if inVain && b.allRefused(h) && !slices.ContainsFunc(choices, func(c simulator.Choice) bool { return c.Verb >= simulator.FaultVerb }) {
		found.add(verdict.Starved)
	}
	return found.list()
}

// Waiting are the clients that had not come to their end when the probe began: it begins
// then only if they wait without end.
func (b *Bounds) Waiting(h *history.History) (clients []int) {
	for i := range h.Events {
		if h.Events[i].Client > b.Clients {
			return b.unended(h.Events[:i])
		}
	}
	return nil
}

// unended are the clients that have not come to their end.
func (b *Bounds) unended(events []history.Event) (clients []int) {
	for c := range b.Clients {
		ended := false
		for i := range events {
			switch e := &events[i]; {
			case e.Client != c+1:
			case e.Kind == history.Done || e.Kind == history.Crash:
				ended = true
			case e.Kind == history.Return:
				ended = false
			}
		}
		if !ended {
			clients = append(clients, c+1)
		}
	}
	return clients
}

// allRefused says whether every client came to its end and none was ever given the
// lock.
func (b *Bounds) allRefused(h *history.History) bool {
	done := 0
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Client > b.Clients: // the probe
		case e.Kind == history.Enter:
			return false
		case e.Kind == history.Done:
			done++
		}
	}
	return done == b.Clients
}

// observe tells the judges one event, and says what a search finds besides what
// they remember: a refusal by an orphan, and the report of the probe.
func observe(judges *verdict.Safety, c *verdict.Case, probe, i int, e *history.Event) (found wordSet) {
	if judges.RefusedByOrphan(c, e) {
		found.add(verdict.Orphan)
	}
	if e.Client == probe && ReportsDeadlock(e) {
		found.add(verdict.Deadlock)
	}
	judges.Observe(c, i, e, nil)
	return found
}
