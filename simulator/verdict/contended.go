package verdict

import "locklab/simulator/history"

// Contends reports whether e, which s has just observed or is about to, is a
// client that asks for the lock while another stands in its way: another one is
// asking too, or is inside, leaving or releasing (whether or not its grant
// still stands), or a grant of another, dead or alive, stands on some node.
// s does not remember it: a search that has to know whether there was contention
// anywhere calls Contends for every event.
func (s *Safety) Contends(e *history.Event) bool {
	if e.Kind != history.Acquire {
		return false
	}
	c := client8(e.Client)
	if s.reading.active()&^history.Only(c) != 0 {
		return true
	}
	for _, g := range s.reading.grant {
		if g.owner != 0 && (g.owner != c || g.gone) {
			return true
		}
	}
	return false
}
