package zookeeper

import (
	"slices"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	world "locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// A Config is the settings of an ensemble. They have been checked.
type Config struct {
	Session time.Duration // the time-out of the clients' sessions, on the ensemble's clock
	Contents
	Clock clock.State // at the start
	// Wires says that clients' code opens connections, and sessions on them. Else each has a [Session] from the start.
	Wires bool
}

// Contents are the data of an ensemble at the start.
type Contents struct {
	Znodes State             // the zero State is only a root
	Lines  map[string]string // what histories call the znodes at which clients queue; others go by their paths
}

var (
	_ world.Kind      = (*Kind)(nil)
	_ world.Sessions  = (*Kind)(nil)
	_ world.Numbering = (*Kind)(nil)
)

// A Kind is the ensemble of a simulator.
type Kind struct {
	// Real does what the ensemble does on a real one; nil: there is none. To be set before the first world.
	Real Real
	// Executor computes what the ensemble does.
	Executor *Executor

	config Config
	asked  time.Duration // see Asked
	group  world.Group[EnsembleState]
	state  ensemble
}

// NewKind makes the ensemble of a simulator.
func NewKind(config Config, m *memo.Memo) *Kind {
	if len(config.Znodes.Paths()) == 0 {
		config.Znodes = New()
	}
	k := &Kind{config: config, Executor: newExecutor(config, m)}
	k.state = ensemble{kind: k, x: k.Executor}
	return k
}

// Words returns what clients and the ensemble exchange, and what the clients' libraries remember.
func (k *Kind) Words() world.Words {
	x := k.Executor
	return world.Words{Requests: x.requests, Watches: x.watches, Answers: x.answers, Memories: x.memories}
}

// CountCreations has the ensemble count transactions anew: a transaction that creates a znode has the next number,
// others have none, and a client that begins another session has the former number of a session again. A znode's czxid
// still says which of two was created first, and no client can observe another number. So contents recur that hold the
// same but for their past. Code that opens connections observes all numbers, and nothing is counted anew for that.
//
// Where sessions are numbered as they begin, or code opens them, their numbers distinguish clients.
func (k *Kind) CountCreations(on bool) {
	k.Executor.creations = on && !k.config.Wires
	k.Executor.memo.Asymmetric = !k.Executor.creations
}

// Start gives every client its session, unless its code begins that.
func (k *Kind) Start(_ int8, clients int) world.State {
	s := contents{state: k.config.Znodes}
	if k.config.Wires {
		clients = 0
	}
	for c := range clients {
		s.state, s.peers[c].session = s.state.Connect()
	}
	return EnsembleState{contents: k.Executor.contents.ID(s), clock: k.config.Clock}
}

// Traits returns that clients wait for an answer for two thirds of the session's time-out.
func (k *Kind) Traits() world.Traits { return world.Traits{Patience: k.config.Session * 2 / 3} }

// HoldsBack is 0: the ensemble answers when it executes.
func (k *Kind) HoldsBack(*process.Op) time.Duration { return 0 }

// StampsIn returns none: those in znodes are not moved.
func (k *Kind) StampsIn(world.State) clock.Stamps { return clock.NoStamps }

// Due returns when the next session ends, of those that do not end now.
func (k *Kind) Due(_ time.Duration, s world.State) time.Duration {
	next := clock.Never
	for _, end := range s.(EnsembleState).ends {
		if end > 0 {
			next = min(next, end)
		}
	}
	return next
}

// Relative returns the ensemble as a part of a world at now.
func (k *Kind) Relative(now time.Duration, state world.State, readsClock bool) world.State {
	s := state.(EnsembleState)
	s.shift(-now)
	if !readsClock {
		s.clock = s.clock.WithinMillisecond(now)
	}
	return s
}

// Absolute undoes Relative.
func (k *Kind) Absolute(now time.Duration, state world.State) world.State {
	if now == 0 {
		return state
	}
	s := state.(EnsembleState)
	s.shift(now)
	return s
}

// Map returns the ensemble in a translation.
func (k *Kind) Map(state world.State, t *translate.Translation) world.State {
	s := state.(EnsembleState)
	ends := s.ends
	for c := range int8(world.MaxClients) {
		s.ends[t.Client(c+1)-1] = ends[c]
	}
	s.contents = k.Executor.contents.Map(s.contents, t)
	return s
}

// Znodes returns what the ensemble of a world holds.
func (k *Kind) Znodes(s world.State) State {
	return k.Executor.contents.At(s.(EnsembleState).contents).state
}

// open takes the ensemble out of a world. It is good until the next call.
func (k *Kind) open(w world.World) *ensemble {
	k.state.w, k.state.EnsembleState = w, &k.group.Open(w)[0]
	return &k.state
}

// Enabled appends that sessions end that end now. The ensemble does nothing else by itself.
func (k *Kind) Enabled(_ time.Duration, state world.State, _ int8, buf []world.Choice) []world.Choice {
	s := state.(EnsembleState)
	for at, end := range s.ends {
		if end != endsNow {
			continue
		}
		c := world.Choice{Verb: world.End, Client: int8(at + 1), Node: number}
		if k.config.Wires { // a client may have several
			c.Client, c.Thread = k.Executor.contents.At(s.contents).clientAt(int8(at+1)), int8(at+1)
		}
		buf = append(buf, c)
	}
	return buf
}

// Offers appends that client c connects again or, if servers, the notifications for its threads that wait for one.
func (k *Kind) Offers(w world.World, c int8, servers bool, buf []world.Choice) []world.Choice {
	if !servers && cannotReconnect(w, c) == nil {
		buf = append(buf, world.Choice{Verb: world.Reconnect, Client: c})
	}
	p := w.Client(c)
	if !servers || p.Dead || p.Paused {
		return buf
	}
	e := k.open(w)
	for t := range p.Each {
		if p.Stands(int(t)) {
			continue
		}
		if at, broken := e.news(c, t); at != 0 || broken {
			buf = append(buf, world.Choice{Verb: k.brings(), Client: c, Thread: t})
		}
	}
	return buf
}

// brings returns the choice by which news reach a thread: it waits for a watch, or listens on a connection.
func (k *Kind) brings() world.Verb {
	if k.config.Wires {
		return world.Unblock
	}
	return world.Deliver
}

// Step has an event happen.
func (k *Kind) Step(w world.World, e world.Input) (err error) {
	s := k.open(w)
	switch e.What {
	case world.Chosen:
		err = k.choose(s, e.Choice)
	case world.Arrived:
		s.arrive(e.Client, e.Thread)
	case world.ArrivedOrphan:
		s.serve(&e.Orphan.Op, e.Orphan.From, e.Orphan.Msg, ActServeOrphan)
	case world.GaveUp:
		s.hangUp(e.Client, s.wireOf(e.Client, e.Thread)) // as ZooKeeper's own client does
	case world.Lost:
		s.lost(e.Client, e.Thread)
	case world.HeldUp, world.Paused:
		s.silenced(e.Client, e.What == world.HeldUp)
	case world.Resumed:
		s.resumed(e.Client)
	case world.Crashed:
		s.crashed(e.Client)
	case world.EndSession:
		err = s.expire(e.Client)
	case world.Passed:
		s.passed(e.Pending)
	case world.Settled:
		s.endSessions(func(end time.Duration) bool { return end == endsNow })
	}
	k.group.Close(w)
	return err
}

// choose makes a choice of Enabled or Offers happen.
func (k *Kind) choose(s *ensemble, c world.Choice) error {
	switch c.Verb {
	case world.Reconnect:
		return s.reconnect(c.Client)
	case k.brings():
		return s.deliver(c.Client, c.Thread)
	case world.Deliver, world.Unblock:
		return world.Refuse("refused.watch")
	case world.End:
		if !slices.Contains(k.Enabled(s.w.Now(), *s.EnsembleState, number, nil), c) {
			return world.Refuse("refused.nothing.ends")
		}
		at := c.Client
		if k.config.Wires {
			at = c.Thread
		}
		s.endSession(at)
		return nil
	}
	return world.Refuse("refused.thing")
}

// HasSession reports whether the ensemble has a session of client c.
func (k *Kind) HasSession(w world.World, c int8) bool { return k.open(w).sessionOf(c) != 0 }
