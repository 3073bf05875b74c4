package explore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Scope has the numbers within which a lock is searched. They are the same as written and as searched.
type Scope struct {
	Clients       int // all run the same code; the probe comes on top
	Attempts      int // of each client to take the lock
	Nodes         int // servers
	TTL           time.Duration
	Fenced        bool          // leases carry fencing tokens, and the resource checks them
	Uses          client.Uses   // what clients may do besides; see package client. GiveUp needs Durations
	ClientRetries int           // of the clients' library, which sends a command again; see simulator.Config
	Tokens        client.Tokens // what the clients and the probe take as their own value
	Slow          time.Duration // an Acquire that lasts longer is SLOW; 0: none is
	Noisy         int           // a client that waits with more requests a second is NOISY; 0: none. In lockstep only
	Limits
}

// Limits bound a search, and set its detail and the reductions that it leaves out.
type Limits struct {
	// Causes looks for the shortest way to each verdict by each cause: which faults were injected, and what the clients
	// were doing that they hit. The causes are then part of the state, which makes several times as many states.
	Causes bool
	// Recheck checks a complete search's set by the plain rules: see recheck.go. Not with Causes or unbounded attempts.
	Recheck bool
	// Boundary has a complete search of every timing look for Result.Boundary. Not of any number of attempts.
	Boundary bool `json:"-"`
	// MaxStates ends the search; 0: no limit.
	MaxStates int
	// MaxBytes ends the search before the whole program uses more memory; 0: no limit. It is checked from time to time,
	// so a little more may be used. A caller that sets it has the garbage collector keep to it too
	// (debug.SetMemoryLimit): what is garbage does not end a search.
	MaxBytes int64
	// Progress, unless nil, is called from time to time with what the search has covered, by one goroutine at a time.
	Progress func(r *Result) `json:"-"`
	Plain    Plain           `json:"-"` // what it does without
}

// Plain says what a search does without. The zero value is the search that users make; without
// any reduction it is that of engine.go alone, with which tests compare.
type Plain struct {
	Symmetry     bool // every client is told apart from those that run the same code
	Transactions bool // an ensemble numbers every transaction, as a real one does, and not only creations
	Histories    bool // clients keep all that they have observed since they rested; so in lockstep
	Rests        bool // clients keep what they have observed when they rest and when they have ended, too
	Parts        bool // a state keeps what nothing that follows depends on, see drop; so in lockstep
	Clocks       bool // a state has the time of day wherever a clock was read, also if it only measures
	Interfaces   bool // each view is in a world with every other, and makes all moves in each; see interfaces.go
	Workers      bool // one goroutine computes what follows from the states; see lookahead.go

	// For tests, which cannot wait for billions of states; 0: as many as there can be.
	IDs, States, Choices int
}

// Plainest does without all reductions of a search.
var Plainest = Plain{
	Symmetry: true, Transactions: true, Histories: true, Rests: true, Parts: true, Clocks: true, Workers: true,
}

// A Model is what is searched: one lock, the clients that use it, its servers and the faults, within bounds.
type Model struct {
	Scope
	Entry lock.Entry
	// Code, if it is not nil, makes the clients, and the probe, in place of Entry's lock.
	// They record what the programs in programs.go record.
	Code func(probe bool) simulator.ClientConfig
	// Afterwards, if it is not nil, is called when all has been searched or proved, or the search was cut short, with
	// the simulator and the histories that it has of the code. Its error is that of the search.
	Afterwards func(sim *simulator.Simulator) error
	Drawn      func(text string) string // what Code draws; see simulator.Config
	Key        string                   // that Code's clients lock; "": client.Key
	// Contents are the data of the server when Code begins; see simulator.NodeConfig.
	Contents any
	// Retries are the sleeps after which a client that was refused asks again within
	// one attempt, by its own clock; see [RetrySleeps]. Empty: it asks once.
	Retries  []time.Duration
	Epoch    simulator.Date // when clocks begin
	Replicas int            // each server has at least so many; the lock may want more
	Faults   []simulator.FaultBudget
	// ClockJumps is the sum of what Faults and Skews can set clocks wrong. A lease may last
	// that much longer, and the probe waits that much longer.
	ClockJumps time.Duration
	NoProbe    bool       // no deadlock is looked for
	Timing     *Durations // nil: lockstep
	// Late says that in lockstep a client starts at once or at a deadline of something else, as a pause ends: so it may
	// come between two requests of a client that releases.
	Late   bool
	Travel time.Duration // of a message to or from a server, in lockstep
	Inside time.Duration // the work of a client in lockstep; 0: two fifths of a lease
	// Skews are the times by which the clock of a client may be ahead from the start; see
	// simulator.ClientConfig. The probe's is right. Not for Code.
	Skews []time.Duration
}

