package race

import (
	"cmp"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// An Outcome is the result of one run of a lock in a race.
type Outcome struct {
	Lock     lock.Entry `json:"-"`
	Race     Race       `json:"-"`
	Settings Settings   `json:"settings"`
	// NotApplicable is the reason why the race does not apply to this lock; then nothing was played and History is nil.
	NotApplicable Reason            `json:"not_applicable,omitempty"`
	History       *history.History  `json:"history,omitempty"`
	Judgement     verdict.Judgement `json:"judgement"`
	Triggered     bool              `json:"triggered"` // as the title says (Race.Triggered); true where not applicable
	Verdicts      []verdict.Word    `json:"verdicts"`
	Trace         simulator.Trace   `json:"-"`
	NotInjected   []error           `json:"-"` // faults of the script that could not be injected
}

// Forever reports whether nothing failed with a key that never expires: it survives pauses, and its holder's crash.
func (o *Outcome) Forever() bool {
	return o.History != nil && !o.History.Local && o.Lock.Expiry == lock.ExpiryNone && o.Verdicts[0] == verdict.Holds
}

// Play plays one lock in one race. The error is about the settings, or about code that the simulator cannot run.
func Play(entry lock.Entry, sc Race, s Settings) (*Outcome, error) {
	return new(Runner).Play(entry, sc, s)
}

// A Runner plays many locks in many races and observes the profile of each lock only
// once. The zero Runner is ready; goroutines may share it. It distinguishes locks by ID.
type Runner struct {
	Code     *Code // plays in place of the lock that is given; nil: that lock plays
	Lines    bool  // histories say by which lines of the lock's code; see history.Event.Code
	profiles sync.Map
}

// Play is the function of that name.
func (r *Runner) Play(entry lock.Entry, sc Race, s Settings) (*Outcome, error) {
	if err := sc.Check(entry, s); err != nil {
		return nil, err
	}
	p, err := r.Profile(entry)
	if err != nil {
		return nil, err
	}
	if why := sc.whyNotApplicable(p, r.Code, s); why != "" {
		trace := simulator.Trace{Lock: entry.ID, Race: sc.ID, Settings: s.String()}
		return &Outcome{Lock: entry, Race: sc, Settings: s, NotApplicable: why, Triggered: true,
			Verdicts: []verdict.Word{verdict.NA}, Trace: trace}, nil
	}
	return sc.play(entry, s, r.Code, r.Lines)
}

// Profile is ProfileOf, remembered.
func (r *Runner) Profile(entry lock.Entry) (Profile, error) {
	profile := sync.OnceValues(func() (Profile, error) { return profileOf(entry, r.Code) })
	known, _ := r.profiles.LoadOrStore(entry.ID, profile)
	return known.(func() (Profile, error))()
}

// play plays a lock, or code in its place, in the race, whether or not that applies.
func (sc Race) play(entry lock.Entry, s Settings, code *Code, lines bool) (*Outcome, error) {
	p, err := sc.Prepare(entry, s, code)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if lines {
		p.Simulator.ShowCode(locksPath)
	}
	run, err := p.Play(s)
	if err != nil {
		return nil, i18n.Errorf("error.cause.in", "lock", entry.ID, "race", sc.ID, "cause", err)
	}
	return p.Outcome(run, s), nil
}

// locksPath is the path of the packages with the code of locks.
var locksPath = path.Dir(reflect.TypeFor[lock.Entry]().PkgPath())

// Prepared is a race with one lock, ready to be played many times. Close frees it.
type Prepared struct {
	Entry     lock.Entry
	Race      Race
	Clients   []ClientSpec         // the clients that play; Start may be changed between runs
	Simulator *simulator.Simulator // with the clients' programs and the servers
	player    *schedule.Player     // plays runs on Simulator
	code      *Code
}

// Close frees the simulator.
func (p *Prepared) Close() { p.Simulator.Close() }

// guard is that of the resource: the lock's, if it is none.
func (sc Race) guard(entry lock.Entry) history.Guard {
	return cmp.Or(history.Guard(entry.Guard), sc.Guard)
}

// Prepare builds the simulator. It depends on the settings that the clients' code sees (TTL, Retry, the durations of
// the clients); the others may change from run to run. code plays in place of the lock; nil: the lock plays. Whether
// the race applies to the lock is not asked.
func (sc Race) Prepare(entry lock.Entry, s Settings, code *Code) (*Prepared, error) {
	budget, err := sc.budget(entry, s)
	if err != nil {
		return nil, err
	}
	guard := sc.guard(entry)
	config := simulator.Config{Faults: budget, Timeout: s.Timeout, Guard: guard, Epoch: s.Epoch}
	if config.Timeout == 0 && entry.Nodes > 1 {
		config.Timeout = 50 * time.Millisecond
	}
	clients := sc.clients(s)
	for _, c := range clients {
		config.Clients = append(config.Clients, code.client(entry, s, c, guard == history.Fenced))
	}
	ppm := sc.NodePPM
	if sc.FastServers {
		ppm = s.DriftPPM()
	}
	node := simulator.NodeConfig{Replicas: max(sc.Replicas, entry.Replicas), MinReplicas: sc.MinReplicas,
		AOF: sc.AOF, PPM: ppm}
	config.Nodes = client.Servers(entry, s.TTL, node, entry.Servers())
	config.Nodes[0].Session = cmp.Or(s.Idle, config.Nodes[0].Session)
	if code != nil {
		config.Nodes[0].Contents = code.Contents
	}
	if sc.SequenceExhausted && entry.Ensemble() {
		if config.Nodes[0].Contents, err = exhaustedQueues(entry, code, config.Nodes[0].Contents); err != nil {
			return nil, err
		}
	}
	sim, err := simulator.New(config)
	if err != nil {
		return nil, err
	}
	return &Prepared{entry, sc, clients, sim, schedule.NewPlayer(sim), code}, nil
}

// clients returns as many clients as the settings ask for.
func (sc Race) clients(s Settings) []ClientSpec {
	clients := sc.Clients(s)
	for len(clients) < s.Clients {
		next := clients[len(clients)-1]
		next.Start += s.Retry * 3 / 10
		clients = append(clients, next)
	}
	return clients[:s.Clients]
}

// Play plays a run with these settings, which is valid until the next one.
func (p *Prepared) Play(s Settings) (*schedule.Run, error) {
	var triggers []Trigger
	if p.Race.Script != nil {
		triggers = p.Race.Script(s, p.Entry.Asked())
	}
	return p.PlayWith(s, triggers)
}

// PlayWith is Play with triggers in place of those of the race.
func (p *Prepared) PlayWith(s Settings, triggers []Trigger) (*schedule.Run, error) {
	opt := schedule.Conditions{Seed: s.Seed, Latency: s.Latency, Horizon: s.Horizon, Lag: s.Lag}
	for _, c := range p.Clients {
		opt.Start = append(opt.Start, c.Start)
	}
	if len(triggers) > 0 {
		opt.Script = p.code.script(RunTriggers(triggers))
	}
	return p.player.Play(opt)
}

// History returns the history of a run, without judging it. It uses the run's events, valid until the next run.
func (p *Prepared) History(run *schedule.Run, s Settings) *history.History {
	h := client.History(p.Entry, len(p.Clients), s.TTL)
	h.Race, h.Key, h.Guard = p.Race.ID, p.code.key(), p.Race.guard(p.Entry)
	h.End, h.Horizon, h.Events = run.End, run.Horizon, MergeParallel(run.Events)
	return &h
}

// Outcome judges a run of the Player.
func (p *Prepared) Outcome(run *schedule.Run, s Settings) *Outcome {
	h := p.History(run, s)
	o := &Outcome{
		Lock: p.Entry, Race: p.Race, Settings: s, History: h, NotInjected: run.NotInjected,
		Judgement: verdict.Judge(h),
		Trace:     simulator.Trace{Lock: p.Entry.ID, Race: p.Race.ID, Settings: s.String(), Choices: run.Choices},
	}
	o.Triggered = p.Race.Triggered == nil || p.Race.Triggered(p.code.renamed(h))
	o.Verdicts = verdict.Settle(o.Judgement, o.Triggered && o.Judgement.Contended)
	return o
}

// MergeParallel gives the events of calls that a client makes in parallel (lock.Env's Parallel) to its main thread, 0:
// together they are one call. Threads that sleep first are timers and remain. It changes the events in place.
func MergeParallel(events []history.Event) []history.Event {
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

// products are names of products, which are no locks, with the locks that people mean.
var products = map[string]string{
	"redisson": "watchdog, redisson-lease, redisson-fenced", "zookeeper": "zk-protected, zk-naive",
	"zk": "zk-protected, zk-naive", "curator": "zk-protected", "redis": "setnx, token, redlock",
	"redsync": "redlock", "mysql": "db-get-lock, db-row", "postgresql": "db-advisory, db-for-update",
}

// Lock finds a lock by its ID or the article's, in any case of letters. The error suggests the nearest name.
func Lock(name string) (lock.Entry, error) {
	if e, ok := algorithms.ByName(name); ok {
		return e, nil
	}
	return lock.Entry{}, NoLock(name)
}

// NoLock is the error of a name that no lock has, nor anything else that might stand in its place.
func NoLock(name string, others ...string) error {
	for _, e := range algorithms.All() {
		others = append(others, e.Names()...)
	}
	if known := products[strings.ToLower(name)]; known != "" {
		return i18n.Errorf("error.lock.product", "name", name, "known", known)
	}
	return i18n.Errorf("error.lock", "name", name, "near", i18n.Near(name, others))
}

// Successor returns the lock that was meant to fix this one: the next milestone in historical order. False: none.
func Successor(e lock.Entry) (lock.Entry, bool) {
	all := algorithms.Milestones()
	for i := range all[:len(all)-1] {
		if all[i].ID == e.ID {
			return all[i+1], true
		}
	}
	return lock.Entry{}, false
}
