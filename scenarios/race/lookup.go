package race

import (
	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/simulator/i18n"
)

// Strategy finds a lock by its ID or the article's, in any case of letters. The error
// suggests the nearest name.
func Strategy(name string) (lock.Entry, error) {
	if e, ok := algorithms.ByName(name); ok {
		return e, nil
	}
	var names []string
	for _, e := range algorithms.All() {
		names = append(names, e.Names()...)
	}
	return lock.Entry{}, i18n.Errorf("error.lock", "name", name, "near", i18n.Near(name, names))
}

// Successor returns the lock that was meant to fix this one: the next milestone in
// historical order. False: there is none.
func Successor(e lock.Entry) (lock.Entry, bool) {
	all := algorithms.Milestones()
	for i := range all[:len(all)-1] {
		if all[i].ID == e.ID {
			return all[i+1], true
		}
	}
	return lock.Entry{}, false
}
