package verdict

import (
	"fmt"
	"time"

	"locklab/simulator/history"
)

// What a Monitor has room for. The limits are what keeps it a fixed-size value.
const (
	MaxClients = 8
	MaxNodes   = 8
	maxCopies  = history.Disk + 1 // of one node's data
)

// A Case is what the judges must know of a run before it begins, the same for
// all events. It is no part of a Monitor, so that a state need not carry it.
type Case struct {
	key     string
	ttl     time.Duration
	clients int
	nodes   int
	quorum  int // how many nodes make a majority

	room [MaxClients]int // for how many there is room inside with this client
}

// CaseOf takes the Case from the head of a history; Events, End and Horizon
// may be missing. A run with no node is one with a single node. It panics if
// there are more than MaxClients clients or MaxNodes nodes.
func CaseOf(h *history.History) Case {
	if h.Clients > MaxClients || h.Nodes > MaxNodes {
		panic(fmt.Sprintf("verdict: %d clients and %d nodes, but there is room for %d and %d: raise MaxClients or MaxNodes",
			h.Clients, h.Nodes, MaxClients, MaxNodes))
	}
	nodes := max(h.Nodes, 1)
	c := Case{key: h.Key, ttl: h.TTL, clients: h.Clients, nodes: nodes, quorum: nodes/2 + 1}
	for i := range c.room {
		c.room[i] = 1
		switch {
		case i >= len(h.Holders):
		case h.Holders[i] == history.AnyNumber:
			c.room[i] = MaxClients
		default:
			c.room[i] = max(h.Holders[i], 1)
		}
	}
	return c
}

// admit panics if e concerns a client or node that the run does not have: the
// judges would accuse the wrong one. The nodes that are split have a second
// number each.
func (c *Case) admit(i int, e *history.Event, split nodes) {
	client := e.Client >= 0 && e.Client <= c.clients && (e.Client > 0 || !in(ofClients, e.Kind))
	known := e.Node <= c.nodes || split>>(e.Node-c.nodes-1)&1 != 0
	node := known && (e.Node > 0 || !in(ofNodes, e.Kind))
	replica := e.Replica >= 0 && e.Replica < maxCopies
	if !client || !node || !replica {
		panic(fmt.Sprintf("verdict: event %d (%s) is of client %d and node %d (copy %d), but the run has %d and %d (copies 0 to %d)",
			i, e.Kind, e.Client, e.Node, e.Replica, c.clients, c.nodes, maxCopies-1))
	}
}

// A Monitor is all judges, with what they remember. The zero Monitor is ready
// for the first event. It is comparable and holds no pointers: a copy is a
// branch of the run.
type Monitor struct {
	Safety
	Progress
}

// Observe tells the judges the next event, the i-th of its history, and calls
// found for every verdict that stands with it; a nil found is allowed. It
// keeps neither e nor found.
func (m *Monitor) Observe(c *Case, i int, e *history.Event, found func(Finding)) {
	switch {
	case Matters(e.Kind):
		m.Safety.observe(c, i, e, found)
		m.Progress.observe(c, &m.Safety, i, e, found)
	case e.Kind == history.Pause || e.Kind == history.Resume: // matters to one judge, and to no search
		m.unwoken.observe(&hearing{c: c, f: &m.facts, i: i, e: e, at: e.At, found: found})
	}
}

// Finish tells the judges that the run has ended, at true time end, after the
// last event; horizon as in history.History.
func (m *Monitor) Finish(c *Case, end time.Duration, horizon bool, last int, found func(Finding)) {
	m.Progress.finish(&hearing{c: c, f: &m.facts, i: last, at: end, found: found}, horizon)
}

// Safety is the judges of exclusion. Of time it keeps one thing only: when the
// promise of a key without a time to live lapses (see wrongdel.go), and
// [Safety.Rebase] takes that out of the way of equal states.
type Safety struct {
	facts facts

	overlap    overlap
	staleWrite staleWrite
	fence      fence
	wrongDel   wrongDel
	lie        lie

	words wordSet // what was found so far
}

