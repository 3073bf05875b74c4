package explore

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/intern"
	"locklab/simulator/verdict"
)

// transitions is the transition relation by parts of the world, as far as it was needed: the effects of moves on parts.
type transitions struct {
	*tables

	effects    memo
	scratch    simulator.World // memory of effect
	faultMemo  memo            // where in faultLists the possible faults are
	faultLists [][]uint16      // choices
	dues       memo            // the time until something is due at a server: its high half as node, its low as rest
	waits      memo            // what the passing of time does to a server; see passNode
	judged     memo            // the judges after events, as rest, and what they find, as events
	passed     map[time.Duration]*passed
}

// passed are the components after a time, by their numbers.
type passed struct {
	id                  uint32 // of the time
	clients             [simulator.MaxClients]intern.Column
	rest, judges, times intern.Column
}

// after is the memory of what time d does.
func (s *transitions) after(d time.Duration) *passed {
	p := s.passed[d]
	if p == nil {
		s.numbers.Lacking()
		p = &passed{id: uint32(len(s.passed))}
		s.passed[d] = p
	}
	return p
}

// effect returns what a move does to the parts that it reaches. It is computed once, by the simulator's own Step on a
// world that holds these parts only, and looked up from then on.
func (s *transitions) effect(state []uint32, m *move) (effect, error) {
	key := s.effectKey(state, m)
	alone, mayBeAlone := s.clientKey(key, m)
	eff, known := s.effects.get(&alone) // it is key, unless the move may be alone
	if known && mayBeAlone {
		eff.node, eff.rest = key.node, key.rest
	} else if mayBeAlone {
		eff, known = s.effects.get(&key)
	}
	if known {
		return eff, nil
	}
	s.numbers.Lacking()
	eff, key, err := s.compute(state, m, key, alone, mayBeAlone)
	if err == nil {
		s.effects.put(key, eff)
	}
	return eff, err
}

// undeclared is the error of a move that writes a part of the world which its effect does not have.
func undeclared(c simulator.Choice) error { return i18n.Errorf("error.effect.undeclared", "choice", c) }

// compute computes the effect of a move. The key is alone if it did not look at more.
func (s *transitions) compute(
	state []uint32, m *move, key, alone effectKey, mayBeAlone bool,
) (effect, effectKey, error) {
	s.scratch = s.sim.Parts().World(s.now(state))
	w := &s.scratch
	if m.client >= 0 {
		w.SetClientPart(int(m.client)+1, &s.clientTab[m.client].Keys[key.client])
	}
	if m.node >= 0 {
		s.sim.Parts().SetNode(w, int(m.node)+1, &s.nodeTab.Keys[key.node])
	}
	s.sim.Parts().SetRest(w, &s.restTab.Keys[state[s.restAt]])
	seen := s.sim.Traits()
	events, err := s.sim.Step(w, s.choices[m.choice])
	if err != nil {
		return effect{}, key, &failedMove{error: fmt.Errorf("explore: %w", err), via: m.choice}
	}
	reached, declared := s.sim.Reached(), m.informed
	if m.client >= 0 {
		declared |= 1 << m.client
	}
	if w.Strays(declared, int(m.node)+1) {
		return effect{}, key, undeclared(s.choices[m.choice])
	}
	eff := effect{events: s.recordEvents(w.Now(), events)}
	if m.client >= 0 {
		eff.client = s.client(int(m.client), w)
	}
	if m.node >= 0 {
		eff.node = s.node(int(m.node), w)
	}
	if eff.rest = s.rest(w); !m.rest && eff.rest != state[s.restAt] {
		if s.sim.Traits() != seen { // by which moves declare it: the search begins again
			return effect{}, key, errNewTrait
		}
		return effect{}, key, undeclared(s.choices[m.choice])
	}
	if mayBeAlone && !reached && eff.node == key.node && eff.rest == key.rest {
		key = alone
	}
	return eff, key, nil
}

