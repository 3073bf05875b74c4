package database

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	world "locklab/simulator/node"
)

// maxConns is the number of connections of one client that a server may know at a time. Client c's have the
// sessions from (c-1)*maxConns+1 on; a slot is the place among them, from 1.
const maxConns = 3

const maxSessions = world.MaxClients * maxConns

func sessionAt(client, slot int8) SessionID { return SessionID(int(client-1)*maxConns + int(slot)) }
func clientOf(id SessionID) int8            { return int8((int(id)-1)/maxConns + 1) }
func slotOf(id SessionID) int8              { return int8((int(id)-1)%maxConns + 1) }

// An Executor computes what a server does: it is a memo table, (contents, act) -> (contents,
// answer). An entry is computed by a State, once.
type Executor struct {
	config *Config
	memo   *memo.Memo
	tables []table // of the config, without rows

	contents *memo.Table[string, contents]
	requests *memo.Table[string, storedRequest]
	answers  *memo.Table[string, storedAnswer]
	memories *memo.Table[string, []int8]
	effects  memo.Map[step, *effect]
	shifts   memo.Map[shift, *effect]
	commits  memo.Map[uint32, uint32]
	checks   memo.Effects[step]
}

func newExecutor(config *Config, m *memo.Memo) *Executor {
	x := &Executor{config: config, memo: m, effects: memo.NewMap[step, *effect](m), shifts: memo.NewMap[shift, *effect](m),
		commits: memo.NewMap[uint32, uint32](m)}
	for _, t := range New(config.Dialect, config.Tables, Options{}).tables {
		x.tables = append(x.tables, table{def: t.def})
	}
	const what = "limit.of.database"
	x.contents = memo.NewTable(m, memo.Entries[string, contents]{What: what, Key: codec.Key[contents], Fill: x.filled, Map: contents.mapped, Sort: x.sorted})
	x.memories = memo.NewTable(m, memo.Entries[string, []int8]{What: what, Key: codec.Key[[]int8], First: [][]int8{{1}}})
	x.requests = memo.NewTable(m, memo.Entries[string, storedRequest]{What: what, Key: codec.Key[storedRequest], Fill: x.parsed, Text: storedRequest.words})
	x.answers = memo.NewTable(m, memo.Entries[string, storedAnswer]{What: what, Key: codec.Key[storedAnswer], Text: storedAnswer.words, First: []storedAnswer{{}}})
	m.Counted = memo.NewTable(m, memo.Entries[[2]uint32, [2]uint32]{What: what, Key: func(p [2]uint32) [2]uint32 { return p }})
	x.checks = memo.Effects[step]{Checked: func(a step) *memo.Checked { return &x.effects[a].checked }, Map: x.translated,
		Commutes: x.commute, Named: x.named, Stamps: x.stamps, Text: x.stepText, Try: x.checkCounters}
	return x
}

// contents is a server, and what it and its clients know of their connections.
type contents struct {
	state State
	conns [maxSessions]connection // see connOf
	ready []readyAnswer           // to statements that have waited, in the order of their sessions
	// checked are the sessions that wait and have looked for a deadlock.
	checked []SessionID // in order
	// What follows from it: the leases, in the order of their keys, and for how long each session may stay as it is: 0 is without a bound.
	leases []lease                    `codec:"derived"`
	limits [maxSessions]time.Duration `codec:"derived"`
}

// A connection says who knows the session at its place.
type connection uint8

const (
	connNone  connection = iota
	connOpen             // client and server know it
	connEnded            // the server has ended it, and the client has not noticed
	connLeft             // the client has left it, and the server has not noticed
)

// connOf returns who knows a session. The first one of each client is open at the start, and is stored as if that
// were nothing, so that a client that has not begun has left no trace.
func (s *contents) connOf(id SessionID) connection { return s.conns[id-1].stored(id) }

func (s *contents) setConn(id SessionID, c connection) { s.conns[id-1] = c.stored(id) }

// stored has open and none of a first session in each other's place.
func (c connection) stored(id SessionID) connection {
	if slotOf(id) == 1 && c <= connOpen {
		return connOpen - c
	}
	return c
}

// open reports whether the server has a session.
func (s *contents) open(id SessionID) bool {
	return s.connOf(id) == connOpen || s.connOf(id) == connLeft
}

// readyAnswer is the answer to a statement that has waited, before the server sends it.
type readyAnswer struct {
	session SessionID
	answer  storedAnswer
}

// requestOp is a kind of request.
type requestOp uint8

const (
	opStatement requestOp = iota
	opConnect
	opQuit
	opRefused // by which a Connector ends code; args: the reason and the line
)

// request is sent by a client on a connection.
type request struct {
	op   requestOp
	slot int8
	text string
	args []Value
}

