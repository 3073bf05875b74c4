package simulator

import (
	"errors"
	"reflect"
	"time"

	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Tables are the tables of a simulator, to be saved and loaded.
type Tables struct{ s *Simulator }

// Tables returns the simulator's tables.
func (s *Simulator) Tables() Tables { return Tables{s} }

// TableSizes says how far a simulator's tables had come at some moment. They only
// grow, so that it can be told later what they held then.
type TableSizes struct {
	readsClock bool
	measured   bool
	grain      time.Duration
	servers    memo.Sizes
	histories  [MaxClients]process.Sizes
}

// Sizes is the present moment. NewWorld may make it void, as it does worlds.
func (ts Tables) Sizes() TableSizes {
	m := TableSizes{readsClock: ts.s.readsClock, measured: ts.s.measured, grain: ts.s.stamps.seen, servers: ts.s.memo.Sizes()}
	for i, p := range ts.s.clients.procs {
		m.histories[i] = p.Sizes()
	}
	return m
}

// Save writes what the tables held at m and not yet at from, so that worlds and parts of
// that time mean the same to another simulator of the same config.
func (ts Tables) Save(w *codec.Writer, from, m TableSizes) {
	w.Put(m.readsClock, m.measured, m.grain)
	ts.s.memo.Save(w, from.servers, m.servers)
	for i, p := range ts.s.clients.procs {
		p.Save(w, from.histories[i], m.histories[i])
	}
}

// Load reads what Save wrote into a simulator that has loaded what went before; from the
// zero TableSizes on, into one in which nothing has happened yet. After an error the
// simulator is of no use.
func (ts Tables) Load(r *codec.Reader) error {
	before := ts.Sizes()
	r.Get(&ts.s.readsClock, &ts.s.measured, &ts.s.stamps.seen)
	ts.s.stamps.move(ts.s.stamps.seen, ts.s.assumed.Ages)
	ts.s.measures = ts.s.measures && !ts.s.readsClock
	if err := ts.s.memo.Load(r); err != nil {
		return err
	}
	for _, p := range ts.s.clients.procs {
		if err := p.Load(r); err != nil {
			return err
		}
	}
	if r.Err() != nil {
		return r.Err()
	}
	return ts.check(before)
}

// errUnknown is a number in what was read from a file that no table has.
var errUnknown = errors.New("simulator: a saved number names nothing")

// check reports whether all that tables name is in other tables. What they held at from
// was checked before.
func (ts Tables) check(from TableSizes) error {
	for _, list := range ts.s.orphans.All() {
		for i := range list {
			if o := &list[i]; !ts.hasOp(&o.Op) || o.From < 1 || int(o.From) > len(ts.s.clients.procs) {
				return errUnknown
			}
		}
	}
	for i, p := range ts.s.clients.procs {
		for at := from.histories[i].Entries; at < p.Len(); at++ {
			e := p.At(uint32(at))
			for t := range e.Ops {
				if !ts.hasOp(&e.Ops[t]) {
					return errUnknown
				}
			}
		}
	}
	return nil
}

func (ts Tables) hasOp(o *process.Op) bool {
	request := o.Kind == process.Request
	return o.Kind <= process.Listed && (!request || o.Node >= 1 && int(o.Node) <= len(ts.s.config.Nodes) && ts.s.clients.words.Requests.Has(o.Arg))
}

// CheckClient reports whether a part of client c, from 1, that was read from a file names
// only what there is.
func (ts Tables) CheckClient(c int, part *ClientPart) error {
	p := ts.s.clients.procs[c-1]
	if int(part.s.At) >= p.Len() {
		return errUnknown
	}
	for t := range part.s.Threads {
		th, o := &part.s.Threads[t], &p.At(part.s.At).Ops[t]
		answered := th.Phase == node.Answered && o.Kind == process.Request && th.Reply != node.LostConn
		if th.Phase > node.Unsent || answered && !ts.s.clients.words.Answers.Has(th.Reply) {
			return errUnknown
		}
	}
	return nil
}

// SaveNodes writes parts of servers, and LoadNodes reads them. They are of the type of the states in
// which servers begin.
func (ts Tables) SaveNodes(w *codec.Writer, parts []NodePart) {
	w.Put(len(parts))
	for i := range parts {
		w.Put(parts[i].s)
	}
}

// LoadNodes reads what SaveNodes wrote.
func (ts Tables) LoadNodes(r *codec.Reader) (parts []NodePart) {
	n := 0
	r.Get(&n)
	of := reflect.TypeOf(ts.s.kind.Start(1, len(ts.s.clients.procs)))
	for range n {
		state := reflect.New(of)
		if r.Get(state.Interface()); r.Err() != nil {
			break
		}
		parts = append(parts, NodePart{state.Elem().Interface()})
	}
	return parts
}

// CheckNode is CheckClient for the part of a server.
func (ts Tables) CheckNode(part *NodePart) error {
	if !ts.s.kind.Has(part.s) {
		return errUnknown
	}
	return nil
}

// CheckRest is CheckClient for what belongs to no client and no server.
func (ts Tables) CheckRest(part *RestPart) error {
	if !ts.s.orphans.Has(part.orphans) {
		return errUnknown
	}
	for i, f := range ts.s.config.Faults {
		if int(part.budget[i]) > f.Times {
			return errUnknown
		}
	}
	return nil
}

// CheckCode runs the code of every client again, along at most so many of its histories,
// and says where it does something else than a file says that was read.
func (ts Tables) CheckCode(most int) error {
	for _, p := range ts.s.clients.procs {
		for i := range min(most, p.Len()) {
			if err := p.Check(uint32(i * p.Len() / min(most, p.Len()))); err != nil {
				return err
			}
		}
	}
	return nil
}