// Search builds the simulator of m and searches it. The choices of each witness are reordered so that the steps of one
// client stay together, and with m.Causes a witness whose causes contain all those of another to the same verdict is
// left out. The errors are those of [Exhaust].
func Search(ctx context.Context, m *Model) (*Result, error) {
	return m.search(func(sim *simulator.Simulator) (*Result, error) { return Exhaust(ctx, sim, m.Options()) })
}

// Confirm searches m for verdicts, each by as many faults as it says at most, and ends when it has the shortest way to
// each. What it has covered is not all that m can come to. The errors are those of Search.
func Confirm(ctx context.Context, m *Model, wanted []Witness) (*Result, error) {
	return m.search(func(sim *simulator.Simulator) (*Result, error) {
		opt := m.Options()
		opt.assumed = opt.assumptions(sim)
		r, err := pass(ctx, sim, &opt, wanted)
		return opt.after(sim, r, err)
	})
}

// search builds the simulator of m and has it searched.
func (m *Model) search(by func(*simulator.Simulator) (*Result, error)) (*Result, error) {
	searches.Add(1)
	defer searches.Add(-1)
	sim, err := m.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	r, err := by(sim)
	if r == nil {
		return nil, err
	}
	all := r.Found
	r.Found = slices.DeleteFunc(slices.Clone(all), func(w Witness) bool {
		lesser := func(o Witness) bool { return o.Verdict == w.Verdict && properSubset(o.Cause, w.Cause) }
		return slices.ContainsFunc(all, lesser)
	})
	for i := range r.Found {
		w := &r.Found[i]
		lead := func(choices []simulator.Choice) bool { return m.leadTo(sim, choices, w.Verdict) }
		w.Choices = reorder(w.Choices, lead)
	}
	return r, err
}

// leadTo reports whether choices can be made one after the other and come to a verdict.
func (m *Model) leadTo(sim *simulator.Simulator, choices []simulator.Choice, to verdict.Word) bool {
	h, w := m.Case(), sim.NewWorld()
	for _, c := range choices {
		if int(c.Client) > m.Clients && c.Verb == simulator.Start && !m.probeMayBegin(sim, &w, &h) {
			return false
		}
		events, err := sim.Step(&w, c)
		if err != nil {
			return false
		}
		h.Events, h.End = append(h.Events, events...), w.Now()
	}
	return slices.Contains(m.Verdicts(&h, choices), to)
}

// probeMayBegin reports whether all clients have ended in h, which has led to w, or only faults are left there.
func (m *Model) probeMayBegin(sim *simulator.Simulator, w *simulator.World, h *history.History) bool {
	if m.unended(h.Events) == nil {
		return true
	}
	for _, c := range sim.Enabled(w, nil) {
		if int(c.Client) <= m.Clients && c.Verb < simulator.FaultVerb {
			return false
		}
	}
	return true
}

// properSubset reports whether a is b without some of its elements. Both are sorted.
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

// Options are those of a search of m's simulator.
func (m *Model) Options() Options {
	opt := Options{
		Step: m.step(), Unending: m.Timing != nil && m.Timing.Idle == simulator.Never,
		Late: m.Late, Case: m.Case(), Symmetric: m.alike(), Limits: m.Limits, afterwards: m.Afterwards,
	}
	if !m.NoProbe {
		opt.Probe = m.Clients + 1
	}
	opt.own = m.Code != nil
	return opt
}

// Case is a history of m without its events.
func (m *Model) Case() history.History {
	clients, probe := m.Clients+1, m.Clients+1
	if m.NoProbe {
		clients, probe = m.Clients, 0
	}
	h := client.History(m.Entry, clients, m.TTL)
	for c := m.alike() + 1; m.Entry.Writer != nil && c <= clients; c++ {
		h.Holders[c-1] = 1
	}
	h.Probe, h.Nodes, h.Key, h.Guard = probe, m.Nodes, cmp.Or(m.Key, h.Key), m.guard()
	h.Slow, h.Noisy = m.Slow, m.Noisy
	return h
}

