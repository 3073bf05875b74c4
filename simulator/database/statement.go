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

type op uint8

const (
	opNull     op = iota
	opText        // text
	opInteger     // n
	opParam       // n, from 0
	opColumn      // text
	opProposed    // text: a column of the row that an INSERT would write
	opNow         // NOW(3), now()
	opClock       // clock_timestamp()
	opInterval    // n milliseconds, times the operand; n 0: microseconds
	opHash        // hashtext(operand)
	opIsNull
	opNotNull
	opNot
	opIf // three operands
	opOr // from here binary, as texts has them
	opAnd
	opEqual
	opUnequal
	opLess
	opAtMost
	opMore
	opAtLeast
	opAdd
	opSubtract
	opTimes
)

// texts are the binary operators, the weakest first.
var texts = map[op]string{
	opOr: "OR", opAnd: "AND", opEqual: "=", opUnequal: "<>", opLess: "<", opAtMost: "<=", opMore: ">", opAtLeast: ">=",
	opAdd: "+", opSubtract: "-", opTimes: "*",
}

func (o op) operands() int {
	switch {
	case o >= opOr:
		return 2
	case o == opIf:
		return 3
	case o >= opInterval:
		return 1
	}
	return 0
}

// units are the milliseconds of the units of an interval; 0 is a thousandth of one.
var units = map[string]int64{"MICROSECOND": 0, "MILLISECOND": 1, "SECOND": 1000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}
