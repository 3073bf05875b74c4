package process

import (
	"slices"
	"time"
)

// A Host runs a process's code in its own way, not on coroutines. What the code does is kept in the same table.
type Host interface {
	// Start begins the program anew. The execution has observed nothing.
	Start() Execution
}

// An Execution is one run of a process's code. It stands still until it is given an observation.
type Execution interface {
	// Observe gives s to the thread that waits for it, lets the code run until all of it waits again, and says what it
	// does then: Ops, Fresh, Notes, Code and Memory of an entry. known is what the table has of that history; nil: it
	// has nothing. The error is that of [Process.Advance]; the execution is of no use afterwards.
	Observe(s TimedObservation, known *Entry) (Entry, error)
	// Stop ends it, wherever it stands.
	Stop()
}

// parked is an execution that may go on later from the entry at which it stands. To start
// a host's execution and to repeat its history costs far more than to keep it.
type parked struct {
	run Execution
	at  uint32
}

// maxParked bounds the executions of a process that are kept. What finds no room is started again when it is needed.
const maxParked = 512

// park keeps the execution of a host for later, in place of one of those that are kept if
// there is no room: which, is as good as drawn. Coroutines are stopped.
func (p *Process) park() {
	if p.run == nil || p.host == nil || p.noMemo {
		p.stop()
		return
	}
	one := parked{p.run, p.at}
	p.run = nil
	if len(p.parked) < maxParked {
		p.parked = append(p.parked, one)
		return
	}
	i := int(uint32(p.starts)*2654435761>>16) % maxParked
	p.parked[i].run.Stop()
	p.parked[i] = one
}

// unpark goes on with a parked execution that stands at an entry, if there is one.
func (p *Process) unpark(at uint32) bool {
	i := slices.IndexFunc(p.parked, func(one parked) bool { return one.at == at })
	if i < 0 || p.noMemo {
		return false
	}
	one := p.parked[i]
	last := len(p.parked) - 1
	p.parked[i] = p.parked[last]
	p.parked = p.parked[:last]
	p.park()
	p.run, p.at = one.run, one.at
	return true
}

// TimedObservation is an observation with the time at which it is made.
type TimedObservation struct {
	Observation
	Timed  bool          // Now is known: see Process.SetHost
	Now    time.Duration // what the client's clock shows, since the epoch
	Branch bool          // the code may go on in several ways: an execution that only compares takes that of the first
	Last   bool          // the execution is to be stopped after it
}

// SetHost has h run the code. To be called before the first observation.
//
// With timed, the code may look at its clock whenever it runs: it learns with every observation what the clock shows.
// In the table an observation is then two, and the second one is a ClockRead: the process asks for it by the operation
// Clocked. With rests the program does not look at its clock before the rest with which it begins has ended.
func (p *Process) SetHost(h Host, timed, rests bool) { p.host, p.timed, p.rests = h, timed, rests }

// A Wire is the client's end of a connection to a server, for a host that carries bytes: what code writes becomes
// operations, and observations become what it reads. Nothing waits. A Wire is used by one goroutine at a time.
type Wire interface {
	// Write takes what code wrote and returns what it can read at once: answers to handshakes, which no server sees.
	Write(b []byte) (answers []byte, err error)
	// Unsent reports whether something that the code has written waits to be sent.
	Unsent() bool
	// Pings reports whether the two ends of the connection hear from each other while it stands, so that no read of the
	// code comes to its deadline: an answer is waited for as long as the server's kind says, and a message for ever.
	Pings() bool
	// Bye returns what lets code end that has written b, when its process is stopped; nil: its connection fails.
	Bye(b []byte) (answers []byte)
	// Asks is the operation by which the code waits for the server: with what it has
	// written so far, or for a message. ok is false if it waits for nothing.
	Asks() (o Op, ok bool, err error)
	// Close reports whether a connection that the code closes has more to tell the server, which Asks then is.
	Close() bool
	// Received returns what the code reads when s ends operation o.
	Received(o Op, s Observation) (in []byte, err error)
}

// A Plain wire neither pings nor says goodbye.
type Plain struct{}

func (Plain) Pings() bool       { return false }
func (Plain) Bye([]byte) []byte { return nil }

// A ProtocolError is code that speaks another protocol than that of the servers.
type ProtocolError struct {
	Err       error
	ZooKeeper bool // it speaks to a ZooKeeper; else to a Redis
}

func (e *ProtocolError) Error() string { return e.Err.Error() }
func (e *ProtocolError) Unwrap() error { return e.Err }

// DifferentError is returned by an Execution whose code did two different things after
// the same observations. [Process.Advance] makes a [NondeterministicError] of it.
type DifferentError struct {
	Was, Is Entry
	At      int  // after which of the execution's observations, from 0; -1: by chance, in more than MostWays
	Branch  bool // that was one after which the code may do either
}

func (*DifferentError) Error() string { return "simulator: code is not deterministic" }
