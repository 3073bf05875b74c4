package process

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/intern"
)

// A tree is the histories of a process as data: no code runs here.
type tree struct {
	room    *intern.Room
	entries []Entry
	edges   map[edge]uint32
	roots   map[root]uint32
	added   func(at uint32, e *Entry) // is called for each new entry; nil: nothing is
	timed   bool                      // see SetHost
	rests   bool                      // likewise
	// Stamps has the stamps of answers count as readings of the clock, and those of requests be later where these are
	// tried later. To be set before the first observation; nil: there are none.
	Stamps Stamps
}

// An Entry is one history of observations, and what the code does after it. The slices must not be changed.
type Entry struct {
	Parent uint32          // the history before the last observation; its own number: there is none
	Seen   Observation     // the last observation
	Ops    [MaxThreads]Op  // what each thread waits for
	Fresh  uint8           // bit t: thread t's operation began, or ended, with that observation
	Notes  []history.Event // what the program recorded on the way
	Code   [][]string      // by thread, where in its code each operation was asked for; nil: see ShowCode
	Outcome
	Reads bool // it has read its clock

	next Observation // cache of the first edge that was followed from here
	to   uint32      // where it leads; 0: nowhere yet
}

// An Outcome is what a process has come to by a history, but for what it waits for.
type Outcome struct {
	Memory uint32 // what its library remembers; see Library
	// Entered and Inside say whether it was ever given the lock, and whether it has it: by all notes up to here.
	Entered, Inside bool
	// Resting: the program rests or has ended, and nothing else goes on (see Rest). Kept is its memory then.
	Resting bool
	Kept    Memory
	// Until it has ended, Tokens is how many it has drawn, and Lease the number of its latest
	// attempt. Born is how many had been drawn when it was started; see Restarted.
	Tokens, Born uint64
	Lease        uint8
}

// Branching is the thread of an entry that goes on in one of several ways before all else in its process; -1: none.
func (e *Entry) Branching() int {
	return slices.IndexFunc(e.Ops[:], func(o Op) bool { return o.Kind == Branch })
}

// A root is what a process at rest still knows. If it keeps nothing in its memory, that is a
// history without observations: of a program that begins at a stage, and has drawn so many
// tokens before; or of one that has ended. Else it is the first history with such a memory.
type root struct {
	main    Op // what its main thread waits for
	kept    Memory
	tokens  uint64
	born    uint64
	lease   uint8
	memory  uint32
	entered bool
}

// rootAt is the root that is the same as an entry at which the program rests or has ended.
func rootAt(e *Entry) root {
	return root{e.Ops[0], e.Kept, e.Tokens, e.Born, e.Lease, e.Memory, e.Entered}
}

type edge struct {
	from uint32
	seen Observation
}

// At is an entry. It is good until the next call of Advance.
func (t *tree) At(entry uint32) *Entry { return &t.entries[entry] }

// Len is the number of entries.
func (t *tree) Len() int { return len(t.entries) }

// add appends an entry.
func (t *tree) add(e Entry) (at uint32) {
	at = uint32(len(t.entries))
	t.entries = append(t.entries, e)
	if e.Resting && e.Kept != NoMemory {
		if k := rootAt(&e); t.roots[k] == 0 {
			t.roots[k] = at
		}
	}
	if t.added != nil {
		t.added(at, &e)
	}
	return at
}

// SameRoot returns the root entry that is equivalent to e, a root entry of another process with the same program.
func (t *tree) SameRoot(e *Entry) (uint32, error) {
	to := t.rootOf(rootAt(e))
	return to, t.room.Take()
}

// Restarted returns the root entry of a process that is started in place of the one that crashed
// at entry at: its program has not begun, and it draws none of the tokens that the other has
// drawn. The numbers of its attempts go on. It does not apply to the code of a Host.
func (t *tree) Restarted(at uint32) uint32 {
	e := &t.entries[at]
	born := e.Tokens + 1 // which none draws: see Born
	return t.rootOf(root{main: notBegun[0], tokens: born, born: born, lease: e.Lease})
}

