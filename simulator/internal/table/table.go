// Package table holds what the memo tables of a simulator have in common: the
// limit on their entries, interning, and unambiguous keys.
package table

import (
	"locklab/simulator/i18n"
)

// A LimitError is something that a simulator has no room for. Nothing is left out
// in its place: a run that meets it has no outcome, and a search that meets it is
// not complete.
type LimitError struct {
	What i18n.Message // which limit, and what to do about it
}

func (e *LimitError) Error() string { return "simulator: " + e.What.String() }

// Message implements i18n.Error.
func (e *LimitError) Message() i18n.Message { return e.What }

// Limit makes a *LimitError with a text of the catalogues.
func Limit(key string, pairs ...any) error { return &LimitError{i18n.New(key, pairs...)} }

// A Room bounds how many entries each table of a simulator may have, and keeps the
// first limit that was exceeded, or assumption that was refuted. The code that notices
// is mostly too deep inside to return an error; Simulator.Step returns it for that code.
type Room struct {
	IDs      int   // entries of one table
	Exceeded error // nil: no limit so far
}

// maxIDs keeps the highest bit of an entry's number free, for a mark.
const maxIDs = 1 << 31

// NewRoom has room for as many entries as there are numbers.
func NewRoom() *Room { return &Room{IDs: maxIDs} }

// Exceed notes that a limit is exceeded, if none was before.
func (r *Room) Exceed(key string, pairs ...any) { r.Fail(Limit(key, pairs...)) }

// Fail notes any other reason for which a step has no outcome, likewise.
func (r *Room) Fail(err error) {
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
	r.Exceed("limit.numbers", "n", r.IDs, "what", i18n.New(what))
	return 0, false
}

// Take returns the limit that was exceeded and forgets it.
func (r *Room) Take() (err error) {
	err, r.Exceeded = r.Exceeded, nil
	return err
}

// Emptied is a list without its entries, in the same memory.
func Emptied[E any](list []E) []E {
	clear(list)
	return list[:0]
}
