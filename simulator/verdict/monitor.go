package verdict

import (
	"time"

	"locklab/simulator/history"
)

// A Monitor is all judges with what they remember. The zero Monitor is the start of a
// run. It is comparable and holds no pointers: a copy is a branch of the run.
type Monitor struct {
	Safety

	// The judges of whether clients get the lock. They measure how long things
	// last, so they keep true times, and their state hardly ever recurs.
	leases    leases
	orphan    orphan
	blocked   blocked
	unwoken   unwoken
	starved   starved
	overtaken overtaken

	contended bool
}

// Observe gives the judges the next event, the i-th of its history, and calls found
// for every verdict that it completes; found may be nil. It keeps neither e nor found.
func (m *Monitor) Observe(c *Case, i int, e *history.Event, found func(Finding)) {
	was, byOrphan := m.reading, m.RefusedByOrphan(e)
	m.Safety.Observe(c, i, e, found)
	// These judges see the reading after e: they measure since when something has been so.
	in := input{run: c, reading: &m.reading, was: &was, i: i, event: e, turn: c.turn(e), at: e.At, found: found}
	if byOrphan {
		m.orphan.refuse(in.client())
	}
	switch {
	case Matters(e.Kind), was.resigns(c, e):
		m.contended = m.contended || in.contends()
		m.leases.observe(&in)
		m.orphan.observe(&in)
		m.blocked.observe(&in)
		m.unwoken.observe(&in)
		m.starved.observe(&in)
		m.overtaken.observe(&in)
	case e.Kind == history.Pause, e.Kind == history.Resume:
		m.unwoken.observe(&in)
	}
}

// Finish ends the run for the judges at true time end; last is the last event's index, horizon as in history.History.
func (m *Monitor) Finish(c *Case, end time.Duration, horizon bool, last int, found func(Finding)) {
	m.Pass(c, last, end, found)
	in := input{run: c, reading: &m.reading, i: last, at: end, found: found}
	m.orphan.finish(&in, &m.leases)
	m.blocked.finish(&in, &m.leases, horizon)
	m.unwoken.finish(&in, horizon)
	m.starved.finish(&in)
	m.overtaken.finish(&in)
}

// Safety is the judges of exclusion, and those of the bounds that may be given. Of times it keeps when
// the lease of a key without a time to live lapses (see wrongdel.go) and what slow.go and noisy.go need;
// [Safety.Rebase] makes these relative, so that equal states compare equal.
type Safety struct {
	reading    Reading
	staleWrite staleWrite
	saved      bool // see fenced
	answered   bool // see InVain
	words      Set  // what was found so far, but FENCED
}

// Observe is Monitor.Observe for these judges alone.
func (s *Safety) Observe(c *Case, i int, e *history.Event, found func(Finding)) {
	in := input{run: c, reading: &s.reading, i: i, event: e, turn: c.turn(e), at: e.At, found: found, words: &s.words}
	if Matters(e.Kind) || s.reading.resigns(c, e) { // the judges see e with the reading before it
		c.admit(i, e, s.reading.split)
		overlap(&in)
		s.staleWrite.observe(&in)
		s.saved = s.saved || saves(&in)
		wrongDel(&in)
		lie(&in)
		meet(&in)
		s.reading.Observe(c, e)
		forgetMet(&in)
		s.answered = s.answered || e.Kind == history.Enter ||
			e.Kind == history.Refuse && (e.Note == history.GaveUp || !s.reading.unhindered())
	}
	if c.Needs(e.Kind) {
		slow(&in)
		noisy(&in)
	}
}

// Pass tells the judges that it is now, true time, and no event: attempts may last too long. i indexes the last event.
func (s *Safety) Pass(c *Case, i int, now time.Duration, found func(Finding)) {
	tooSlow(&input{run: c, reading: &s.reading, i: i, at: now, found: found, words: &s.words})
}

// Reading returns the interpretation of the events seen. It is not to be given events.
func (s *Safety) Reading() *Reading { return &s.reading }

// Unanswered reports whether a client has asked for the lock and has no answer, where history.History.Slow is given.
func (s *Safety) Unanswered() bool { return s.reading.those(unanswered) != 0 }

