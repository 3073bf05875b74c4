package database

import (
	"slices"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	world "locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// theServer is the number of the server: there is one.
const theServer = 1

// maxReplicas bounds the replicas of a server.
const maxReplicas = 2

// A Config is the settings of a server. They have been checked.
type Config struct {
	Contents
	Clock    clock.State   // at the start
	Horizon  time.Duration // by how much its clock may be set back
	Replicas int           // 0 to maxReplicas, which receive commits later than the server has answered for them
	EarlyEnd bool          // an outage may end before its time, by a Resume
	// Wires says that the code of clients opens connections. Else each has one from the start.
	Wires bool
}

// A Kind is the database server of a simulator.
//
// Connections. A client that crashes or closes a connection, or stops waiting for an answer, has its connection closed,
// and the server notices at once: it ends the session, after executing what was on its way. A lost message breaks the
// connection for the client only: the server goes on with the session until Contents.Idle, if it has a transaction or a
// lock. A statement that waits is given up with its session; a MySQL server would notice only when its wait ends.
type Kind struct {
	// Real, if it is not nil, is a real server that does the same.
	Real Real

	x     *Executor
	group world.Group[DatabaseState]
	state server
}

var (
	_ world.Kind     = (*Kind)(nil)
	_ world.Fallible = (*Kind)(nil)
	_ world.Sessions = (*Kind)(nil)
)

// NewKind makes the server of a simulator.
func NewKind(config Config, m *memo.Memo) *Kind {
	k := &Kind{x: newExecutor(config, m)}
	k.state.kind = k
	return k
}

// A DatabaseState is the server of a world. It is a comparable value; its numbers name entries of its Kind's tables.
type DatabaseState struct {
	contents uint32
	clock    clock.State
	at       time.Duration // the true time from which the times in the contents count
	until    time.Duration // when the outage ends, true time
	// replicas are the committed contents that replicas have received. behind has a bit for each that lacks something.
	replicas [maxReplicas]uint32
	behind   uint8
	outage   outage
	// ends are the true times at which sessions may no longer stay as they are (see contents.limits); 0: there is none;
	// endsNow: at the present instant, which has not passed.
	ends [maxSessions]time.Duration
}

const endsNow = -1

type outage uint8

const (
	serving outage = iota
	down           // crashed: every request breaks its connection
	hung           // stands still: what arrives waits
)

// Words returns what clients and the server exchange, and the free connections that the clients' pools remember.
func (k *Kind) Words() world.Words {
	return world.Words{Requests: k.x.requests, Answers: k.x.answers, Memories: k.x.memories}
}

// Start has the tables' rows, and a connection of each client, opened before by its pool, unless its code opens them.
func (k *Kind) Start(int8, int) world.State {
	at := contents{state: New(k.x.config.Dialect, k.x.config.Tables,
		Options{Horizon: k.x.config.Horizon.Milliseconds(), OldGetLock: k.x.config.OldGetLock})}
	for c := int8(1); c <= world.MaxClients && k.x.config.Wires; c++ {
		at.setConn(sessionAt(c, 1), connNone)
	}
	s := DatabaseState{contents: k.x.contents.ID(at), clock: k.x.config.Clock}
	for i := range k.x.config.Replicas {
		s.replicas[i] = k.x.committed(s.contents)
	}
	return s
}

// Traits returns that clients wait for an answer without end, since the drivers have no time-out for it unless one is
// set, and that time stamps can be moved.
func (k *Kind) Traits() world.Traits { return world.Traits{Patience: clock.Never, Stamps: true} }

// HoldsBack is 0, and Asked nil: a thread listens for an answer that waits, and no statement asks for a time.
func (k *Kind) HoldsBack(*process.Op) time.Duration { return 0 }
func (k *Kind) Asked() []world.Length               { return nil }

// Due returns when the next session may no longer stay as it is, or the next deadline in a row comes.
func (k *Kind) Due(now time.Duration, state world.State) time.Duration {
	s := state.(DatabaseState)
	next := clock.Never
	if s.outage != serving && s.until > now {
		next = s.until
	}
	for _, end := range s.ends {
		if end > 0 {
			next = min(next, end)
		}
	}
	for _, l := range k.x.contents.At(s.contents).leases {
		if l.until != forever {
			next = min(next, s.when(now, l.until))
		}
	}
	return next
}

// Relative returns the server as a part of a world at now.
func (k *Kind) Relative(now time.Duration, state world.State, readsClock bool) world.State {
	s := state.(DatabaseState)
	s.shift(k.x, now)
	s.move(-now)
	if !readsClock {
		s.clock = s.clock.WithinMillisecond(now)
	}
	return s
}

// Absolute undoes Relative.
func (k *Kind) Absolute(now time.Duration, state world.State) world.State {
	s := state.(DatabaseState)
	s.move(now)
	return s
}

// read is the server's clock at a true time, in milliseconds.
func (s *DatabaseState) read(at time.Duration) int64 { return clock.Millis(s.clock.Read(at)) }

// shift has the times in the contents count from now, and returns what that changes.
func (s *DatabaseState) shift(x *Executor, now time.Duration) (changed []leaseChange) {
	passed := s.read(now) - s.read(s.at)
	s.at = now
	return s.pass(x, passed)
}

// pass has so many milliseconds pass on the server's clock, and returns what that changes.
func (s *DatabaseState) pass(x *Executor, ms int64) (changed []leaseChange) {
	if ms == 0 {
		return nil
	}
	eff := x.pass(shift{s.contents, ms})
	s.contents = eff.to
	for i, r := range s.replicas {
		s.replicas[i] = x.pass(shift{r, ms}).to
	}
	return eff.leases
}

// when is the true time, from now on, at which a time in the contents comes.
func (s *DatabaseState) when(now time.Duration, ms int64) time.Duration {
	return s.clock.When(now, time.Duration(s.read(s.at)+ms)*time.Millisecond)
}

// move moves all true times by d.
func (s *DatabaseState) move(d time.Duration) {
	s.at += d
	if s.outage != serving && s.until != clock.Never {
		s.until += d
	}
	for i, end := range s.ends {
		if end > 0 && end != clock.Never {
			s.ends[i] += d
		}
	}
}

// changed is a server with other contents in the place of its own and of those of its replicas.
func (k *Kind) changed(state world.State, to func(id uint32) uint32) DatabaseState {
	s := state.(DatabaseState)
	s.contents = to(s.contents)
	for i := range k.x.config.Replicas {
		s.replicas[i] = to(s.replicas[i])
	}
	return s
}

// Map returns the server in a translation. Integers are time stamps as the texts of their digits are.
func (k *Kind) Map(state world.State, t *translate.Translation) world.State {
	s := k.changed(state, func(id uint32) uint32 { return k.x.contents.Map(id, t) })
	for i, end := range state.(DatabaseState).ends {
		s.ends[renamedSession(SessionID(i+1), t)-1] = end
	}
	return s
}

// StampsIn returns the time stamps in the server and its replicas.
func (k *Kind) StampsIn(state world.State) clock.Stamps {
	has := clock.NoStamps
	k.changed(state, func(id uint32) uint32 {
		has = has.With(k.x.contents.Stamps(id))
		return id
	})
	return has
}

// Enabled appends that replicas catch up, that an outage ends before its time, and what comes to its end now.
func (k *Kind) Enabled(_ time.Duration, state world.State, _ int8, buf []world.Choice) []world.Choice {
	s := state.(DatabaseState)
	if s.outage != serving && k.x.config.EarlyEnd {
		buf = append(buf, world.Choice{Verb: world.Resume, Node: theServer})
	}
	for i := range int8(k.x.config.Replicas) {
		if s.outage == serving && s.behind>>i&1 != 0 {
			buf = append(buf, world.Choice{Verb: world.Replicate, Node: theServer, Thread: i})
		}
	}
	for i, end := range s.ends {
		if id := SessionID(i + 1); end == endsNow {
			buf = append(buf, world.Choice{Verb: world.End, Client: clientOf(id), Thread: slotOf(id), Node: theServer})
		}
	}
	return buf
}

// Offers appends, if servers, the answers to statements of client c that have waited.
func (k *Kind) Offers(w world.World, c int8, servers bool, buf []world.Choice) []world.Choice {
	if !servers || w.Client(c).Dead {
		return buf
	}
	s := k.open(w)
	for t := range w.Client(c).Each {
		if s.canAnswer(c, t) {
			buf = append(buf, world.Choice{Verb: world.Unblock, Client: c, Thread: t})
		}
	}
	return buf
}

// HasSession reports whether the server has a session of client c in which something can be lost.
func (k *Kind) HasSession(w world.World, c int8) bool { return k.open(w).kills(c) != 0 }

// open takes the server out of a world. It is good until the next call.
func (k *Kind) open(w world.World) *server {
	k.state.w, k.state.DatabaseState = w, &k.group.Open(w)[0]
	return &k.state
}

// Step has an event happen.
func (k *Kind) Step(w world.World, e world.Input) error {
	s := k.open(w)
	defer k.group.Close(w)
	switch e.What {
	case world.Chosen:
		return k.choose(s, e.Choice)
	case world.Arrived:
		s.arrive(e.Client, e.Thread)
	case world.ArrivedOrphan:
		return s.arriveOrphan(e.Orphan)
	case world.GaveUp:
		s.hangUp(e.Client, e.Thread)
		if w.Client(e.Client).Threads[e.Thread].Phase == world.Asking {
			w.Orphan(e.Client, e.Thread)
		}
	case world.Lost:
		s.lose(e.Client, e.Thread)
	case world.HeldUp, world.Paused, world.Resumed: // which the server does not notice
	case world.Crashed:
		s.crash(e.Client)
	case world.Passed:
		s.passed(e.Pending)
	case world.Settled:
		s.end(func(end time.Duration) bool { return end == endsNow })
	default:
		return s.strike(e)
	}
	return nil
}

// choose makes a choice of Enabled or Offers happen.
func (k *Kind) choose(s *server, c world.Choice) error {
	here := c.Node == theServer
	switch {
	case c.Verb == world.Unblock && c.Client >= 1 && int(c.Client) <= s.w.Clients() &&
		c.Thread >= 0 && c.Thread < process.MaxThreads:
		if s.w.Client(c.Client).Dead || !s.canAnswer(c.Client, c.Thread) {
			return world.Refuse("refused.message")
		}
		s.answer(c.Client, c.Thread)
		return nil
	case c.Verb == world.End && slices.Contains(k.Enabled(s.w.Now(), *s.DatabaseState, theServer, nil), c):
		s.endOf(sessionAt(c.Client, c.Thread))
		return nil
	case c.Verb == world.End:
		return world.Refuse("refused.nothing.ends")
	case here && c.Verb == world.Replicate && c.Thread < maxReplicas:
		return s.replicate(c.Thread)
	case here && c.Verb == world.Resume:
		return s.resume()
	}
	return world.Refuse("refused.thing")
}