// jointly makes a move in the whole world, since what becomes of the server depends on several clients: a database has
// forgotten a session that broke while its client waited for an answer, but not one of a client that has yet to notice.
func (s *transitions) jointly(state, next []uint32, m *move) (events uint32, err error) {
	s.numbers.Lacking()
	w := s.world(state)
	happened, err := s.sim.Step(&w, s.choices[m.choice])
	if err != nil {
		return 0, &failedMove{error: fmt.Errorf("explore: %w", err), via: m.choice}
	}
	s.takeState(&w, state[s.judgeAt], next)
	return s.recordEvents(w.Now(), happened), nil
}

// clientKey is key without the ensemble and the rest, if m is a choice of a client that need not look at them. (That of
// a client of a Redis has neither in its key, unless code abandons requests.)
func (s *transitions) clientKey(key effectKey, m *move) (alone effectKey, may bool) {
	if m.fault || m.client < 0 || m.node < 0 || s.numbers.traits(s.sim).Abandons {
		return key, false
	}
	switch s.choices[m.choice].Verb {
	case simulator.Start, simulator.Answer, simulator.Survive, simulator.Wake, simulator.Choose:
		key.node, key.rest = intern.Unseen, intern.Unseen
		return key, true
	}
	return key, false
}

// effectKey is all that the effect of a move depends on.
func (s *transitions) effectKey(state []uint32, m *move) effectKey {
	key := effectKey{choice: m.choice, who: uint8(m.client), now: s.nowID(state)}
	if m.client >= 0 {
		key.client = state[m.client]
	}
	if m.node >= 0 {
		key.node = state[s.clients+int(m.node)]
	}
	if m.rest {
		key.rest = state[s.restAt]
	}
	return key
}

// mayTell reports whether the server of m has a message for the listening thread of the client of m. That there is none
// is remembered as an effect with the events intern.Unseen.
func (s *successors) mayTell(m *move) bool {
	key := s.transitions.effectKey(s.cur, m)
	if eff, ok := s.transitions.effects.get(&key); ok {
		return eff.events != intern.Unseen
	}
	s.numbers.Lacking()
	c, n := int(m.client), int(m.node)
	waiter, server := &s.clientTab[c].Keys[key.client], &s.nodeTab.Keys[key.node]
	deliverable := s.sim.Parts().Notifications(c+1, waiter, n+1, server, s.now(s.cur), nil)
	may := slices.Contains(deliverable, s.choices[m.choice])
	if !may {
		s.transitions.effects.put(key, effect{events: intern.Unseen})
	}
	return may
}

// faultsOn lists the faults that are possible on client c, or on a server (those that name both are listed for the
// server, unless they strike the client only).
func (s *transitions) faultsOn(c, node int, state []uint32) []uint16 {
	key := effectKey{rest: state[s.restAt], now: s.nowID(state), who: noClient}
	if c >= 0 {
		key.client, key.who = state[c], uint8(c)
		if s.sim.KeepsSessions() {
			key.node = state[s.clients]
		}
	} else {
		key.node, key.choice = state[s.clients+node], uint16(node)
	}
	if at, ok := s.faultMemo.get(&key); ok {
		s.numbers.Has(at.events, len(s.faultLists))
		return s.faultLists[at.events]
	}
	s.numbers.Lacking()
	var list []uint16
	w := s.sim.Parts().World(s.now(state))
	if c >= 0 {
		w.SetClientPart(c+1, &s.clientTab[c].Keys[state[c]])
		if s.sim.KeepsSessions() {
			s.sim.Parts().SetNode(&w, 1, &s.nodeTab.Keys[state[s.clients]])
		}
	} else {
		s.sim.Parts().SetNode(&w, node+1, &s.nodeTab.Keys[state[s.clients+node]])
	}
	s.sim.Parts().SetRest(&w, &s.restTab.Keys[state[s.restAt]])
	all, err := s.sim.Parts().Faults(&w, nil)
	s.numbers.Note(err)
	for _, ch := range all {
		at := int(ch.Node)
		if at > 0 && s.sim.Parts().StrikesClient(ch) {
			at = 0
		}
		if at == node+1 && (node >= 0 || int(ch.Client) == c+1) {
			list = append(list, s.choice(ch))
		}
	}
	if id, ok := s.numbers.Next(len(s.faultLists), "limit.of.faults"); ok {
		s.faultMemo.put(key, effect{events: id})
		s.faultLists = append(s.faultLists, list)
	}
	return list
}

