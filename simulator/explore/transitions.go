package explore

import (
	"bytes"
	"cmp"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
	"locklab/simulator/verdict"
)

// tables number the parts of the world, judges, times, events and choices, as far as they were
// met. A state is a list of such numbers.
type tables struct {
	sim       *simulator.Simulator
	numbers   *numbers
	clients   int
	nodes     int
	symmetric int  // so many clients, from the first, run the same code; 0 or 1: symmetry is not used
	probe     int  // the client that begins when all others have finished; 0: none
	byCause   bool // the causes are part of the state

	restAt, judgeAt, causeAt, timeAt int // words of a state

	clientTab []table[simulator.ClientPart, *clientEntry] // one a client
	nodeTab   table[simulator.NodePart, *nodeEntry]
	restTab   table[simulator.RestPart, *restEntry]
	judgeTab  table[verdict.Safety, *judgeEntry]
	times     table[time.Duration, struct{}] // absolute only

	causes   [][]string
	causeID  map[string]uint32
	events   []eventList // 0: none
	eventID  map[string]uint32
	eventKey bytes.Buffer
	eventOut *codec.Writer // to eventKey
	choices  []simulator.Choice
	choiceID map[simulator.Choice]uint16
}

// transitions is the transition relation by parts of the world, as far as it was needed: the
// effects of moves on parts.
type transitions struct {
	*tables
	judge verdict.Case

	effects    memo
	scratch    simulator.World // memory of effect
	faultMemo  memo            // where in faultLists the possible faults are
	faultLists [][]uint16      // choices
}

// table numbers values and keeps an entry for each.
type table[K comparable, E any] struct {
	numbers *numbers
	ids     map[K]uint32
	keys    []K
	entries []E
}

func (t *table[K, E]) id(k K, fresh func(id uint32) E) uint32 {
	if id, ok := t.ids[k]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[K]uint32{}
	}
	id, ok := t.numbers.next(len(t.keys), "limit.of.parts")
	if !ok {
		return id
	}
	t.ids[k] = id
	t.keys = append(t.keys, k)
	var e E
	t.entries = append(t.entries, e)
	t.entries[id] = fresh(id)
	return id
}

// clientEntry holds what is known about one state of one client.
type clientEntry struct {
	own       []simulator.Choice // what touches no server: answers, wakes, …
	ownID     []uint16
	arriveID  []uint16 // requests on their way
	target    []int    // their servers; 0: the resource
	listensID []uint16 // what a server may tell it to which it listens
	source    []int    // these servers
	due       time.Duration
	finished  bool
	entered   bool   // it was given the lock at some time
	timeless  bool   // time does not change it
	awaits    bool   // it waits for a watch
	begun     bool   // its program has begun
	patient   uint32 // the same state without time-outs that cannot come; see Simulator.WithoutTimeouts. unseen: not yet known
	onVersion bool   // see Simulator.OnVersion
	waitsOn   uint8
	blocked   uint8 // the servers that wait for replicas on its behalf
	single    bool  // see mayGoFirst
	after     map[time.Duration]uint32
	// A canonical state has the class of a symmetric client: the number of the same
	// state of client 1. as is the number of the same state of each client, unseen if
	// there is none yet; it is filled in for client 1 only.
	class uint32
	as    [simulator.MaxClients]uint32
}

type nodeEntry struct {
	own     []simulator.Choice // what it can do at once, as server 1
	alone   uint32             // the same state without what its copies hold; see NodePart.WithoutCopies. unseen: not yet known
	split   bool
	serving bool                            // neither down nor hung
	due     map[time.Duration]time.Duration // by the present; relative labs use 0
	after   map[passing]effect
}

// passing is the key of what the passing of time does to a server.
type passing struct {
	d       time.Duration
	now     uint32
	server  uint8
	pending bool
}

type restEntry struct {
	due        time.Duration // of the next that is held up
	after      map[time.Duration]uint32
	orphanedID []uint16
	target     []int
	spent      int
	mayFault   bool   // the budget is not used up
	punctual   bool   // no fault is left that holds anything up; see Simulator.Punctual
	clientside bool   // no fault is left that strikes servers; see Simulator.Clientside
	onVersion  bool   // a request to the resource is under way that nobody waits for
	unwritten  uint32 // the same with a resource that counts from 0; unseen: not yet known
}

