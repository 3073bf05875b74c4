// Package intern numbers values (interning, also called hash consing): a [Table] gives equal ones the same number, so
// that all else can name them by their numbers. A [Column] and a [Map] remember functions, so that each value of them
// is computed once. A [Room] has the limits that all of them have in common. Everything that a simulator or a search
// numbers is one of these, but for its states (package explore), which are found by an [Index] as well.
package intern

import (
	"locklab/simulator/i18n"
)

// A LimitError is something that a simulator has no room for. Nothing is left out in its place: a run that meets it has
// no outcome, and a search that meets it is not complete.
type LimitError struct {
	What i18n.Message // which limit, and what to do about it
}

func (e *LimitError) Error() string { return "simulator: " + e.What.String() }

// Message implements i18n.Error.
func (e *LimitError) Message() i18n.Message { return e.What }

// Limit makes a *LimitError with a text of the catalogues.
func Limit(key string, pairs ...any) error { return &LimitError{i18n.New(key, pairs...)} }

// A Room bounds how many entries each table of a simulator or of a search may have, and keeps the first limit that was
// exceeded. The code that notices is mostly too deep inside to return an error; Simulator.Step returns it for that
// code, and a search ends with it.
type Room struct {
	IDs      int    // entries of one table
	Text     string // the key of the error that there are more, with "n" and "what"
	Exceeded error  // the first that was noted; nil: none so far
	ReadOnly bool   // nothing new is computed; see Lacking
}

// maxIDs keeps the highest bit of an entry's number free, for a mark.
const maxIDs = 1 << 31

// NewRoom has room for as many entries as there are numbers.
func NewRoom() *Room { return &Room{IDs: maxIDs, Text: "limit.numbers"} }

// Exceed notes that a limit is exceeded.
func (r *Room) Exceed(key string, pairs ...any) { r.Note(Limit(key, pairs...)) }

// Note keeps the first error, if any: a limit, a refuted assumption, or another reason why a step has no outcome.
func (r *Room) Note(err error) {
	if r.Exceeded == nil {
		r.Exceeded = err
	}
}

// Next is the number of a new entry of a table that has so many; false: there is
// none left. what is the key of what the entries are called in the error.
func (r *Room) Next(entries int, what string) (id uint32, ok bool) {
	if entries < r.IDs {
		return uint32(entries), true
	}
	r.Exceed(r.Text, "n", r.IDs, "what", i18n.New(what))
	return 0, false
}

// Take returns the limit that was exceeded and forgets it.
func (r *Room) Take() (err error) {
	err, r.Exceeded = r.Exceeded, nil
	return err
}

// A Lack is what a reader panics with where the tables lack something.
type Lack struct{}

// Lacking is called before anything is computed that the tables lack: a reader panics with Lack.
func (r *Room) Lacking() {
	if r.ReadOnly {
		panic(Lack{})
	}
}

// Has is called before a reader looks up one of n: a column or a memo, which it shares, may name one that came after
// its copies of the tables were made.
func (r *Room) Has(id uint32, n int) {
	if int(id) >= n {
		r.Lacking()
	}
}

// Emptied is a list without its entries, in the same memory.
func Emptied[E any](list []E) []E {
	clear(list)
	return list[:0]
}