// alike is the number of clients, from the first, that have the same lock. Among readers the last client is a writer,
// and so is the probe, whom all that readers leave behind keeps out.
func (m *Model) alike() int {
	if m.Entry.Writer != nil {
		return m.Clients - 1
	}
	return m.Clients
}

func (m *Model) guard() history.Guard {
	switch {
	case m.Entry.Guard != "":
		return history.Guard(m.Entry.Guard)
	case m.Fenced:
		return history.Fenced
	}
	return history.Naive
}

// Patience is the time that a client waits for an answer: of a lease of 9 s go-redis's default
// of 3 s, and 50 ms where there are several servers.
func (m *Model) Patience() time.Duration {
	switch {
	case m.Timing != nil:
		return m.Timing.Timeout
	case m.Nodes > 1 && m.Entry.Shards == 0: // one silent server costs little of a lease
		return m.TTL / 180
	}
	return m.TTL / 3
}

// Simulator builds the simulator; the caller closes it.
func (m *Model) Simulator() (*simulator.Simulator, error) {
	config := simulator.Config{
		Faults: m.Faults, Guard: m.guard(), Timeout: m.Patience(),
		ClientRetries: m.ClientRetries, Drawn: m.Drawn, Epoch: m.Epoch, Travel: m.Travel,
	}
	if t := m.Timing; t != nil {
		config.Timing = &t.Timing
	}
	code := m.Code
	if code == nil {
		code = m.client
	}
	for range m.Clients {
		config.Clients = append(config.Clients, code(false))
	}
	if !m.NoProbe {
		config.Clients = append(config.Clients, code(true))
	}
	like := simulator.NodeConfig{Replicas: max(m.Entry.Replicas, m.Replicas)}
	config.Nodes = client.Servers(m.Entry, m.TTL, like, m.Nodes)
	if m.Code != nil {
		config.Nodes[0].Contents = m.Contents
	}
	return simulator.New(config)
}

// client runs Entry's lock.
func (m *Model) client(probe bool) simulator.ClientConfig {
	list := min(m.Entry.Shards, m.Nodes)
	if probe {
		// Near: a refusal is not to come from slow messages.
		return simulator.ClientConfig{Program: m.probe, Near: true, List: list}
	}
	return simulator.ClientConfig{Program: m.contender, Skews: m.Skews, List: list}
}

// attemptsTried is the number of code's attempts. Only the first is made in worlds; whether others are alike is tried.
const attemptsTried = 5

// ofViews is m with as many attempts as are tried, and with the clients of a world and the outsiders.
func (m *Model) ofViews() *Model {
	more := *m
	more.Attempts = max(m.Attempts, attemptsTried)
	more.Clients = min(client.Room(m.Entry)+1+Outsiders, simulator.MaxClients-1)
	return &more
}

// Durations bound a search of every timing: within it, everything takes any whole number of steps. Guards that compare
// sums of steps with closed bounds cannot tell that from every real time (Henzinger, Manna, Pnueli, What Good Are
// Digital Clocks?, ICALP 1992); how the ends of keys count as closed is said in doc.go. All are lengths of true time.
type Durations struct {
	simulator.Timing // Step above 0; all else is best a multiple of it

	Work    time.Duration // a client is inside for at most so long, if nothing delays it
	Timeout time.Duration // how long a client waits for an answer, above 0
	// Idle is the longest time from a client's start or last attempt to the next; simulator.Never: whenever it likes.
	Idle time.Duration
}

func (m *Model) step() time.Duration {
	if m.Timing == nil {
		return 0
	}
	return m.Timing.Step
}

// anytime is the program of a client that wants the lock when it likes, so many times,
// and works as long as it likes when it has it. It begins with a rest.
func (m *Model) anytime(c *simulator.Client) {
	u := m.user(c)
	for attempt := c.Stage(); attempt <= m.Attempts; attempt++ {
		if attempt > c.Stage() {
			c.Rest(attempt, m.Timing.Idle, u.memory(c))
		}
		if attempt == 0 {
			continue
		}
		if lease, err := client.Attempt(c, u.lock, u.line, m.Uses); err == nil {
			client.Work(c, lease, client.Section{Work: m.Timing.Work, Idle: true, Uses: m.Uses, Lock: u.lock})
			client.Release(c, lease)
		}
	}
	c.Record(history.Event{Kind: history.Done})
}
