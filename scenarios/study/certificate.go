package study

import (
	"fmt"
	"strings"

	"locklab/simulator/explore"
)

// Certificate says what the search covered, what it assumed, and what it did not check.
func (s *Search) Certificate() string {
	r, b := s.Result, s.Bounds
	clients, _ := b.Of(s.Strategy) // Check has read the budget
	var t strings.Builder
	claim := "Searched, not proved: the search was cut short, and what it did not visit is unknown."
	switch {
	case r.Complete && len(r.Found) == 0:
		claim = "Proved within these bounds: none of the verdicts below can come about."
	case r.Complete:
		claim = "Proved within these bounds: these verdicts can come about and no others of those below."
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&t, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(&t, "%s: %s\n", s.Strategy.Heading(), claim)
	line("bounds", "%d clients with %d attempts each, servers: %d, lease %v, faults %s", b.Clients, b.Attempts, b.Nodes, b.TTL, b.Faults())
	line("clients", "work %v inside, ask %s, and once more %v after a refusal or a release; a probe asks when all others have ended", clients.Work(), requests(clients), clients.Between())
	line("time", "all that is ready happens before time passes, in every order; time passes to the next deadline; a pause ends at a deadline")
	line("states", "%d, transitions %d, depth %d, complete %t", r.States, r.Transitions, r.Depth, r.Complete)
	if r.Limit != "" {
		line("cut", "%s", r.Limit)
	}
	line("reduction", "symmetry %s, partial order %s, time of day %s", used(r.Symmetry), used(!b.Causes), map[bool]string{true: "part of the state: the lock reads a clock", false: "not part of the state"}[r.ReadsClock])
	line("code", "%d distinct histories of observations of the lock's own code", r.Histories)
	if names := s.Untriggered(); names != nil {
		line("not injected", "%s", strings.Join(names, ", "))
	}
	line("looked for", "%s", searchList())
	line("not checked", "BLOCKED, waiting without end (attempts are counted), clocks of unlike rate, delays that no fault of the budget makes")
	return strings.TrimSuffix(t.String(), "\n")
}

func used(is bool) string {
	if is {
		return "used"
	}
	return "not used"
}

// requests says how often a client asks for the lock in one attempt.
func requests(b *explore.Bounds) string {
	if len(b.Retries) == 0 {
		return "once"
	}
	return fmt.Sprintf("up to %d times within %v", len(b.Retries)+1, b.RetrySpan())
}

func searchList() string {
	var s []string
	for _, w := range explore.Words() {
		s = append(s, string(w))
	}
	return strings.Join(s, " ")
}