// due is the time to the next deadline in a state; Never: there is none.
func (s *transitions) due(state []uint32) time.Duration {
	due := s.restTab.Values[state[s.restAt]].due
	for c := range s.clients {
		due = min(due, s.clientTab[c].Values[state[c]].due)
	}
	now := s.now(state)
	for n := range s.nodes {
		key := effectKey{node: state[s.clients+n], now: s.nowID(state)}
		gone, ok := s.dues.get(&key)
		if !ok {
			s.numbers.Lacking()
			d := s.sim.Parts().DueAt(&s.nodeTab.Keys[key.node], now)
			gone = effect{node: uint32(d >> 32), rest: uint32(d)}
			s.dues.put(key, gone)
		}
		due = min(due, time.Duration(gone.node)<<32|time.Duration(gone.rest))
	}
	return due
}

// passTime has c pass time in each part by itself, and tells the judges; or end what still stands, and no time passes.
func (s *transitions) passTime(state, next []uint32, c simulator.Choice) (found verdict.Set, err error) {
	copy(next, state)
	now, d, after := s.now(state), c.D, s.after(c.D)
	if len(state) > s.timeAt {
		later := func(time.Duration) time.Duration { return s.sim.Stamps().Recent(now + d) }
		next[s.timeAt] = s.times.Image(&after.times, state[s.timeAt], later)
	}
	for c := range s.clients {
		if s.clientTab[c].Values[state[c]].timeless {
			continue
		}
		later := func(part simulator.ClientPart) simulator.ClientPart {
			w := s.sim.Parts().World(now)
			w.SetClientPart(c+1, &part)
			s.sim.Skip(&w, d)
			return s.sim.Parts().Client(&w, c+1)
		}
		next[c] = s.clientTab[c].Image(&after.clients[c], state[c], later)
	}
	// Time changes the rest only then.
	if s.restTab.Values[state[s.restAt]].due != simulator.Never || s.sim.Stamps().Grain() > 0 {
		later := func(part simulator.RestPart) simulator.RestPart {
			w := s.sim.Parts().World(now)
			s.sim.Parts().SetRest(&w, &part)
			s.sim.Skip(&w, d)
			return s.sim.Parts().Rest(&w)
		}
		next[s.restAt] = s.restTab.Image(&after.rest, state[s.restAt], later)
	}
	if d > 0 {
		next[s.judgeAt], found = s.passJudges(state[s.judgeAt], d)
	}
	for n := range s.nodes {
		eff, err := s.passNode(n, state, c)
		if err != nil {
			return 0, err
		}
		next[s.clients+n] = eff.node
		found |= s.judgeEvents(next, eff.events)
	}
	return found, nil
}

// passJudges tells the judges that time d has passed, and returns what they find by that alone.
func (s *transitions) passJudges(id uint32, d time.Duration) (to uint32, found verdict.Set) {
	if s.judgeTab.Keys[id].Unanswered() {
		v := s.judgeTab.Keys[id]
		v.Pass(&s.judge, 0, d, func(f verdict.Finding) { found.Add(f.Verdict) })
	}
	return s.judgeTab.Image(&s.after(d).judges, id, func(v verdict.Safety) verdict.Safety {
		v.Pass(&s.judge, 0, d, nil)
		if s.sim.Config().Guard == history.Naive { // as in computeJudged
			v.Forget()
		}
		v.Rebase(d)
		return v
	}), found
}

func (s *transitions) passNode(n int, state []uint32, c simulator.Choice) (effect, error) {
	id := state[s.clients+n]
	ends := func(own simulator.Choice) bool { return own.Verb == simulator.End }
	if c.Verb == simulator.End && !slices.ContainsFunc(s.nodeTab.Values[id].own, ends) {
		return effect{node: id}, nil
	}
	// who: its events name the server.
	key := effectKey{client: s.after(c.D).id, node: id, now: s.nowID(state), who: uint8(n)}
	if c.Thread == simulator.Pending {
		key.choice = 1
	}
	if eff, ok := s.waits.get(&key); ok {
		return eff, nil
	}
	s.numbers.Lacking()
	w := s.sim.Parts().World(s.now(state))
	s.sim.Parts().SetNode(&w, n+1, &s.nodeTab.Keys[id])
	events, err := s.sim.Step(&w, c)
	if err != nil {
		return effect{}, fmt.Errorf("explore: %w", err)
	}
	eff := effect{events: s.recordEvents(w.Now(), events), node: s.node(n, &w)}
	s.waits.put(key, eff)
	return eff, nil
}

