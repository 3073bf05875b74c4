package i18n

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text that came from outside, such as a file's name, with an escape,
// \x1b or \u202e, in place of everything that would control a terminal or hide its own
// order. Line breaks are escaped too.
func Visible(s string) string { return Escaped(s, Controls) }

// Escaped returns s with an escape in place of the characters that are unfit, and of bytes
// that are no UTF-8.
func Escaped(s string, unfit func(rune) bool) string {
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

// Controls reports whether a character is a control character or one that changes the
// direction of the text around it.
func Controls(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// Bare returns an error without the operation and the file's name, which the message has: the name may be that of a
// temporary file.
func Bare(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
