package simulator

import (
	"fmt"
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/zookeeper"
)

// A Setup is what a world starts from.
type Config struct {
	Clients []ClientConfig // 1 to MaxClients
	Nodes   []NodeConfig   // 1 to MaxNodes
	// Timeout is how long a client waits for an answer, above 0, on its own
	// clock. 0 is go-redis's default of 3 s.
	Timeout time.Duration
	Guard   history.Guard // of the resource
	Faults  []FaultBudget // at most MaxFaults
}

// ClientSetup is one client process.
type ClientConfig struct {
	// Program is all that the process does. It is called anew whenever the lab
	// needs to know what follows on some history of observations, so it must
	// keep its state in local variables.
	Program func(*Client)
	Offset  time.Duration // what its clock is ahead of true time at the start, up to 100 years either way
	PPM     int32         // microseconds that its clock gains per true second, up to 500,000 either way
}

// NodeSetup is one server.
type NodeConfig struct {
	Replicas int // 0 to MaxReplicas, to which Replicate copies and Failover moves
	// MinReplicas is Redis's min-replicas-to-write, up to Replicas: with fewer that
	// it has heard of within MaxLag, on its own clock, the server refuses writes. It
	// hears of all but those that a split has cut it off from.
	MinReplicas int
	MaxLag      time.Duration // min-replicas-max-lag; 0: Redis's default of 10 s
	AOF         AOF           // what a crash leaves; the zero value is nothing
	Offset      time.Duration // as of a client
	PPM         int32         // as of a client
	// Session above 0 makes the server a ZooKeeper ensemble, which must be alone:
	// the time-out of the clients' sessions, on its clock. All else but PPM is for
	// a Redis.
	Session time.Duration
	// Znodes is what an ensemble holds at the start; the zero value is only a root.
	Znodes zookeeper.State
	// Lines is what histories call the znodes at which clients queue; those that are
	// not in it go by their paths.
	Lines map[string]string
}

// AOF is what a server keeps on disk, in the words of Redis's appendfsync
// (redis.io, operate, persistence). Cached scripts are never kept.
type AOF uint8

const (
	NoAOF       AOF = iota // nothing: it comes back empty
	EverySecond            // what it had at its last fsync, which the Sync choice makes
	Always                 // all that it has answered for
)

// An Allowance is a fault with its budget.
type FaultBudget struct {
	Fault Fault
	Times int           // how often it may strike, 0 to 255
	Max   time.Duration // longest or largest single strike; 0: any
}

// A Lab holds what all worlds of one Setup share: the tables and the machinery
// behind them. A Lab is used by one goroutine at a time.
type Simulator struct {
	setup  Config
	first  [MaxNodes]int // where in World.copies those of a server begin
	table  *redisTable
	zoo    *zooTable // nil: the servers are no ensemble
	lates  *lateTable
	room   *table.Room
	unsaid error // a strike that Strikes could not offer
	procs  []*process
	events []history.Event
	limit  int
	// absolute: somebody has read a clock; see Absolute
	readsClock bool
	// forgetful is the simple path, for tests: code is run from its beginning for
	// every observation, and every command goes to the engine.
	noMemo  bool
	watched string // package whose lines stand in Event.Code; "": none
}

// tableLimit bounds the entries of a lab's tables between runs. An entry is up
// to a kilobyte, with what hangs on it, and there may be a lab on every core.
const tableLimit = 20_000