// storedRequest is one that a client has sent.
type storedRequest struct {
	request
	statement Statement `codec:"derived"`
}

// parsed is r with its statement, which can be read: see conn.statement.
func (x *Executor) parsed(r storedRequest) storedRequest {
	if r.op == opStatement {
		r.statement, _ = Parse(x.config.Dialect, r.text)
	}
	return r
}

// words are a request as histories show it.
func (r storedRequest) words() []string {
	switch r.op {
	case opConnect:
		return []string{"CONNECT"}
	case opQuit:
		return []string{"QUIT"}
	}
	text := strings.Join(strings.Fields(r.text), " ")
	words := strings.SplitN(text, " ", 2)
	for _, v := range r.args {
		if v.Type != Text {
			v.Text = v.String()
		}
		words = append(words, v.Text)
	}
	return words
}

// storedAnswer is an answer of a server.
type storedAnswer struct {
	Reply
	slot   int8 // of a new connection
	closed bool // the session has ended before, and nothing was done
}

func (a storedAnswer) words() []string {
	switch {
	case a.closed:
		return []string{"(closed)"}
	case a.Code != OK:
		return []string{fmt.Sprintf("(error) %s %s", a.Code, a.Text)}
	case a.slot > 0:
		return []string{fmt.Sprintf("connection %d", a.slot)}
	case a.Columns == nil:
		return []string{fmt.Sprintf("OK, %d rows", a.Affected)}
	case len(a.Rows) == 0:
		return []string{"(no row)"}
	}
	var all []string
	for _, row := range a.Rows {
		var words []string
		for _, v := range row {
			words = append(words, v.String())
		}
		all = append(all, strings.Join(words, ", "))
	}
	return []string{strings.Join(all, "; ")}
}

// step is one thing that a server of certain contents may do, or that happens to it.
type step struct {
	contents uint32
	arg      uint32
	kind     stepKind
	client   int8
	slot     int8 // of the client's session
}

type stepKind uint8

const (
	stepServe       stepKind = iota // request arg of client
	stepServeOrphan                 // the same; the client has left the connection
	stepTake                        // the answer that is ready for the session leaves
	stepClose                       // the client has closed the connection, and the server notices that
	stepLeave                       // the client has left the connection, and the server does not notice that
	stepDepart                      // the client has closed the connection, on which a request is still under way
	stepEnd                         // the server ends the session
	stepTimeOut                     // the time is over for which the session may stay as it is
)

// serves reports whether a request is served.
func (a step) serves() bool { return a.kind == stepServe || a.kind == stepServeOrphan }

// An effect is the result of a step on the contents.
type effect struct {
	to      uint32
	answer  uint32
	waits   bool // there is no answer yet
	leases  []leaseChange
	checked memo.Checked
}

// shift is time that passes on the server's clock.
type shift struct {
	contents uint32
	by       int64 // milliseconds
}

// look finds out what an act does.
func (x *Executor) look(a step) *effect {
	eff := x.effects[a]
	if eff == nil || x.memo.Plain {
		eff = x.run(a)
		x.effects[a] = eff
	}
	if x.memo.Room.Exceeded == nil {
		x.memo.Room.Exceeded = x.checks.Check(x.memo, a)
	}
	return eff
}

// pass has time pass.
func (x *Executor) pass(s shift) *effect {
	eff := x.shifts[s]
	if eff == nil {
		from := *x.contents.At(s.contents)
		to := from
		to.state = from.state.Shift(s.by)
		eff = &effect{to: x.contents.ID(to)}
		eff.leases = leaseChanges(from.leases, x.contents.At(eff.to).leases, s.by)
		x.shifts[s] = eff
	}
	return eff
}

// committed returns the contents of a replica that has received all commits.
func (x *Executor) committed(of uint32) uint32 {
	to, ok := x.commits[of]
	if !ok {
		to = x.contents.ID(contents{state: x.contents.At(of).state.Committed()})
		x.commits[of] = to
	}
	return to
}

// run computes it.
func (x *Executor) run(a step) *effect { return x.runAt(a, int64(x.memo.Most)) }

