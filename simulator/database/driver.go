package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"slices"

	"locklab/simulator/process"
)

// A Pool opens the connections of the code of one process: a connector of database/sql, and the pool of
// connections on it. It has one at the start, opens another when none is free, and keeps free ones. What code sets of the
// pool it sets before its first statement.
//
// A connection whose session the server has ended while it was free is opened again when code takes it, as by the usual drivers, which look whether
// it was closed; here they find out by the request that they then send, which is not executed. If code has it, its statement fails.
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
	l.free = slices.Clone(*l.kind.Executor.memories.At(memory))
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
func (l *Pool) Memory() uint32 { return l.kind.Executor.memories.ID(slices.Clone(l.free)) }

// Driver implements [driver.Connector]. There is no driver by a name.
func (l *Pool) Driver() driver.Driver { return noDriver{} }

type noDriver struct{}

func (noDriver) Open(string) (driver.Conn, error) {
	return nil, fmt.Errorf("database: connections of the simulator have no name: use sql.OpenDB")
}

// Connect opens a connection, in one round trip.
func (l *Pool) Connect(ctx context.Context) (driver.Conn, error) {
	if l.kept > 0 {
		l.kept--
		c := &conn{of: l, slot: l.free[l.kept], fresh: true}
		l.free = slices.Delete(l.free, l.kept, l.kept+1)
		l.open = append(l.open, c)
		return handle{c}, nil
	}
	c := &conn{of: l}
	a, err := c.ask(ctx, request{op: opConnect})
	if err != nil {
		return nil, err
	}
	c.slot = a.slot
	l.open = append(l.open, c)
	return handle{c}, nil
}

// A link carries what is sent on a connection.
type link interface {
	driver.SessionResetter
	driver.Validator
	io.Closer
	dialect() Dialect
	parse(text string) error // why a statement cannot be read; nil: it can
	ask(ctx context.Context, r request) (*storedAnswer, error)
	// refuse ends the execution of code that has sent what is not carried, and returns the error of its call if it returns.
	refuse(statement, why string) error
}

// A handle is a connection of database/sql.
type handle struct{ link }

// A conn is the link of a connection of a Pool.
type conn struct {
	of     *Pool
	slot   int8 // by which the server knows it, from 1
	fresh  bool // nothing was sent on it since it was free
	broken bool
}

var (
	_ driver.Conn            = handle{}
	_ driver.ExecerContext   = handle{}
	_ driver.QueryerContext  = handle{}
	_ driver.ConnBeginTx     = handle{}
	_ driver.SessionResetter = handle{}
	_ driver.Validator       = handle{}
	_ driver.Pinger          = handle{}
)

func (c *conn) dialect() Dialect { return c.of.kind.config.Dialect }

// parse reads each statement once: the code runs again and again.
func (c *conn) parse(text string) error {
	if _, ok := c.of.kind.readable.Load(text); ok {
		return nil
	}
	_, err := Parse(c.dialect(), text)
	if err == nil {
		c.of.kind.readable.Store(text, true)
	}
	return err
}

func (c *conn) refuse(_, why string) error {
	process.Exceed("limit.sql", "why", why)
	return nil
}

// ask sends a request and waits for the answer.
func (c *conn) ask(ctx context.Context, r request) (*storedAnswer, error) {
	l := c.of
	if c.broken || !l.p.Running() {
		return nil, driver.ErrBadConn
	}
	defer l.p.Heed(ctx)()
	r.slot = c.slot
	fresh := c.fresh
	c.fresh = false
	seen := l.p.MustAsk(process.Op{Kind: process.Request, Node: theServer, Arg: l.kind.Executor.requests.ID(storedRequest{request: r})})
	if err := seen.Err("read"); err != nil {
		c.broken = true
		return nil, err
	}
	a := l.kind.Executor.answers.At(uint32(seen.Val))
	switch {
	case a.closed && fresh:
		return c.again(ctx, r)
	case a.closed:
		c.broken = true
		return nil, process.Observation{Kind: process.Broken}.Err("read")
	}
	return a, nil
}

// again opens another connection in place of one that the server had closed while it was free, and sends a request on that.
func (c *conn) again(ctx context.Context, r request) (*storedAnswer, error) {
	c.slot = 0
	a, err := c.ask(ctx, request{op: opConnect})
	if err != nil {
		return nil, err
	}
	c.slot = a.slot
	return c.ask(ctx, r)
}

