package faults

import (
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// DidYouMean is " did you mean NAME?" with the one of the names that is most like
// the given one, and "" where none is: where more than half of the letters differ,
// and none begins with it.
func DidYouMean(name string, names []string) string {
	if len(name) > 100 {
		return "" // it is like no name, and to find that out would take long
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
		return ""
	}
	return " did you mean " + best + "?"
}
