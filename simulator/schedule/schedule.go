// Package schedule makes single runs of a simulator. It decides which of the possible choices is made next: the one
// that is due first by a clock, while a script may interfere (Play), or the next of a saved list (Replay).
package schedule

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
)

// Conditions of a timed run.
type Conditions struct {
	// With Seed 0 every message takes exactly Latency. With any other seed it takes half of Latency plus an exponential
	// of the same mean, at most ten times Latency. Each client draws from a stream of its own, so that one more command
	// of one client changes nothing for the others.
	Seed    uint64
	Latency time.Duration // mean one-way delay of a message, at least 0
	// Lag is the time after which a replica catches up; simulator.Never: it does not. A second one takes twice as long.
	Lag time.Duration
	// Start has the true time at which each client begins; missing ones begin at 0.
	Start []time.Duration
	// Horizon ends the run, above 0, true time.
	Horizon time.Duration
	// Script gets every event and may interfere; nil: there is none.
	Script func(s *Stage, e *history.Event)
}

// A Run is what happened in a finished run.
type Run struct {
	Choices     []simulator.Choice
	Events      []history.Event
	End         time.Duration // true time
	Horizon     bool          // ended by the clock, with work left
	NotInjected []error       // why faults that the script wanted could not be injected
}

// ErrEndless is a run without end in which no time passes: client code that tries again and again without sleeping.
var ErrEndless = i18n.Errorf("error.endless")

// maxTurns bounds the choices of a run, and the actions of its script.
const maxTurns = 1_000_000

// A Player plays runs of one simulator, one after the other, and reuses its memory.
type Player struct{ stage Stage }

// NewPlayer makes a player for sim, which must not be used for anything else while a run is played.
func NewPlayer(sim *simulator.Simulator) *Player {
	p := &Player{Stage{rec: Recorder{sim: sim}, limit: maxTurns, late: map[int]time.Duration{}}}
	for c := range p.stage.rng {
		p.stage.rng[c] = rand.New(&p.stage.pcg[c])
	}
	return p
}

// Play makes one run by the clock: the choice that is due first is made first; of those due at the same time, the one
// that Enabled lists first. The Run is valid until the next Play.
func (p *Player) Play(opt Conditions) (*Run, error) {
	s := &p.stage
	s.reset(opt)
	return &s.rec.run, s.play()
}

// A Stage is a run in progress, as its script sees it.
type Stage struct {
	rec     Recorder
	opt     Conditions
	limit   int // of turns
	enabled []simulator.Choice
	actions []action // of the script, not done yet, by time and then in the order of After
	clients [simulator.MaxClients + 1]messages
	copying [simulator.MaxNodes + 1]copying
	late    map[int]time.Duration // when an orphaned request arrives, by its message
	lates   []simulator.OrphanedRequest
	broken  error // why the run cannot go on
	pcg     [simulator.MaxClients + 1]rand.PCG
	rng     [simulator.MaxClients + 1]*rand.Rand
}

// messages are the messages of one client that are under way.
type messages struct {
	arrival [simulator.MaxThreads]time.Duration
	msg     [simulator.MaxThreads]int
	news    time.Duration // when the notifications of its watches have arrived
	frozen  bool          // its requests do not arrive
}

// copying has the times at which the replicas of a server catch up, and last its disk.
type copying [simulator.MaxReplicas + 1]time.Duration

type action struct {
	at time.Duration
	do func()
}

func (s *Stage) reset(opt Conditions) {
	s.opt = opt
	s.rec.world = s.rec.sim.NewWorld()
	s.rec.run = Run{Choices: s.rec.run.Choices[:0], Events: s.rec.run.Events[:0]}
	s.actions = s.actions[:0]
	clear(s.clients[:])
	clear(s.copying[:])
	clear(s.late)
	s.broken = nil
	for c := range s.pcg {
		s.pcg[c].Seed(opt.Seed, uint64(c))
	}
}

func (s *Stage) play() error {
	for turns := 0; !s.rec.sim.Quiet(&s.rec.world); turns++ {
		if turns == s.limit {
			return i18n.Errorf("error.endless.at", "cause", ErrEndless,
				"choices", len(s.rec.run.Choices), "time", s.rec.world.Now())
		}
		more, err := s.next()
		if err != nil {
			return err
		}
		if !more {
			s.rec.run.Horizon = true
			break
		}
	}
	s.rec.run.End = s.rec.world.Now()
	return nil
}

