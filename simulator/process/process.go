// Package process runs the code of one client: blocking Go code on coroutines, all that it observes chosen outside.
//
// Code is deterministic given what it has observed: answers to its requests, ends of its sleeps, readings of its clock.
// So a process is a table. Its entries are histories of observations, and an entry says what each thread of the code
// waits for after it ([Op]). Code runs only where the table has no entry yet; see [Process.Advance].
//
// The package knows no server and no world. An operation carries a number that the package gives no meaning to
// ([Op.Arg]); what client libraries remember between two operations is behind [Library].
package process

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
)

// MaxThreads bounds the threads of one process: its main thread, running timers and parallel tasks.
const MaxThreads = 5

// A Process is the table of what one client's code does: a tree whose paths are histories of observations and whose
// entries are the operations that the code then waits for. Two runs in which the client has observed the same share an
// entry, and then no code runs.
//
// Where the tree ends, code must run. The coroutines parked at the newest entry are simply continued (live); for any
// other entry they are started afresh and fed the recorded observations, alone, without a server.
//
// A Process is used by one goroutine at a time.
type Process struct {
	tree
	code    Code
	program func()
	text    func(*Op) string
	run     Execution // the newest; nil: there is none
	at      uint32    // entry at which it stands
	parked  []parked  // others, of a host
	host    Host      // nil: coroutines
	// Branches are places where a Host's code may go several ways; nil: none. To be set before the first observation.
	Branches Branches
	// Unfenced: the program leaves out fencing tokens, which the resource ignores. A change voids earlier entries.
	Unfenced bool
	starts   int // how often the program was started
	resumed  int // how often a coroutine was let run
	idle     []*coroutine
	noMemo   bool
	keeps    bool    // see KeepHistories
	merged   *merged // nil: see Merge
	checked  checked // see Repeat and CheckMeasures
}

// Code is a process as its own code and the client library of its servers see it: what they may ask while it runs.
type Code struct {
	id      int        // from 1
	lib     Library    // see Process.Use
	live    *execution // the newest, if it is on coroutines; nil: there is none
	watched string     // package whose lines stand in Entry.Code; "": none

	// foreign is set when a goroutine that the code started has asked.
	foreign atomic.Bool
}

// A Library is the client side of a server: what a client library remembers between two operations, as connections or a
// session. It follows from what the process has observed, like the code's own variables.
type Library interface {
	// Start forgets all but what it had remembered, as Memory says: the program begins anew, or goes on after a rest.
	Start(memory uint32)
	// Stop says that the program was unwound, wherever it stood.
	Stop()
	// Idle reports whether it remembers nothing else that could make a difference later.
	Idle() bool
	// Memory is a number for what the library remembers now, as far as the server will ask for it; 0: nothing.
	Memory() uint32
	// Close ends the library.
	Close()
}

// An Op is what a thread waits for.
type Op struct {
	Kind  OpKind
	Node  int8  // Request, Listen: the server, from 1; Read, Write: history.Resource
	Lease uint8 // Request, Read, Write: as in history.Event
	// Arg is, Request, Listen, Watch: what is asked, a number of the server's tables; Idle, Branch: in how many other
	// ways it may go on; Begin, Sleep: as Rest and RestFor have it.
	Arg uint32
	// D, Begin, Sleep, Idle, Listen, Watch: how long at most, on the client's clock; Request: also, 0: as configured.
	D     time.Duration
	Base  int32  // Write: the version that was read
	Token uint64 // Read, Write: fencing token
	// Open: the thread that waits (Request, Listen, Watch) may stop at any moment; only if the simulator has a Timing.
	Open bool
}

// OpKind is a kind of operation.
type OpKind uint8

const (
	None    OpKind = iota // no thread here
	Begin                 // the program has not begun, or rests; Arg: at which stage it goes on
	Request               // a request to a server
	Read                  // reads the resource
	Write                 // writes the resource
	Sleep                 // sleeps
	Idle                  // sleeps for as long as the scheduler likes, D at most, and goes on as it likes
	Clocked               // reads the client's clock: answered at once
	Join                  // waits for threads of its own process
	Listen                // waits for a message on a connection
	Watch                 // sleeps, unless its server sends a notification
	Listed                // reads the client's list of servers: answered at once
	Branch                // goes on at once, in a way that the scheduler likes
)

// ToServer reports whether a server answers it.
func (k OpKind) ToServer() bool { return k == Request || k == Listen }

