package explore

import (
	"errors"
	"math"

	"locklab/simulator"
	"locklab/simulator/i18n"
)

// How many entries a search can number. A search that needs more ends and says so.
const (
	maxIDs     = math.MaxUint32 - 1     // entries of a table; the largest number is unseen
	maxStates  = math.MaxUint32 - 1<<20 // with room for the arcs of the state at which the search ends
	maxChoices = math.MaxUint16 + 1     // kinds of choice
)

// numbers gives out numbers, and knows the first limit that was exceeded.
type numbers struct {
	ids, choices int // at most: entries of a table, kinds of choice
	full         error
	readOnly     bool // nothing new is computed; see lookahead
	seen         simulator.Traits
}

func (r *numbers) exceed(key string, pairs ...any) {
	r.note(&simulator.LimitError{What: i18n.New(key, pairs...)})
}

// note keeps the first error, if it is one.
func (r *numbers) note(err error) {
	if r.full == nil {
		r.full = err
	}
}

// next is the number of a new entry of a table that has so many entries; false: there
// is none left. what is as in table.Room.Next.
func (r *numbers) next(entries int, what string) (id uint32, ok bool) {
	if entries < r.ids {
		return uint32(entries), true
	}
	r.exceed("limit.search", "n", r.ids, "what", i18n.New(what))
	return 0, false
}

// limit returns what Result.Limit says of an error; zero: it is about no limit.
func limit(err error) i18n.Message {
	if e := (*simulator.LimitError)(nil); errors.As(err, &e) {
		return e.What
	}
	return i18n.Message{}
}