// Observe is Monitor.Observe for these judges alone.
func (s *Safety) Observe(c *Case, i int, e *history.Event, found func(Finding)) {
	if Matters(e.Kind) {
		s.observe(c, i, e, found)
	}
}

// observe hears every judge on e, with the facts as they were before it, and
// only then lets e change the facts.
func (s *Safety) observe(c *Case, i int, e *history.Event, found func(Finding)) {
	c.admit(i, e, s.facts.split)
	h := hearing{c: c, f: &s.facts, i: i, e: e, at: e.At, found: found, words: &s.words}
	s.overlap.observe(&h)
	s.staleWrite.observe(&h)
	s.fence.observe(&h)
	s.wrongDel.observe(&h)
	s.lie.observe(&h)
	s.facts.observe(c, e)
}

// Words are the safety words that stand after the events seen, in order.
// FENCED among them may go again: the next write can be a stale one.
func (s *Safety) Words() []Word {
	words := s.words
	if s.fenced() {
		words.add(Fenced)
	}
	return words.list()
}

// Broken says whether Words is not empty.
func (s *Safety) Broken() bool { return s.words != 0 }

// Rebase makes now, the true time of the last event or later, the time from
// which the events to come are counted, and forgets what is over. Two states
// in which the same can still happen become equal that way, whenever they were
// reached.
func (s *Safety) Rebase(now time.Duration) { s.facts.rebase(now) }

// Progress is the judges of getting the lock at all. They measure how long
// things last, so they keep true times, and their state hardly ever recurs.
type Progress struct {
	leases leases

	orphan orphan
	blocked blocked
	unwoken unwoken
	starved starved

	overtaken overtaken

	contended bool
}

// observe hears every judge on e, with the facts as they are after it: these
// judges ask since when something has been so.
func (p *Progress) observe(c *Case, s *Safety, i int, e *history.Event, found func(Finding)) {
	h := hearing{c: c, f: &s.facts, i: i, e: e, at: e.At, found: found}
	p.contended = p.contended || s.Contends(e)
	p.leases.observe(&h)
	p.orphan.observe(&h)
	p.blocked.observe(&h)
	p.unwoken.observe(&h)
	p.starved.observe(&h)
	p.overtaken.observe(&h)
}

func (p *Progress) finish(h *hearing, horizon bool) {
	p.orphan.finish(h, &p.leases)
	p.blocked.finish(h, &p.leases, horizon)
	p.unwoken.finish(h, horizon)
	p.starved.finish(h)
	p.overtaken.finish(h)
}

// Contended says whether an event seen so far contended; see Safety.Contends.
func (p *Progress) Contended() bool { return p.contended }

// A hearing is one event, or the end of a run, before one of the judges.
type hearing struct {
	c     *Case
	f     *facts
	i     int            // index of e; at the end: of the last event
	e     *history.Event // nil at the end
	at    time.Duration  // true time
	found func(Finding)
	words *wordSet // where the word is remembered; nil: nowhere
}

// report is how a judge speaks. It fills in the event.
func (h *hearing) report(f Finding) {
	if h.words != nil {
		h.words.add(f.Verdict)
	}
	if h.found != nil {
		f.Event = h.i
		h.found(f)
	}
}

// instant reports something that happened now, the culprit first.
func (h *hearing) instant(w Word, clients ...int) {
	h.report(Finding{Verdict: w, Clients: clients, From: h.at, To: h.at, Node: max(h.e.Node, 0)})
}

// The kinds of event that some judge looks at.
const (
	ofClients = 1<<history.Acquire | 1<<history.Enter | 1<<history.Refuse | 1<<history.Leave |
		1<<history.Release | 1<<history.Released | 1<<history.Done | 1<<history.Crash | 1<<history.Write
	ofNodes = 1<<history.Change | 1<<history.Expire |
		1<<history.Down | 1<<history.Up | 1<<history.Replicate | 1<<history.Failover |
		1<<history.Split | 1<<history.Heal | 1<<history.Sync
)

func in(kinds uint64, k history.Kind) bool { return kinds>>k&1 != 0 }

// Matters says whether any judge looks at events of kind k.
func Matters(k history.Kind) bool { return in(ofClients|ofNodes, k) }