// New makes the process of client id, from 1. program is its code; text says, for errors, what a request asks for.
func New(id int, program func(), text func(*Op) string, room *intern.Room) *Process {
	p := &Process{code: Code{id: id}, program: program, text: text}
	p.tree = tree{room: room, edges: map[edge]uint32{}, roots: map[root]uint32{}}
	p.Clear()
	return p
}

// Use sets the client library that the program works with. To be called before the first observation.
func (p *Process) Use(l Library) { p.code.lib = l }

// Code returns the process as its own code sees it.
func (p *Process) Code() *Code { return &p.code }

// Library returns the client library that the program works with.
func (p *Code) Library() Library { return p.lib }

// ID is the client's number, from 1.
func (p *Code) ID() int { return p.id }

// NoMemo has the code run from its beginning for every observation. It is the simple one that tests compare with.
func (p *Process) NoMemo() { p.noMemo = true }

// Clear empties the table and ends the parked coroutines. Entry 0 is the program before it has begun.
func (p *Process) Clear() {
	p.stopAll()
	clear(p.edges)
	clear(p.roots)
	p.entries = intern.Emptied(p.entries)
	if p.merged != nil {
		p.merged.clear()
	}
	p.checked = checked{places: p.checked.places, tried: p.checked.tried, turn: p.checked.turn}
	p.roots[root{main: notBegun[0]}] = p.add(Entry{Ops: notBegun})
}

// Close unwinds the code.
func (p *Process) Close() {
	p.stopAll()
	for _, c := range p.idle {
		c.stop()
	}
	p.idle = nil
	p.code.lib.Close()
}

func (p *Process) stopAll() {
	p.stop()
	for _, other := range p.parked {
		other.run.Stop()
	}
	p.parked = nil
}

func (p *Process) stop() {
	if p.run == nil {
		return
	}
	p.run.Stop()
	p.code.lib.Stop()
	p.run, p.code.live = nil, nil
}

// Starts returns the number of starts of the program: everything else came out of the table.
func (p *Process) Starts() int { return p.starts }

// Advance is the entry that follows entry at when s is observed. The error is a
// *NondeterministicError, a *intern.LimitError, or says where the code panicked.
func (p *Process) Advance(at uint32, s Observation) (uint32, error) {
	to, err := p.step(at, s)
	if err == nil && p.merged != nil {
		err = p.merged.observed(at, s, to)
	}
	return to, err
}

// step is Advance of one history, whatever others do.
func (p *Process) step(at uint32, s Observation) (uint32, error) {
	if to, ok := p.known(at, s); ok && !p.noMemo {
		return to, nil
	}
	if p.learnsTime(s) && s.Kind != ClockRead {
		return p.record(at, s, p.readsClock(at, s))
	}
	from, what := p.input(at, s)
	if len(p.Branches) > 0 {
		if quiet := p.Branches.at(turn{from: from, what: what}.place(p)); quiet > 0 {
			return branch(p, at, s, quiet)
		}
	}
	e, err := observes(p, from, what)
	if err != nil {
		return 0, err
	}
	to, err := p.record(at, s, e)
	if err != nil {
		p.stop()
	}
	p.at = to
	return to, err
}

// record enters what the code does when s is observed at an entry.
func (p *Process) record(at uint32, s Observation, e Entry) (uint32, error) {
	to, ok := p.room.Next(len(p.entries), "limit.of.histories")
	if !ok {
		return 0, p.room.Take()
	}
	e.Parent, e.Seen = at, s
	e.inherit(&p.entries[at])
	e.Reads = e.Reads || p.stampsIn(at, s).Grain > 0
	p.add(e)
	p.link(at, s, to)
	return to, nil
}

// KeepHistories has Forget return the entry itself, or not. A change empties the table.
func (p *Process) KeepHistories(keeps bool) {
	if p.keeps != keeps {
		p.keeps = keeps
		p.Clear()
	}
}

// Forget returns the entry that represents entry at. Where the process is quiescent (its program rests or has ended,
// and no other thread runs) that is the entry with the same memory: a root entry, without observations, if the memory
// is empty. With Merge it is the representative of that entry's class. Else it is at.
func (p *Process) Forget(at uint32) (uint32, error) {
	if p.keeps {
		return at, nil
	}
	if e := &p.entries[at]; e.Resting && e.Parent != at {
		at = p.rootOf(rootAt(e))
	}
	if p.merged != nil && p.entries[at].Parent != at {
		return p.merged.first(at)
	}
	return at, p.room.Take()
}

