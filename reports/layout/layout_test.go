package layout

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
)

func TestLabelled(t *testing.T) {
	for _, c := range []struct {
		label, text string
		width       int
		want        []string
	}{
		{"", "one two three", 0, []string{"one two three"}},
		{"  a: ", "one two three", 12, []string{"  a: one two", "     three"}},
		{"", "a lease of 10 s ends", 13, []string{"a lease of", "10 s ends"}}, // a number stays with its unit
		{"", "用了 3 台服务器", 6, []string{"用了", "3 台服", "务器"}},
		{"", "锁到期，换人", 7, []string{"锁到", "期，换", "人"}}, // no punctuation begins a line
		{"", "先（后）", 3, []string{"先", "（", "后", "）"}},
		{"", "GET -> nil again", 9, []string{"GET", "-> nil", "again"}}, // a reply stays with its arrow
		{"", "unbreakable", 4, []string{"unbr", "eaka", "ble"}},
	} {
		if diff := cmp.Diff(c.want, Labelled(c.label, c.text, c.width)); diff != "" {
			t.Errorf("%q in %d cells (-want +got):\n%s", c.text, c.width, diff)
		}
	}
}

// A sheet is squeezed down to its floor, and listed where that is not enough.
func TestSheet(t *testing.T) {
	s := Sheet{Rows: [][]string{{"n", "what"}, {"10", "one two three"}}, Right: Only(0), Floor: 4}
	for width, want := range map[int]string{
		0:  " n  what\n10  one two three\n",
		12: " n  what\n10  one two\n    three\n",
		7:  "10 one\n  two\n  three\n",
	} {
		var b strings.Builder
		out := NewLines(&b, []string{"en"}, width, nil)
		if s.WriteOrList(out, 1); out.Err() != nil || b.String() != want {
			t.Errorf("width %d: %v\n%s\nwant\n%s", width, out.Err(), b.String(), want)
		}
	}
	if s.Fits(16) || !s.Fits(17) {
		t.Error("the sheet takes 17 cells")
	}
}

// Widths are those of a library that has the tables of Unicode, for all that texts, keys and values are written in.
func TestWidths(t *testing.T) {
	library := &runewidth.Condition{}
	written := []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana,
		unicode.Katakana, unicode.P, unicode.N, unicode.Sc, unicode.Mn}
	for r := rune(0); r < 0x10000; r++ {
		if got, want := Width(string(r)), library.RuneWidth(r); unicode.IsPrint(r) && unicode.In(r, written...) &&
			got != want {
			t.Errorf("%q (%U): %d, want %d", r, r, got, want)
		}
	}
	if Width("a\tb\n") != 2 || Clip("三台服务器", 6) != "三台.." || PadLeft("锁", 4)+PadRight("锁", 4) != "  锁锁  " {
		t.Errorf("%d, %q, %q", Width("a\tb\n"), Clip("三台服务器", 6), PadLeft("锁", 4)+PadRight("锁", 4))
	}
}