type judgeEntry struct {
	alone     uint32 // the same without what replicas and disks hold; unseen: not yet known
	unwritten uint32 // the same without what was written; unseen: not yet known
	judged    map[uint32]judged
	after     map[time.Duration]uint32
	roles     [simulator.MaxClients]uint32 // of the clients, see verdict.Safety.Role
}

// judged is the effect of a list of events on the judges.
type judged struct {
	to    uint32
	found wordSet
}

// effect is the result of a move: the new numbers of the parts that it reaches, and its
// events.
type effect struct {
	client, node, rest uint32
	events             uint32
}

const unseen = ^uint32(0)

// noClient in an effectKey: it has no client.
const noClient = 1<<8 - 1

// effectKey holds all that an effect depends on; see transitions.effectKey.
type effectKey struct {
	client, node, rest uint32
	now                uint32
	choice             uint16
	who                uint8
}

// eventList is the events of a move that some judge needs, with times relative to the
// move.
type eventList []history.Event

func newTables(sim *simulator.Simulator, opt *Options) *tables {
	s := &tables{
		sim: sim, clients: len(sim.Config().Clients), nodes: len(sim.Config().Nodes), probe: opt.Probe,
		numbers:   &numbers{ids: cmp.Or(opt.Plain.IDs, maxIDs), choices: cmp.Or(opt.Plain.Choices, maxChoices)},
		symmetric: opt.assumed.symmetric, byCause: opt.Causes,
	}
	s.restAt = s.clients + s.nodes
	s.judgeAt, s.causeAt, s.timeAt = s.restAt+1, s.restAt+2, s.restAt+2
	if s.byCause {
		s.timeAt++
	}
	s.clientTab = make([]table[simulator.ClientPart, *clientEntry], s.clients)
	for c := range s.clientTab {
		s.clientTab[c].numbers = s.numbers
	}
	s.nodeTab.numbers, s.restTab.numbers, s.judgeTab.numbers, s.times.numbers = s.numbers, s.numbers, s.numbers, s.numbers
	s.eventOut = codec.NewWriter(&s.eventKey)
	s.eventID, s.choiceID = map[string]uint32{}, map[simulator.Choice]uint16{}
	s.events = []eventList{nil}
	s.causes, s.causeID = [][]string{nil}, map[string]uint32{"": 0}
	return s
}

// stride is the number of words of a state, in this order: clients, servers, rest, judges, causes, time.
func (s *tables) stride() int {
	if s.sim.ReadsClock() {
		return s.timeAt + 1
	}
	return s.timeAt
}

// now is the true time of a state; 0 if it is not part of the state.
func (s *tables) now(state []uint32) time.Duration {
	if len(state) > s.timeAt {
		return s.times.keys[state[s.timeAt]]
	}
	return 0
}

func (s *tables) nowID(state []uint32) uint32 {
	if len(state) > s.timeAt {
		return state[s.timeAt]
	}
	return 0
}

// world builds the world of a state.
func (s *tables) world(state []uint32) simulator.World {
	w := s.sim.Parts().World(s.now(state))
	for c := range s.clients {
		w.SetClientPart(c+1, &s.clientTab[c].keys[state[c]])
	}
	for n := range s.nodes {
		s.sim.Parts().SetNode(&w, n+1, &s.nodeTab.keys[state[s.clients+n]])
	}
	s.sim.Parts().SetRest(&w, &s.restTab.keys[state[s.restAt]])
	return w
}

// takeState writes the words of a world with the given judges to state.
func (s *tables) takeState(w *simulator.World, judges uint32, state []uint32) {
	for c := range s.clients {
		state[c] = s.client(c, w)
	}
	for n := range s.nodes {
		state[s.clients+n] = s.node(n, w)
	}
	state[s.restAt] = s.rest(w)
	state[s.judgeAt] = judges
	if len(state) > s.timeAt {
		state[s.timeAt] = s.timeID(w.Now())
	}
}

// timeID numbers a true time.
func (s *tables) timeID(now time.Duration) uint32 {
	return s.times.id(now, func(uint32) struct{} { return struct{}{} })
}

func (s *tables) client(c int, w *simulator.World) uint32 {
	return s.clientPart(c, s.sim.Parts().Client(w, c+1))
}

