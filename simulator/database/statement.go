package database

// A Verb is the action of a statement.
type Verb uint8

const (
	Ping     Verb = iota // SELECT 1
	Begin                // also START TRANSACTION
	Commit               // the transaction
	Rollback             // the transaction
	Select
	Insert
	Update
	Delete
	Call // a function of named locks
	Set  // the lock time-out
)

// A Conflict is the action of an INSERT on a key that exists.
type Conflict uint8

const (
	Fail    Conflict = iota
	Ignore           // INSERT IGNORE, ON CONFLICT DO NOTHING
	Replace          // ON DUPLICATE KEY UPDATE, ON CONFLICT DO UPDATE: Sets, and Where
)

// A Locking is the way in which a SELECT locks rows.
type Locking uint8

const (
	Plain      Locking = iota // not
	ForUpdate                 // FOR UPDATE
	NoWait                    // FOR UPDATE NOWAIT
	SkipLocked                // FOR UPDATE SKIP LOCKED
)

// A Statement is a parsed statement, a plain value; Parse makes it.
type Statement struct {
	Dialect  Dialect
	Verb     Verb
	Table    string
	Columns  []string     // Insert: the columns of Values
	Values   []Expression // Insert
	Sets     []Assignment // Update, and Insert with Replace
	Where    []Expression // all must be true
	Conflict Conflict
	Target   []string // PostgreSQL: ON CONFLICT (columns)
	Items    []Expression
	Locking  Locking
	Order    []string // Select: ORDER BY
	Limit    int64    // Select: LIMIT; 0: none
	Function string   // Call, in small letters
	Local    bool     // Set: SET LOCAL
	Timeout  int64    // Set: milliseconds; 0: none
	Params   int      // the number of placeholders
}

// HasRows reports whether the answer to a statement has rows, even if there are none.
func (st *Statement) HasRows() bool {
	return st.Verb == Ping || st.Verb == Select || st.Verb == Call || len(st.Items) > 0
}

// An Assignment is Column = Value.
type Assignment struct {
	Column string
	Value  Expression
}

// An Expression has its operators behind their operands.
type Expression []node

type node struct {
	op   op
	text string
	n    int64
}

// Numeral implements [codec.Numeral].
func (n *node) Numeral() *int64 {
	if n.op == opInteger {
		return &n.n
	}
	return nil
}

// An op is a binary operator as it is written, or one of these.
type op string

const (
	opNull     op = "NULL"
	opText     op = "text"     // text
	opInteger  op = "integer"  // n
	opParam    op = "param"    // n, from 0
	opColumn   op = "column"   // text
	opProposed op = "proposed" // text: a column of the row that an INSERT would write
	opNow      op = "now"      // NOW(3), now()
	opClock    op = "clock"    // clock_timestamp()
	opInterval op = "interval" // n milliseconds, times the operand; n 0: microseconds
	opHash     op = "hash"     // hashtext(operand)
	opIsNull   op = "IS NULL"
	opNotNull  op = "IS NOT NULL"
	opNot      op = "NOT"
	opIf       op = "IF" // three operands
)

func (o op) operands() int {
	switch o {
	case opNull, opText, opInteger, opParam, opColumn, opProposed, opNow, opClock:
		return 0
	case opInterval, opHash, opIsNull, opNotNull, opNot:
		return 1
	case opIf:
		return 3
	}
	return 2
}

// size is the length of the last operand in a list of operands.
func size(e Expression) int {
	n := 1
	for range e[len(e)-1].op.operands() {
		n += size(e[:len(e)-n])
	}
	return n
}

// units are the milliseconds of the units of an interval; 0 is a thousandth of one.
var units = map[string]int64{
	"MICROSECOND": 0, "MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000,
}
