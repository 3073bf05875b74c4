package text

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible returns a text that came from outside, such as a file's name, with an escape,
// \x1b or \u202e, in place of everything that would control a terminal or hide its own
// order. Line breaks are escaped too.
func Visible(s string) string {
	if !strings.ContainsFunc(strings.ToValidUTF8(s, "\x00"), controls) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == unicode.ReplacementChar && s[i] != "\uFFFD"[0]:
			fmt.Fprintf(&b, `\x%02x`, s[i]) // no UTF-8
		case !controls(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// controls says whether a character is a control character or one that changes the
// direction of the text around it.
func controls(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