func (s *tables) clientPart(c int, part simulator.ClientPart) uint32 {
	return s.clientTab[c].id(part, func(uint32) *clientEntry {
		e := &clientEntry{after: map[time.Duration]uint32{}, class: unseen, patient: unseen}
		for i := range e.as {
			e.as[i] = unseen
		}
		var all []simulator.Choice
		all, e.due = s.sim.Parts().Ready(c+1, &part, nil)
		for _, ch := range all {
			if ch.Verb == simulator.Arrive {
				e.arriveID = append(e.arriveID, s.choice(ch))
				e.target = append(e.target, s.sim.Parts().Target(c+1, &part, int(ch.Thread)))
				continue
			}
			e.own = append(e.own, ch)
			e.ownID = append(e.ownID, s.choice(ch))
		}
		for _, ch := range part.Listens(c+1, nil) {
			e.listensID = append(e.listensID, s.choice(ch))
			e.source = append(e.source, s.sim.Parts().Target(c+1, &part, int(ch.Thread)))
		}
		e.begun = part.Begun()
		e.finished, e.timeless, e.entered = part.Finished(), part.Timeless(), s.sim.Parts().Entered(c+1, &part)
		e.waitsOn, e.blocked = s.sim.Parts().WaitsOn(c+1, &part), s.sim.Parts().BlockedOn(c+1, &part)
		e.onVersion = s.sim.Parts().OnVersion(c+1, &part)
		e.awaits = s.sim.Parts().Awaits(c+1, &part)
		e.single = mayGoFirst(e, &part)
		return e
	})
}

func (s *tables) node(n int, w *simulator.World) uint32 {
	return s.nodePart(s.sim.Parts().Node(w, n+1))
}

func (s *tables) nodePart(part simulator.NodePart) uint32 {
	return s.nodeTab.id(part, func(uint32) *nodeEntry {
		return &nodeEntry{alone: unseen, own: s.sim.Parts().ReadyNode(1, &part, nil), split: part.Split(), serving: part.Serving(), due: map[time.Duration]time.Duration{}, after: map[passing]effect{}}
	})
}

func (s *tables) rest(w *simulator.World) uint32 { return s.restPart(s.sim.Parts().Rest(w)) }

func (s *tables) restPart(part simulator.RestPart) uint32 {
	return s.restTab.id(part, func(uint32) *restEntry {
		e := &restEntry{unwritten: unseen, onVersion: s.sim.Parts().OrphanedOnVersion(&part), punctual: s.sim.Parts().Punctual(&part), clientside: s.sim.Parts().Clientside(&part), spent: s.sim.Parts().Spent(&part), after: map[time.Duration]uint32{}}
		allowed := 0
		for _, f := range s.sim.Config().Faults {
			allowed += f.Times
		}
		e.mayFault = e.spent < allowed
		e.due = s.sim.Parts().Orphaned(&part, func(c simulator.Choice, node int) {
			e.orphanedID = append(e.orphanedID, s.choice(c))
			e.target = append(e.target, node)
		})
		return e
	})
}

func (s *tables) choice(c simulator.Choice) uint16 {
	if id, ok := s.choiceID[c]; ok {
		return id
	}
	if len(s.choices) >= s.numbers.choices {
		s.numbers.exceed("limit.choices", "n", s.numbers.choices)
		return 0
	}
	id := uint16(len(s.choices))
	s.choices = append(s.choices, c)
	s.choiceID[c] = id
	return id
}

// recordEvents numbers a list of events, without what no judge needs.
func (s *tables) recordEvents(now time.Duration, events []history.Event) uint32 {
	list := make(eventList, 0, len(events))
	for i := range events {
		e := events[i]
		if !verdict.Matters(e.Kind) {
			continue
		}
		e.At = max(e.At-now, 0) // what has ended before time passed: no judge looks at when that was
		if e.Until != 0 && e.Until != history.Forever {
			e.Until -= now
		}
		e.Msg, e.Cmd, e.Reply, e.Skew = 0, nil, "", 0
		if e.Kind == history.Read {
			e.Version, e.Token = 0, 0
		}
		list = append(list, e)
	}
	return s.numberEvents(list)
}

// numberEvents numbers a list; 0 is the empty one.
func (s *tables) numberEvents(list eventList) uint32 {
	if len(list) == 0 {
		return 0
	}
	s.eventKey.Reset()
	s.eventOut.Put(list) // with all lengths, so that no other list gives the same
	s.eventOut.Flush()   // a bytes.Buffer takes everything
	if id, ok := s.eventID[string(s.eventKey.Bytes())]; ok {
		return id
	}
	id, ok := s.numbers.next(len(s.events), "limit.of.events")
	if ok {
		s.events = append(s.events, list)
		s.eventID[s.eventKey.String()] = id
	}
	return id
}