// quiet reports whether servers record nothing as time passes by c: each client is then the same whatever others are.
func (s *transitions) quiet(state []uint32, c simulator.Choice) (bool, error) {
	for n := range s.nodes {
		if eff, err := s.passNode(n, state, c); err != nil || eff.events != 0 {
			return false, err
		}
	}
	return true, nil
}

// endsAfter reports whether something ends at a server at the instant to which time passes by c.
func (s *transitions) endsAfter(state []uint32, c simulator.Choice) (bool, error) {
	pending := c
	pending.Thread = simulator.Pending
	for n := range s.nodes {
		gone, err := s.passNode(n, state, c)
		if err != nil {
			return false, err
		}
		stands, err := s.passNode(n, state, pending)
		if err != nil || gone != stands {
			return err == nil, err
		}
	}
	return false, nil
}

// judgeEvents tells the judges of a state what happened, and returns what they find.
func (s *transitions) judgeEvents(state []uint32, events uint32) verdict.Set {
	if events == 0 {
		return 0
	}
	key := effectKey{node: state[s.judgeAt], rest: events}
	judged, ok := s.judged.get(&key)
	if !ok {
		s.numbers.Lacking()
		to, found := s.computeJudged(key.node, events)
		judged = effect{rest: to, events: uint32(found)}
		s.judged.put(key, judged)
	}
	state[s.judgeAt] = judged.rest
	return verdict.Set(judged.events)
}

func (s *transitions) computeJudged(id, events uint32) (to uint32, found verdict.Set) {
	v := s.judgeTab.Keys[id]
	list := s.events.Values[events]
	for i := range list {
		if s.again != nil {
			v.ObserveVersion(&list[i])
		}
		found |= observe(&v, &s.judge, s.probe, i, &list[i])
	}
	found |= v.Found()
	if s.sim.Config().Guard == history.Naive { // FENCED depends on an earlier stale write
		v.Forget()
	}
	if s.again != nil {
		v.ForgetCounts()
	}
	return s.judgeTab.ID(v), found
}

// memo is a map of effects by what they depend on. It is faster than a Go map because it knows the form of the key.
// While one goroutine puts effects others may get them from copies of the memo.
type memo struct {
	slots []memoSlot
	n     int
}

type memoSlot struct {
	key  effectKey
	used uint32 // 1: the slot is filled, and does not change; set last
	eff  effect
}

func (k *effectKey) hash() uint64 {
	h := (uint64(k.client)<<32 | uint64(k.node)) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h = (h ^ (uint64(k.rest)<<32 | uint64(k.now)) ^ uint64(k.choice)<<20 ^ uint64(k.who)<<12) * 0xff51afd7ed558ccd
	return h ^ h>>32
}

func (m *memo) get(key *effectKey) (effect, bool) {
	if m.n == 0 {
		return effect{}, false
	}
	mask := uint64(len(m.slots) - 1)
	for at := key.hash() & mask; atomic.LoadUint32(&m.slots[at].used) != 0; at = (at + 1) & mask {
		if m.slots[at].key == *key {
			return m.slots[at].eff, true
		}
	}
	return effect{}, false
}

func (m *memo) put(key effectKey, eff effect) {
	if m.n*3 >= len(m.slots)*2 {
		old := m.slots
		m.slots, m.n = make([]memoSlot, max(1024, 2*len(old))), 0
		for i := range old {
			if old[i].used != 0 {
				m.put(old[i].key, old[i].eff)
			}
		}
	}
	mask := uint64(len(m.slots) - 1)
	at := key.hash() & mask
	for m.slots[at].used != 0 {
		at = (at + 1) & mask
	}
	m.slots[at].key, m.slots[at].eff = key, eff
	atomic.StoreUint32(&m.slots[at].used, 1)
	m.n++
}
