// Package layout sets text in a terminal: widths in cells, folded lines, columns. No other place breaks lines.
package layout

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"locklab/simulator/lists"
)

// wide are the characters that take two cells: those of East Asian scripts, full-width forms and pictures. What a
// terminal shows in one cell or two, as its user's locale is, takes one.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2329, 0x232a, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0x3247, 1},
		{0x3250, 0xa4cf, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe10, 0xfe19, 1}, {0xfe30, 0xfe6f, 1},
		{0xff01, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

// width is the number of terminal cells that a character takes.
func width(r rune) int {
	switch {
	case r < 0x300:
		return min(1, max(0, int(r)-' '+1)) // 0: it is a control character
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// Width is the number of terminal cells that s takes.
func Width(s string) (cells int) {
	for _, r := range s {
		cells += width(r)
	}
	return cells
}

// PadRight fills s with blanks up to width cells.
func PadRight(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

// PadLeft sets s against the right edge of width cells.
func PadLeft(s string, width int) string { return strings.Repeat(" ", max(0, width-Width(s))) + s }

// Clip shortens s to width cells; ".." shows that something is missing.
func Clip(s string, most int) string {
	if Width(s) <= most {
		return s
	}
	room := most - len("..")
	for i, r := range s {
		if room -= width(r); room < 0 {
			return s[:i] + ".."
		}
	}
	return s
}

// Lines writes lines, none wider than its width, and keeps the first error, so that the caller checks it once.
type Lines struct {
	langs []string
	w     io.Writer
	width int // cells; 0: no limit
	paint func(line string) string
	err   error
}

// NewLines writes lines of at most width cells (0: no limit) to w. langs are the languages of Each. paint, unless nil,
// is applied to each finished line; it may add only what takes no room.
func NewLines(w io.Writer, langs []string, width int, paint func(string) string) *Lines {
	return &Lines{langs: langs, w: w, width: width, paint: paint}
}

// Width is the most cells that a line may have; 0: no limit.
func (l *Lines) Width() int { return l.width }

// Lang is the first language of the output.
func (l *Lines) Lang() string { return l.langs[0] }

// Langs are the languages of the output.
func (l *Lines) Langs() []string { return l.langs }

// Err is the first error of the writer.
func (l *Lines) Err() error { return l.err }

// Each joins the results of in for every language of the output.
func (l *Lines) Each(in func(lang string) string) string {
	return strings.Join(lists.Each(l.langs, in), " / ")
}

// Put writes one line, folded where it is too wide; continuation lines are indented by hang cells, if the width allows.
func (l *Lines) Put(s string, hang int) { l.put(fold(strings.TrimRight(s, " "), l.width, hang)) }

// PutWhole writes one line that is not folded however wide it is: it is there to be pasted.
func (l *Lines) PutWhole(s string) { l.put([]string{s}) }

// PutMarked writes one line behind a mark, folded where it is too wide, with the mark before each part.
func (l *Lines) PutMarked(mark, s string) {
	if l.width > 0 && l.width <= 2*Width(mark) {
		l.Put(mark+s, 0)
		return
	}
	parts := fold(strings.TrimRight(s, " "), max(l.width-Width(mark), 0), 0)
	for i := range parts {
		parts[i] = mark + parts[i]
	}
	l.put(parts)
}

func (l *Lines) put(parts []string) {
	for _, part := range parts {
		if l.err != nil {
			return
		}
		if l.paint != nil {
			part = l.paint(part)
		}
		_, l.err = io.WriteString(l.w, part+"\n")
	}
}

// Labelled breaks a text into lines of at most width cells (0: one line) that stand
// beside a label: the first line begins with it, the others are indented by its width.
func Labelled(label, text string, width int) []string {
	indent := Width(label)
	lines := []string{text}
	if width > 0 {
		lines = fold(text, max(1, width-indent), 0)
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(label+line, " ")
		label = strings.Repeat(" ", indent)
	}
	return lines
}

// fold breaks s into lines of at most width cells (0: one line).
func fold(s string, width, hang int) []string {
	if width <= 0 || Width(s) <= width {
		return []string{s}
	}
	if hang > width/2 {
		hang = 0
	}
	var out []string
	for indent := ""; s != ""; indent = strings.Repeat(" ", hang) {
		head, rest := breakAt(s, func(s string) bool { return Width(indent+s) <= width })
		out = append(out, indent+head)
		s = rest
	}
	return out
}

// Fold breaks a text into lines that fit by another measure than cells, with one blank between words.
func Fold(s string, fits func(line string) bool) (lines []string) {
	for s = strings.Join(strings.Fields(s), " "); s != ""; {
		var line string
		line, s = breakAt(s, fits)
		lines = append(lines, line)
	}
	return lines
}

// wrap breaks the text of one column. What is inside a critical section keeps its bar on every line.
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

// breakAt splits s so that head fits, or has one character: at the last place where a line may end, else anywhere.
func breakAt(s string, fits func(string) bool) (head, rest string) {
	if fits(s) {
		return s, ""
	}
	end, soft, begun := 0, 0, false
	before := ' '
	for i, r := range s {
		if begun && mayBreak(s[:i], before, r, s[i:]) {
			soft = i
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); i > 0 && !fits(s[:i+size]) {
			end = i
			break
		}
		begun = begun || r != ' '
		before = r
	}
	if soft > 0 {
		end = soft
	}
	if end == 0 {
		return s, ""
	}
	return strings.TrimRight(s[:end], " "), strings.TrimLeft(s[end:], " ")
}

// mayBreak reports whether a line may end between head, whose last character is before, and rest, whose first is after:
// at a blank, and at a Chinese character, but neither between a reply and its arrow nor between a number and its unit.
func mayBreak(head string, before, after rune, rest string) bool {
	if after == ' ' {
		return !strings.HasSuffix(head, "->") && !isMeasure(head, rest)
	}
	if width(before) != 2 && width(after) != 2 {
		return false
	}
	if number, blank := strings.CutSuffix(head, " "); blank && isMeasure(number, " "+rest) {
		return false
	}
	return !strings.ContainsRune(closing, after) && !strings.ContainsRune(opening, before)
}

// What closes a phrase begins no line, and what opens one ends no line.
const (
	closing = "，。；：！？、）」”》):,.;!?"
	opening = "（「“《("
)

// isMeasure reports whether head ends with a number, and rest is a blank and its unit.
func isMeasure(head, rest string) bool {
	if head == "" || !unicode.IsDigit(rune(head[len(head)-1])) {
		return false
	}
	unit := strings.TrimPrefix(rest, " ")
	if first, _ := utf8.DecodeRuneInString(unit); unicode.Is(unicode.Han, first) {
		return true
	}
	unit, _, _ = strings.Cut(unit, " ")
	unit = strings.TrimRight(unit, ".,;:)")
	return unit == "s" || unit == "ms"
}
