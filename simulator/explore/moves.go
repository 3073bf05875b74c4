package explore

import (
	"math/bits"
	"time"

	"locklab/simulator"
	"locklab/simulator/verdict"
)

// A move is a choice that is possible in a state, with the parts of the world that decide what it does and that it can
// change. It leaves all other parts alone, except that a passing of time reaches every part.
type move struct {
	choice uint16
	client int8 // from 0; none: it reaches no client
	node   int8 // server, from 0; none: it reaches no server
	rest   bool // it reaches the orphaned requests, the resource and the budget
	fault  bool
	// informed are clients, bit c for client c, that learn of a move of node, each
	// without regard to the others: their connections break, or their WAIT is over.
	informed uint8
	jointly  bool          // the server looks at the informed clients: it is made with all of them
	found    verdict.Set   // what the search itself finds in it, before any judge
	pass     time.Duration // above 0: true time passes
	together bool          // what still stands at any server ends
}

// successors computes what follows from a state: it lists the moves of the state, makes each of
// them, and adds the states that they lead to to a batch.
type successors struct {
	*tables
	transitions *transitions
	quotient    *quotient
	step        time.Duration // as in Options
	outliving   bool          // see atBoundary
	late        bool          // see Model.Late
	faultless   bool          // without further faults
	lone        bool          // the faults of clients are those of client 1

	cur   []uint32 // the state, with every client under its own number
	next  []uint32
	moves []move // of cur
	ends  bool   // something still stands at a server of cur that ends with that of others
	out   *batch // not yet entered into visited
}

// none in place of a client or a server.
const none = -1

// expand makes every move of state id, whose words are in cur.
func (s *successors) expand(id uint32) error {
	if err := s.listMoves(); err != nil {
		return err
	}
	for i := range s.moves {
		if err := s.make(id, &s.moves[i]); err != nil {
			return err
		}
	}
	return nil
}

// make computes the state that follows cur, which is state id, by a move, and adds that arc to the batch.
func (s *successors) make(id uint32, m *move) error {
	copy(s.next, s.cur)
	found := m.found
	if m.pass > 0 || m.together {
		words, err := s.transitions.passTime(s.cur, s.next, s.choices[m.choice])
		if err != nil {
			return err
		}
		found |= words
	} else {
		events, err := s.apply(m)
		if err != nil {
			return err
		}
		found |= s.transitions.judgeEvents(s.next, events)
	}
	if err := s.quotient.canonicalize(s.next); err != nil {
		return &failedMove{error: err, via: m.choice}
	}
	a := arc{from: id, via: m.choice, found: found, cause: s.cause(s.next)}
	if m.fault {
		a.faults = 1
	}
	s.out.add(s.next, a)
	return nil
}

// apply changes, in next, the parts that a move reaches.
func (s *successors) apply(m *move) (events uint32, err error) {
	if m.jointly {
		events, err = s.transitions.jointly(s.cur, s.next, m)
		s.blame(s.next, m)
		return events, err
	}
	eff, err := s.transitions.effect(s.cur, m)
	if err != nil {
		return 0, err
	}
	if m.client >= 0 {
		s.next[m.client] = eff.client
	}
	if m.node >= 0 {
		s.next[s.clients+int(m.node)] = eff.node
	}
	if m.rest {
		s.next[s.restAt] = eff.rest
	}
	for left := m.informed; left != 0; left &= left - 1 {
		one := *m
		one.client = int8(bits.TrailingZeros8(left))
		own, err := s.transitions.effect(s.cur, &one)
		if err != nil {
			return 0, err
		}
		s.next[one.client] = own.client
	}
	if m.fault {
		s.blame(s.next, m)
	}
	return eff.events, nil
}

// listMoves collects the moves of cur in the order they are made. Time passes only where nothing has to happen first.
func (s *successors) listMoves() error {
	s.moves = s.moves[:0]
	alone := s.othersFinished(s.cur) && s.settled(s.cur)
	if alone && (s.probe == 0 || s.clientTab[s.probe-1].Values[s.cur[s.probe-1]].finished) {
		return nil // nobody waits for the timers that may still run
	}
	if s.probing(s.cur) && !s.othersFinished(s.cur) {
		return nil // it was found that they wait without end
	}
	mayFault := !s.faultless && s.restTab.Values[s.cur[s.restAt]].mayFault
	ready, attempts := false, 0
	for c := range s.clients {
		before := len(s.moves)
		if rested := s.rested(c, s.cur); !rested || !s.probing(s.cur) {
			ready = s.listClient(c, alone) || ready
			if rested {
				attempts += len(s.moves) - before
			}
		}
	}
	ready = s.listOrphaned() || ready
	s.ends = false
	for n := range s.nodes {
		ready = s.listNode(n) || ready
	}
	if s.ends && !s.outliving {
		end := s.choice(simulator.Choice{Verb: simulator.End})
		s.moves = append(s.moves, move{choice: end, client: none, node: none, together: true})
	}
	stuck := len(s.moves) == attempts && !s.ends
	if mayFault && !s.probing(s.cur) {
		s.listFaults()
	}
	if d := s.passable(ready); d > 0 {
		return s.listPasses(d)
	}
	if stuck && s.probe > 0 && s.settled(s.cur) {
		s.startProbe()
	}
	return nil
}

