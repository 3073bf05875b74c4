package verdict

import (
	"fmt"
	"time"

	"locklab/simulator/history"
)

// The limits of a Monitor, which keep it a value of fixed size.
const (
	MaxClients = history.MaxClients
	MaxNodes   = 8
	maxCopies  = history.Disk + 1 // of one node's data
)

// A Case is what the judges must know about a run before it begins. It is not part of
// a Monitor, so that states do not carry it.
type Case struct {
	key     string
	ttl     time.Duration
	stamp   time.Duration // how long a stamp in the key stands; 0: there are none, as in a ZooKeeper
	clients int
	nodes   int
	quorum  int // how many nodes make a majority
	bars    int // how many nodes keep the others from being one

	probe int           // the client that is not judged by slow and noisy; 0: none
	slow  time.Duration // 0: no Acquire is SLOW
	noisy int           // 0: no client is NOISY

	held     func(value string) bool // whether somebody holds the lock; nil: a key that exists is held
	room     [MaxClients]int         // how many may be inside together with this client, itself counted
	unlocked bool                    // there is no lock: only what is written is judged
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
	c := Case{key: h.Key, ttl: h.TTL, clients: h.Clients, nodes: nodes, quorum: h.Quorum(), bars: h.Asked() - h.Quorum() + 1,
		probe: h.Probe, slow: h.Slow, noisy: h.Noisy, held: h.Held}
	if !h.ZooKeeper {
		c.stamp = h.TTL
	}
	for i := range c.room {
		c.room[i] = 1
		switch {
		case i >= len(h.Holders):
		case h.Holders[i] == history.AnyNumber, h.Holders[i] == history.NoLock:
			c.room[i], c.unlocked = MaxClients, c.unlocked || h.Holders[i] == history.NoLock
		default:
			c.room[i] = max(h.Holders[i], 1)
		}
	}
	return c
}

// judgesWrites reports whether what client c writes is judged: it excludes all others, or there is no lock.
func (c *Case) judgesWrites(client client8) bool { return c.unlocked || c.room[client-1] == 1 }

// admit panics if e is of a client or node that the run does not have: the judges
// would blame the wrong one. The nodes that are split have a second number each.
func (c *Case) admit(i int, e *history.Event, split nodes) {
	client := e.Client >= 0 && e.Client <= c.clients && (e.Client > 0 || !oneOf(ofClients, e.Kind))
	known := e.Node <= c.nodes || split>>(e.Node-c.nodes-1)&1 != 0
	node := known && (e.Node > 0 || !oneOf(ofNodes, e.Kind))
	replica := e.Replica >= 0 && e.Replica < maxCopies
	if !client || !node || !replica {
		panic(fmt.Sprintf("verdict: event %d (%s) is of client %d and node %d (copy %d), but the run has %d and %d (copies 0 to %d)",
			i, e.Kind, e.Client, e.Node, e.Replica, c.clients, c.nodes, maxCopies-1))
	}
}

// A Monitor is all judges with what they remember. The zero Monitor is the start of a
// run. It is comparable and holds no pointers: a copy is a branch of the run.
type Monitor struct {
	Safety
	Progress
}

// Observe gives the judges the next event, the i-th of its history, and calls found
// for every verdict that it completes; found may be nil. It keeps neither e nor found.
func (m *Monitor) Observe(c *Case, i int, e *history.Event, found func(Finding)) {
	byOrphan := m.RefusedByOrphan(e)
	if Matters(e.Kind) {
		m.Safety.observe(c, i, e, found)
		m.Progress.observe(c, &m.Safety, i, e, byOrphan, found)
		return
	}
	m.Safety.Observe(c, i, e, found)
	if byOrphan {
		m.orphan.refuse(client8(e.Client))
	}
	if e.Kind == history.Pause || e.Kind == history.Resume { // one judge of Progress needs them
		m.unwoken.observe(&input{run: c, reading: &m.reading, i: i, event: e, at: e.At, found: found})
	}
}

// Finish tells the judges that the run has ended, at true time end; last is the index
// of the last event, horizon as in history.History.
func (m *Monitor) Finish(c *Case, end time.Duration, horizon bool, last int, found func(Finding)) {
	m.Safety.Pass(c, last, end, found)
	m.Progress.finish(&input{run: c, reading: &m.reading, i: last, at: end, found: found}, horizon)
}

