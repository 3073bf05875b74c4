package layout

import (
	"slices"
	"strings"
)

// A Sheet is text in columns. Cells that are too wide are wrapped, and a cell may be left out at the end of a row.
type Sheet struct {
	Rows  [][]string
	Right func(column int) bool // which columns are set against their right edge; nil: none
	Floor int                   // width below which no column is squeezed
	Tight bool                  // one blank between columns instead of two
}

func (s *Sheet) gap() int {
	if s.Tight {
		return 1
	}
	return 2
}

// Write prints the sheet, or reports that it cannot be squeezed into the width.
func (s *Sheet) Write(out *Lines) bool {
	widths, ok := s.widths(out.width)
	if !ok {
		return false
	}
	for _, row := range s.Rows {
		s.writeRow(out, row, widths)
	}
	return true
}

// WriteOrCells prints the sheet, or, where it cannot be squeezed into the width, a line for
// each cell. The first row names the columns and the first column the rows.
func (s *Sheet) WriteOrCells(out *Lines) {
	if s.Write(out) {
		return
	}
	head := s.Rows[0]
	for _, row := range s.Rows[1:] {
		for n, cell := range row[1:] {
			out.Put(row[0]+" "+head[n+1]+": "+cell, 2)
		}
	}
}

// WriteOrList prints the sheet, or, where that is too wide, each row but the heads, which are first, without columns.
func (s *Sheet) WriteOrList(out *Lines, heads int) {
	if s.Write(out) {
		return
	}
	for _, row := range s.Rows[min(heads, len(s.Rows)):] {
		out.Put(strings.Join(strings.Fields(strings.Join(row, " ")), " "), 2)
	}
}

// Fits reports whether the sheet fits into width cells (0: always) without being squeezed.
func (s *Sheet) Fits(width int) bool {
	widths, _ := s.widths(0)
	return width <= 0 || s.rowWidth(widths) <= width
}

func (s *Sheet) writeRow(out *Lines, row []string, widths []int) {
	parts, height := make([][]string, len(row)), 1
	for c, text := range row {
		parts[c] = wrap(text, widths[c])
		height = max(height, len(parts[c]))
	}
	for n := range height {
		var b strings.Builder
		for c := range row {
			text := ""
			if n < len(parts[c]) {
				text = parts[c][n]
			}
			if s.Right != nil && s.Right(c) {
				b.WriteString(PadLeft(text, widths[c]))
			} else {
				b.WriteString(PadRight(text, widths[c]))
			}
			b.WriteString(strings.Repeat(" ", s.gap()))
		}
		out.Put(b.String(), 0)
	}
}

// widths gives every column the width of its widest cell, and takes from the widest down to limit (0: there is none).
func (s *Sheet) widths(limit int) ([]int, bool) {
	var widths []int
	for _, row := range s.Rows {
		for c, text := range row {
			if c == len(widths) {
				widths = append(widths, 0)
			}
			for line := range strings.SplitSeq(text, "\n") {
				widths[c] = max(widths[c], Width(line))
			}
		}
	}
	for limit > 0 && s.rowWidth(widths) > limit {
		widest := 0
		for c, n := range widths {
			if n > widths[widest] {
				widest = c
			}
		}
		if widths[widest] <= s.Floor {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

func (s *Sheet) rowWidth(widths []int) int {
	sum := s.gap() * max(0, len(widths)-1)
	for _, n := range widths {
		sum += n
	}
	return sum
}

// Only returns whether a column is one of some.
func Only(columns ...int) func(column int) bool {
	return func(column int) bool { return slices.Contains(columns, column) }
}