// rootOf is the entry of a root; if the room is exceeded, any one.
func (t *tree) rootOf(k root) uint32 {
	if at, ok := t.roots[k]; ok {
		return at
	}
	at, ok := t.room.Next(len(t.entries), "limit.of.histories")
	if !ok {
		return 0
	}
	t.add(Entry{Parent: at, Ops: [MaxThreads]Op{k.main}, Outcome: Outcome{
		Tokens: k.tokens, Born: k.born, Lease: k.lease, Memory: k.memory, Entered: k.entered,
	}})
	t.roots[k] = at
	return at
}

// inherit sets what an entry has of its parent's relation to the lock.
func (e *Entry) inherit(parent *Entry) {
	e.Entered, e.Inside, e.Born = parent.Entered, parent.Inside, parent.Born
	e.Reads = parent.Reads || e.Seen.Kind == ClockRead
	for i := range e.Notes {
		switch e.Notes[i].Kind {
		case history.Enter:
			e.Entered, e.Inside = true, true
		case history.Leave:
			e.Inside = false
		}
	}
}

// link notes that entry to follows at when s is observed.
func (t *tree) link(at uint32, s Observation, to uint32) {
	if e := &t.entries[at]; e.to == 0 {
		e.next, e.to = s, to
	} else {
		t.edges[edge{at, s}] = to
	}
}

func (t *tree) known(at uint32, s Observation) (to uint32, ok bool) {
	if e := &t.entries[at]; e.to != 0 && e.next == s {
		return e.to, true
	}
	to, ok = t.edges[edge{at, s}]
	return to, ok
}

// learnsTime reports whether the process learns with an observation what its clock shows.
func (t *tree) learnsTime(s Observation) bool { return t.timed && !(t.rests && s.Kind == Started) }

// readsClock returns the entry of a timed process when s is observed at one: its thread first reads the clock.
func (t *tree) readsClock(at uint32, s Observation) Entry {
	e := Entry{Ops: t.entries[at].Ops, Fresh: 1 << s.Thread, Outcome: Outcome{Memory: t.entries[at].Memory}}
	e.Ops[s.Thread] = Op{Kind: Clocked}
	return e
}

// lastRun returns the entry up to which code has run in a history: one before where a clock is unread or a way open.
func (t *tree) lastRun(at uint32) uint32 {
	switch e := &t.entries[at]; {
	case e.Parent == at || t.entries[e.Parent].Branching() >= 0:
	case e.Branching() >= 0:
		return t.lastRun(e.Parent)
	case t.learnsTime(e.Seen) && e.Seen.Kind != ClockRead:
		return e.Parent
	}
	return at
}

// input returns what the execution observes when the process observes s at an entry, and the entry at which the
// execution then is: where a process is timed, or takes one of several ways, that is one observation before.
func (t *tree) input(at uint32, s Observation) (from uint32, what TimedObservation) {
	if e := &t.entries[at]; e.Branching() >= 0 {
		from, what = t.input(e.Parent, e.Seen)
		what.Branch = true
		return from, what
	}
	if !t.learnsTime(s) {
		return at, TimedObservation{Observation: s}
	}
	e := &t.entries[at]
	return e.Parent, TimedObservation{Observation: e.Seen, Timed: true, Now: time.Duration(s.Val)}
}

// A turn leads an execution from an entry to another one, by what it observes.
type turn struct {
	from, to uint32
	what     TimedObservation
}

// turns are those of the history of an entry after which code has run, and the entry at which that begins.
func (t *tree) turns(at uint32) (root uint32, all []turn) {
	for t.entries[at].Parent != at {
		from, what := t.input(t.entries[at].Parent, t.entries[at].Seen)
		all = append(all, turn{from, at, what})
		at = from
	}
	slices.Reverse(all)
	return at, all
}
