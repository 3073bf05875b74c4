package database

import (
	"fmt"

	"locklab/simulator/i18n"
	"locklab/simulator/internal/jute"
	"locklab/simulator/process"
)

var _ process.Wire = (*Wire)(nil)

// Dial makes connections of process p that know nothing of those that p makes elsewhere.
func (k *Kind) Dial(*process.Code) func(int) process.Wire {
	return func(int) process.Wire { return &Wire{kind: k} }
}

// A Wire is the client's end of a connection to the server, which carries the messages of a [Connector]: not the protocol of
// MariaDB, nor that of PostgreSQL. To open it and to close it takes a round trip each.
type Wire struct {
	kind *Kind
	raw  []byte   // written, no whole message
	out  *request // written, not yet sent
	last requestOp
	slot int8 // by which the server knows it; 0: it was not opened
	busy bool // a request is under way
	over bool // nothing comes any more
}

// A StatementError is a statement that the server does not carry.
type StatementError struct {
	Statement, Why string
	Line           string // of the code that has sent it, as "lock.go:35"; "": database/sql has sent it by itself
}

func (e *StatementError) Error() string { return fmt.Sprintf("database: %s: %s", e.Statement, e.Why) }

// asked is a request as a message, answered is the answer, and field a Value.
type (
	asked struct {
		Op   int32
		Text string
		Args []field
	}
	answered struct {
		Closed   bool
		Code     int64
		Text     string
		Affected int64
		Columns  []string
		Rows     [][]field
	}
	field struct {
		Type int32
		Text string
		Int  int64
	}
)

// opRefused is a message by which a Connector ends code: Text is a statement, and Args are the reason and the line.
const opRefused = opQuit + 1

func fieldsOf(values []Value) (all []field) {
	for _, v := range values {
		all = append(all, field{int32(v.Type), v.Text, v.Int})
	}
	return all
}

func valuesOf(fields []field) (all []Value) {
	for _, f := range fields {
		all = append(all, Value{Type(f.Type), f.Text, f.Int})
	}
	return all
}

func framed(message any) []byte { return jute.Framed(jute.Put(nil, message)) }

// Pings is false.
func (c *Wire) Pings() bool { return false }

// Bye is nil.
func (c *Wire) Bye([]byte) []byte { return nil }

// Unsent reports whether there is something to be sent.
func (c *Wire) Unsent() bool { return c.out != nil || len(c.raw) > 0 }

// Write takes what a Connector wrote, a message or a part of it.
func (c *Wire) Write(b []byte) (answers []byte, err error) {
	c.raw = append(c.raw, b...)
	message, rest, whole := jute.Frame(c.raw)
	switch {
	case jute.TooLong(c.raw):
		return nil, i18n.Errorf("error.wire.database")
	case !whole:
		return nil, nil
	}
	m := asked{}
	r := (&jute.Reader{B: message}).Get(&m)
	if c.raw = append(c.raw[:0], rest...); r.Short || len(r.B) > 0 || m.Op < 0 || m.Op > int32(opRefused) {
		return nil, i18n.Errorf("error.wire.database")
	}
	q := request{op: requestOp(m.Op), text: m.Text, args: valuesOf(m.Args)}
	if q.op == opRefused {
		return nil, &StatementError{m.Text, m.Args[0].Text, m.Args[1].Text}
	}
	c.out = &q
	return nil, nil
}

// Asks is the request that has not been sent. Code that reads before it has written speaks another protocol.
func (c *Wire) Asks() (o process.Op, ok bool, err error) {
	switch {
	case c.over || c.busy:
		return process.Op{}, false, nil
	case c.out == nil && c.slot == 0:
		return process.Op{}, false, i18n.Errorf("error.wire.database")
	case c.out == nil:
		return process.Op{}, false, nil
	}
	q := *c.out
	q.slot, c.out, c.last, c.busy = c.slot, nil, q.op, true
	return process.Op{Kind: process.Request, Node: theServer, Arg: c.kind.Executor.requests.ID(storedRequest{request: q})}, true, nil
}

// Close hangs up, if the server thinks that the connection stands.
func (c *Wire) Close() bool {
	if c.over || c.busy || c.slot == 0 {
		c.over = true
		return false
	}
	c.out = &request{op: opQuit}
	return true
}

// Received returns what the client reads when s ends its request.
func (c *Wire) Received(_ process.Op, s process.Observation) (in []byte, err error) {
	c.busy = false
	if err := s.Err("read"); err != nil {
		c.over = true
		return nil, err
	}
	a := c.kind.Executor.answers.At(uint32(s.Val))
	if c.last == opConnect {
		c.slot = a.slot
	}
	c.over = a.closed || c.last == opQuit
	m := answered{Closed: a.closed, Code: int64(a.Code), Text: a.Text, Affected: a.Affected, Columns: a.Columns}
	for _, row := range a.Rows {
		m.Rows = append(m.Rows, fieldsOf(row))
	}
	return framed(m), nil
}
