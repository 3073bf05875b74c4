package database

import (
	"fmt"
	"strings"

	"locklab/simulator/intern"
	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	"locklab/simulator/process"
)

// An Executor is a server's memo table, (contents, act) -> (contents, answer). A State computes an entry, once.
type Executor struct {
	config Config
	memo   *memo.Memo
	tables []table // of the config, without rows

	contents *memo.Table[string, contents]
	requests *memo.Table[string, storedRequest]
	answers  *memo.Table[string, storedAnswer]
	memories *memo.Table[string, []int8]
	effects  intern.Map[step, *effect]
	shifts   intern.Map[shift, *effect]
	commits  intern.Map[uint32, uint32]
	checks   memo.Effects[step]
}

func newExecutor(config Config, m *memo.Memo) *Executor {
	x := &Executor{config: config, memo: m,
		effects: memo.NewMap[step, *effect](m), shifts: memo.NewMap[shift, *effect](m),
		commits: memo.NewMap[uint32, uint32](m)}
	for _, t := range New(config.Dialect, config.Tables, Options{}).tables {
		x.tables = append(x.tables, table{def: t.def})
	}
	const what = "limit.of.database"
	x.contents = memo.NewTable(m, memo.Entries[string, contents]{What: what, Key: codec.Key[contents],
		Fill: x.filled, Map: contents.mapped, Sort: x.sorted})
	x.memories = memo.NewTable(m, memo.Entries[string, []int8]{What: what, Key: codec.Key[[]int8],
		First: [][]int8{{1}}})
	x.requests = memo.NewTable(m, memo.Entries[string, storedRequest]{What: what, Key: codec.Key[storedRequest],
		Fill: x.parsed, Text: storedRequest.words})
	x.answers = memo.NewTable(m, memo.Entries[string, storedAnswer]{What: what, Key: codec.Key[storedAnswer],
		Text: storedAnswer.words, First: []storedAnswer{{}}})
	m.Counted = memo.NewTable(m, memo.Entries[[2]uint32, [2]uint32]{What: what,
		Key: func(p [2]uint32) [2]uint32 { return p }})
	x.checks = memo.Effects[step]{Checked: func(a step) *memo.Checked { return &x.effects[a].checked }, Map: x.mapped,
		Commutes: x.commute, Named: x.named, Stamps: x.stamps, Text: x.words, Try: x.checkCounters}
	return x
}

// filled is s with what follows from it.
func (x *Executor) filled(s contents) contents {
	s.state = withTables(s.state, x.tables)
	return s.filled(x.config.Idle)
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
	refused   string    `codec:"derived"` // why it cannot be read
}

// parsed is r with its statement.
func (x *Executor) parsed(r storedRequest) storedRequest {
	if r.op == opStatement {
		var err error
		if r.statement, err = Parse(x.config.Dialect, r.text); err != nil {
			r.refused = err.Error()
		}
	}
	return r
}

// operation is that of a process which sends a request.
func (x *Executor) operation(r request) process.Op {
	return process.Op{Kind: process.Request, Node: theServer, Arg: x.requests.ID(storedRequest{request: r})}
}

