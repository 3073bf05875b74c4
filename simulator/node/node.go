// Package node is the contract between a world and the servers in it. A kind of
// server is a package of its own that implements [Kind]: its servers are plain
// values that a world holds, and everything that they need of the world comes
// through [World]. The simulator does not know which kind it runs.
//
// To add a kind: write the package, give simulator.World a field for its states,
// and add a line to simulator's newServer.
package node

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
	"locklab/simulator/process"
)

// Limits of a world. They keep it a plain value.
const (
	MaxClients = 8 // client processes
	MaxNodes   = 7 // servers
)

// A World is what a server sees of the world around it, and does to it. Clients
// and servers count from 1, threads from 0 (the main thread).
type World interface {
	Now() time.Duration // true time since the start
	Clients() int
	Client(c int8) *Client
	// Op is what a client's thread waits for.
	Op(c, thread int8) *process.Op
	// Memory is what a client's library remembers; see process.Library.
	Memory(c int8) uint32

	// Emit records an event at the present time. The pointer is good until the next
	// event; EmitClient fills in the client, its thread and its clock.
	Emit(k history.Kind) *history.Event
	EmitClient(k history.Kind, c, thread int8) *history.Event

	// Observe ends what a thread waits for and lets its code run.
	Observe(c, thread int8, s process.Observation) error
	// Orphan keeps a thread's request under way though no thread waits for its answer
	// any more, and DropOrphans loses those to server n that come from some clients.
	Orphan(c, thread int8)
	DropOrphans(n int8, from Set)
	// ReleaseOrphans has those go on that server n holds up.
	ReleaseOrphans(n int8)
}

// An Orphan is a request under way whose sender no longer waits for the answer.
type Orphan struct {
	Op     process.Op
	Hold   time.Duration // it does not arrive before, true time
	Latest time.Duration // by when it arrives, as Thread.Latest
	Msg    uint32        // number of the request
	From   int8          // client
}

// Sizes is how many entries the tables of a kind have, each at its own place. It
// only grows.
type Sizes [8]int

// A Kind is a kind of server: what its servers do, from tables that are filled on
// the way, and the client library that talks to them. S is the state of one
// server; a world holds nodes []S, server n at nodes[n-1].
//
// Methods with a why return "" when it is done; otherwise nothing has happened, for
// that reason. A method with an error leaves the world unusable if there is one.
type Kind[S comparable] interface {
	// Library is the client library of process p.
	Library(p *process.Process) process.Library
	// Patience is how long a client waits for an answer, on its own clock; timeout
	// is the configured time.
	Patience(timeout time.Duration) time.Duration
	// Request is what a request asks for, as histories show it, and Reply what the
	// answer says.
	Request(o *process.Op) []string
	Reply(o *process.Op, answer uint32) string

	// Begin sets the servers to the start of a run.
	Begin(nodes []S, clients int)
	// Passed says that time has passed. What ends at the present instant still stands, if
	// standing; all else that has come to its end ends.
	Passed(w World, nodes []S, standing bool)
	// Settle ends what has come to its end and still stands; time is about to pass.
	Settle(w World, nodes []S)
	// Tidy brings a server at which nothing stands any more that has come to its end into
	// the state that it would have if nothing had.
	Tidy(now time.Duration, s *S)
	// Due is the next true time, from now on, at which something is due at a server, without
	// what still stands: its time has come.
	Due(now time.Duration, s *S) time.Duration

	// Ready appends what client c's library can do at once, Told what the servers can
	// tell its threads that wait for a notification, Enabled what server n can do.
	Ready(w World, c int8, buf []Choice) []Choice
	Told(w World, nodes []S, c int8, buf []Choice) []Choice
	Enabled(now time.Duration, s *S, n int8, buf []Choice) []Choice
	// Step makes such a choice happen.
	Step(w World, nodes []S, c Choice) (why string, err error)

	// Arrive has the request of a client's thread reach its server; it leaves the
	// thread answered, blocked, or its request held up.
	Arrive(w World, nodes []S, c, thread int8) error
	// ArriveOrphan has an orphaned request reach its server. held: it waits there,
	// with a new Hold.
	ArriveOrphan(w World, nodes []S, o *Orphan) (held bool, err error)
	// What happens to a client: its thread gives up waiting for an answer or a
	// message (not yet recorded); a message to or from its thread is lost; one of its
	// requests is held up; it pauses, goes on, or dies (it is still there).
	GaveUp(w World, nodes []S, c, thread int8)
	Lost(w World, nodes []S, c, thread int8)
	HeldUp(w World, nodes []S, c int8)
	Paused(w World, nodes []S, c int8)
	Resumed(w World, nodes []S, c int8)
	Crashed(w World, nodes []S, c int8)

	// Relative is a state as a part of a world at now: with times that count from
	// now, and without what makes no difference. Where no clock is read only its
	// place in the present millisecond is left of the server's. Absolute undoes it.
	Relative(now time.Duration, s S, readsClock bool) S
	Absolute(now time.Duration, s S) S

	// Symmetric says whether clients can change places at all; if not, the next
	// seven are not used. Alike has every effect checked from then on: so many clients,
	// from the first, are interchangeable, or else there is an *AsymmetricError. Those
	// called Rename… rename the clients in what they are given. SameRequest compares what
	// two operations of the same kind, a request or a watch, ask for, but for the names in
	// the first; NamesClient says whether an answer names a client, and how it reads.
	Symmetric() bool
	Alike(clients int)
	RenameState(s S, to *Names) S
	SameRequest(a, b *process.Op, to *Names) bool
	NamesClient(answer uint32) (text string, named bool)
	RenameAnswer(answer uint32, to *Names) uint32
	RenameRequest(request uint32, to *Names) (uint32, error)
	RenameMemory(memory uint32, to *Names) uint32

	// ReadsClock says whether some request has read its server's clock so far.
	ReadsClock() bool
	// Len is the number of entries in the tables. Clear forgets them: states that
	// were made before mean nothing afterwards. Close ends the machinery.
	Len() int
	Clear()
	Close()
	// Save writes what the tables held at m and not yet at from, and Load reads that into
	// tables that hold what went before, so that every number means the same. From zero
	// on it is read into the tables of a run that has just begun.
	Sizes() Sizes
	Save(w *codec.Writer, from, m Sizes)
	Load(r *codec.Reader) error
	// Has says whether what was read from a file names entries that the tables have: a
	// state, the request of an operation, an answer.
	HasState(s *S) bool
	HasRequest(o *process.Op) bool
	HasAnswer(answer uint32) bool
	// NoMemo has everything computed anew each time. It is the simple implementation
	// that tests compare with.
	NoMemo()
}

// HangUp breaks the connections of some clients to server n: their threads see it
// in place of an answer, unless one was on its way and survives, and their orphaned
// requests are lost.
func HangUp(w World, n int8, who Set) {
	for c := int8(1); int(c) <= w.Clients(); c++ {
		if !who.Has(c) {
			continue
		}
		threads := &w.Client(c).Threads
		for t := range threads {
			if threads[t].Phase.Waiting() && w.Op(c, int8(t)).Node == n {
				threads[t].Break(w.Now())
			}
		}
	}
	w.DropOrphans(n, who)
}
