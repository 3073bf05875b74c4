package chart

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

// A Table is numbers and words in named columns: what a chart draws, and what a CSV and a JSON have of it. A cell is a
// string, a bool, a json.Number, or nil where nothing is known or there is nothing to know.
type Table struct {
	Columns []Head  `json:"columns"`
	Rows    [][]any `json:"rows"` // as objects in JSON
}

// A Head of a column has one name everywhere, and the unit of its numbers; "": they have none, or it has words.
type Head struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
}

// headOf is a head whose name says the unit, if it has one.
func headOf(name string) Head {
	if strings.HasSuffix(name, "_ns") {
		return Head{name, "ns"}
	}
	return Head{Name: name}
}

// tableOf makes a table with a row for each of some things, whose values are written as valueOf does. Names are
// separated by blanks; a unit stands behind its name, as in "ttl_s:s".
func tableOf[T any](names string, of []T, row func(T) []any) *Table {
	t := &Table{}
	for _, name := range strings.Fields(names) {
		name, unit, _ := strings.Cut(name, ":")
		t.Columns = append(t.Columns, Head{name, unit})
	}
	for _, one := range of {
		t.Rows = append(t.Rows, lists.Each(row(one), valueOf))
	}
	return t
}

// tableBy makes a table with a row for each of some structs, and a column for each of their fields, under its name in
// JSON; what ends in _ns has nanoseconds, and what is to be omitted as zero is empty then.
func tableBy[T any](of []T) *Table {
	fields := lists.Pick(reflect.VisibleFields(reflect.TypeFor[T]()),
		func(f reflect.StructField) bool { return f.Tag.Get("json") != "" })
	t := &Table{Columns: lists.Each(fields, func(f reflect.StructField) Head {
		return headOf(strings.TrimSuffix(f.Tag.Get("json"), ",omitzero"))
	})}
	for _, one := range of {
		t.Rows = append(t.Rows, lists.Each(fields, func(f reflect.StructField) any {
			v := reflect.ValueOf(one).FieldByIndex(f.Index)
			if v.IsZero() && strings.HasSuffix(f.Tag.Get("json"), ",omitzero") {
				return nil
			}
			return valueOf(v.Interface())
		}))
	}
	return t
}

// valueOf turns a value into a cell: durations into nanoseconds ("inf": it does not end), numbers into six digits.
func valueOf(v any) any {
	switch v := v.(type) {
	case nil, bool, json.Number:
		return v
	case int:
		return json.Number(strconv.Itoa(v))
	case float64:
		return json.Number(strconv.FormatFloat(v, 'g', 6, 64))
	case *float64:
		if v == nil {
			return nil
		}
		return valueOf(*v)
	case time.Duration:
		switch v {
		case cost.Forever:
			return "inf"
		case cost.Unmeasured:
			return "not measured"
		}
		return json.Number(strconv.FormatInt(int64(v), 10))
	}
	if s := fmt.Sprint(v); s != "" {
		return s
	}
	return nil
}

// places is a number with so many places, and whole one with all of its digits, as cells.
func places(x float64, n int) json.Number { return json.Number(rounded(x, n)) }
func whole(x float64) json.Number         { return json.Number(rounded(x, -1)) }

// textOf is a cell as text; "": nil.
func textOf(cell any) string {
	if cell == nil {
		return ""
	}
	return fmt.Sprint(cell)
}

func (t *Table) names() []string { return lists.Each(t.Columns, func(c Head) string { return c.Name }) }

// CSV writes the table.
func (t *Table) CSV(w io.Writer) error {
	rows := [][]string{t.names()}
	for _, row := range t.Rows {
		rows = append(rows, lists.Each(row, textOf))
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("chart: writing a CSV: %w", err)
	}
	return nil
}

// named is a head or a cell of a terminal in a language; what has no name in it stands as it is.
func named(lang, of, it string) string {
	if key := of + strings.ReplaceAll(it, " ", "-"); text.In(lang).Has(key) {
		return say(lang, key)
	}
	return it
}

