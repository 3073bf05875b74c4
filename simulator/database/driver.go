package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
)

// A link carries what is sent on a connection.
type link interface {
	driver.SessionResetter
	driver.Validator
	io.Closer
	// ask sends a request, whose statement can be read or is refused, and returns the answer.
	ask(ctx context.Context, r request) (*storedAnswer, error)
	// refuse ends the execution of code that sent what is not carried, and returns the error of its call if it returns.
	refuse(statement, why string) error
}

// A handle is a connection of database/sql.
type handle struct {
	link
	dialect Dialect
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

// noDriver is the driver of connections: there is none by a name.
type noDriver struct{}

func (noDriver) Open(string) (driver.Conn, error) {
	return nil, fmt.Errorf("database: connections of the simulator have no name: use sql.OpenDB")
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

// Begin implements [driver.Conn].
func (c handle) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx implements [driver.ConnBeginTx], at the server's default level.
func (c handle) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	level, usual := sql.IsolationLevel(o.Isolation), sql.LevelReadCommitted
	if c.dialect.innodb() {
		usual = sql.LevelRepeatableRead
	}
	if level != sql.LevelDefault && level != usual || o.ReadOnly {
		const why = "a transaction at level %v (read-only: %v): only the server's default is known"
		return nil, c.refuse("BEGIN", fmt.Sprintf(why, level, o.ReadOnly))
	}
	if _, err := c.statement(ctx, "BEGIN", nil); err != nil {
		return nil, err
	}
	return tx{c}, nil
}

// tx is a transaction.
type tx struct{ c handle }

func (t tx) Commit() error   { return t.end("COMMIT") }
func (t tx) Rollback() error { return t.end("ROLLBACK") }

func (t tx) end(statement string) error {
	_, err := t.c.statement(context.Background(), statement, nil)
	return err
}

// Prepare implements [driver.Conn]: nothing is sent before the statement is executed.
func (c handle) Prepare(text string) (driver.Stmt, error) { return stmt{c: c, text: text}, nil }

// stmt is a prepared statement, which database/sql executes with a context.
type stmt struct {
	driver.Stmt
	c    handle
	text string
}

func (s stmt) Close() error  { return nil }
func (s stmt) NumInput() int { return -1 }

// ExecContext implements [driver.StmtExecContext].
func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.text, args)
}

// QueryContext implements [driver.StmtQueryContext].
func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.text, args)
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
