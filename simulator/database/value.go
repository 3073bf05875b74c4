package database

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Dialect is a server's language and its way of locking, at the server's default isolation level.
type Dialect uint8

const (
	MariaDB    Dialect = iota + 1 // InnoDB, REPEATABLE READ
	MySQL                         // like MariaDB but for the codes that Code lists; not compared with a server
	PostgreSQL                    // READ COMMITTED
)

func (d Dialect) String() string { return [...]string{"none", "MariaDB", "MySQL", "PostgreSQL"}[d] }

// innodb reports whether rows are locked as InnoDB does.
func (d Dialect) innodb() bool { return d != PostgreSQL }

// A Type is that of a column or a value.
type Type uint8

const (
	Null      Type = iota // of values only
	Text                  // Value.Text, compared byte by byte
	Integer               // Value.Int, 64 bits
	Timestamp             // Value.Int, milliseconds from the server's present
	Bool                  // Value.Int, 0 or 1; of PostgreSQL's replies only
	hashed                // Value.Text, of which hashtext is taken; names of advisory locks only
	interval              // Value.Int, milliseconds; inside expressions only
)

func (t Type) String() string {
	return [...]string{"NULL", "text", "integer", "timestamp", "boolean", "hash", "interval"}[t]
}

// A Value is a field of a row, an argument, or part of a reply. It is comparable. A Timestamp as an argument counts
// from the server's present at which its statement begins.
type Value struct {
	Type Type
	Text string
	Int  int64
}

// Numeral implements [codec.Numeral].
func (v *Value) Numeral() *int64 {
	if v.Type == Integer {
		return &v.Int
	}
	return nil
}

// past is a time before every time that a statement can still come to.
const past = math.MinInt64

// TextValue and IntegerValue make values; the zero Value is NULL.
func TextValue(s string) Value   { return Value{Type: Text, Text: s} }
func IntegerValue(n int64) Value { return Value{Type: Integer, Int: n} }

func truth(b bool) Value {
	if b {
		return Value{Type: Bool, Int: 1}
	}
	return Value{Type: Bool}
}

func (v Value) null() bool { return v.Type == Null }

func (v Value) compare(o Value) int {
	return cmp.Or(cmp.Compare(v.Type, o.Type), cmp.Compare(v.Text, o.Text), cmp.Compare(v.Int, o.Int))
}

func compareKeys(a, b []Value) int { return slices.CompareFunc(a, b, Value.compare) }

// plain is a value without quotes, and "" for NULL.
func (v Value) plain() string {
	switch v.Type {
	case Null:
		return ""
	case Text, hashed:
		return v.Text
	}
	return v.String()
}

func (v Value) String() string {
	switch v.Type {
	case Null:
		return "NULL"
	case Text:
		return "'" + strings.ReplaceAll(v.Text, "'", "''") + "'"
	case Bool:
		return strconv.FormatBool(v.Int != 0)
	}
	return strconv.FormatInt(v.Int, 10)
}

// A Code is the result of a statement: 0 is success, small numbers are MySQL's errors, and large ones are PostgreSQL's
// SQLSTATE, five places in base 36.
type Code uint32

const (
	OK         Code = 0
	NotCarried Code = 1 // not an error of a server: the statement is understood, and what it would do is not simulated
	NotFree    Code = 3 // not an error of a server: the session is not connected, or waits

	LockWaitTimeout   Code = 1205
	Deadlock          Code = 1213 // rolls the transaction back; of GET_LOCK on MariaDB it does not
	QueryInterrupted  Code = 1317
	DuplicateEntry    Code = 1062
	LockNowait        Code = 3572 // MySQL only; MariaDB: LockWaitTimeout
	UserLockDeadlock  Code = 3058 // MySQL only; MariaDB: Deadlock
	UniqueViolation   Code = ((2*36+3)*36+5)*36*36 + 0*36 + 5
	LockNotAvailable  Code = ((5*36+5)*36+25)*36*36 + 0*36 + 3
	DeadlockDetected  Code = ((4*36+0)*36+25)*36*36 + 0*36 + 1
	InFailed          Code = ((2*36+5)*36+25)*36*36 + 0*36 + 2
	QueryCanceled     Code = ((5*36+7)*36+0)*36*36 + 1*36 + 4
	smallestSQLSTATE  Code = 36 * 36 * 36
	deadlockCheckedIn      = 1000  // milliseconds: deadlock_timeout of PostgreSQL
	innodbTimeout          = 50000 // milliseconds: innodb_lock_wait_timeout
)

// String is the number or the SQLSTATE as the server writes it.
func (c Code) String() string {
	if c < smallestSQLSTATE {
		return strconv.Itoa(int(c))
	}
	return fmt.Sprintf("%05s", strings.ToUpper(strconv.FormatUint(uint64(c), 36)))
}

// messages are the words of the servers, without the names that they fill in.
var messages = map[Code]string{
	LockWaitTimeout:  "Lock wait timeout exceeded; try restarting transaction",
	Deadlock:         "Deadlock found when trying to get lock; try restarting transaction",
	QueryInterrupted: "Query execution was interrupted",
	DuplicateEntry:   "Duplicate entry for key 'PRIMARY'",
	LockNowait:       "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.",
	UserLockDeadlock: "Deadlock found when trying to get user-level lock; " +
		"try rolling back transaction/releasing locks and restarting lock acquisition.",
	UniqueViolation:  "duplicate key value violates unique constraint",
	LockNotAvailable: "canceling statement due to lock timeout",
	DeadlockDetected: "deadlock detected",
	InFailed:         "current transaction is aborted, commands ignored until end of transaction block",
	QueryCanceled:    "canceling statement due to user request",
}

// A Reply is the server's answer to a statement.
type Reply struct {
	Waits    bool // no answer yet: it comes as a Woken of another act
	Code     Code
	Text     string // the words of an error, or of what is not carried
	Affected int64
	Columns  []string
	Rows     [][]Value // the caller must not change them
}

func failure(c Code) Reply           { return Reply{Code: c, Text: messages[c]} }
func notCarried(reason string) Reply { return Reply{Code: NotCarried, Text: reason} }
func one(name string, v Value) Reply { return Reply{Columns: []string{name}, Rows: [][]Value{{v}}} }

// A Woken is the answer to a statement that waited until another act let it go on.
type Woken struct {
	Session SessionID
	Reply   Reply
}
