package database

import (
	"time"

	"locklab/simulator/internal/clock"
)

// Real is a real server that does what the server of a Kind does, action by action. Its answers go to the clients;
// those of the lab are only compared. It handles errors of the machine itself, and returns the lab's answer then.
type Real interface {
	// Do returns the answer to a statement, and whether the server has closed the connection instead.
	Do(a Action) (answer Reply, closed bool)
}

// An Action is what the lab's server does with the session of a connection.
type Action struct {
	Kind   ActKind
	Client int8 // from 1
	Slot   int8 // of the client's connection, from 1
	// Has says that the session has a transaction or a lock by a name before. A session that has nothing begins with
	// its statement, if it has not begun or has ended.
	Has bool
	// Left is the time that the session may still be idle, on the true clock: 0 if over, clock.Never if endless.
	Left time.Duration

	Text string // ActServe: the statement
	Args []any  // nil, int64 or string
	Rows bool   // its answer has rows
	Lab  Reply

	Words []string // the statement as histories show it
}

// An ActKind is a kind of Action.
type ActKind uint8

// Kinds of action.
const (
	ActServe ActKind = iota // a statement is executed
	ActWait                 // a statement waits, or its wait ends
	ActClose                // the client has closed the connection
	ActEnd                  // the server ends the session: since Left is 0, or as an administrator has it
)

// real has the real server do a step that is not in place yet; the answer is the one to send.
func (s *server) real(a step, eff *effect) (answer uint32) {
	if s.kind.Real == nil {
		return eff.answer
	}
	was, id := s.now(), a.session()
	r := s.kind.x.requests.At(a.arg)
	left := (a.kind == stepLeave || a.kind == stepDepart) && s.kind.x.contents.At(eff.to).open(id)
	if !was.open(id) || left || a.serves() && r.op == opConnect { // sessions begin with their first statement
		return eff.answer
	}
	do := Action{Client: a.client, Slot: slotOf(id), Has: was.state.holds(id), Left: clock.Never}
	if end := s.ends[id-1]; end != 0 {
		do.Left = max(end-s.w.Now(), 0)
	}
	switch {
	case eff.waits, a.kind == stepTake, a.kind == stepTimeOut:
		do.Kind = ActWait
	case a.kind == stepEnd:
		do.Kind = ActEnd
	case !a.serves(), r.op == opQuit:
		do.Kind = ActClose
	default:
		do.Text, do.Rows, do.Words = r.text, r.statement.HasRows(), r.words()
		for _, v := range r.args {
			do.Args = append(do.Args, v.driver())
		}
		_, do.Lab, _ = was.state.Connect(id).Apply(id, r.statement, r.args)
	}
	is, closed := s.kind.Real.Do(do)
	if a.kind == stepServeOrphan {
		do.Kind = ActClose
		s.kind.Real.Do(do)
	}
	if do.Kind != ActServe || !closed && is.Observed() == do.Lab.Observed() {
		return eff.answer
	}
	return s.kind.x.answers.ID(storedAnswer{Reply: is, closed: closed})
}

// Observed returns what a client can observe of a reply, in words: of errors that is the code.
func (r Reply) Observed() string {
	if r.Code != OK {
		return "error " + r.Code.String()
	}
	return storedAnswer{Reply: r}.String()
}
