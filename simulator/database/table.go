package database

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/simulator/i18n"
)

// Contents are the dialect of a server and its tables, with the rows that they have at the start.
type Contents struct {
	Dialect Dialect
	Tables  []Table
	// OldGetLock: see Options.
	OldGetLock bool
	// Idle ends a session in which nothing has come for so long, on the server's clock, while it has a transaction or a
	// lock by name (wait_timeout, idle_in_transaction_session_timeout); 0: none ends, unless
	// simulator.NodeConfig.Session says so. Of one with nothing it makes no difference but a connection opened again.
	Idle time.Duration
}

// A Column of a table. Columns that are not of the key may be NULL.
type Column struct {
	Name string // in small letters
	Type Type   // Text, Integer or Timestamp
}

// A Table with the rows that it has at first.
type Table struct {
	Name    string // in small letters
	Columns []Column
	Key     []string // the columns of the primary key, at least one
	Rows    [][]Value
	// Owner is the column with the holder of a row's key, which nothing holds while it is NULL or empty; "": owner, if
	// there is such a column. Where a row itself is the lock it is a column of the key. A row without an owner is held
	// by the transaction that has locked it exclusively. Until is the column with the end of the lease, which ends it
	// if it is a Timestamp; "": until.
	Owner, Until string
}

// column is the place of a column; -1: there is none.
func (t *Table) column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// Has reports whether the table has a column.
func (t *Table) Has(name string) bool { return t.column(name) >= 0 }

// key are the fields of the primary key in a row.
func (t *Table) key(row []Value) (key []Value) {
	for _, name := range t.Key {
		key = append(key, row[t.column(name)])
	}
	return key
}

// Create returns the CREATE TABLE statement of a table, whose times have whole milliseconds.
func (t Table) Create(d Dialect) string {
	types, end := map[Type]string{Text: "TEXT", Integer: "BIGINT", Timestamp: "TIMESTAMPTZ(3)"}, ""
	if d.innodb() {
		types[Text], types[Timestamp] = "VARCHAR(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "DATETIME(3)"
		end = " ENGINE=InnoDB"
	}
	var parts []string
	for _, c := range t.Columns {
		parts = append(parts, c.Name+" "+types[c.Type])
	}
	columns, key := strings.Join(parts, ", "), strings.Join(t.Key, ", ")
	return fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (%s))%s", t.Name, columns, key, end)
}

// Check returns the first thing that is wrong with contents.
func (c *Contents) Check() error {
	if c.Dialect < MariaDB || c.Dialect > PostgreSQL || c.Idle < 0 {
		return i18n.Errorf("error.database.dialect", "n", uint8(c.Dialect), "idle", c.Idle)
	}
	var names []string
	for _, t := range c.Tables {
		if isTaken(t.Name, names) {
			return i18n.Errorf("error.database.table", "table", t.Name)
		}
		names = append(names, t.Name)
		if key, what := t.check(); key != "" {
			return i18n.Errorf(key, "table", t.Name, "what", what)
		}
	}
	return nil
}

// isTaken reports whether a name is that of another thing, or none.
func isTaken(name string, others []string) bool {
	return name == "" || name != strings.ToLower(name) || slices.Contains(others, name)
}

// check returns the text that says what is wrong with a table, "": nothing, and what is it.
func (t *Table) check() (key string, what any) {
	var names []string
	for _, c := range t.Columns {
		if isTaken(c.Name, names) || c.Type < Text || c.Type > Timestamp {
			return "error.database.column", c.Name
		}
		names = append(names, c.Name)
	}
	for _, name := range slices.Concat(t.Key, []string{""})[:max(len(t.Key), 1)] {
		if at := t.column(name); at < 0 || t.Columns[at].Type == Timestamp {
			return "error.database.key", name
		}
	}
	for _, name := range []string{t.Owner, t.Until} {
		if name != "" && t.column(name) < 0 {
			return "error.database.role", name
		}
	}
	for i, row := range t.Rows {
		fits := func(c Column) bool {
			v := row[t.column(c.Name)]
			return v.Type == c.Type || v.Type == Null && !slices.Contains(t.Key, c.Name)
		}
		if len(row) != len(names) || slices.ContainsFunc(t.Columns, func(c Column) bool { return !fits(c) }) ||
			slices.ContainsFunc(t.Rows[:i], func(o []Value) bool { return compareKeys(t.key(o), t.key(row)) == 0 }) {
			return "error.database.row", i + 1
		}
	}
	return "", nil
}