// next makes one choice, or does one action of the script; false: the horizon is reached.
func (s *Stage) next() (bool, error) {
	s.enabled = s.rec.sim.Enabled(&s.rec.world, s.enabled[:0])
	s.listLate()
	if len(s.actions) > 0 && s.actions[0].at <= s.rec.world.Now() {
		do := s.actions[0].do
		s.actions = slices.Delete(s.actions, 0, 1)
		do()
		return true, s.broken
	}
	best, when := s.first()
	if when <= s.rec.world.Now() {
		return true, s.step(best)
	}
	when = min(when, s.rec.sim.NextDeadline(&s.rec.world), s.opt.Horizon)
	if len(s.actions) > 0 {
		when = min(when, s.actions[0].at)
	}
	if when <= s.rec.world.Now() {
		return false, nil
	}
	return true, s.step(simulator.Choice{Verb: simulator.Pass, D: when - s.rec.world.Now()})
}

// listLate lists every orphaned request that can arrive, including those equal to another one: each has a time of its
// own. It drops the times of those that cannot arrive any more.
func (s *Stage) listLate() {
	s.lates = s.rec.sim.OrphanedRequests(&s.rec.world, s.lates[:0])
	maps.DeleteFunc(s.late, func(msg int, _ time.Duration) bool {
		return !slices.ContainsFunc(s.lates, func(r simulator.OrphanedRequest) bool { return r.Msg == msg })
	})
}

// first is the choice due first by the clock, and when, or Never. Orphaned requests stand where their first is enabled.
func (s *Stage) first() (best simulator.Choice, when time.Duration) {
	when = simulator.Never
	isBest := func(c simulator.Choice, at time.Duration) {
		if at < when {
			best, when = c, at
		}
	}
	listed := false
	for _, c := range s.enabled {
		if c.Verb != simulator.Orphaned {
			isBest(c, s.due(c))
			continue
		}
		for i := 0; i < len(s.lates) && !listed; i++ {
			isBest(s.lates[i].Choice, s.arrives(s.lates[i]))
		}
		listed = true
	}
	return best, when
}

// arrives is the true time at which an orphaned request arrives; Never: not by the clock.
func (s *Stage) arrives(r simulator.OrphanedRequest) time.Duration {
	if s.clients[r.Choice.Client].frozen {
		return simulator.Never
	}
	t, ok := s.late[r.Msg]
	if !ok {
		t = s.rec.world.Now() + s.opt.Latency
		s.late[r.Msg] = t
	}
	return t
}

// due is the true time at which an enabled choice is to be made; Never: not by the clock.
func (s *Stage) due(c simulator.Choice) time.Duration {
	switch c.Verb {
	case simulator.Start:
		if i := int(c.Client) - 1; i < len(s.opt.Start) {
			return s.opt.Start[i]
		}
		return 0
	case simulator.Arrive, simulator.Answer:
		m := &s.clients[c.Client]
		if m.frozen && c.Verb == simulator.Arrive {
			return simulator.Never
		}
		return m.arrival[c.Thread]
	case simulator.Deliver:
		return s.clients[c.Client].news
	case simulator.Reconnect:
		if s.clients[c.Client].frozen {
			return simulator.Never
		}
		return s.rec.world.Now()
	case simulator.Wake, simulator.GiveUp, simulator.Resume, simulator.Unblock:
		return s.rec.world.Now()
	case simulator.Replicate:
		return s.copying[c.Node][c.Thread]
	}
	return simulator.Never
}

func (s *Stage) step(c simulator.Choice) error {
	events, err := s.rec.Step(c)
	for i := range events {
		s.plan(&events[i])
		if s.opt.Script != nil {
			s.opt.Script(s, &events[i])
		}
	}
	return err
}