// Safety is the judges of exclusion, and those of the bounds that may be given. Of times it keeps when
// the lease of a key without a time to live lapses (see wrongdel.go) and what slow.go and noisy.go need;
// [Safety.Rebase] makes these relative, so that equal states compare equal.
type Safety struct {
	reading Reading

	overlap    overlap
	staleWrite staleWrite
	fence      fence
	wrongDel   wrongDel
	lie        lie

	met      met  // for ORPHAN; see RefusedByOrphan
	answered bool // for STARVED; see InVain

	slow  slow
	noisy noisy

	endless endless

	words wordSet // what was found so far
}

// Observe is Monitor.Observe for these judges alone.
func (s *Safety) Observe(c *Case, i int, e *history.Event, found func(Finding)) {
	switch {
	case Matters(e.Kind):
		s.observe(c, i, e, found)
	case c.Needs(e.Kind):
		in := input{run: c, reading: &s.reading, i: i, event: e, at: e.At, found: found, words: &s.words}
		s.slow.observe(&in)
		s.noisy.observe(&in)
	}
}

// Pass tells the judges that it is now, true time, and no event: an attempt can have lasted too long. i is
// the index of the last event.
func (s *Safety) Pass(c *Case, i int, now time.Duration, found func(Finding)) {
	s.slow.pass(&input{run: c, reading: &s.reading, i: i, at: now, found: found, words: &s.words})
}

// Stage returns the stage of a client, from 1.
func (s *Safety) Stage(client int) Stage { return s.reading.Stage(client) }

// KeptByAsking is [Reading.KeptByAsking].
func (s *Safety) KeptByAsking(c *Case, e *history.Event) bool { return s.reading.KeptByAsking(c, e) }

// Owner returns the client that made the key's value on a node: see Reading.Owner.
func (s *Safety) Owner(node int) (client int, held bool) { return s.reading.Owner(node) }

// Unanswered reports whether a client has asked for the lock and waits for the answer, where
// history.History.Slow is given.
func (s *Safety) Unanswered() bool { return s.slow.asking != 0 }

// observe gives every judge e with the reading before e, and then adds e to the
// reading.
func (s *Safety) observe(c *Case, i int, e *history.Event, found func(Finding)) {
	c.admit(i, e, s.reading.split)
	in := input{run: c, reading: &s.reading, i: i, event: e, at: e.At, found: found, words: &s.words}
	s.overlap.observe(&in)
	s.staleWrite.observe(&in)
	s.fence.observe(&in)
	s.wrongDel.observe(&in)
	s.lie.observe(&in)
	s.met.observe(&in, s.lie.asking)
	s.reading.Observe(c, e)
	s.met.forget(&in)
	s.slow.observe(&in)
	s.noisy.observe(&in)
	s.answered = s.answered || e.Kind == history.Enter || e.Kind == history.Refuse && (e.Note == history.GaveUp || !s.reading.unhindered())
}

// Words are the verdicts of safety after the events seen, in order. FENCED may
// disappear again: the next write can be a stale one.
func (s *Safety) Words() []Word {
	words := s.words
	if s.fenced() {
		words.add(Fenced)
	}
	return words.list()
}

// Broken reports whether Words is not empty.
func (s *Safety) Broken() bool { return s.words != 0 || s.fenced() }

// InVain reports whether no client has entered so far, and every refusal was without cause: nothing
// stood in the way of the lock. See starved.go.
func (s *Safety) InVain() bool { return !s.answered }

// Rebase makes now, the true time of the last event or later, the zero of the times of
// the events to come, and forgets what is over. Two states with the same futures then
// compare equal, whenever they were reached.
func (s *Safety) Rebase(now time.Duration) {
	s.reading.rebase(now)
	s.slow.rebase(now)
	s.noisy.rebase(now)
}

// Forget drops the verdicts found so far and keeps what the judges need for the
// events to come; Words then lists only what comes after. A search calls it after it
// has reported the verdicts, so that a state reached through harm equals one reached
// without. Do not call it where the resource can refuse: FENCED depends on whether a
// stale write was accepted before.
func (s *Safety) Forget() { s.words = 0 }

