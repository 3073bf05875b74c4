package simulator

import "fmt"

// A LimitError is something that the lab has no room for. Nothing is left out in
// its place: a run that meets it has no outcome, and a search that meets it is not
// complete.
type LimitError struct {
	What string // which limit, and what to do about it
}

func (e *LimitError) Error() string { return "simulator: " + e.What }

// room is what a lab's tables have left to number entries with, and the first
// thing for which there was none. Whoever finds that out is mostly too deep inside
// to say so; Step says it.
type room struct {
	ids  int // numbers from 0
	late int // late requests of one world
	full error
}

// maxIDs keeps the highest bit of a number free for refusing.
const maxIDs = 1 << 31

// exceed notes that a limit is exceeded.
func (r *room) exceed(format string, args ...any) {
	if r.full == nil {
		r.full = &LimitError{fmt.Sprintf(format, args...)}
	}
}

// next is the number of a new entry of a table that has so many; false: there is
// none left.
func (r *room) next(entries int, what string) (id uint32, ok bool) {
	if entries < r.ids {
		return uint32(entries), true
	}
	r.exceed("the lab has numbers for %d %s and no more: give it less to search, or split the search by budgets", r.ids, what)
	return 0, false
}

// take is what was exceeded since it was last asked.
func (r *room) take() (err error) {
	err, r.full = r.full, nil
	return err
}