// plan decides when the messages that e has sent arrive.
func (s *Stage) plan(e *history.Event) {
	m := &s.clients[e.Client]
	switch e.Kind {
	case history.Send:
		m.arrival[e.Thread], m.msg[e.Thread] = e.At+s.latency(e.Client), e.Msg
	case history.Apply, history.Read, history.Write:
		if t := slices.Index(m.msg[:], e.Msg); t >= 0 {
			m.arrival[t] = e.At + s.latency(e.Client)
		}
	case history.Push:
		m.arrival[e.Thread] = e.At + s.latency(e.Client)
	case history.Fire:
		m.news = max(m.news, e.At+s.latency(e.Client))
	case history.Change, history.Expire:
		for i, t := range s.copying[e.Node] {
			if t > e.At {
				continue
			}
			lag := s.opt.Lag
			if i > 0 && lag < simulator.Never/2 {
				lag *= 2
			}
			if e.Node <= len(s.rec.sim.Config().Nodes) && i == s.rec.sim.Config().Nodes[e.Node-1].Replicas {
				lag = time.Second // of a disk
			}
			s.copying[e.Node][i] = simulator.Never
			if lag < simulator.Never-e.At {
				s.copying[e.Node][i] = e.At + lag
			}
		}
	case history.Failover:
		s.copying[e.Node] = copying{}
	}
}

func (s *Stage) latency(client int) time.Duration {
	if s.opt.Seed == 0 {
		return s.opt.Latency
	}
	half := float64(s.opt.Latency) / 2
	return min(time.Duration(half+half*s.rng[client].ExpFloat64()), 10*s.opt.Latency).Truncate(time.Microsecond)
}

// World is the present world. The caller must not change it.
func (s *Stage) World() *simulator.World { return &s.rec.world }

// After calls do d of true time from now, at the earliest after the script has got the events of this instant.
func (s *Stage) After(d time.Duration, do func()) {
	at := s.rec.world.Now() + d
	i := len(s.actions)
	for i > 0 && s.actions[i-1].at > at {
		i--
	}
	s.actions = append(s.actions, action{})
	copy(s.actions[i+1:], s.actions[i:])
	s.actions[i] = action{at, do}
}

// Inject injects a fault d of true time from now. If that is not possible the Run says why; any other error ends it.
func (s *Stage) Inject(d time.Duration, c simulator.Choice) {
	s.After(d, func() {
		if err := s.step(c); err != nil {
			s.miss(err)
		}
	})
}

// miss notes why a fault was not injected.
func (s *Stage) miss(err error) {
	if not := (*simulator.NotEnabledError)(nil); errors.As(err, &not) {
		s.rec.run.NotInjected = append(s.rec.run.NotInjected, err)
		return
	}
	s.broken = err
}

// Freeze keeps every request of client under way until Thaw, including those whose
// sender has given up. The client does not connect to a ZooKeeper meanwhile.
func (s *Stage) Freeze(client int) { s.clients[client].frozen = true }

// Thaw lets the client's requests go on: those that were kept arrive now.
func (s *Stage) Thaw(client int) {
	m := &s.clients[client]
	m.frozen = false
	for t := range m.arrival {
		m.arrival[t] = max(m.arrival[t], s.rec.world.Now())
	}
}

// A Recorder makes the choices of one run, each when its caller says so, and keeps what happens.
type Recorder struct {
	sim   *simulator.Simulator
	world simulator.World
	run   Run
}

// Record begins a run of sim.
func Record(sim *simulator.Simulator) *Recorder { return &Recorder{sim: sim, world: sim.NewWorld()} }

// World returns the present world. The caller must not change it.
func (r *Recorder) World() *simulator.World { return &r.world }

// Step makes a choice and returns what happens. The run does not keep a choice that fails.
func (r *Recorder) Step(c simulator.Choice) ([]history.Event, error) {
	events, err := r.sim.Step(&r.world, c)
	if err != nil {
		return nil, err
	}
	first := len(r.run.Events)
	r.run.Choices = append(r.run.Choices, c)
	r.run.Events = append(r.run.Events, events...)
	return r.run.Events[first:], nil
}

// Run returns the run up to now.
func (r *Recorder) Run() *Run {
	r.run.End, r.run.Horizon = r.world.Now(), !r.sim.Quiet(&r.world)
	return &r.run
}

// Replay makes a saved list of choices. If one is not possible the error says which; the run then ends before it.
func Replay(sim *simulator.Simulator, choices []simulator.Choice) (*Run, error) {
	r := Record(sim)
	for i, c := range choices {
		if _, err := r.Step(c); err != nil {
			return &r.run, i18n.Errorf("error.choice", "n", i+1, "all", len(choices), "cause", err)
		}
	}
	return r.Run(), nil
}
