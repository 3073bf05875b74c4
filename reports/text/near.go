package text

import (
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Near is a hint at the one of the names that is most like an unknown one: " did you mean
// NAME?". It is empty where none is similar: where more than half of the letters differ,
// and none begins with it. It is the value of a placeholder that follows the name without
// a blank.
func Near(name string, names []string) Sentence {
	if len(name) > 100 {
		return hint("") // it is like no name, and to find that out would take long
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
	return hint(best)
}

// hint is the name at which Near hints.
type hint string

func (h hint) Say(lang string) string {
	if h == "" {
		return ""
	}
	return " " + Say(lang, "error.near", "name", string(h))
}