// New makes a lab. The error names what is wrong with the setup. Close it.
func New(s Config) (*Simulator, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Timeout == 0 {
		s.Timeout = 3 * time.Second
	}
	s.Nodes = slices.Clone(s.Nodes)
	for i := range s.Nodes {
		if s.Nodes[i].MaxLag == 0 {
			s.Nodes[i].MaxLag = defaultMaxLag
		}
	}
	r := table.NewRoom()
	redis, err := newRedisTable(r)
	if err != nil {
		return nil, err
	}
	l := &Simulator{setup: s, table: redis, lates: newLateTable(r), room: r, limit: tableLimit}
	if s.Nodes[0].Session > 0 {
		l.zoo = newZooTable(&s.Nodes[0], r)
	}
	for i, c := range s.Clients {
		l.procs = append(l.procs, newProcess(l, i+1, c.Program))
		l.readsClock = l.readsClock || c.PPM != 0
	}
	copies := 0
	for i, n := range s.Nodes {
		l.readsClock = l.readsClock || n.PPM != 0
		l.first[i] = copies
		copies += n.copies()
	}
	return l, nil
}

// copies is how many copies of its data a server has beside its own: its
// replicas, and after them its disk, if that can lag.
func (n *NodeConfig) copies() int {
	if n.AOF == EverySecond {
		return n.Replicas + 1
	}
	return n.Replicas
}

// copiesOf is what the copies of server n hold, from 0.
func (l *Simulator) copiesOf(w *World, n int) []dataState {
	return w.copies[l.first[n] : l.first[n]+l.setup.Nodes[n].copies()]
}

func (s *Config) check() error {
	switch {
	case len(s.Clients) < 1 || len(s.Clients) > MaxClients:
		return fmt.Errorf("simulator: %d clients: give 1 to %d", len(s.Clients), MaxClients)
	case len(s.Nodes) < 1 || len(s.Nodes) > MaxNodes:
		return fmt.Errorf("simulator: %d servers: give 1 to %d", len(s.Nodes), MaxNodes)
	case s.Timeout < 0:
		return fmt.Errorf("simulator: a time-out of %v: give 0 or more", s.Timeout)
	case len(s.Faults) > MaxFaults:
		return fmt.Errorf("simulator: %d kinds of fault: give at most %d", len(s.Faults), MaxFaults)
	}
	for i, c := range s.Clients {
		if c.Program == nil {
			return fmt.Errorf("simulator: client %d has no program", i+1)
		}
		if err := checkClock("client", i, c.Offset, c.PPM); err != nil {
			return err
		}
	}
	if why := s.checkZooKeeper(); why != "" {
		return fmt.Errorf("simulator: %s", why)
	}
	copies := 0
	for i, n := range s.Nodes {
		if err := checkClock("server", i, n.Offset, n.PPM); err != nil {
			return err
		}
		if n.Replicas < 0 || n.Replicas > MaxReplicas {
			return fmt.Errorf("simulator: server %d has %d replicas: give 0 to %d", i+1, n.Replicas, MaxReplicas)
		}
		if n.MinReplicas < 0 || n.MinReplicas > n.Replicas || n.MaxLag < 0 {
			return fmt.Errorf("simulator: server %d has %d replicas and refuses writes with fewer than %d within %v: give 0 to %d and a time of 0 or more", i+1, n.Replicas, n.MinReplicas, n.MaxLag, n.Replicas)
		}
		if n.AOF > Always {
			return fmt.Errorf("simulator: server %d has AOF %d: give NoAOF, EverySecond or Always", i+1, n.AOF)
		}
		if copies += n.copies(); copies > maxCopies {
			return fmt.Errorf("simulator: the first %d servers have %d replicas, and disks that lag: give up to %d in all", i+1, copies, maxCopies)
		}
	}
	return s.checkFaults()
}

func checkClock(who string, i int, offset time.Duration, ppm int32) error {
	switch {
	case offset > clock.EndOfTime || offset < -clock.EndOfTime:
		return fmt.Errorf("simulator: the clock of %s %d is off by %v: give up to %v either way", who, i+1, offset, clock.EndOfTime)
	case ppm > clock.MaxPPM || ppm < -clock.MaxPPM:
		return fmt.Errorf("simulator: the clock of %s %d gains %d ppm: give up to %d either way", who, i+1, ppm, clock.MaxPPM)
	}
	return nil
}

