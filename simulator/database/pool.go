package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"

	"locklab/simulator/process"
)

// A Pool opens the connections of the code of one process: a connector of database/sql, and the pool on it. It has one
// at the start, opens another when none is free, and keeps free ones. Code sets up the pool before its first statement.
//
// A connection whose session the server has ended while it was free is opened again when code takes it, as by the usual
// drivers, which look whether it was closed; here they find out by the request that they then send, which is not
// executed. If code has it, its statement fails.
type Pool struct {
	kind *Kind
	p    *process.Code
	db   *sql.DB // of this execution; nil: not opened yet
	free []int8  // connections that no code has, the one that was given back last behind
	kept int     // so many of them, from the first, the pool has not asked for yet in this execution
	open []*conn // of this execution
}

var (
	_ process.Library  = (*Pool)(nil)
	_ driver.Connector = (*Pool)(nil)
)

// Library is the pool of process p.
func (k *Kind) Library(p *process.Code) process.Library { return &Pool{kind: k, p: p} }

// DB returns the pool. It belongs to the simulator; do not close it.
func (l *Pool) DB() *sql.DB {
	if l.db == nil {
		l.db = sql.OpenDB(l)
		l.db.SetMaxIdleConns(maxConns)
	}
	return l.db
}

// Start has the pool have these connections, and no others.
func (l *Pool) Start(memory uint32) {
	l.Close()
	l.free = slices.Clone(*l.kind.x.memories.At(memory))
	l.kept = len(l.free)
}

// Stop ends the pool: code that was unwound may not have given its connections back.
func (l *Pool) Stop() { l.Close() }

// Close ends the pool without a word to the server.
func (l *Pool) Close() {
	for _, c := range l.open {
		c.broken = true
	}
	if l.db != nil {
		l.db.Close()
	}
	l.db, l.open, l.free, l.kept = nil, nil, nil, 0
}

// Idle reports whether code has none of the connections.
func (l *Pool) Idle() bool {
	return !slices.ContainsFunc(l.open, func(c *conn) bool { return !c.broken && !slices.Contains(l.free, c.slot) })
}

// Memory numbers the free connections.
func (l *Pool) Memory() uint32 { return l.kind.x.memories.ID(slices.Clone(l.free)) }

// Driver implements [driver.Connector].
func (l *Pool) Driver() driver.Driver { return noDriver{} }

// Connect opens a connection, in one round trip, if none of those is left that the pool has kept.
func (l *Pool) Connect(ctx context.Context) (driver.Conn, error) {
	c := &conn{of: l}
	if l.kept > 0 {
		l.kept--
		c.slot, c.fresh = l.free[l.kept], true
		l.free = slices.Delete(l.free, l.kept, l.kept+1)
	} else if err := c.connect(ctx); err != nil {
		return nil, err
	}
	l.open = append(l.open, c)
	return handle{c, l.kind.x.config.Dialect}, nil
}

// A conn is the link of a connection of a Pool.
type conn struct {
	of     *Pool
	slot   int8 // by which the server knows it, from 1
	fresh  bool // nothing was sent on it since it was free
	broken bool
}

func (c *conn) refuse(_, why string) error {
	process.Exceed("limit.sql", "why", why)
	return nil
}

// connect opens the connection.
func (c *conn) connect(ctx context.Context) error {
	c.slot = 0
	a, err := c.ask(ctx, request{op: opConnect})
	if err == nil {
		c.slot = a.slot
	}
	return err
}

// ask sends a request and waits for the answer. A connection that the server closed while it was free is replaced.
func (c *conn) ask(ctx context.Context, r request) (*storedAnswer, error) {
	p, x := c.of.p, c.of.kind.x
	if c.broken || !p.Running() {
		return nil, driver.ErrBadConn
	}
	r.slot = c.slot
	o := x.operation(r)
	if why := x.requests.At(o.Arg).refused; why != "" {
		return nil, c.refuse(r.text, why)
	}
	defer p.Heed(ctx)()
	fresh := c.fresh
	c.fresh = false
	seen := p.MustAsk(o)
	if err := seen.Err("read"); err != nil {
		c.broken = true
		return nil, err
	}
	a := x.answers.At(uint32(seen.Val))
	switch {
	case a.closed && fresh:
		if err := c.connect(ctx); err != nil {
			return nil, err
		}
		return c.ask(ctx, r)
	case a.closed:
		c.broken = true
		return nil, process.Observation{Kind: process.Broken}.Err("read")
	}
	return a, nil
}

// ResetSession implements [driver.SessionResetter]: code takes the connection from the pool.
func (c *conn) ResetSession(context.Context) error {
	if c.broken {
		return driver.ErrBadConn
	}
	c.fresh = true
	c.of.forget(c)
	return nil
}

// IsValid implements [driver.Validator]: code gives the connection back to the pool.
func (c *conn) IsValid() bool {
	if !c.broken {
		c.of.free = append(c.of.free, c.slot)
	}
	return !c.broken
}

// Close closes the connection, which the server notices at once.
func (c *conn) Close() error {
	c.of.forget(c)
	c.of.open = slices.DeleteFunc(c.of.open, func(o *conn) bool { return o == c })
	if c.broken || !c.of.p.Running() {
		return nil
	}
	_, err := c.ask(context.Background(), request{op: opQuit})
	c.broken = true
	return err
}

// forget has a connection be no free one.
func (l *Pool) forget(c *conn) {
	if i := slices.Index(l.free[l.kept:], c.slot); i >= 0 {
		l.free = slices.Delete(l.free, l.kept+i, l.kept+i+1)
	}
}