// Found returns the verdicts of safety after the events seen. FENCED may disappear again: the next write can be stale.
func (s *Safety) Found() Set {
	if s.fenced() {
		return s.words | SetOf(Fenced)
	}
	return s.words
}

// Words lists Found.
func (s *Safety) Words() []Word { return s.Found().Words() }

// InVain reports whether no client has entered so far, and every refusal was without cause: nothing
// stood in the way of the lock. See starved.go.
func (s *Safety) InVain() bool { return !s.answered }

// Rebase makes now, the true time of the last event or later, the zero of the times of the events to come, and forgets
// what is over. Two states with the same futures then compare equal, whenever they were reached.
func (s *Safety) Rebase(now time.Duration) {
	dead := s.reading.those(dead)
	for n := range s.reading.grant {
		g := &s.reading.grant[n]
		if g.lapse = max(g.lapse-now, 0); dead.Has(g.owner) { // never live again
			g.lapse = 0
		}
	}
	for c := range s.reading.clients {
		me := &s.reading.clients[c]
		if me.is(unanswered) {
			me.until -= now
		}
		if me.second > 0 {
			me.passSecond(now)
			me.second -= now
		}
	}
}

// Forget drops the verdicts found so far and keeps what the judges need for the events to come; Words then lists only
// what comes after. A search calls it after reporting the verdicts, so that a state reached through harm equals one
// reached without. Do not call it where the resource can refuse: FENCED depends on whether it accepted a stale write.
func (s *Safety) Forget() { s.words = 0 }

// ForgetCopies forgets whose the key is that replicas and disks have. It is for runs in which
// none of them takes the place of its server any more.
func (s *Safety) ForgetCopies() { s.reading.copied = [MaxNodes][maxCopies]holder{} }

// ForgetWrites forgets all accepted writes. It is for a moment at which no client will write any
// more on the basis of what was read before it.
func (s *Safety) ForgetWrites() { s.staleWrite = staleWrite{} }

// An input is one event, or the end of a run, as a judge gets it.
type input struct {
	run     *Case
	reading *Reading
	was     *Reading       // the reading before event, for a judge that gets the one after it
	i       int            // index of event; at the end: of the last event
	event   *history.Event // nil at the end
	turn    turn           // what it means
	at      time.Duration  // true time
	found   func(Finding)
	words   *Set // where the word is remembered; nil: nowhere
	other   client
}

// client is the client of the event; 0: it has none.
func (in *input) client() uint8 { return uint8(in.event.Client) }

// me returns what is known of the client of the event. Where it has none nothing is, and what is noted is lost.
func (in *input) me() *client {
	if in.event.Client == 0 {
		return &in.other
	}
	return &in.reading.clients[in.event.Client-1]
}

// ofKey reports whether the event is one of the key that is locked.
func (in *input) ofKey() bool {
	return (in.event.Kind == history.Change || in.event.Kind == history.Expire) && in.event.Key == in.run.Key
}

// report is called by the judges. It fills in the event.
func (in *input) report(f Finding) {
	if in.words != nil {
		in.words.Add(f.Verdict)
	}
	if in.found != nil {
		f.Event = in.i
		in.found(f)
	}
}

// instant reports something that happens at the event. clients has the culprit first.
func (in *input) instant(w Word, clients ...int) {
	in.report(Finding{Verdict: w, Clients: clients, From: in.at, To: in.at, Node: max(in.event.Node, 0)})
}

// holds reports whether a client has the lock by one of its leases: the key is the grant of that lease on a quorum of
// nodes. If the key never changed, the lock does not live on it; a client then has it as long as it is inside.
func (in *input) holds(c uint8, lease int) bool {
	if !in.reading.keyChanged {
		return in.reading.those(inside).Has(c)
	}
	return in.run.majority(in.reading.granted(c, lease))
}

// contends reports whether the event is a client that asks for the lock while another stands in its way: another one
// is asking too, or is inside, leaving or releasing (whether or not its grant still stands), or a grant of another,
// dead or alive, stands on some node.
func (in *input) contends() bool {
	c := in.client()
	return in.event.Kind == history.Acquire && (in.reading.those(active)&^history.Only(c) != 0 ||
		in.reading.where(func(g *grant) bool { return g.owner != 0 && (g.owner != c || g.gone) }) != 0)
}
