package database

import (
	"slices"
	"strings"

	"locklab/simulator/i18n"
)

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