// words are a request as histories show it.
func (r storedRequest) words() []string {
	switch r.op {
	case opConnect:
		return []string{"CONNECT"}
	case opQuit:
		return []string{"QUIT"}
	}
	words := strings.SplitN(strings.Join(strings.Fields(r.text), " "), " ", 2)
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

func (a storedAnswer) words() []string { return []string{a.String()} }

// String is an answer as histories show it.
func (a storedAnswer) String() string {
	switch {
	case a.closed:
		return "(closed)"
	case a.Code != OK:
		return fmt.Sprintf("(error) %s %s", a.Code, a.Text)
	case a.slot > 0:
		return fmt.Sprintf("connection %d", a.slot)
	case a.Columns == nil:
		return fmt.Sprintf("OK, %d rows", a.Affected)
	case len(a.Rows) == 0:
		return "(no row)"
	}
	var all []string
	for _, row := range a.Rows {
		var fields []string
		for _, v := range row {
			fields = append(fields, v.String())
		}
		all = append(all, strings.Join(fields, ", "))
	}
	return strings.Join(all, "; ")
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
func (a step) serves() bool { return a.kind <= stepServeOrphan }

// session is the session to which it happens.
func (a step) session() SessionID { return sessionAt(a.client, max(a.slot, 1)) }

// words are those for a step in an error message.
func (x *Executor) words(a step) []string {
	if a.serves() {
		return x.requests.At(a.arg).words()
	}
	return []string{[...]string{stepTake: "answer", stepClose: "close", stepLeave: "leave", stepDepart: "depart",
		stepEnd: "end of a session", stepTimeOut: "time-out"}[a.kind]}
}

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

// look finds out what a step does.
func (x *Executor) look(a step) *effect {
	eff := x.effects[a]
	if eff == nil || x.memo.Plain {
		eff = x.run(a, int64(x.memo.Most))
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
		to := *x.contents.At(s.contents)
		to.state = to.state.Shift(s.by)
		eff = x.effect(s.contents, to, s.by)
		x.shifts[s] = eff
	}
	return eff
}

// effect is that of other contents in place of some, with times that are so much earlier.
func (x *Executor) effect(from uint32, to contents, earlier int64) *effect {
	before := x.contents.At(from).leases
	id := x.contents.ID(to)
	return &effect{to: id, leases: leaseChanges(before, x.contents.At(id).leases, earlier)}
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

// run computes the effect of a step, where counters stand still at most, if that is above 0.
func (x *Executor) run(a step, most int64) *effect {
	before := *x.contents.At(a.contents)
	s, id := before, a.session()
	answer, waits := storedAnswer{}, false
	switch a.kind {
	case stepServe, stepServeOrphan:
		answer, waits = x.serve(&s, a)
	case stepTake:
		answer = s.take(id)
	case stepClose, stepLeave, stepDepart:
		unnoticed := a.kind == stepDepart || a.kind == stepLeave && s.state.holds(id)
		if s.connOf(id) == connOpen && unnoticed {
			s.setConn(id, connLeft)
		} else {
			s.close(id, connNone)
		}
	case stepEnd:
		if s.connOf(id) == connLeft {
			s.close(id, connNone)
		} else {
			s.close(id, connEnded)
		}
	case stepTimeOut:
		if w, _ := s.state.Wait(id); w.Check > 0 {
			s.become(s.state.CheckDeadlock(id))
		} else {
			s.become(s.state.GiveUp(id, TimedOut))
		}
	}
	s.state = s.state.withoutIdle()
	if most > 0 {
		var stood bool
		s.state, stood = stand(&before.state, s.state, most)
		x.memo.Counts = x.memo.Counts || stood
	}
	number := uint32(0)
	if !waits {
		number = x.answers.ID(answer)
	}
	eff := x.effect(a.contents, s, 0)
	eff.answer, eff.waits = number, waits
	return eff
}

// serve executes a request; if it waits, there is no answer yet.
func (x *Executor) serve(s *contents, a step) (answer storedAnswer, waits bool) {
	r := x.requests.At(a.arg)
	id := sessionAt(a.client, max(r.slot, 1))
	orphan := a.kind == stepServeOrphan
	switch {
	case r.op == opConnect && orphan:
	case r.op == opConnect:
		if answer.slot = s.connect(a.client); answer.slot == 0 {
			x.memo.Room.Exceed("limit.database.connections")
		}
	case r.op == opQuit:
		s.close(id, connNone)
	case orphan && !s.open(id): // the session has ended
	case !s.open(id):
		answer.closed = true
		s.setConn(id, connNone)
	default:
		next, reply, woken := s.state.Connect(id).Apply(id, r.statement, r.args)
		answer.Reply = reply
		if s.become(next, woken); orphan {
			s.close(id, connNone)
		}
	}
	return answer, answer.Waits && !orphan
}