func (s *Config) checkFaults() error {
	for i, f := range s.Faults {
		switch {
		case f.Fault == nil:
			return fmt.Errorf("simulator: fault %d of the setup is nil", i+1)
		case f.Fault.Verb() < FaultVerb:
			return fmt.Errorf("simulator: fault %s has verb %d: give one from %d on", f.Fault.Name(), f.Fault.Verb(), FaultVerb)
		}
		if f.Times < 0 || f.Times > 255 || f.Max < 0 {
			return fmt.Errorf("simulator: %s=%d@%v: give 0 to 255 strikes of no negative length", f.Fault.Name(), f.Times, f.Max)
		}
		for _, g := range s.Faults[:i] {
			if f.Fault.Verb() == g.Fault.Verb() {
				return fmt.Errorf("simulator: fault %s is listed twice", f.Fault.Name())
			}
		}
	}
	return nil
}

// Close ends the parked code and the machinery.
func (l *Simulator) Close() {
	for _, p := range l.procs {
		p.stop()
		p.conns.close()
	}
	l.table.engine.close()
}

// NewWorld is the world at the start of a run. It may empty tables that have
// grown too large: worlds of earlier runs then mean nothing any more.
func (l *Simulator) NewWorld() World {
	if l.Size() > l.limit {
		l.table.clear()
		l.lates.clear()
		if l.zoo != nil {
			l.zoo.clear()
		}
		for _, p := range l.procs {
			p.clear()
		}
	}
	var w World
	for i, c := range l.setup.Clients {
		p := &w.procs[i]
		p.clock = clock.State{Offset: c.Offset, PPM: c.PPM}
		p.threads[0].phase = unborn
	}
	for i, n := range l.setup.Nodes {
		w.nodes[i].clock = clock.State{Offset: n.Offset, PPM: n.PPM}
	}
	if l.zoo != nil {
		w.zoo.shape = l.zoo.begin(len(l.procs))
	}
	for i, f := range l.setup.Faults {
		w.budget[i] = uint8(f.Times)
	}
	return w
}

// Size is the number of entries in the lab's tables.
func (l *Simulator) Size() int {
	n := l.table.size() + len(l.lates.lists)
	if l.zoo != nil {
		n += l.zoo.size()
	}
	for _, p := range l.procs {
		n += len(p.nodes)
	}
	return n
}

// Runs says how often the program of client c (from 1) has been started:
// everything else came out of its table.
func (l *Simulator) Executions(c int) int { return l.procs[c-1].runs }

// Setup is what the lab was made from.
func (l *Simulator) Config() Config { return l.setup }

// didText is what entry n says, for an error message.
func (l *Simulator) didText(n *procNode) string {
	s := ""
	for i := range n.notes {
		s += "record " + n.notes[i].Kind.String()
		if n.notes[i].Note != "" {
			s += fmt.Sprintf(" %q", n.notes[i].Note)
		}
		s += ", "
	}
	return s + l.opText(n.ops)
}

// opText names pending operations for an error message.
func (l *Simulator) opText(ops [MaxThreads]op) string {
	s := ""
	for i, o := range ops {
		if o.kind == opNone {
			continue
		}
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("thread %d: ", i)
		switch o.kind {
		case opCommand, opZoo:
			s += fmt.Sprintf("%q to n%d", l.cmd(&o), o.node)
		case opWatch:
			s += fmt.Sprintf("wait %v for a watch on %q", o.d, l.zoo.watches[o.batch].Path)
		case opSleep:
			s += "sleep " + o.d.String()
		default:
			s += [...]string{opStart: "begin", opRead: "read the resource", opWrite: "write the resource", opClock: "read the clock", opJoin: "wait for its tasks", opListen: "listen for a message"}[o.kind]
		}
	}
	if s == "" {
		return "nothing"
	}
	return s
}

// Histories is the number of distinct histories of observations that the
// clients' tables hold.
func (l *Simulator) Histories() int {
	n := 0
	for _, p := range l.procs {
		n += len(p.nodes)
	}
	return n
}
