package database

import (
	"fmt"
	"slices"
	"strings"

	"locklab/simulator/i18n"
)

// Check returns the first thing that is wrong with contents.
func (c *Contents) Check() error {
	if c.Dialect < MariaDB || c.Dialect > PostgreSQL {
		return i18n.Errorf("error.database.dialect", "n", uint8(c.Dialect))
	}
	if c.Idle < 0 {
		return i18n.Errorf("error.database.idle", "idle", c.Idle)
	}
	for i := range c.Tables {
		t := &c.Tables[i]
		if t.Name == "" || t.Name != strings.ToLower(t.Name) || slices.ContainsFunc(c.Tables[:i], func(o Table) bool { return o.Name == t.Name }) {
			return i18n.Errorf("error.database.name", "name", fmt.Sprintf("%q", t.Name))
		}
		if err := t.check(); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) check() error {
	wrong := func(key string, pairs ...any) error { return i18n.Errorf(key, append(pairs, "table", t.Name)...) }
	for i, c := range t.Columns {
		if c.Name == "" || c.Name != strings.ToLower(c.Name) || t.column(c.Name) < i {
			return wrong("error.database.column", "name", fmt.Sprintf("%q", c.Name))
		}
		if c.Type < Text || c.Type > Timestamp {
			return wrong("error.database.type", "name", c.Name)
		}
	}
	if len(t.Key) == 0 {
		return wrong("error.database.key")
	}
	for _, name := range t.Key {
		if at := t.column(name); at < 0 || t.Columns[at].Type == Timestamp {
			return wrong("error.database.key.column", "name", fmt.Sprintf("%q", name))
		}
	}
	for _, name := range []string{t.Owner, t.Until} {
		if name != "" && t.column(name) < 0 {
			return wrong("error.database.role", "name", fmt.Sprintf("%q", name))
		}
	}
	for i, row := range t.Rows {
		fits := len(row) == len(t.Columns)
		for k := 0; fits && k < len(row); k++ {
			null := row[k].Type == Null && !slices.Contains(t.Key, t.Columns[k].Name)
			fits = null || row[k].Type == t.Columns[k].Type
		}
		if !fits || slices.ContainsFunc(t.Rows[:i], func(o []Value) bool { return compareKeys(t.key(o), t.key(row)) == 0 }) {
			return wrong("error.database.row", "n", i+1)
		}
	}
	return nil
}