// ForgetCopies forgets whose the key is that replicas and disks have. It is for runs in which
// none of them takes the place of its server any more.
func (s *Safety) ForgetCopies() { s.reading.copied = [MaxNodes][maxCopies]holder{} }

// ForgetWrites forgets all accepted writes. It is for a moment at which no client will write any
// more on the basis of what was read before it.
func (s *Safety) ForgetWrites() { s.staleWrite.last, s.staleWrite.other = wrote{}, wrote{} }

// Progress is the judges of whether clients get the lock. They measure how long things
// last, so they keep true times, and their state hardly ever recurs.
type Progress struct {
	leases leases

	orphan  orphan
	blocked blocked
	unwoken unwoken
	starved starved

	overtaken overtaken

	contended bool
}

// observe gives every judge e with the reading after e: these judges measure since when
// something has been so.
func (p *Progress) observe(c *Case, s *Safety, i int, e *history.Event, byOrphan bool, found func(Finding)) {
	in := input{run: c, reading: &s.reading, i: i, event: e, at: e.At, found: found}
	p.contended = p.contended || s.Contends(e)
	p.leases.observe(&in)
	p.orphan.observe(&in, byOrphan)
	p.blocked.observe(&in)
	p.unwoken.observe(&in)
	p.starved.observe(&in)
	p.overtaken.observe(&in)
}

func (p *Progress) finish(in *input, horizon bool) {
	p.orphan.finish(in, &p.leases)
	p.blocked.finish(in, &p.leases, horizon)
	p.unwoken.finish(in, horizon)
	p.starved.finish(in)
	p.overtaken.finish(in)
}

// Contended reports whether an event seen so far contended; see Safety.Contends.
func (p *Progress) Contended() bool { return p.contended }

// An input is one event, or the end of a run, as a judge gets it.
type input struct {
	run     *Case
	reading *Reading
	i       int            // index of e; at the end: of the last event
	event   *history.Event // nil at the end
	at      time.Duration  // true time
	found   func(Finding)
	words   *wordSet // where the word is remembered; nil: nowhere
}

// report is called by the judges. It fills in the event.
func (in *input) report(f Finding) {
	if in.words != nil {
		in.words.add(f.Verdict)
	}
	if in.found != nil {
		f.Event = in.i
		in.found(f)
	}
}

// holds reports whether a client has the lock by one of its leases: the key is the grant of that
// lease on a quorum of nodes. If the key never changed, the lock does not live on it; a client
// then has it as long as it is inside.
func (in *input) holds(c client8, lease int) bool {
	if !in.reading.keyChanged {
		return in.reading.inside.Has(c)
	}
	return in.run.majority(in.reading.granted(c, lease))
}

// instant reports something that happens at the event. clients has the culprit first.
func (in *input) instant(w Word, clients ...int) {
	in.report(Finding{Verdict: w, Clients: clients, From: in.at, To: in.at, Node: max(in.event.Node, 0)})
}

// The kinds of event that some judge needs.
const (
	ofClients = 1<<history.Acquire | 1<<history.Enter | 1<<history.Refuse | 1<<history.Leave |
		1<<history.Release | 1<<history.Released | 1<<history.Done | 1<<history.Crash | 1<<history.Return |
		1<<history.Apply | 1<<history.Read | 1<<history.Write
	ofNodes = 1<<history.Apply | 1<<history.Change | 1<<history.Expire |
		1<<history.Down | 1<<history.Up | 1<<history.Replicate | 1<<history.Failover |
		1<<history.Split | 1<<history.Heal | 1<<history.Sync
)

func oneOf(kinds uint64, k history.EventKind) bool { return kinds>>k&1 != 0 }

// Needs reports whether any judge of a search of this run needs events of kind k.
func (c *Case) Needs(k history.EventKind) bool {
	return Matters(k) || c.slow > 0 && (k == history.Pause || k == history.Resume) || c.noisy > 0 && k == history.Send
}

// Matters reports whether any judge of every search needs events of kind k.
func Matters(k history.EventKind) bool { return oneOf(ofClients|ofNodes, k) }
