package simulator

import (
	"fmt"
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A Simulator holds what all worlds of one Config share: the memo tables of code and
// servers, and the machinery that fills them. It is used by one goroutine at a time.
type Simulator struct {
	config   Config
	room     *table.Room
	procs    []*process.Process
	memo     *memo.Memo // the tables of kind
	kind     node.Kind
	words    node.Words    // of kind
	fallible node.Fallible // kind, if it is one; else nil
	sessions node.Sessions // as well
	holding  node.Holding
	patient  node.Patient
	orphans  *orphanTable
	renamed  map[renamedHistory]uint32
	events   []history.Event // of the last step
	current  view
	scratch  World // memory for NewWorld and for questions about parts
	limit    int   // of table entries between runs
	unsaid   error // a fault that a Choices could not offer
	// readsClock: some client has read its clock, or a clock has a rate; see ReadsClock
	readsClock bool
	measures   bool // see Measure
	measured   bool // see Measured
	abandons   bool // see Abandons
	oldBases   bool // see OldBases
	alike      int  // see Alike
	reached    bool // see Reached
	returns    bool // a client that has died may return
	merging    process.Merging
	followed   int // so many entries of client 1 the clients that are like it have as well; see standsFor
}

// tableLimit bounds the entries of a simulator's tables between runs. An entry is up
// to a kilobyte, with all that belongs to it, and there may be a simulator on every
// core.
const tableLimit = 20_000

// New makes a simulator. The error names what is wrong with the config. Close it.
func New(c Config) (*Simulator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = 3 * time.Second
	}
	room := table.NewRoom()
	s := &Simulator{config: c, room: room, memo: memo.New(room), orphans: newOrphanTable(room), renamed: map[renamedHistory]uint32{}, limit: tableLimit}
	s.current.s = s
	s.returns = slices.ContainsFunc(c.Faults, func(f FaultBudget) bool {
		_, ok := f.Fault.(Returner)
		return ok && f.Times > 0
	})
	if c.Servers == nil {
		c.Servers = newServers
	}
	var err error
	if s.kind, err = c.Servers(&c, s.memo); err != nil {
		return nil, err
	}
	s.words = s.kind.Words()
	s.fallible, _ = s.kind.(node.Fallible)
	s.sessions, _ = s.kind.(node.Sessions)
	s.holding, _ = s.kind.(node.Holding)
	s.patient, _ = s.kind.(node.Patient)
	for i, client := range c.Clients {
		s.procs = append(s.procs, s.newProcess(i+1, &client))
		s.readsClock = s.readsClock || client.PPM != 0
	}
	s.readsClock = s.readsClock || slices.ContainsFunc(c.Nodes, func(n NodeConfig) bool { return n.PPM != 0 })
	return s, nil
}

func (s *Simulator) newProcess(id int, config *ClientConfig) *process.Process {
	c := &Client{}
	p := process.New(id, func() { config.Program(c) }, s.opText, s.room)
	p.Use(s.kind.Library(p))
	if config.Host != nil {
		dialer := s.kind.(node.Dialer)
		p.SetHost(config.Host(id, func() func(int) process.Wire { return dialer.Dial(p) }), config.Timed)
	}
	c.p = p
	return p
}

// Close ends the parked code and the machinery.
func (s *Simulator) Close() {
	for _, p := range s.procs {
		p.Close()
	}
	if c, ok := s.kind.(interface{ Close() }); ok {
		c.Close()
	}
}

// NewWorld is the world at the start of a run. It may empty tables that have
// grown too large: worlds of earlier runs then mean nothing any more. With Merge it keeps
// them, and what was learned.
func (s *Simulator) NewWorld() World {
	if s.Size() > s.limit && s.merging == process.NoMerging {
		s.memo.Clear()
		s.orphans.clear()
		clear(s.renamed) // followed stays 0
		for _, p := range s.procs {
			p.Clear()
		}
	}
	w := &s.scratch // servers may keep no pointer to it, but the compiler does not know
	*w = World{}
	for i, c := range s.config.Clients {
		p := &w.procs[i]
		p.Clock = clock.State{Offset: c.Offset, PPM: c.PPM}
		p.Threads[0] = node.Thread{Phase: node.Unborn}
		if s.config.Timing != nil {
			p.Threads[0].Latest = Never
		}
	}
	for n := range s.config.Nodes {
		w.servers[n] = s.kind.Start(int8(n+1), len(s.procs))
	}
	for i, f := range s.config.Faults {
		w.budget[i] = uint8(f.Times)
	}
	return *w
}

