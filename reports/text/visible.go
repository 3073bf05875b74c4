package text

import (
	"strings"
	"unicode/utf8"

	"locklab/simulator/i18n"
)

// Visible is i18n.Visible.
func Visible(s string) string { return i18n.Visible(s) }

// InMarkup returns a text for XML or HTML, which it does not escape: a visible mark stands
// in place of what these cannot hold even escaped, and of what controls a terminal or the
// direction of a text.
func InMarkup(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\n' && r != '\r' && (i18n.Controls(r) || r == 0xfffe || r == 0xffff) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// Tag returns a language as the lang attribute of HTML names it (RFC 5646).
func Tag(lang string) string {
	if lang == "zh" {
		return "zh-Hans"
	}
	return lang
}

// Cut returns the first n characters of a text, with … if there are more.
func Cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
