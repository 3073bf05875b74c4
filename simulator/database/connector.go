package database

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"time"

	"locklab/simulator/internal/jute"
	"locklab/simulator/internal/routine"
	"locklab/simulator/process"
)

// A Connector is one of database/sql for code that opens its connections itself, as goroutines of its own: see [Kind.Dial].
//
// When the context of a call is done its connection is given up, as by the usual drivers: the server executes what is on its way, and ends
// the session. A connection whose session the server has ended while it was free is given up when code takes it, and
// database/sql opens another one; if code has it, its statement fails.
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
	c := &remote{of: l, conn: conn}
	if _, err := c.ask(ctx, request{op: opConnect}); err != nil {
		conn.Close()
		return nil, err
	}
	return handle{c}, nil
}

// A remote is a link over a connection that code has dialed.
type remote struct {
	of     *Connector
	conn   net.Conn
	fresh  bool // nothing was sent on it since it was free
	broken bool
}

func (c *remote) dialect() Dialect { return c.of.Dialect }

func (c *remote) ask(ctx context.Context, r request) (*storedAnswer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.broken {
		return nil, driver.ErrBadConn
	}
	fresh := c.fresh
	c.fresh = false
	a, err := c.exchange(ctx, r)
	switch {
	case err != nil:
		c.broken = true
		return nil, cmp.Or(ctx.Err(), err)
	case a.Closed && fresh:
		c.broken = true
		return nil, driver.ErrBadConn // database/sql takes another one
	case a.Closed:
		c.broken = true
		return nil, process.Observation{Kind: process.Broken}.Err("read")
	case Code(a.Code) == NotCarried, Code(a.Code) == NotFree:
		return nil, c.refuse(r.text, a.Text)
	case Code(a.Code) != OK:
		return nil, &Error{Code(a.Code), a.Text}
	}
	reply := Reply{Affected: a.Affected, Columns: a.Columns}
	for _, row := range a.Rows {
		reply.Rows = append(reply.Rows, valuesOf(row))
	}
	return &storedAnswer{Reply: reply}, nil
}

// exchange sends a request and reads the answer, unless ctx is done before.
func (c *remote) exchange(ctx context.Context, r request) (a answered, err error) {
	left := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(left)
		c.conn.SetReadDeadline(time.Unix(1, 0))
	})
	defer func() {
		if !stop() {
			<-left
			err = cmp.Or(err, ctx.Err())
		}
	}()
	if _, err := c.conn.Write(framed(asked{int32(r.op), r.text, fieldsOf(r.args)})); err != nil {
		return a, err
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.conn, head); err != nil {
		return a, err
	}
	n := int32(0)
	(&jute.Reader{B: head}).Get(&n)
	message := make([]byte, n)
	if _, err := io.ReadFull(c.conn, message); err != nil {
		return a, err
	}
	(&jute.Reader{B: message}).Get(&a)
	return a, nil
}

// refuse ends the execution of the code by a [StatementError].
func (c *remote) refuse(statement, why string) error {
	c.broken = true
	line := append(routine.Lines(func(function, _ string) bool {
		return !strings.HasPrefix(function, "database/sql.") && !strings.HasPrefix(function, reflect.TypeFor[remote]().PkgPath()+".")
	}), "")[0]
	c.conn.Write(framed(asked{int32(opRefused), statement, []field{{Text: why}, {Text: line}}}))
	return errors.New(why)
}

// ResetSession implements [driver.SessionResetter]: code takes the connection from the pool.
func (c *remote) ResetSession(context.Context) error {
	if c.broken {
		return driver.ErrBadConn
	}
	c.fresh = true
	return nil
}

// IsValid implements [driver.Validator].
func (c *remote) IsValid() bool { return !c.broken }

// Close closes the connection, which the server notices when the message arrives.
func (c *remote) Close() error {
	c.broken = true
	return c.conn.Close()
}
