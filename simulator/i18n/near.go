package i18n

import (
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Near returns a hint at the one of the names that is most like an unknown one: " did you
// mean NAME?". It is the empty text where none is similar: where more than half of the
// letters differ, and none begins with it. It is the value of a placeholder that follows
// the name without a blank.
func Near(name string, names []string) Message {
	if len(name) > 100 {
		return Message{} // it is like no name, and to find that out would take long
	}
	best, distance := "", utf8.RuneCountInString(name)/2+1
	for _, n := range names {
		d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(n))
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
