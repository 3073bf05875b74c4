// Package node is the contract between a world and its servers. A kind of server is a package that implements [Kind].
// World and search do not ask which it is; what can serve one kind only does (packages live, promela, locktest).
//
// A server is a value: its [State] is comparable and never changes. What happens to it is an [Input]; Server.Step puts
// another State in its place. Everything that a kind needs of the world, and does to it, goes through [World]. What
// clients and servers exchange goes by numbers: a kind keeps it in tables of package memo, which number and rename it
// for all kinds alike; [Words] are those of them that the simulator needs. Time in a State is true time. Relative makes
// it count from the present, so that equal futures are equal values, and Absolute undoes that.
//
// Some kinds can do more: [Fallible], [Sessions], [Numbering], [Connected]. What cannot happen is a [*Refused].
//
// To add a kind: write the package, and have newServers of package simulator make it.
package node

import (
	"cmp"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/internal/clock"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// Limits of a world. They keep it a plain value.
const (
	MaxClients = history.MaxClients // client processes
	MaxNodes   = 7                  // servers
)

// A State is one server at one instant: a comparable value that never changes.
type State interface {
	Condition() Condition
	WithoutCopies() State // without what its replicas, and its disk, hold
	// WithoutAges is a state of Relative without how long ago keys ended that its replicas or its disk still hold.
	WithoutAges() State
}

// A Condition is what faults have made of a server; zero: nothing.
type Condition struct {
	Down   bool // it has crashed and is not back
	Hung   bool // it stands still
	Split  bool // its old master lives on
	Behind bool // a replica, or its disk, lacks something
}

// A World is what a server sees and changes around it. Clients and servers count from 1, threads from 0 (the main one).
type World interface {
	Now() time.Duration // true time since the start
	Clients() int
	Client(c int8) *ClientProcess
	// Op returns the operation that a client's thread waits for.
	Op(c, thread int8) *process.Op
	// Memory returns the number of what a client's library remembers; see process.Library.
	Memory(c int8) uint32

	// Servers is the number of servers. State is that of server n; nil in a world of which only parts are known, and
	// not this one. SetState replaces it.
	Servers() int
	State(n int8) State
	SetState(n int8, s State)

	// Emit records an event at the present time. The pointer is good until the next event; EmitClient fills in the
	// client, its thread and its clock.
	Emit(k history.EventKind) *history.Event
	EmitClient(k history.EventKind, c, thread int8) *history.Event

	// Observe ends what a thread waits for and lets its code run.
	Observe(c, thread int8, s process.Observation) error
	// Orphan keeps a thread's request under way though no thread waits for its answer any more, and DropOrphans loses
	// those to server n that come from some clients.
	Orphan(c, thread int8)
	DropOrphans(n int8, from history.ClientSet)
	// ReleaseOrphans has those go on that server n holds up.
	ReleaseOrphans(n int8)
}

// An Orphan is a request under way whose sender no longer waits for the answer.
type Orphan struct {
	Op     process.Op
	Hold   time.Duration // it does not arrive before; what remains, as Thread.Hold
	Latest time.Duration // until it has to arrive, as Thread.Latest
	Msg    uint32        // number of the request
	From   int8          // client
}

// Pass has time pass by d.
func (o *Orphan) Pass(d time.Duration) {
	o.Hold, o.Latest = clock.Left(o.Hold, d), clock.Left(o.Latest, d)
}

// A Kind is a kind of server: what its servers do, and the client library that talks to them.
type Kind interface {
	Server
	Protocol
}

// A Server is what the servers of a kind do: functions of a State, which they never change.
type Server interface {
	// Start is server n at the start of a run with so many clients.
	Start(n int8, clients int) State
	// Enabled appends what server n can do by itself.
	Enabled(now time.Duration, s State, n int8, buf []Choice) []Choice
	// Due is the next true time, from now on, at which something is due at a server; what still stands was due before.
	Due(now time.Duration, s State) time.Duration
	// Step has an input happen. The error is a *Refused if nothing has happened; any other leaves the world of no use.
	Step(w World, in Input) error

	// Relative is a state as a part of a world at now: with times from now, and without what makes no difference. Where
	// no clock is read only its place in the present millisecond is left of the server's. Absolute undoes it.
	Relative(now time.Duration, s State, readsClock bool) State
	Absolute(now time.Duration, s State) State
	// Map is a state in a translation, and StampsIn are the time stamps in a state.
	Map(s State, t *translate.Translation) State
	StampsIn(s State) clock.Stamps

	// HoldsBack returns the true time for which the server of a request holds back the answer at most while replicas
	// catch up; Never if there is no bound.
	HoldsBack(o *process.Op) time.Duration
	// Asked are the different times that servers were asked for, in the order met. The slice must not be changed.
	Asked() []Length
}

// A Protocol is what clients and the servers of a kind exchange, and the library by which clients do.
type Protocol interface {
	// Library is the client library of process p. Dial returns a function that makes a connection of p to server n, for
	// code that opens connections. It knows nothing of those that p makes elsewhere.
	Library(p *process.Code) process.Library
	Dial(p *process.Code) func(n int) process.Wire
	// Words returns the tables of what clients and servers exchange. They are always the same.
	Words() Words
	// Traits are always the same as well.
	Traits() Traits
	// Offers appends what client c's library can do by itself or, if servers, what they can send to those of its
	// threads that wait for a notification.
	Offers(w World, c int8, servers bool, buf []Choice) []Choice
}

// An Input is something that happens to a server, or that servers notice of a client.
type Input struct {
	What   What
	Choice Choice // Chosen. Of a fault of a server: that, a replica as its Thread, a client who is cut off, and D
	Client int8   // EndSession, and what servers notice but for ArrivedOrphan, Passed and Settled
	Thread int8   // Arrived, GaveUp, Lost
	Orphan *Orphan
	// Pending: what ends at the present instant (Passed), or at that to which a clock jumps (StepClock), still stands.
	Pending bool
	Command []string // Command: what no client has sent
	Note    string   // Command: why, in the history
}

// What happens.
type What uint8

const (
	Chosen What = iota // Choice, which is one of Enabled or Offers, or the end of a WAIT
	// Arrived: a thread's request reaches its server, and leaves the thread answered, blocked, or its request held up.
	Arrived
	ArrivedOrphan // so does Orphan; refused: it is held up, with a new Hold
	GaveUp        // a client's thread gives up waiting for an answer or a message (not yet recorded)
	Lost          // a message to or from a client's thread is lost
	HeldUp        // one of a client's requests is held up
	Paused        // a client pauses
	Resumed       // it goes on
	Crashed       // it dies (it is still there)
	// Passed: time has passed: what ends at the present instant still stands, if Pending; all else that is over ends.
	Passed
	Settled    // time is about to pass: what has come to its end and still stands ends
	EndSession // a server ends a session of a client now

	// Faults of a server of a Fallible kind.
	Hang      // it stands still for D at most
	Restart   // it crashes, and comes back after D with what it keeps on disk
	Failover  // a replica takes its place
	Split     // its master is cut off with a client, and a replica promoted; or one more client is cut off
	StepClock // its clock jumps by D
	Command   // it executes Command
)

// Refused is the error of a choice or an event that cannot happen: nothing has happened.
type Refused struct{ Why i18n.Message }

// Refuse returns a *Refused with a text of the catalogues.
func Refuse(key string, pairs ...any) error { return &Refused{i18n.New(key, pairs...)} }

func (e *Refused) Error() string { return "simulator: " + e.Why.String() }

// Message implements i18n.Error.
func (e *Refused) Message() i18n.Message { return e.Why }

// Traits are the same of all servers and clients of a kind.
type Traits struct {
	Patience time.Duration // for which clients wait for an answer, on their own clocks; 0: as it is configured
	Stamps   bool          // time stamps in states can be moved
}

// Words are the tables of what clients and servers exchange, and of what clients' libraries remember. nil: nothing.
type Words struct {
	Requests, Watches, Answers, Memories Vocabulary
}

// Of is the vocabulary of what an operation asks for.
func (w *Words) Of(o *process.Op) Vocabulary {
	if o.Kind == process.Watch {
		return w.Watches
	}
	return w.Requests
}

// A Vocabulary is numbered entries: a table of package memo.
type Vocabulary interface {
	Has(id uint32) bool
	// Words is an entry as histories show it: of an answer it is one word.
	Words(id uint32) []string
	// Named are the clients that an entry names, and Stamps the time stamps in it.
	Named(id uint32) history.ClientSet
	Stamps(id uint32) clock.Stamps
	// Map is an entry in a translation, and Same reports whether entry a is b in it, and adds nothing.
	Map(id uint32, t *translate.Translation) uint32
	Same(a, b uint32, t *translate.Translation) bool
	// Write returns an entry in texts, as package codec has them, and Read is the number of the entry of which Write
	// has returned these, which it adds.
	Write(id uint32) map[string]string
	Read(written map[string]string) (uint32, error)
}

// A Group is the states of all servers of a world while they change, as values of their own type.
type Group[S interface {
	comparable
	State
}] struct{ states [MaxNodes]S }

// Open takes the states out of a world.
func (g *Group[S]) Open(w World) []S {
	n := w.Servers()
	for i := range n {
		g.states[i], _ = w.State(int8(i + 1)).(S)
	}
	return g.states[:n]
}

// Close puts those back that have changed.
func (g *Group[S]) Close(w World) {
	for i := range w.Servers() {
		if old, _ := w.State(int8(i + 1)).(S); old != g.states[i] {
			w.SetState(int8(i+1), g.states[i])
		}
	}
}

// A Connected kind has states that keep something of clients' connections which matters to these clients only.
type Connected interface {
	// ConnectionsOf returns a state with the connections of client c in s, and nothing else.
	ConnectionsOf(s State, c int8) State
	// WithoutConnections returns s without those of all clients, and WithConnections s with another state's as well.
	WithoutConnections(s State) State
	WithConnections(s, other State) State
}

// A Length is a time for which code has waited, or that servers keep something.
type Length struct {
	Of      LengthOf
	D       time.Duration // above 0; of Remainders: 0
	Request []string      // of what a server was asked for: the first request that did
}

// Compare orders lengths by what they are of and how long they are; 0: they are listed as one.
func (l Length) Compare(other Length) int {
	return cmp.Or(cmp.Compare(l.Of, other.Of), cmp.Compare(l.D, other.D))
}

// A LengthOf names what a Length is of.
type LengthOf uint8

const (
	KeyLife    LengthOf = iota // how long a server was to keep a key; its server's clock
	Session                    // time-out that was wanted for a session with a ZooKeeper
	Timer                      // a sleep or a timer; the client's clock
	Patience                   // how long code itself has said that it waits for an answer; the client's clock
	WaitLimit                  // how long a server was to wait for its replicas (WAIT)
	Inside                     // how long a client may work, or do a part of it; the client's clock
	Remainders                 // no length: a request has asked how long a key has still to live
	Insight                    // no length: a request has looked into a token, or into what keys hold
	ClockReads                 // no length: a request has read its server's clock
)

// A Fallible kind has servers that can fail, of which faults are made. A State that is nil is not known: what is
// answered for it is without meaning.
type Fallible interface {
	// HasReplica reports whether server n, from 1, has that replica, from 0, to promote.
	HasReplica(s State, n, replica int8) bool
	// CannotSplit returns the error of a Split of server n with client c; nil: it happens.
	CannotSplit(s State, c, n, replica int8) error
	// JumpsToEnd reports whether something of a server ends at the very instant to which its clock jumps by d at now.
	JumpsToEnd(now time.Duration, s State, d time.Duration) bool
	// Keys calls yield for the keys of a server at now, in the order of their names: whether each has a time to live,
	// and what is left of it on the server's clock (Never: that is not known).
	Keys(now time.Duration, s State, yield func(name string, expires bool, left time.Duration))
	// Reject returns the answer to a request that is refused with an error, of one line, instead of being executed.
	Reject(request uint32, err string) (answer uint32, text string)
}

// A Sessions kind keeps sessions of clients: what befalls a client reaches its server.
type Sessions interface {
	// HasSession reports whether a server has a session of client c, which EndSession ends.
	HasSession(w World, c int8) bool
}

// A Numbering kind has servers that number all that they do, and clients learn the numbers.
type Numbering interface {
	// CountCreations has only creating transactions numbered from now on, if it can; no code learns of the others.
	CountCreations(on bool)
}

// HangUp breaks the connections of some clients to server n: their threads see it in place of an answer, unless one was
// on its way and survives, and their orphaned requests are lost.
func HangUp(w World, n int8, who history.ClientSet) {
	for c := int8(1); int(c) <= w.Clients(); c++ {
		for t, th := range w.Client(c).Each {
			if who.Has(uint8(c)) && th.Phase.Waiting() && w.Op(c, t).Node == n {
				th.Break()
			}
		}
	}
	w.DropOrphans(n, who)
}
