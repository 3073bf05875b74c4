package chart

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"locklab/reports/text"
)

// said reports whether pictures may have a text: those of charts and of runs, and titles, meanings and names in them.
func said(key string) bool {
	kind, _, _ := strings.Cut(key, ".")
	if specs[kind].draw != nil {
		return true
	}
	return key == "term.ttl.name" || strings.HasPrefix(key, "explain.head") ||
		slices.Contains(strings.Fields("chart policy work na "+
			"environment family meaning timeline motion part title fault word"), kind)
}

// Every Chinese character that pictures say is in the font.
func TestHanFont(t *testing.T) {
	for _, key := range text.In("zh").Keys("") {
		if !said(key) {
			continue
		}
		for _, r := range text.In("zh").Get(key) {
			if inHan(r) {
				if glyph, err := han.GlyphIndex(nil, r); err != nil || glyph == 0 {
					t.Errorf("%s: the font has no %q: see font/README.md", key, r)
				}
			}
		}
	}
}

// TestFoldWithoutBlanks: what has no blanks does not run off.
func TestFoldWithoutBlanks(t *testing.T) {
	style, word := writing(10, ink), strings.Repeat("locks", 40)
	lines := foldText(style, "a "+word+" b", 80)
	for _, line := range lines {
		if style.Width(line) > 80 {
			t.Errorf("%q is %v wide, of 80", line, style.Width(line))
		}
	}
	if strings.ReplaceAll(strings.Join(lines, ""), " ", "") != "a"+word+"b" {
		t.Errorf("%q", lines)
	}
}

func TestFoldChinese(t *testing.T) {
	style := writing(10, ink)
	for _, width := range []float64{30, 55, 80} {
		all := "锁多久失效一次，TTL 的代价是什么？（watchdog）"
		var whole string
		for _, line := range foldText(style, all, vg.Length(width)) {
			if strings.HasPrefix(line, "，") || strings.HasPrefix(line, "？") || strings.HasSuffix(line, "（") {
				t.Errorf("%g: a line is %q", width, line)
			}
			whole += line
		}
		if strings.ReplaceAll(whole, " ", "") != strings.ReplaceAll(all, " ", "") {
			t.Errorf("folded to %q", whole)
		}
	}
}
