package simulator

import (
	"time"

	"locklab/simulator/internal/clock"
)

// Limits of one world. They keep a World a plain value; New refuses a Setup
// that exceeds them.
const (
	MaxClients = 8  // client processes
	MaxNodes   = 7  // servers
	MaxThreads = 5  // threads of one process: its main thread, running timers and joined tasks
	MaxKeys    = 4  // keys with a time to live on one server
	MaxFaults  = 16 // kinds of fault

	MaxReplicas = 2 // of one server
	maxCopies   = 7 // replicas and disks of all servers
)

// Never is later than everything.
const Never = clock.Never

// Epoch is the wall-clock reading of a right clock at the start of a run.
var Epoch = clock.Epoch

// A World is everything that is, at one instant. It is a value: assign it to
// keep it, compare it with ==. The numbers in it name entries of its Lab's
// tables, so a World means something to the Lab that made it and to no other.
type World struct {
	now    time.Duration // true time since the start
	procs  [MaxClients]procState
	nodes  [MaxNodes]nodeState
	copies [maxCopies]dataState // what replicas and disks hold; see Lab.copiesOf
	late   uint32               // requests whose sender no longer waits: a list of lateTable
	zoo    zooState             // the ensemble, if the server is one
	res    resourceState
	budget [MaxFaults]uint8 // what is left of each fault, in the Setup's order
	sent   uint32           // messages so far; names them in the history
}

// procState is one client process.
type procState struct {
	at      uint32 // what it has observed so far: an entry of its table
	dead    bool
	paused  bool
	open    bool          // paused: it may end before
	cut     bool          // its connection to the ensemble has broken
	until   time.Duration // paused: when it ends, true time
	clock   clock.State
	threads [MaxThreads]threadState
}

// threadState is where one thread's pending operation has got to.
type threadState struct {
	due   time.Duration // asleep: when it wakes; waiting: when it gives up. True time
	hold  time.Duration // asking, answered: it does not arrive before; blocked: its server answers then at the latest. True time
	reply uint32        // answered: what is on its way back; lostConn: nothing ever will
	msg   uint32        // number of the request
	acks  copySet       // blocked: the replicas that have what it waits for
	phase phase
}

type phase uint8

const (
	idle      phase = iota // no such thread, or it has ended
	unborn                 // its program has not begun
	asleep                 // until due
	asking                 // its request is on the way to the server
	blocked                // its server waits for replicas before it answers
	answered               // the reply is on the way back
	unheard                // request or reply is lost: only the time-out can end it
	listening              // waits for a message that its server has for it
	joining                // other threads of its process are to end first
	stranded               // its request waits for a connection to the ensemble
)

// lostConn in place of a reply is a connection that broke.
const lostConn = ^uint32(0)

func (p phase) waiting() bool {
	return p == asking || p == blocked || p == answered || p == unheard || p == listening || p == stranded
}

// answer puts a reply, or lostConn, on its way to the thread.
func (th *threadState) answer(reply uint32) {
	*th = threadState{phase: answered, reply: reply, msg: th.msg, due: th.due}
}

// nodeState is one server. What its replicas and its disk hold stands in
// World.copies; they share its clock.
type nodeState struct {
	data   dataState
	clock  clock.State
	behind copySet                // the copies that lack something that the server has
	lacks  [MaxReplicas]clientSet // whose writes are among what a replica lacks

	cut   clientSet // who is cut off with the old master; none: there is none
	stray uint8     // the replica in whose place that is
	out   outage

	refuses time.Duration // cut: when the old master begins to refuse writes, true time
	until   time.Duration // out: when that ends, true time
}

type outage uint8

const (
	serving outage = iota
	down           // crashed: whoever asks sees the connection break
	hung           // stands still: what arrives waits in its queue
)

// copySet is a set of the copies of one server, the replicas before the disk;
// clientSet is one of clients.
type (
	copySet   uint8
	clientSet uint8
)

func (s clientSet) has(c int8) bool { return s>>(c-1)&1 != 0 }

// dataState is what a server holds: a shape, and for each key that expires, in
// its place, the last millisecond of the server's own clock in which it lives.
type dataState struct {
	shape    uint32
	deadline [MaxKeys]int64
}

// resourceState is the thing that the lock protects: a register that counts
// its accepted writes.
type resourceState struct {
	version int32
	highest uint64 // highest fencing token seen
}

// Now is the true time since the start of the run.
func (w *World) Now() time.Duration { return w.now }

// Alive says whether client c (from 1) has not been killed.
func (w *World) Alive(c int) bool { return !w.procs[c-1].dead }

// Paused says whether client c (from 1) is standing still.
func (w *World) Paused(c int) bool { return w.procs[c-1].paused }

// Behind says whether a replica of server n (from 1) lacks something.
func (w *World) Behind(n int) bool { return w.nodes[n-1].behind != 0 }

// Down says whether server n (from 1) has crashed and is not back.
func (w *World) Down(n int) bool { return w.nodes[n-1].out == down }

// Hung says whether server n (from 1) stands still.
func (w *World) Hung(n int) bool { return w.nodes[n-1].out == hung }

// Budget is what is left of the i-th fault of the Setup.
func (w *World) Budget(i int) int { return int(w.budget[i]) }
