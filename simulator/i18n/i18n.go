// Package i18n has texts in no language yet: the key of a text and values for its placeholders. Errors and reasons are
// made of them on every floor; package reports/text has the catalogues and puts them in words where they are printed.
package i18n

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Message is a text of the catalogues and the values of its placeholders. A value that is a Message or an error is
// put into the language of the whole; every other is printed as fmt.Print does. The zero Message is the empty text.
type Message struct {
	Key   string
	Pairs []any // name, value, name, value ...
}

// Verbatim is a value that is printed as it is, with tabs and other control characters, such as a goroutine's stack.
type Verbatim string

// New returns the text of a key: New("error.setting.absent", "name", "jump").
func New(key string, pairs ...any) Message { return Message{key, pairs} }

// IsZero reports whether m is the empty text.
func (m Message) IsZero() bool { return m.Key == "" }

// String returns key and values, "error.setting.absent name=jump", for logs and tests; for users see reports/text.
func (m Message) String() string {
	var b strings.Builder
	b.WriteString(m.Key)
	for i := 0; i+1 < len(m.Pairs); i += 2 {
		switch v := m.Pairs[i+1].(type) {
		case Message, error:
			fmt.Fprintf(&b, " %v=(%v)", m.Pairs[i], v)
		default:
			fmt.Fprintf(&b, " %v=%v", m.Pairs[i], v)
		}
	}
	return b.String()
}

// MarshalJSON writes the key and the values. A value that is neither a Message nor an error
// with one is written as fmt.Print does: it is the same in every language.
func (m Message) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	pairs := make([]any, len(m.Pairs))
	for i, v := range m.Pairs {
		switch v := v.(type) {
		case Message:
			pairs[i] = v
		case Error:
			pairs[i] = v.Message()
		default:
			pairs[i] = fmt.Sprint(v)
		}
	}
	return json.Marshal(messageJSON{m.Key, pairs})
}

type messageJSON struct {
	Key   string `json:"key"`
	Pairs []any  `json:"pairs,omitempty"`
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Message) UnmarshalJSON(b []byte) error {
	var j struct {
		Key   string            `json:"key"`
		Pairs []json.RawMessage `json:"pairs"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*m = Message{Key: j.Key}
	for _, raw := range j.Pairs {
		words, inner := "", Message{}
		if err := json.Unmarshal(raw, &words); err == nil {
			m.Pairs = append(m.Pairs, words)
			continue
		}
		if err := json.Unmarshal(raw, &inner); err != nil {
			return err
		}
		m.Pairs = append(m.Pairs, inner)
	}
	return nil
}

// An Error is an error with a text of the catalogues. Those of Errorf are; so is every error
// type with fields whose text is to be in the user's language.
type Error interface {
	error
	Message() Message
}

// Errorf returns an Error. It wraps every value that is an error. Its Error method returns the key and the values.
func Errorf(key string, pairs ...any) error { return &messageError{New(key, pairs...)} }

type messageError struct{ text Message }

func (e *messageError) Error() string    { return e.text.String() }
func (e *messageError) Message() Message { return e.text }

func (e *messageError) Unwrap() (causes []error) {
	for _, v := range e.text.Pairs {
		if err, ok := v.(error); ok {
			causes = append(causes, err)
		}
	}
	return causes
}

// Near returns a hint at the one of the names that is most like an unknown one: " did you mean NAME?". It is the empty
// text where none is similar: where more than half of the letters differ, and none begins with it. It is the value of a
// placeholder that follows the name without a blank.
func Near(name string, names []string) Message {
	if len(name) > 100 {
		return Message{} // it is like no name, and to find that out would take long
	}
	best, distance := "", utf8.RuneCountInString(name)/2+1
	for _, n := range names {
		d := edits([]rune(strings.ToLower(name)), []rune(strings.ToLower(n)))
		if len(name) > 2 && strings.HasPrefix(strings.ToLower(n), strings.ToLower(name)) {
			d = min(d, 1)
		}
		if d < distance {
			best, distance = n, d
		}
	}
	if best == "" {
		return Message{}
	}
	return New("error.near", "blank", " ", "name", best)
}

// edits is the fewest inserts, removals, changes and swaps of neighbours that make b of a (optimal string alignment).
func edits(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j, y := range b {
			change := last[j]
			if x != y {
				change++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, change)
			if i > 0 && j > 0 && x == b[j-1] && a[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Visible returns a text that came from outside, such as a file's name, with an escape, \x1b or \u202e, in place of
// everything that would control a terminal or hide its own order. Line breaks are escaped too.
func Visible(s string) string { return Escaped(s, Controls) }

// Escaped returns s with an escape in place of the characters that are unfit, and of bytes that are no UTF-8.
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

// Controls reports whether a character is a control character or one that changes the direction of the text around it.
func Controls(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// Bare returns an error without the operation and the file's name, which the message has: it may be a temporary file's.
func Bare(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
