package simulator

import (
	"fmt"
	"sync/atomic"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/table"
)

// A process is the table of what one client's code does: a tree whose paths
// are histories of observations and whose entries are the operations that the
// code then waits for. Two runs in which the client has observed the same
// share an entry, and then no code runs.
//
// Where the tree ends, code must run. The coroutines parked at the newest
// entry are simply continued (live); for any other entry they are started
// afresh and fed the recorded observations, alone, without a server.
type process struct {
	sim     *Simulator
	id      int // from 1
	program func(*Client)
	nodes   []procNode
	edges   map[edge]uint32
	live    *execution
	conns   *connections
	runs    int // how often the program was started
	// questions counts what its coroutines have asked for, while goroutines are
	// watched; strayed says that one of the code's own has asked.
	questions int
	strayed   atomic.Bool
	resumed   int // how often a coroutine was let run
	// twins are the entries of other processes that stand for entries of this
	// one; see Lab.follow.
	renamedHistories map[renamedHistory]uint32
}

// procNode is one history of observations.
type procNode struct {
	parent uint32
	seen   observation     // the last observation on the way here
	ops    [MaxThreads]op  // what each thread waits for
	fresh  uint8           // bit t: thread t's operation began, or ended, with that observation
	notes  []history.Event // what the program recorded on the way
	code   [][]string      // by thread, where in its code each operation was asked for; nil: nobody looks
	memory uint32          // what its library remembers of its session with the ensemble
	// entered and inside say whether it was ever given the lock, and whether it has it:
	// by all notes up to here, so that nobody has to walk back to the beginning.
	entered, inside bool
	next            observation // cache of the first edge that was followed from here
	to              uint32      // where it leads; 0: nowhere yet
}

// op is what a thread waits for.
type op struct {
	kind  opKind
	node  int8          // command, listen, zoo: the server
	batch uint32        // command: what is sent; listen: see takeCommand; zoo: the request; watch: which
	d     time.Duration // sleep, listen, watch: how long, on the client's clock
	base  int32         // write: the version that was read
	token uint64        // read, write: fencing token
}

type opKind uint8

const (
	opNone    opKind = iota // no thread here
	opStart                 // the program has not begun
	opCommand               // a request to a server
	opRead                  // reads the resource
	opWrite                 // writes the resource
	opSleep                 // sleeps
	opClock                 // reads the client's clock: answered at once
	opJoin                  // waits for threads of its own process
	opListen                // waits for a message on a connection
	opZoo                   // a request to the ensemble
	opWatch                 // sleeps, unless there are news of a watch
)

// toServer says whether a Redis answers it.
func (k opKind) toServer() bool { return k == opCommand || k == opListen }

// seen is one observation.
type observation struct {
	thread uint8
	kind   observationKind
	// val is, replied and told: what was heard; timedOut: the message that comes
	// when the time is over, 0: none; clock: the reading; resource: see resource.go.
	val int64
}

type observationKind uint8

const (
	started  observationKind = iota + 1 // the program begins
	replied                             // the server answered
	timedOut                            // nobody answered in time
	broken                              // the connection is gone
	slept                               // the sleep is over
	clockWas                            // the clock was read
	told                                // there are news of a watch
)

type edge struct {
	from uint32
	seen observation
}

func newProcess(sim *Simulator, id int, program func(*Client)) *process {
	p := &process{sim: sim, id: id, program: program, edges: map[edge]uint32{}, renamedHistories: map[renamedHistory]uint32{}}
	p.conns = newConnections(p)
	p.clear()
	return p
}

// clear forgets the table and the parked coroutines. Entry 0 is the program
// that has observed nothing and has not begun.
func (p *process) clear() {
	p.stop()
	clear(p.edges)
	clear(p.renamedHistories)
	p.nodes = append(table.Emptied(p.nodes), procNode{ops: notBegun})
}

// stop unwinds the coroutines. Code that was unwound while a connection watched
// may not have given it back to its pool, so the pools go as well.
func (p *process) stop() {
	if p.live == nil {
		return
	}
	p.live.stop()
	if len(p.live.watchers) > 0 {
		p.conns.close()
		p.conns = newConnections(p)
	}
	p.live = nil
}

// advance is the entry that follows at when s is observed.
func (p *process) advance(at uint32, s observation) (uint32, error) {
	if to, ok := p.known(at, s); ok && !p.sim.noMemo {
		return to, nil
	}
	if p.live == nil || p.live.at != at || p.sim.noMemo {
		if err := p.rerun(at); err != nil {
			return 0, err
		}
	}
	if err := p.live.observe(s); err != nil {
		p.stop() // it stands nowhere now
		return 0, err
	}
	to, ok := p.sim.room.Next(len(p.nodes), "histories of a client")
	if !ok {
		p.stop()
		return 0, p.sim.room.Take()
	}
	n := p.live.entry(at, s)
	n.inherit(&p.nodes[at])
	p.nodes = append(p.nodes, n)
	p.live.at = to
	p.link(at, s, to)
	return to, nil
}

// inherit says how an entry stands to the lock, after its parent.
func (n *procNode) inherit(parent *procNode) {
	n.entered, n.inside = parent.entered, parent.inside
	for i := range n.notes {
		switch n.notes[i].Kind {
		case history.Enter:
			n.entered, n.inside = true, true
		case history.Leave:
			n.inside = false
		}
	}
}

// link notes that entry to follows at when s is observed.
func (p *process) link(at uint32, s observation, to uint32) {
	if n := &p.nodes[at]; n.to == 0 {
		n.next, n.to = s, to
	} else {
		p.edges[edge{at, s}] = to
	}
}

func (p *process) known(at uint32, s observation) (to uint32, ok bool) {
	if n := &p.nodes[at]; n.to != 0 && n.next == s {
		return n.to, true
	}
	to, ok = p.edges[edge{at, s}]
	return to, ok
}

// rerun brings coroutines to entry at. Code that does something else than it
// did the first time has looked at something that the lab did not give it.
func (p *process) rerun(at uint32) error {
	var path []uint32
	for n := at; n != 0; n = p.nodes[n].parent {
		path = append(path, n)
	}
	p.stop()
	p.runs++
	p.live = newExecution(p)
	for i := len(path) - 1; i >= 0; i-- {
		n := &p.nodes[path[i]]
		err := p.live.observe(n.seen)
		if err == nil && !p.live.did(n) {
			did := p.live.entry(0, n.seen)
			err = &NondeterministicError{Client: p.id, Was: p.sim.didText(n), Is: p.sim.didText(&did)}
		}
		if err != nil {
			p.stop()
			return err
		}
	}
	p.live.at = at
	return nil
}

// NondeterministicError is client code that, given the same observations
// twice, did two different things: it reads a clock, a random source or a
// variable that is not the lab's.
type NondeterministicError struct {
	Client  int
	Was, Is string // what it did, and then waited for, the first and the second time
}

func (e *NondeterministicError) Error() string {
	return fmt.Sprintf("simulator: the code of c%d is not deterministic: after the same observations it first did %s, then %s", e.Client, e.Was, e.Is)
}