// Text writes the table as columns of a terminal, or, where there is no room for them, a row a line. Numbers have three
// digits that count; links, which are long, are left out.
func (t *Table) Text(out *layout.Lines) {
	short := t.only(func(name string) bool { return name != "trace" })
	heads := lists.Each(short.names(), func(name string) string { return named(out.Lang(), "chart.head.", name) })
	rows := lists.Each(short.records(), func(r record) []string {
		cell := func(name string) string { return named(out.Lang(), "chart.cell.", r.shown(name)) }
		return lists.Each(short.names(), cell)
	})
	widths := lists.Each(lists.Indices(heads), func(i int) int {
		return slices.Max(append(lists.Each(rows, func(row []string) int { return layout.Width(row[i]) }), 0))
	})
	sheet := &layout.Sheet{Rows: append([][]string{heads}, rows...), Floor: 6, Right: func(column int) bool {
		return !slices.ContainsFunc(rows, func(row []string) bool {
			return strings.IndexAny(row[column]+"?", "-0123456789<?∞") > 0
		})
	}}
	if !sheet.Fits(out.Width()) {
		sheet.Tight = true
		sheet.Rows[0] = lists.Each(lists.Indices(heads), func(i int) string { return broken(heads[i], widths[i]) })
	}
	if sheet.Write(out) {
		return
	}
	for _, row := range rows {
		var parts []string
		for i, cell := range row {
			if cell != "" {
				parts = append(parts, heads[i]+" "+cell)
			}
		}
		out.Put(strings.Join(parts, ", "), 2)
	}
}

// broken is a head in lines of some width, or of that of its words.
func broken(head string, width int) string {
	var lines []string
	for _, word := range strings.Fields(head) {
		if last := len(lines) - 1; last >= 0 && layout.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return strings.Join(lines, "\n")
}

// only has the columns whose names are kept.
func (t *Table) only(keep func(name string) bool) *Table {
	kept := lists.Pick(lists.Indices(t.Columns), func(i int) bool { return keep(t.Columns[i].Name) })
	out := &Table{Columns: lists.Each(kept, func(i int) Head { return t.Columns[i] })}
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, lists.Each(kept, func(i int) any { return row[i] }))
	}
	return out
}

// across has a row for what records have in the columns of keys, and a column for each value of another one, with what
// cell makes of the records that have both, if there are any.
func across(all []record, keys []string, column string, cell func(of []record) any) *Table {
	key := func(r record) []any { return lists.Each(keys, r.cell) }
	out, names := &Table{}, values(column, all)
	for _, name := range append(slices.Clone(keys), names...) {
		out.Columns = append(out.Columns, headOf(name))
	}
	for _, of := range lists.Gather(all, func(a, b record) bool { return slices.Equal(key(a), key(b)) }) {
		row := key(of[0])
		for _, name := range names {
			var made any
			if both := lists.Pick(of, func(r record) bool { return r.text(column) == name }); len(both) > 0 {
				made = cell(both)
			}
			row = append(row, made)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// MarshalJSON writes rows as objects, under the names of their columns.
func (t Table) MarshalJSON() ([]byte, error) {
	rows := lists.Each(t.Rows, func(row []any) map[string]any {
		object := map[string]any{}
		for i, c := range t.Columns {
			object[c.Name] = row[i]
		}
		return object
	})
	return json.Marshal(map[string]any{"columns": t.Columns, "rows": rows})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Table) UnmarshalJSON(data []byte) error {
	var read struct {
		Columns []Head
		Rows    []map[string]any
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&read); err != nil {
		return err
	}
	*t = Table{Columns: read.Columns}
	for _, row := range read.Rows {
		t.Rows = append(t.Rows, lists.Each(t.names(), func(name string) any { return row[name] }))
	}
	return nil
}

// A record is a row whose cells are asked for by name; of a column that is not there they are nil.
type record struct {
	table *Table
	row   []any
}

func (t *Table) records() []record {
	return lists.Each(t.Rows, func(row []any) record { return record{t, row} })
}

func (r record) cell(name string) any {
	for i, c := range r.table.Columns {
		if c.Name == name {
			return r.row[i]
		}
	}
	return nil
}

// shown is a cell in a terminal.
func (r record) shown(name string) string {
	x := r.number(name)
	switch {
	case math.IsNaN(x):
		return r.text(name)
	case headOf(name).Unit == "ns":
		return nanoseconds(x)
	}
	return number(x)
}

func (r record) text(name string) string { return textOf(r.cell(name)) }
func (r record) is(name string) bool     { return r.cell(name) == true }

// number returns a number, ∞ for what does not end, and NaN for what is no number.
func (r record) number(name string) float64 {
	x, err := strconv.ParseFloat(r.text(name), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// numbers returns the numbers of records in a column.
func numbers(column string, all []record) []float64 {
	return lists.Each(all, func(r record) float64 { return r.number(column) })
}

// by puts together records that have the same in a column, in the order of first ones.
func by(column string, all []record) [][]record {
	return lists.Gather(all, func(a, b record) bool { return a.text(column) == b.text(column) })
}

// values returns the texts of records in a column, each once.
func values(column string, all []record) []string {
	return lists.Each(by(column, all), func(of []record) string { return of[0].text(column) })
}