// statement sends a statement.
func (c handle) statement(ctx context.Context, text string, args []driver.NamedValue) (*storedAnswer, error) {
	r := request{op: opStatement, text: text}
	for _, arg := range args {
		v, ok := ValueOf(arg.Value)
		if !ok || v.Type == Bool {
			return nil, c.refuse(text, fmt.Sprintf("an argument that is a %T", arg.Value))
		}
		r.args = append(r.args, v)
	}
	if err := c.parse(text); err != nil {
		return nil, c.refuse(text, err.Error())
	}
	a, err := c.ask(ctx, r)
	switch {
	case err != nil:
		return nil, err
	case a.Code == NotCarried, a.Code == NotFree:
		return nil, c.refuse(text, a.Text)
	case a.Code != OK:
		return nil, &Error{a.Code, a.Text}
	}
	return a, nil
}

// ExecContext implements [driver.ExecerContext].
func (c handle) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	a, err := c.statement(ctx, text, args)
	if err != nil {
		return nil, err
	}
	return driver.RowsAffected(a.Affected), nil
}

// QueryContext implements [driver.QueryerContext].
func (c handle) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	a, err := c.statement(ctx, text, args)
	if err != nil {
		return nil, err
	}
	return &rows{columns: a.Columns, left: a.Rows}, nil
}

// Ping implements [driver.Pinger].
func (c handle) Ping(ctx context.Context) error {
	_, err := c.statement(ctx, "SELECT 1", nil)
	return err
}

// Prepare implements [driver.Conn]: nothing is sent before the statement is executed.
func (c handle) Prepare(text string) (driver.Stmt, error) { return &stmt{c, text}, nil }

// Begin implements [driver.Conn].
func (c handle) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// level is the isolation level at which transactions are by default.
func (d Dialect) level() sql.IsolationLevel {
	if d.innodb() {
		return sql.LevelRepeatableRead
	}
	return sql.LevelReadCommitted
}

// BeginTx implements [driver.ConnBeginTx], at the server's default level.
func (c handle) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	level := sql.IsolationLevel(o.Isolation)
	if level != sql.LevelDefault && level != c.dialect().level() || o.ReadOnly {
		return nil, c.refuse("BEGIN", fmt.Sprintf("a transaction at level %v (read-only: %v): only the server's default is known", level, o.ReadOnly))
	}
	if _, err := c.statement(ctx, "BEGIN", nil); err != nil {
		return nil, err
	}
	return tx{c}, nil
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

// tx is a transaction.
type tx struct{ c handle }

func (t tx) Commit() error   { return t.end("COMMIT") }
func (t tx) Rollback() error { return t.end("ROLLBACK") }

func (t tx) end(statement string) error {
	_, err := t.c.statement(context.Background(), statement, nil)
	return err
}

// stmt is a prepared statement.
type stmt struct {
	c    handle
	text string
}

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return -1 }

// Exec implements [driver.Stmt].
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.c.ExecContext(context.Background(), s.text, named(args))
}

// Query implements [driver.Stmt].
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.c.QueryContext(context.Background(), s.text, named(args))
}

func named(args []driver.Value) (list []driver.NamedValue) {
	for i, v := range args {
		list = append(list, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return list
}

// rows are the rows of an answer.
type rows struct {
	columns []string
	left    [][]Value
}

func (r *rows) Columns() []string { return r.columns }
func (r *rows) Close() error      { return nil }

// Next implements [driver.Rows].
func (r *rows) Next(to []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	for i, v := range r.left[0] {
		to[i] = v.driver()
	}
	r.left = r.left[1:]
	return nil
}

// ValueOf returns the Value of what a driver takes or gives. A time has none.
func ValueOf(arg driver.Value) (v Value, ok bool) {
	switch arg := arg.(type) {
	case nil:
		return Value{}, true
	case int64:
		return IntegerValue(arg), true
	case string:
		return TextValue(arg), true
	case []byte:
		return TextValue(string(arg)), true
	case bool:
		return truth(arg), true
	}
	return Value{}, false
}

// driver is a value as a driver gives it to database/sql.
func (v Value) driver() driver.Value {
	switch v.Type {
	case Text:
		return v.Text
	case Integer:
		return v.Int
	case Bool:
		return v.Int != 0
	}
	return nil
}

// An Error is the answer of a server that has not executed a statement.
type Error struct {
	Code    Code
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// SQLState returns the code of a PostgreSQL server, as its drivers do.
func (e *Error) SQLState() string { return e.Code.String() }
