package explore

import (
	"cmp"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/intern"
	"locklab/simulator/internal/codec"
	"locklab/simulator/verdict"
)

// tables number the parts of the world, judges, times, events and choices met. A state is a list of such numbers.
type tables struct {
	sim       *simulator.Simulator
	numbers   *numbers
	judge     verdict.Case
	clients   int
	nodes     int
	symmetric int    // so many clients, from the first, run the same code; 0 or 1: symmetry is not used
	probe     int    // the client that begins when all others have finished; 0: none
	byCause   bool   // the causes are part of the state
	again     *again // nil: the attempts are counted

	restAt, judgeAt, causeAt, timeAt int // words of a state

	clientTab []intern.Table[simulator.ClientPart, *clientEntry] // one a client
	nodeTab   intern.Table[simulator.NodePart, *nodeEntry]
	restTab   intern.Table[simulator.RestPart, *restEntry]
	judgeTab  intern.Table[verdict.Safety, *judgeEntry]
	times     intern.Table[time.Duration, struct{}] // absolute only

	named intern.Column // the clients, bit c for client c, that a server's part names; see namesOf

	causes   intern.Table[string, []string]        // 0: none
	events   intern.Table[string, []history.Event] // 0: none
	choices  []simulator.Choice
	choiceID map[simulator.Choice]uint16
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
	entered   bool // it was given the lock at some time
	timeless  bool // time does not change it
	awaits    bool // it waits for a watch
	begun     bool // its program has begun
	onVersion bool // see Simulator.OnVersion
	waitsOn   uint8
	blocked   uint8 // the servers that wait for replicas on its behalf
}

type nodeEntry struct {
	own     []simulator.Choice // what it can do at once, as server 1
	split   bool
	serving bool // neither down nor hung
}

type restEntry struct {
	due        time.Duration // of the next that is held up
	orphanedID []uint16
	target     []int
	senders    history.ClientSet // see Parts.Senders
	spent      int
	mayFault   bool // the budget is not used up
	left       simulator.FaultsLeft
	onVersion  bool // a request to the resource is under way that nobody waits for
}

type judgeEntry struct {
	roles [simulator.MaxClients]uint32 // of the clients, see verdict.Safety.Role
	known history.ClientSet            // the clients that it mentions
	left  history.ClientSet            // see verdict.Safety.Unsettled
}

// effect is the result of a move: the new numbers of the parts that it reaches, and its events.
type effect struct {
	client, node, rest uint32
	events             uint32
}

// noClient in an effectKey: it has no client.
const noClient = 1<<8 - 1

// effectKey holds all that an effect depends on; see transitions.effectKey.
type effectKey struct {
	client, node, rest uint32
	now                uint32
	choice             uint16
	who                uint8
}

func newTables(sim *simulator.Simulator, opt *Options) *tables {
	s := &tables{
		sim: sim, judge: verdict.CaseOf(&opt.Case), probe: opt.Probe,
		clients: len(sim.Config().Clients), nodes: len(sim.Config().Nodes),
		numbers: &numbers{
			Room:    intern.Room{IDs: cmp.Or(opt.Plain.IDs, maxIDs), Text: "limit.search"},
			choices: cmp.Or(opt.Plain.Choices, maxChoices),
		},
		symmetric: opt.assumed.Symmetric, byCause: opt.Causes,
		choiceID: map[simulator.Choice]uint16{},
	}
	s.restAt = s.clients + s.nodes
	s.judgeAt, s.causeAt, s.timeAt = s.restAt+1, s.restAt+2, s.restAt+2
	if s.byCause {
		s.timeAt++
	}
	const parts = "limit.of.parts"
	for c := range s.clients {
		entry := func(p simulator.ClientPart) *clientEntry { return s.clientEntry(c, p) }
		s.clientTab = append(s.clientTab, intern.NewTable(&s.numbers.Room, parts, entry))
	}
	s.nodeTab = intern.NewTable(&s.numbers.Room, parts, s.nodeEntry)
	s.restTab = intern.NewTable(&s.numbers.Room, parts, s.restEntry)
	s.judgeTab = intern.NewTable(&s.numbers.Room, parts, s.judgeEntry)
	s.times = intern.NewTable(&s.numbers.Room, parts, func(time.Duration) (none struct{}) { return none })
	s.causes = intern.NewTable[string, []string](&s.numbers.Room, "limit.of.causes", nil)
	s.events = intern.NewTable[string, []history.Event](&s.numbers.Room, "limit.of.events", nil)
	numberList(&s.causes, nil)
	numberList(&s.events, nil)
	return s
}

// stride is the number of words of a state, in this order: clients, servers, rest, judges, causes, time.
func (s *tables) stride() int {
	if s.sim.Traits().ReadsClock || s.sim.Stamps().Grain() > time.Millisecond {
		return s.timeAt + 1
	}
	return s.timeAt
}

