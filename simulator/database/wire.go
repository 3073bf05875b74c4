package database

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"net"
	"reflect"
	"strings"
	"time"

	"locklab/simulator/i18n"
	"locklab/simulator/internal/codec"
	"locklab/simulator/internal/jute"
	"locklab/simulator/internal/routine"
	"locklab/simulator/process"
)

// A Connector is one of database/sql for code that dials by itself, as goroutines of its own: see [Kind.Dial].
//
// When the context of a call is done its connection is given up, as by the usual drivers: the server executes what is
// on its way, and ends the session. A connection whose session the server has ended is given up when it is used.
type Connector struct {
	Dialect Dialect
	Dial    func(ctx context.Context) (net.Conn, error) // to the server
}

var _ driver.Connector = (*Connector)(nil)

// Driver implements [driver.Connector]. There is no driver by a name.
func (l *Connector) Driver() driver.Driver { return noDriver{} }

// Connect opens a connection, in one round trip.
func (l *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.Dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &remote{Conn: conn, of: l}
	if _, err := c.ask(ctx, request{op: opConnect}); err != nil {
		c.Close()
		return nil, err
	}
	return handle{c, l.Dialect}, nil
}

// A remote is a link over a connection that code has dialed.
type remote struct {
	net.Conn
	of     *Connector
	broken bool
}

// ask sends a request and reads the answer, unless ctx is done before.
func (c *remote) ask(ctx context.Context, r request) (*storedAnswer, error) {
	if r.op == opStatement {
		if _, err := Parse(c.of.Dialect, r.text); err != nil {
			return nil, c.refuse(r.text, err.Error())
		}
	}
	if ctx.Err() != nil || c.broken {
		return nil, cmp.Or(ctx.Err(), driver.ErrBadConn)
	}
	left := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(left)
		c.SetReadDeadline(time.Unix(1, 0))
	})
	a, err := c.exchange(r)
	if !stop() {
		<-left
		err = ctx.Err()
	}
	if err == nil && a.closed { // nothing was executed: database/sql takes another connection
		err = driver.ErrBadConn
	}
	c.broken = err != nil
	return &a, err
}

func (c *remote) exchange(r request) (a storedAnswer, err error) {
	if _, err := c.Write(framed(r)); err != nil {
		return a, err
	}
	for all, part := []byte(nil), make([]byte, 1<<10); ; {
		if message, _, whole := jute.Frame(all); whole {
			return codec.Parse[storedAnswer](message)
		}
		n, err := c.Read(part)
		if err != nil {
			return a, err
		}
		all = append(all, part[:n]...)
	}
}

func framed[V any](v V) []byte { return jute.Framed([]byte(codec.Key(v))) }

// refuse ends the execution of the code by a [StatementError].
func (c *remote) refuse(statement, why string) error {
	line := append(routine.Lines(func(function, _ string) bool {
		return !strings.HasPrefix(function, "database/sql.") &&
			!strings.HasPrefix(function, reflect.TypeFor[remote]().PkgPath()+".")
	}), "")[0]
	c.broken = true
	c.Write(framed(request{op: opRefused, text: statement, args: []Value{TextValue(why), TextValue(line)}}))
	return &Error{NotCarried, why}
}

func (c *remote) ResetSession(context.Context) error { return nil }
func (c *remote) IsValid() bool                      { return !c.broken }

// A StatementError is a statement that the server does not carry.
type StatementError struct {
	Statement, Why string
	Line           string // of the code that has sent it, as "lock.go:35"; "": database/sql has sent it by itself
}

func (e *StatementError) Error() string { return fmt.Sprintf("database: %s: %s", e.Statement, e.Why) }

// A Wire is the client's end of a connection to the server, which carries the messages of a [Connector]: not the
// protocol of MariaDB, nor that of PostgreSQL. To open it and to close it takes a round trip each.
type Wire struct {
	process.Plain
	kind *Kind
	out  *request // written, not yet sent
	last requestOp
	slot int8 // by which the server knows it; 0: it was not opened
	busy bool // a request is under way
	over bool // nothing comes any more
}

var _ process.Wire = (*Wire)(nil)

// Dial makes connections of process p that know nothing of those that p makes elsewhere.
func (k *Kind) Dial(*process.Code) func(int) process.Wire {
	return func(int) process.Wire { return &Wire{kind: k} }
}

// Unsent reports whether there is something to be sent.
func (c *Wire) Unsent() bool { return c.out != nil }

// Write takes a whole message of a Connector.
func (c *Wire) Write(b []byte) (answers []byte, err error) {
	message, rest, whole := jute.Frame(b)
	r, err := codec.Parse[request](message)
	switch {
	case !whole || len(rest) > 0 || err != nil || r.op > opRefused || r.op == opRefused && len(r.args) != 2:
		return nil, i18n.Errorf("error.wire.database")
	case r.op == opRefused:
		return nil, &StatementError{r.text, r.args[0].Text, r.args[1].Text}
	}
	c.out = &r
	return nil, nil
}

// Asks is the request that has not been sent. Code that reads before it has written speaks another protocol.
func (c *Wire) Asks() (o process.Op, ok bool, err error) {
	switch {
	case c.over || c.busy || c.out == nil && c.slot > 0:
		return process.Op{}, false, nil
	case c.out == nil:
		return process.Op{}, false, i18n.Errorf("error.wire.database")
	}
	r := *c.out
	r.slot, c.out, c.last, c.busy = c.slot, nil, r.op, true
	return c.kind.x.operation(r), true, nil
}

// Close hangs up, if the server thinks that the connection stands.
func (c *Wire) Close() bool {
	if c.over = c.over || c.busy || c.slot == 0; !c.over {
		c.out = &request{op: opQuit}
	}
	return !c.over
}

// Received returns what the client reads when s ends its request.
func (c *Wire) Received(_ process.Op, s process.Observation) (in []byte, err error) {
	c.busy = false
	if err := s.Err("read"); err != nil {
		c.over = true
		return nil, err
	}
	a := c.kind.x.answers.At(uint32(s.Val))
	c.slot, c.over = max(c.slot, a.slot), a.closed || c.last == opQuit
	return framed(*a), nil
}
