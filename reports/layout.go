package reports

import (
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// cells measures text in terminal cells. It is a condition of our own because
// the package's default one depends on the locale of whoever runs the program.
var cells = &runewidth.Condition{}

func textWidth(s string) int { return cells.StringWidth(s) }

// padRight fills s with blanks up to width cells.
func padRight(s string, width int) string { return cells.FillRight(s, width) }

// padLeft sets s against the right edge of width cells.
func padLeft(s string, width int) string { return cells.FillLeft(s, width) }

// clip shortens s to width cells; ".." shows that something is missing.
func clip(s string, width int) string {
	if textWidth(s) <= width {
		return s
	}
	return cells.Truncate(s, width, "..")
}

// lines writes lines, none wider than width, and remembers the first error, so
// that whoever prints need not look after every line.
type lines struct {
	langs []string
	w     io.Writer
	width int // cells; 0: no limit
	paint bool
	err   error
}

func newLines(w io.Writer, o Options) *lines {
	return &lines{langs: o.langs(), w: w, width: o.Width, paint: o.Color}
}

// say is a sentence of the catalogues in the languages of the output.
func (l *lines) say(key string, pairs ...string) string {
	return l.each(func(lang string) string { return say(lang, key, pairs...) })
}

// each joins what text is in each language of the output.
func (l *lines) each(text func(lang string) string) string {
	parts := make([]string, len(l.langs))
	for i, lang := range l.langs {
		parts[i] = text(lang)
	}
	return strings.Join(parts, " / ")
}

// put writes one line, folded where it is too wide; continuation lines are
// indented by hang cells, as far as the width allows.
func (l *lines) put(s string, hang int) {
	for _, part := range fold(strings.TrimRight(s, " "), l.width, hang) {
		if l.err != nil {
			return
		}
		if l.paint {
			part = paint(part)
		}
		_, l.err = io.WriteString(l.w, part+"\n")
	}
}

// fold breaks s into lines of at most width cells (0: one line).
func fold(s string, width, hang int) []string {
	if width <= 0 || textWidth(s) <= width {
		return []string{s}
	}
	if hang > width/2 {
		hang = 0
	}
	var out []string
	for indent := ""; s != ""; indent = strings.Repeat(" ", hang) {
		head, rest := breakAt(s, width-len(indent))
		out = append(out, indent+head)
		s = rest
	}
	return out
}

// oneLine is a row without its columns.
func oneLine(row []string) string { return strings.Join(strings.Fields(strings.Join(row, " ")), " ") }

// wrap breaks the text of one column, at its line ends and where it is too
// wide. What stands inside a critical section keeps its bar on every line.
func wrap(s string, width int) []string {
	if first, rest, more := strings.Cut(s, "\n"); more {
		return append(wrap(first, width), wrap(rest, width)...)
	}
	body, inside := strings.CutPrefix(s, "|  ")
	if !inside || width < 8 {
		return fold(s, width, 0)
	}
	out := fold(body, width-3, 0)
	for i := range out {
		out[i] = "|  " + out[i]
	}
	return out
}

// breakAt splits s so that head takes at most width cells: at the last blank
// (leading ones do not count), else between two Chinese characters, else
// anywhere. One character is taken even where it does not fit.
func breakAt(s string, width int) (head, rest string) {
	if textWidth(s) <= width {
		return s, ""
	}
	end, soft, used, begun := 0, 0, 0, false
	for i, r := range s {
		if begun && (r == ' ' || breaksBefore(r)) && !strings.HasSuffix(s[:i], "->") {
			soft = i // a reply stays with its arrow
		}
		used += cells.RuneWidth(r)
		if used > width && i > 0 {
			end = i
			break
		}
		begun = begun || r != ' '
	}
	if soft > 0 {
		end = soft
	}
	if end == 0 {
		return s, ""
	}
	return strings.TrimRight(s[:end], " "), strings.TrimLeft(s[end:], " ")
}

// breaksBefore says whether a line may begin with r although no blank stands
// before it: with a Chinese character, but not with its punctuation.
func breaksBefore(r rune) bool {
	return cells.RuneWidth(r) == 2 && !strings.ContainsRune("，。；：、）」！？", r)
}

// A sheet is text in columns. Cells that are too wide are wrapped, and a cell
// may be left out at the end of a row.
type sheet struct {
	rows  [][]string
	right map[int]bool // columns that stand against their right edge
	floor int          // width below which no column is squeezed
	tight bool         // one blank between columns instead of two
}

func (s *sheet) gap() int {
	if s.tight {
		return 1
	}
	return 2
}

// write prints the sheet, or reports that it cannot be squeezed into the width.
func (s *sheet) write(out *lines) bool {
	widths, ok := s.widths(out.width)
	if !ok {
		return false
	}
	for _, row := range s.rows {
		s.writeRow(out, row, widths)
	}
	return true
}

func (s *sheet) writeRow(out *lines, row []string, widths []int) {
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
			if s.right[c] {
				b.WriteString(padLeft(text, widths[c]))
			} else {
				b.WriteString(padRight(text, widths[c]))
			}
			b.WriteString(strings.Repeat(" ", s.gap()))
		}
		out.put(b.String(), 0)
	}
}

// widths gives every column what it asks for, and if that is too much takes
// from the widest until the row fits.
func (s *sheet) widths(limit int) ([]int, bool) {
	var widths []int
	for _, row := range s.rows {
		for c, text := range row {
			if c == len(widths) {
				widths = append(widths, 0)
			}
			for line := range strings.SplitSeq(text, "\n") {
				widths[c] = max(widths[c], textWidth(line))
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
		if widths[widest] <= s.floor {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

func (s *sheet) rowWidth(widths []int) int {
	sum := s.gap() * max(0, len(widths)-1)
	for _, n := range widths {
		sum += n
	}
	return sum
}