// listPasses lists that time passes by d: at any timing once more if something ends at a server then, and still stands.
func (s *successors) listPasses(d time.Duration) error {
	c := simulator.Choice{Verb: simulator.Pass, D: d}
	s.moves = append(s.moves, move{choice: s.choice(c), pass: d})
	if s.step == 0 {
		return nil
	}
	ends, err := s.transitions.endsAfter(s.cur, c)
	if ends {
		if s.outliving { // and never before all else
			s.moves = s.moves[:len(s.moves)-1]
		}
		c.Thread = simulator.Pending
		s.moves = append(s.moves, move{choice: s.choice(c), pass: d})
	}
	return err
}

// startProbe has the probe begin although other clients have not finished: they wait for their turn, and nothing is
// left to happen but faults. That is a DEADLOCK, and what the probe finds does not count; see Model.Waiting.
func (s *successors) startProbe() {
	e := s.clientTab[s.probe-1].Values[s.cur[s.probe-1]]
	for k := range e.own {
		if e.own[k].Verb == simulator.Start {
			m := s.ownMove(s.probe-1, k)
			m.found = 0
			m.found.Add(verdict.Deadlock)
			if s.judgeTab.Keys[s.cur[s.judgeAt]].Unanswered() { // no answer can come any more
				m.found.Add(verdict.Slow)
			}
			s.moves = append(s.moves, m)
		}
	}
}

// passable returns the time that may pass in cur; 0: none. ready: something has to happen first.
func (s *successors) passable(ready bool) time.Duration {
	d := s.transitions.due(s.cur)
	if s.ends && s.outliving {
		d = min(d, s.step)
	}
	if ready || d == simulator.Never {
		return 0
	}
	if s.step > 0 {
		return min(d, s.step)
	}
	return d
}

// listClient lists what client c does by itself, the arrivals of its requests, and what it hears without a request. It
// reports whether any of these has to happen before time passes. alone: all clients but the probe have finished.
func (s *successors) listClient(c int, alone bool) (ready bool) {
	e := s.clientTab[c].Values[s.cur[c]]
	for k := range e.own {
		verb := e.own[k].Verb
		if verb == simulator.Start && (c+1 == s.probe && !alone || e.waitsOn != 0) {
			continue
		}
		ready = ready || s.atOnce(verb, e) || e.due == 0
		s.moves = append(s.moves, s.ownMove(c, k))
	}
	for k, id := range e.arriveID {
		ready = ready || s.step == 0
		n := e.target[k] - 1
		s.moves = append(s.moves, move{choice: id, client: int8(c), node: int8(n), rest: n < 0})
	}
	for k, id := range e.listensID {
		m := move{choice: id, client: int8(c), node: int8(e.source[k] - 1), rest: s.numbers.traits(s.sim).Abandons}
		if s.mayTell(&m) {
			ready = true
			s.moves = append(s.moves, m)
		}
	}
	if e.awaits {
		s.numbers.Lacking()
		waiter, server := &s.clientTab[c].Keys[s.cur[c]], &s.nodeTab.Keys[s.cur[s.clients]]
		for _, news := range s.sim.Parts().Notifications(c+1, waiter, 1, server, 0, nil) {
			ready = true
			s.moves = append(s.moves, move{choice: s.choice(news), client: int8(c), node: 0, rest: true})
		}
	}
	return ready
}

// atOnce reports whether what a client does by itself happens before time passes, wherever
// it can happen. In a search of every timing the simulator's bounds say by when.
func (s *successors) atOnce(verb simulator.Verb, e *clientEntry) bool {
	switch verb {
	case simulator.Start:
		return s.step == 0 && !s.late || s.step > 0 && !e.begun
	case simulator.Resume:
		return false
	case simulator.Answer, simulator.Survive, simulator.Wake, simulator.Choose, simulator.GiveUp:
		return s.step == 0
	}
	return true
}

// ownMove is the k-th thing that client c can do without a server.
func (s *successors) ownMove(c, k int) move {
	e := s.clientTab[c].Values[s.cur[c]]
	m := move{choice: e.ownID[k], client: int8(c), node: none}
	m.rest = e.own[k].Verb == simulator.GiveUp || s.numbers.traits(s.sim).Abandons
	if s.sim.KeepsSessions() { // its connection may break, or be made again
		m.node, m.rest = 0, true
	}
	if c+1 == s.probe && e.own[k].Verb == simulator.Start && s.allInVain() {
		m.found.Add(verdict.Starved)
	}
	return m
}