// runAt is run where counters stand still at most, if that is above 0. Everything that belongs to contents is shared: it is copied before
// it is changed.
func (x *Executor) runAt(a step, most int64) *effect {
	before := *x.contents.At(a.contents)
	s, eff := before, &effect{}
	id := sessionAt(a.client, max(a.slot, 1))
	var woken []Woken
	switch a.kind {
	case stepServe, stepServeOrphan:
		woken = x.serve(&s, a, eff)
	case stepTake:
		i := slices.IndexFunc(s.ready, func(r readyAnswer) bool { return r.session == id })
		eff.answer = x.answers.ID(s.ready[i].answer)
		s.ready = slices.Delete(slices.Clone(s.ready), i, i+1)
	case stepClose:
		woken = s.close(id, connNone)
	case stepLeave:
		if s.connOf(id) == connOpen && holds(&s.state, id) {
			s.setConn(id, connLeft)
		} else {
			woken = s.close(id, connNone)
		}
	case stepDepart:
		if s.connOf(id) == connOpen {
			s.setConn(id, connLeft)
		} else {
			s.setConn(id, connNone)
		}
	case stepEnd:
		after := connEnded
		if s.connOf(id) == connLeft {
			after = connNone
		}
		woken = s.close(id, after)
	case stepTimeOut:
		woken = s.timeOut(id)
	}
	s.wake(woken)
	s.state = withoutIdle(s.state)
	if most > 0 {
		var stood bool
		s.state, stood = stand(&before.state, s.state, most)
		x.memo.Counts = x.memo.Counts || stood
	}
	s.checked = none(slices.DeleteFunc(slices.Clone(s.checked), func(id SessionID) bool { return waitOf(&s.state, id).Session == 0 }))
	eff.to = x.contents.ID(s)
	eff.leases = leaseChanges(before.leases, x.contents.At(eff.to).leases, 0)
	return eff
}

// serve executes a request.
func (x *Executor) serve(s *contents, a step, eff *effect) (woken []Woken) {
	r := x.requests.At(a.arg)
	answer := storedAnswer{}
	id := sessionAt(a.client, max(r.slot, 1))
	orphan := a.kind == stepServeOrphan
	switch {
	case r.op == opConnect && orphan:
	case r.op == opConnect:
		answer.slot = s.connect(a.client)
		if answer.slot == 0 {
			x.memo.Room.Exceed("limit.database.connections")
		}
	case r.op == opQuit:
		woken = s.close(id, connNone)
	case orphan && !s.open(id): // the session has ended
	case !s.open(id):
		answer.closed = true
		s.setConn(id, connNone)
	default:
		s.state = s.state.Connect(id)
		s.state, answer.Reply, woken = s.state.Apply(id, r.statement, r.args)
		eff.waits = answer.Waits && !orphan
		if orphan {
			s.wake(woken)
			woken = s.close(id, connNone)
		}
	}
	if !eff.waits {
		eff.answer = x.answers.ID(answer)
	}
	return woken
}

// connect begins a session of a client, at the first place that is free; 0: there is none.
func (s *contents) connect(client int8) (slot int8) {
	for slot := int8(1); slot <= maxConns; slot++ {
		if id := sessionAt(client, slot); s.connOf(id) == connNone {
			s.setConn(id, connOpen)
			return slot
		}
	}
	return 0
}

// close ends a session, unless it has ended before.
func (s *contents) close(id SessionID, after connection) (woken []Woken) {
	if s.open(id) {
		s.state, woken = s.state.Close(id)
	}
	s.setConn(id, after)
	s.ready = slices.DeleteFunc(slices.Clone(s.ready), func(r readyAnswer) bool { return r.session == id })
	return woken
}

// wake keeps the answers to statements that have waited.
func (s *contents) wake(woken []Woken) {
	for _, w := range woken {
		s.ready = append(slices.Clip(s.ready), readyAnswer{w.Session, storedAnswer{Reply: w.Reply}})
	}
	slices.SortFunc(s.ready, func(a, b readyAnswer) int { return int(a.session) - int(b.session) })
}

// timeOut has a session that waits look for a deadlock, or give up.
func (s *contents) timeOut(id SessionID) (woken []Woken) {
	if waitOf(&s.state, id).Check > 0 && !slices.Contains(s.checked, id) {
		s.checked = append(slices.Clip(s.checked), id)
		slices.Sort(s.checked)
		s.state, woken = s.state.CheckDeadlock(id)
	} else {
		s.state, woken = s.state.GiveUp(id, TimedOut)
	}
	return woken
}

// isReady reports whether there is an answer for a session that has waited.
func (s *contents) isReady(id SessionID) bool {
	return slices.ContainsFunc(s.ready, func(r readyAnswer) bool { return r.session == id })
}

// filled is s with what follows from it.
func (x *Executor) filled(s contents) contents {
	s.state = withTables(s.state, x.tables)
	s.leases, s.limits = leasesOf(&s.state), [maxSessions]time.Duration{}
	for i := range s.limits {
		if holds(&s.state, SessionID(i+1)) {
			s.limits[i] = x.config.Idle
		}
	}
	for _, w := range s.state.Waits() {
		ms := w.Timeout
		if w.Check > 0 && !slices.Contains(s.checked, w.Session) {
			ms = w.Check
		}
		s.limits[w.Session-1] = time.Duration(ms) * time.Millisecond
	}
	return s
}