// Config is what the simulator was made from, with Timeout filled in.
func (s *Simulator) Config() Config { return s.config }

// Size is the number of entries in the simulator's tables.
func (s *Simulator) Size() int { return s.memo.Len() + len(s.orphans.lists) + s.Histories() }

// Histories is the number of distinct histories of observations that the clients'
// tables hold.
func (s *Simulator) Histories() (n int) {
	for _, p := range s.procs {
		n += p.Len()
	}
	return n
}

// Executions says how often the program of client c, from 1, has been started:
// everything else came out of its table.
func (s *Simulator) Executions(c int) int { return s.procs[c-1].Starts() }

// ShowCode has the events Send and Sleep say by which lines of the packages below
// path pkg the client's code asked for it: Event.Code. To be called before the first
// world; see process.Process.ShowCode.
func (s *Simulator) ShowCode(pkg string) {
	for _, p := range s.procs {
		p.ShowCode(pkg)
	}
}

// Kind is what the servers do, for those that know one kind: who talks to real ones, or has another
// model of them.
func (s *Simulator) Kind() node.Kind { return s.kind }

// Server is server n of a world, from 1.
func (s *Simulator) Server(w *World, n int) node.State { return w.servers[n-1] }

// CountCreations has servers with sessions number creations only, from now on; see node.Sessions.
func (s *Simulator) CountCreations(on bool) {
	if s.sessions != nil {
		s.sessions.CountCreations(on)
	}
}

// KeepHistories has clients that rest, or have ended, keep what they have observed; see
// process.Process.KeepHistories. To be called before the first world.
func (s *Simulator) KeepHistories() {
	for _, p := range s.procs {
		p.KeepHistories()
	}
}

// Merge has clients take histories of observations for one that their code does not tell
// apart; see process.Process.Merge. So many of them, from the first, are alike, as Alike has
// it: what the first one forgets all of them do. Worlds of before mean nothing any more.
// Where code turns out to tell them apart, Step returns a *process.SplitError: a run is to
// begin anew then, with what was learned.
func (s *Simulator) Merge(by process.Merging, alike int) {
	for i, p := range s.procs {
		if i > 0 && i < alike {
			p.Merge(process.NoMerging)
		} else {
			p.Merge(by)
		}
	}
	clear(s.renamed)
	s.merging, s.followed = by, 0
}

// KeepsSessions reports whether the servers keep sessions of clients, so that what befalls a client
// reaches its server.
func (s *Simulator) KeepsSessions() bool { return s.sessions != nil }

// op is what client c's thread waits for.
func (s *Simulator) op(w *World, c, thread int8) *process.Op {
	return &s.entry(w, c).Ops[thread]
}

// entry is what client c has observed, and does next.
func (s *Simulator) entry(w *World, c int8) *process.Entry {
	return s.procs[c-1].At(w.procs[c-1].At)
}

// cmd is what an operation asks a server for, as histories show it; nil: it asks
// none.
func (s *Simulator) cmd(o *process.Op) []string {
	if o.Kind.ToServer() {
		return s.words.Of(o).Words(o.Arg)
	}
	return nil
}

// opText names what a process asks a server for, for an error message.
func (s *Simulator) opText(o *process.Op) string {
	if o.Kind == process.Watch {
		return fmt.Sprintf("wait %v for a watch on %q", o.D, s.words.Of(o).Words(o.Arg)[0])
	}
	return fmt.Sprintf("%q to n%d", s.cmd(o), o.Node)
}

// patience is how long a client waits for an answer, on its own clock.
func (s *Simulator) patience(o *process.Op) time.Duration {
	switch {
	case o.D > 0: // the code has said how long
		return o.D
	case o.Kind.ToServer() && s.patient != nil:
		return s.patient.Patience()
	}
	return s.config.Timeout
}
