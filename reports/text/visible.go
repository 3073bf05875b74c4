package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text that came from outside, such as a file's name, with an escape,
// \x1b or \u202e, in place of everything that would control a terminal or hide its own
// order. Line breaks are escaped too.
func Visible(s string) string { return escaped(s, controls) }

func escaped(s string, unfit func(rune) bool) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unfit) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] != "\uFFFD"[0]:
			fmt.Fprintf(&b, `\x%02x`, s[i]) // no UTF-8
		case !unfit(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// controls says whether a character is a control character or one that changes the
// direction of the text around it.
func controls(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// InMarkup returns a text for XML or HTML, which it does not escape: a visible mark stands
// in place of what these cannot hold even escaped, and of what controls a terminal or the
// direction of a text.
func InMarkup(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\n' && r != '\r' && (controls(r) || r == 0xfffe || r == 0xffff) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
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
