// Package translate gives plain values other names, numbers and time stamps. Whatever lets two states count as one is
// such a translation: what a server does with translated data at a translated request must be the translated effect,
// and code that has observed a translated history must do the translated thing.
package translate

import (
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
)

// A Translation of plain values is one of four: clients get other names (Rename), texts become others (Texts), what
// counts gets other numbers (Recount), or time stamps are moved (Move). A server with more than texts may ask which.
type Translation struct {
	Names *history.Names  // of clients; nil: they keep theirs
	Count history.Recount // of what counts; nil: it keeps its numbers
	By    clock.Shift     // of time stamps, in texts and in what stands for texts (codec.Numeral)
	text  func(string) string
	moves bool // By is meant
}

// Rename gives clients other names.
func Rename(to *history.Names) *Translation { return &Translation{Names: to, text: to.Rename} }

// Texts replaces texts, but for names that connections have.
func Texts(text func(string) string) *Translation { return &Translation{text: text} }

// Recount gives what counts other numbers.
func Recount(f history.Recount) *Translation { return &Translation{Count: f, text: f.Text} }

// Move moves time stamps.
func Move(by clock.Shift) *Translation {
	return &Translation{By: by, moves: true, text: func(s string) string { return clock.MoveStamps(s, by) }}
}

// Moves reports whether the translation moves time stamps.
func (t *Translation) Moves() bool { return t.moves }

// Text is a text in the translation.
func (t *Translation) Text(s string) string { return t.text(s) }

// Client is a client in the translation. Servers number theirs in eight bits.
func (t *Translation) Client(c int8) int8 {
	if t.Names == nil {
		return c
	}
	return int8(t.Names[c])
}

// Clients are clients in the translation.
func (t *Translation) Clients(s history.ClientSet) history.ClientSet {
	if t.Names == nil {
		return s
	}
	return s.Renamed(t.Names)
}

// Number is a number of a counter in the translation; last as in history.Recount.
func (t *Translation) Number(of history.Counter, n int64, last bool) int64 {
	if t.Count == nil {
		return n
	}
	return t.Count(of, n, last)
}

// Value is a plain value with all its texts in the translation, and, if that moves time stamps, its numerals. Derived
// fields of it are zero; see package codec.
func Value[V any](v V, t *Translation) V {
	if t.Moves() {
		return codec.ReplaceNumerals(v, t.text)
	}
	return codec.Replace(v, t.text)
}
