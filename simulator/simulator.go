package simulator

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A Simulator holds what all worlds of one Config share: the memo tables of code and
// servers, and the machinery that fills them. It is used by one goroutine at a time.
type Simulator struct {
	config   Config
	room     *intern.Room
	clients  clients
	memo     *memo.Memo // the tables of kind
	kind     node.Kind
	fallible node.Fallible // kind, if it is one; else nil
	sessions node.Sessions // as well
	numbers  node.Numbering
	orphans  *memo.Table[string, []node.Orphan]
	symmetry Symmetry
	stamps   Stamps
	events   []history.Event // of the last step
	current  view
	// orphanList is the memory of changed, and mostOrphans the number of them that a world may have
	orphanList  []node.Orphan
	mostOrphans int
	scratch     World  // memory for NewWorld and for questions about parts
	limit       int    // of table entries between runs
	emptied     uint32 // so often the tables were, between runs
	unoffered   error  // a fault that a Choices could not offer
	traits      Traits // those that are seen here
	measures    bool   // see measure
	reached     bool   // see Reached
	returns     bool   // a client that has died may return
	assumed     hypothesis.Set
}

// tableLimit bounds the entries of a simulator's tables between runs. An entry is up to a kilobyte, with all that
// belongs to it, and there may be a simulator on every core.
const tableLimit = 20_000

// New makes a simulator. The error names what is wrong with the config. Close it.
func New(c Config) (*Simulator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = 3 * time.Second
	}
	room := intern.NewRoom()
	s := &Simulator{
		config: c, room: room, memo: memo.New(room),
		mostOrphans: maxOrphans, limit: tableLimit, assumed: hypothesis.Usual,
	}
	s.orphans = newOrphans(s.memo)
	s.symmetry = Symmetry{s: s, renamed: intern.Map[renamedHistory, uint32]{}}
	s.current.s, s.stamps.s = s, s
	s.clients.config = &s.config
	s.returns = slices.ContainsFunc(c.Faults, func(f FaultBudget) bool { return f.Fault.Returns && f.Times > 0 })
	var err error
	c.Nodes = slices.Clone(c.Nodes)
	for i := range c.Nodes {
		c.Nodes[i].Offset += c.Epoch.Ahead()
	}
	if s.kind, err = newServers(&c, s.memo); err != nil {
		return nil, err
	}
	s.clients.words, s.clients.traits = s.kind.Words(), s.kind.Traits()
	s.fallible, _ = s.kind.(node.Fallible)
	s.sessions, _ = s.kind.(node.Sessions)
	s.numbers, _ = s.kind.(node.Numbering)
	for i, client := range c.Clients {
		s.clients.procs = append(s.clients.procs, s.newProcess(i+1, &client))
		s.traits.byClients = s.traits.byClients || client.PPM != 0
	}
	drifts := func(n NodeConfig) bool { return n.PPM != 0 }
	s.traits.byClients = s.traits.byClients || slices.ContainsFunc(c.Nodes, drifts)
	return s, nil
}

func (s *Simulator) newProcess(id int, config *ClientConfig) *process.Process {
	c := &Client{}
	p := process.New(id, func() { config.Program(c) }, s.clients.opText, s.room)
	p.Use(s.kind.Library(p.Code()))
	if s.clients.traits.Stamps {
		p.Stamps = &s.stamps
	}
	if config.Host != nil {
		dial := func() func(int) process.Wire { return s.kind.Dial(p.Code()) }
		p.SetHost(config.Host(id, dial), config.Timed, config.Rests)
		p.Branches = config.Branches
	}
	c.Code = p.Code()
	return p
}

// Close ends the parked code and the machinery.
func (s *Simulator) Close() {
	for _, p := range s.clients.procs {
		p.Close()
	}
	if c, ok := s.kind.(interface{ Close() }); ok {
		c.Close()
	}
}

// NewWorld is the world at the start of a run. It may empty tables that have grown too large: worlds of earlier runs
// then mean nothing any more, and Step refuses them. With hypothesis.Merged it keeps them, and what was learned.
func (s *Simulator) NewWorld() World {
	if s.Size() > s.limit && s.assumed.Merging == hypothesis.NoMerging {
		s.emptied++
		s.memo.Clear()
		clear(s.symmetry.renamed) // followed stays 0
		for _, p := range s.clients.procs {
			p.Clear()
		}
	}
	w := &s.scratch // servers may keep no pointer to it, but the compiler does not know
	*w = World{tables: s.emptied}
	for i, c := range s.config.Clients {
		p := &w.procs[i]
		p.Clock = clock.State{Offset: c.Offset + s.config.Epoch.Ahead(), PPM: c.PPM}
		p.List = 1<<c.List - 1
		p.Threads[0] = node.Thread{Phase: node.Unborn}
		if s.config.Timing != nil {
			p.Threads[0].Latest = Never
		}
	}
	for n := range s.config.Nodes {
		w.servers[n] = s.kind.Start(int8(n+1), len(s.clients.procs))
	}
	for i, f := range s.config.Faults {
		w.budget[i] = uint8(f.Times)
	}
	return *w
}

// Config returns the config that the simulator was made from, with Timeout filled in.
func (s *Simulator) Config() Config { return s.config }

// Size is the number of entries in the simulator's tables.
func (s *Simulator) Size() int { return s.memo.Len() + s.Histories() }

// Histories is the number of distinct histories of observations that the clients' tables hold.
func (s *Simulator) Histories() (n int) {
	for _, p := range s.clients.procs {
		n += p.Len()
	}
	return n
}

// ShowCode has the events Send and Sleep say by which lines of the packages below path pkg the client's code asked for
// it: Event.Code. To be called before the first world; see process.Code.ShowCode.
func (s *Simulator) ShowCode(pkg string) {
	for _, p := range s.clients.procs {
		p.Code().ShowCode(pkg)
	}
}

// Kind returns the servers' kind, for packages that serve one kind only, with real servers or another model of them.
func (s *Simulator) Kind() node.Kind { return s.kind }

// Server is server n of a world, from 1.
func (s *Simulator) Server(w *World, n int) node.State { return w.servers[n-1] }

// KeepsSessions reports whether the servers keep sessions of clients, so that what befalls a client reaches its server.
func (s *Simulator) KeepsSessions() bool { return s.sessions != nil }
