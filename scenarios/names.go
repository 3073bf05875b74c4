package scenarios

import (
	"fmt"
	"strings"

	"locklab/algorithms"
	"locklab/faults"
)

// ByName finds a scenario by its ID or its race, in any case of letters. The
// error names the nearest.
func ByName(name string) (Scenario, error) {
	var names []string
	for _, sc := range All() {
		if strings.EqualFold(name, sc.ID) || strings.EqualFold(name, sc.Race) {
			return sc, nil
		}
		names = append(names, sc.ID, sc.Race)
	}
	return Scenario{}, fmt.Errorf("there is no scenario %q:%s 'locklab list scenarios' shows all", name, faults.DidYouMean(name, names))
}

// Strategy finds a lock by its ID or the article's, in any case of letters. The
// error names the one that was probably meant.
func Strategy(name string) (algorithms.Entry, error) {
	if e, ok := algorithms.ByName(name); ok {
		return e, nil
	}
	var names []string
	for _, e := range algorithms.All() {
		names = append(names, e.Names()...)
	}
	return algorithms.Entry{}, fmt.Errorf("there is no lock %q:%s 'locklab list strategies' shows all", name, faults.DidYouMean(name, names))
}

// Successor is the lock that was meant to mend this one: the next in historical
// order, of those on which the story turns.
func Successor(e algorithms.Entry) (algorithms.Entry, bool) {
	all := algorithms.Milestones()
	for i := range all[:len(all)-1] {
		if all[i].ID == e.ID {
			return all[i+1], true
		}
	}
	return algorithms.Entry{}, false
}
