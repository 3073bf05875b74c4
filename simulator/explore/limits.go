package explore

import (
	"errors"
	"fmt"
	"math"

	"locklab/simulator"
)

// What a search numbers has only so many numbers. Where they end the search ends,
// and says so: an entry that got the number of another would be a lie. They are
// variables for tests, which cannot wait for billions of states.
var (
	maxIDs     = math.MaxUint32 - 1     // entries of a table; the last number is unseen
	maxStates  = math.MaxUint32 - 1<<20 // a state that is the last to be looked at has far fewer arcs than that
	maxChoices = math.MaxUint16 + 1     // kinds of choice
)

// room is what a search has left to number entries with, and the first limit that
// was met.
type numbers struct {
	ids  int
	full error
}

func (r *numbers) exceed(format string, args ...any) {
	r.note(&simulator.LimitError{What: fmt.Sprintf(format, args...)})
}

// note keeps the first error, if it is one.
func (r *numbers) note(err error) {
	if r.full == nil {
		r.full = err
	}
}

// next is the number of a new entry of a table that has so many; false: there is
// none left.
func (r *numbers) next(entries int, what string) (id uint32, ok bool) {
	if entries < r.ids {
		return uint32(entries), true
	}
	r.exceed("the search has numbers for %d %s and no more: give it smaller bounds", r.ids, what)
	return 0, false
}

// limit is what a search says of the limit that ended it; "": none did.
func limit(err error) string {
	if e := (*simulator.LimitError)(nil); errors.As(err, &e) {
		return e.What
	}
	return ""
}