// rerun brings an execution to entry at. Code that does something else than it did the first time has looked at
// something that the simulator did not give it. It returns what the code did last. The clock shows so much more at
// every reading, and stamps are moved; if anything is, the execution is of no further use.
func (p *Process) rerun(at uint32, by clock.Shift) (did Entry, err error) {
	root, all := p.turns(at)
	err = untilTaken(p, func() error {
		p.park()
		p.starts++
		p.start(&p.entries[root])
		for i, t := range all {
			is := &p.entries[t.to]
			if by != (clock.Shift{}) {
				t.what, is = p.later(t.from, is, t.what, by)
			}
			if did, err = p.run.Observe(t.what, is); err != nil {
				err = failed(p, err, all)
			} else if !is.SameActions(&did) {
				err = all[i].differs(p, &did)
			}
			if err != nil {
				p.stop()
				return err
			}
		}
		return nil
	})
	p.at = at
	if err == nil && by == (clock.Shift{}) {
		p.checked.noteRepeated(p, at)
	}
	return did, err
}

// different is the error that code did something else at an entry. Where words do not show it, it has what differs.
func different(p *Process, was, is *Entry) *NondeterministicError {
	e := &NondeterministicError{Client: p.code.id, Was: p.Describe(was), Is: p.Describe(is)}
	if e.Was != e.Is {
		return e
	}
	for t := range was.Ops {
		if was.Ops[t] != is.Ops[t] {
			e.Was += fmt.Sprintf(" (thread %d: %+v)", t, was.Ops[t])
			e.Is += fmt.Sprintf(" (thread %d: %+v)", t, is.Ops[t])
			return e
		}
	}
	e.Was += fmt.Sprintf(" (threads that went on: %b, records: %+v)", was.Fresh, was.Notes)
	e.Is += fmt.Sprintf(" (threads that went on: %b, records: %+v)", is.Fresh, is.Notes)
	return e
}

// start begins an execution that has observed nothing, at an entry without a parent.
func (p *Process) start(from *Entry) {
	if p.host != nil {
		p.run = p.host.Start()
		return
	}
	p.code.live = newExecution(p, from)
	p.run = p.code.live
}

// Rests reports whether no thread waits for an answer or rests as it likes: all sleep, wait for each other or listen.
func (e *Entry) Rests() bool {
	return !slices.ContainsFunc(e.Ops[:], func(o Op) bool {
		return o.Kind == Request || o.Kind == Read || o.Kind == Write || o.Kind == Idle || o.Kind == Clocked ||
			o.Kind == Listed || o.Kind == Branch
	})
}

// SameActions reports whether code that has observed the same did the same in both.
func (e *Entry) SameActions(o *Entry) bool {
	return e.Ops == o.Ops && e.Fresh == o.Fresh && len(e.Notes) == len(o.Notes) &&
		(len(e.Notes) == 0 || reflect.DeepEqual(e.Notes, o.Notes))
}

// NondeterministicError is client code that, given the same observations twice, did two different things: it reads a
// clock, a random source or a variable that the simulator did not give it.
type NondeterministicError struct {
	Client  int    // from 1
	Was, Is string // what it did, and then waited for, the first and the second time
	place   string // in the code, for Branches; "": no such
}

func (e *NondeterministicError) Error() string {
	const text = "simulator: the code of c%d is not deterministic: after the same observations it first did %s, then %s"
	return fmt.Sprintf(text, e.Client, e.Was, e.Is)
}

// Describe says what the code does at an entry, for an error message.
func (p *Process) Describe(e *Entry) string {
	s := ""
	for i := range e.Notes {
		s += "record " + e.Notes[i].Kind.String()
		if e.Notes[i].Note != "" {
			s += fmt.Sprintf(" %q", e.Notes[i].Note)
		}
		s += ", "
	}
	return s + p.waitsFor(&e.Ops)
}

// opWords name operations that have no text of their own.
var opWords = [...]string{
	Begin: "begin", Read: "read the resource", Write: "write the resource", Clocked: "read the clock",
	Join: "wait for its tasks", Listen: "listen for a message", Listed: "read its list of servers",
	Branch: "go on in one of several ways",
}

// waitsFor names pending operations for an error message.
func (p *Process) waitsFor(ops *[MaxThreads]Op) string {
	var all []string
	for i := range ops {
		o, does := &ops[i], ""
		switch o.Kind {
		case None:
			continue
		case Request, Watch:
			does = p.text(o)
		case Sleep:
			does = "sleep " + o.D.String()
		case Idle:
			does = "rest"
		default:
			does = opWords[o.Kind]
		}
		all = append(all, fmt.Sprintf("thread %d: %s", i, does))
	}
	return cmp.Or(strings.Join(all, ", "), "nothing")
}