// listOrphaned lists the arrivals of requests whose senders no longer wait.
func (s *successors) listOrphaned() (ready bool) {
	rest := s.restTab.Values[s.cur[s.restAt]]
	for k, id := range rest.orphanedID {
		s.moves = append(s.moves, move{choice: id, client: none, node: int8(rest.target[k] - 1), rest: true})
	}
	return len(rest.orphanedID) > 0 && (s.step == 0 || rest.due == 0)
}

// listNode lists what server n does by itself. A lagging replica does so before time passes; a network may stay split.
func (s *successors) listNode(n int) (ready bool) {
	for _, ch := range s.nodeTab.Values[s.cur[s.clients+n]].own {
		ready = ready || ch.Verb == simulator.Replicate && s.step == 0
		ch.Node = int8(n + 1)
		if ch.Verb == simulator.End && (s.nodes > 1 || s.outliving) {
			s.ends = true
			continue
		}
		m := s.nodeMove(n, s.choice(ch))
		if ch.Verb == simulator.End { // no connection breaks
			m.informed, m.rest = 0, false
		}
		s.moves = append(s.moves, m)
	}
	return ready
}

// nodeMove is a choice of server n. It reaches the server's data, the orphaned requests, and the clients that wait for
// the server: those whose connections break, or whose WAIT is over when a replica has caught up.
func (s *successors) nodeMove(n int, ch uint16) move {
	m := move{choice: ch, client: none, node: int8(n), rest: true}
	replicate := s.choices[ch].Verb == simulator.Replicate
	for c := range s.clients {
		e := s.clientTab[c].Values[s.cur[c]]
		waits := e.waitsOn
		if replicate {
			waits = e.blocked
		}
		m.informed |= waits >> n & 1 << c
	}
	return m
}

// listFaults lists every fault that the budget still allows.
func (s *successors) listFaults() {
	for c := range s.clients {
		if c+1 != s.probe && (c == 0 || !s.lone) { // no fault disturbs the measurement
			s.listClientFaults(c)
		}
	}
	for n := range s.nodes {
		for _, ch := range s.transitions.faultsOn(none, n, s.cur) {
			if c := int(s.choices[ch].Client); c != 0 && (c == s.probe || s.clientTab[c-1].Keys[s.cur[c-1]].Dead()) {
				continue
			}
			m := s.nodeMove(n, ch)
			m.fault, m.jointly = true, m.informed != 0 && s.sim.KeepsSessions()
			s.moves = append(s.moves, m)
		}
	}
}

func (s *successors) listClientFaults(c int) {
	if s.again != nil && s.cur[c] == s.again.absent[c] { // a spare name
		return
	}
	for _, ch := range s.transitions.faultsOn(c, none, s.cur) {
		m := move{choice: ch, client: int8(c), node: none, rest: true, fault: true}
		if s.sim.KeepsSessions() { // it notices what becomes of its clients
			m.node = 0
		}
		s.moves = append(s.moves, m)
	}
}

// allInVain reports whether no fault was injected, every client has come to its end, none was
// ever given the lock and every refusal was without cause.
func (s *successors) allInVain() bool {
	if s.restTab.Values[s.cur[s.restAt]].spent > 0 {
		return false
	}
	for c := range s.clients {
		if s.clientTab[c].Values[s.cur[c]].entered {
			return false
		}
	}
	judges := &s.judgeTab.Keys[s.cur[s.judgeAt]]
	return judges.InVain() && (s.again == nil || judges.AttemptsInVain() == s.again.active)
}

// settled reports whether no request is under way whose sender no longer waits, and every
// server runs: what the probe then finds can be changed by nothing but leases that end.
func (s *successors) settled(state []uint32) bool {
	if rest := s.restTab.Values[state[s.restAt]]; len(rest.orphanedID) > 0 || rest.due != simulator.Never {
		return false
	}
	for n := range s.nodes {
		if !s.nodeTab.Values[state[s.clients+n]].serving {
			return false
		}
	}
	return true
}

// probing reports whether the probe has begun. Then no fault is injected any more: its own
// request, late, would look like another client's lock.
func (s *successors) probing(state []uint32) bool {
	return s.probe > 0 && s.clientTab[s.probe-1].Values[state[s.probe-1]].begun
}

// othersFinished reports whether all clients but the probe have finished or died.
func (s *successors) othersFinished(state []uint32) bool {
	for c := range s.clients {
		if c+1 != s.probe && !s.clientTab[c].Values[state[c]].finished && !s.rested(c, state) {
			return false
		}
	}
	return true
}
