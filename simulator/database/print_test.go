package database

import (
	"fmt"
	"strconv"
	"strings"
)

func unitName(n int64) string {
	for name, ms := range units {
		if ms == n {
			return name
		}
	}
	return ""
}

// print writes an expression in a dialect.
func (e Expression) print(d Dialect) string {
	var stack []string
	for _, n := range e {
		at := len(stack) - n.op.operands()
		if at < 0 {
			return ""
		}
		stack = append(stack[:at], n.print(d, stack[at:]))
	}
	return strings.Join(stack, " ")
}

func (n node) print(d Dialect, a []string) string {
	switch n.op {
	case opNull:
		return "NULL"
	case opText:
		return quoted(n.text)
	case opInteger:
		return strconv.FormatInt(n.n, 10)
	case opParam:
		if d == PostgreSQL {
			return "$" + strconv.FormatInt(n.n+1, 10)
		}
		return "?"
	case opColumn:
		return identifier(d, n.text)
	case opProposed:
		if d == PostgreSQL {
			return "EXCLUDED." + identifier(d, n.text)
		}
		return "VALUES(" + identifier(d, n.text) + ")"
	case opNow:
		if d == PostgreSQL {
			return "now()"
		}
		return "NOW(3)"
	case opClock:
		return "clock_timestamp()"
	case opInterval:
		if d == PostgreSQL {
			return "(" + a[0] + " * INTERVAL '1 " + strings.ToLower(unitName(n.n)) + "')"
		}
		return "INTERVAL " + a[0] + " " + unitName(n.n)
	case opHash:
		return "hashtext(" + a[0] + ")"
	case opIsNull:
		return "(" + a[0] + " IS NULL)"
	case opNotNull:
		return "(" + a[0] + " IS NOT NULL)"
	case opNot:
		return "(NOT " + a[0] + ")"
	case opIf:
		return "IF(" + strings.Join(a, ", ") + ")"
	}
	return "(" + a[0] + " " + texts[n.op] + " " + a[1] + ")"
}

func identifier(d Dialect, name string) string {
	if d == PostgreSQL {
		return `"` + name + `"`
	}
	return "`" + name + "`"
}

func (st Statement) list(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = identifier(st.Dialect, name)
	}
	return strings.Join(all, ", ")
}

func (st Statement) expressions(all []Expression, between string) string {
	parts := make([]string, len(all))
	for i, e := range all {
		parts[i] = e.print(st.Dialect)
	}
	return strings.Join(parts, between)
}

func (st Statement) where() string {
	if len(st.Where) == 0 {
		return ""
	}
	return " WHERE " + st.expressions(st.Where, " AND ")
}

func (st Statement) sets() string {
	parts := make([]string, len(st.Sets))
	for i, s := range st.Sets {
		parts[i] = identifier(st.Dialect, s.Column) + " = " + s.Value.print(st.Dialect)
	}
	return strings.Join(parts, ", ")
}

func (st Statement) returning() string {
	if len(st.Items) == 0 {
		return ""
	}
	return " RETURNING " + st.expressions(st.Items, ", ")
}

// String prints the statement so that Parse reads the same one.
func (st Statement) String() string {
	table := identifier(st.Dialect, st.Table)
	switch st.Verb {
	case Begin:
		return "BEGIN"
	case Commit:
		return "COMMIT"
	case Rollback:
		return "ROLLBACK"
	case Select:
		return st.selectText(table)
	case Insert:
		return st.insertText(table)
	case Update:
		return "UPDATE " + table + " SET " + st.sets() + st.where() + st.returning()
	case Delete:
		return "DELETE FROM " + table + st.where() + st.returning()
	case Call:
		return "SELECT " + st.Function + "(" + st.expressions(st.Values, ", ") + ")"
	case Set:
		scope := map[bool]string{false: "SESSION", true: "LOCAL"}[st.Local]
		if st.Dialect == PostgreSQL {
			return fmt.Sprintf("SET %s lock_timeout = %d", scope, st.Timeout)
		}
		return fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = %d", st.Timeout/1000)
	}
	return "SELECT 1"
}

func (st Statement) selectText(table string) string {
	text := "SELECT " + st.expressions(st.Items, ", ") + " FROM " + table + st.where()
	if len(st.Order) > 0 {
		text += " ORDER BY " + st.list(st.Order)
	}
	if st.Limit > 0 {
		text += " LIMIT " + strconv.FormatInt(st.Limit, 10)
	}
	return text + [...]string{"", " FOR UPDATE", " FOR UPDATE NOWAIT", " FOR UPDATE SKIP LOCKED"}[st.Locking]
}

func (st Statement) insertText(table string) string {
	text := "INSERT INTO "
	if st.Conflict == Ignore && st.Dialect != PostgreSQL {
		text = "INSERT IGNORE INTO "
	}
	text += table + " (" + st.list(st.Columns) + ") VALUES (" + st.expressions(st.Values, ", ") + ")"
	switch {
	case st.Conflict == Fail, st.Conflict == Ignore && st.Dialect != PostgreSQL:
	case st.Dialect != PostgreSQL:
		text += " ON DUPLICATE KEY UPDATE " + st.sets()
	default:
		text += " ON CONFLICT"
		if len(st.Target) > 0 {
			text += " (" + st.list(st.Target) + ")"
		}
		text += " DO NOTHING"
		if st.Conflict == Replace {
			text = strings.TrimSuffix(text, "NOTHING") + "UPDATE SET " + st.sets() + st.where()
		}
	}
	return text + st.returning()
}
