package race

import (
	"fmt"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
)

// Strategy finds a lock by its ID or the article's, in any case of letters. The
// error names the one that was probably meant.
func Strategy(name string) (lock.Entry, error) {
	if e, ok := algorithms.ByName(name); ok {
		return e, nil
	}
	var names []string
	for _, e := range algorithms.All() {
		names = append(names, e.Names()...)
	}
	return lock.Entry{}, fmt.Errorf("there is no lock %q:%s 'locklab list strategies' shows all", name, faults.DidYouMean(name, names))
}

// Successor is the lock that was meant to mend this one: the next in historical
// order, of those on which the story turns.
func Successor(e lock.Entry) (lock.Entry, bool) {
	all := algorithms.Milestones()
	for i := range all[:len(all)-1] {
		if all[i].ID == e.ID {
			return all[i+1], true
		}
	}
	return lock.Entry{}, false
}