// now is the true time of a state; if it is not part of the state, any time.
func (s *tables) now(state []uint32) time.Duration {
	if len(state) > s.timeAt {
		return s.times.Keys[state[s.timeAt]]
	}
	return s.sim.Stamps().Present()
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
		w.SetClientPart(c+1, &s.clientTab[c].Keys[state[c]])
	}
	for n := range s.nodes {
		s.sim.Parts().SetNode(&w, n+1, &s.nodeTab.Keys[state[s.clients+n]])
	}
	s.sim.Parts().SetRest(&w, &s.restTab.Keys[state[s.restAt]])
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
		state[s.timeAt] = s.times.ID(s.sim.Stamps().Recent(w.Now()))
	}
}

func (s *tables) client(c int, w *simulator.World) uint32 {
	return s.clientTab[c].ID(s.sim.Parts().Client(w, c+1))
}

func (s *tables) node(n int, w *simulator.World) uint32 {
	return s.nodeTab.ID(s.sim.Parts().Node(w, n+1))
}

func (s *tables) rest(w *simulator.World) uint32 { return s.restTab.ID(s.sim.Parts().Rest(w)) }

func (s *tables) clientEntry(c int, part simulator.ClientPart) *clientEntry {
	e, parts := &clientEntry{}, s.sim.Parts()
	var all []simulator.Choice
	all, e.due = parts.Ready(c+1, &part, nil)
	for _, ch := range all {
		if ch.Verb == simulator.Arrive {
			e.arriveID = append(e.arriveID, s.choice(ch))
			e.target = append(e.target, parts.Target(c+1, &part, int(ch.Thread)))
			continue
		}
		e.own = append(e.own, ch)
		e.ownID = append(e.ownID, s.choice(ch))
	}
	for _, ch := range part.Listens(c+1, nil) {
		e.listensID = append(e.listensID, s.choice(ch))
		e.source = append(e.source, parts.Target(c+1, &part, int(ch.Thread)))
	}
	e.begun, e.finished, e.timeless = part.Begun(), part.Finished(), part.Timeless()
	e.entered = parts.Entered(c+1, &part)
	e.waitsOn, e.blocked = parts.WaitsOn(c+1, &part), parts.BlockedOn(c+1, &part)
	e.onVersion, e.awaits = parts.OnVersion(c+1, &part), parts.Awaits(c+1, &part)
	return e
}

func (s *tables) nodeEntry(part simulator.NodePart) *nodeEntry {
	return &nodeEntry{own: s.sim.Parts().ReadyNode(1, &part, nil), split: part.Split(), serving: part.Serving()}
}

func (s *tables) restEntry(part simulator.RestPart) *restEntry {
	parts := s.sim.Parts()
	e := &restEntry{
		onVersion: parts.OrphanedOnVersion(&part), senders: parts.Senders(&part),
		left: parts.Left(&part), spent: parts.Spent(&part),
	}
	allowed := 0
	for _, f := range s.sim.Config().Faults {
		allowed += f.Times
	}
	e.mayFault = e.spent < allowed
	e.due = parts.Orphaned(&part, func(c simulator.Choice, node int) {
		e.orphanedID = append(e.orphanedID, s.choice(c))
		e.target = append(e.target, node)
	})
	return e
}

func (s *tables) judgeEntry(v verdict.Safety) *judgeEntry {
	e := &judgeEntry{}
	for c := range s.symmetric {
		e.roles[c] = uint32(v.Role(c + 1))
		if s.again != nil {
			s.again.describe(e, &v, c+1)
		}
	}
	return e
}

func (s *tables) choice(c simulator.Choice) uint16 {
	if id, ok := s.choiceID[c]; ok {
		return id
	}
	s.numbers.Lacking()
	if len(s.choices) >= s.numbers.choices {
		s.numbers.Exceed("limit.choices", "n", s.numbers.choices)
		return 0
	}
	id := uint16(len(s.choices))
	s.choices = append(s.choices, c)
	s.choiceID[c] = id
	return id
}

// recordEvents numbers the events of a move that some judge needs, with times relative to the move.
func (s *tables) recordEvents(now time.Duration, events []history.Event) uint32 {
	list := make([]history.Event, 0, len(events))
	for i := range events {
		e := events[i]
		if !s.judge.Needs(e.Kind) && !e.Rests {
			continue
		}
		e.At = max(e.At-now, 0) // what has ended before time passed: no judge looks at when that was
		if e.Until != 0 && e.Until != history.Forever {
			e.Until -= now
		}
		e.Msg, e.Cmd, e.Reply, e.Skew = 0, nil, "", 0
		if e.Rests {
			e.D, e.Code = s.judge.Rest(e.D), nil
		}
		if e.Kind == history.Read {
			e.Version, e.Token = 0, 0
		}
		list = append(list, e)
	}
	return numberList(&s.events, list)
}

// numberList numbers a list by its encoding, which has all lengths: no other list gives the same.
func numberList[E any](t *intern.Table[string, []E], list []E) uint32 {
	if len(list) == 0 && len(t.Keys) > 0 {
		return 0
	}
	id, fresh := t.Number(codec.Key(list))
	if fresh {
		t.Values[id] = list
	}
	return id
}
