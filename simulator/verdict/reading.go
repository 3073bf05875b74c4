package verdict

import "locklab/simulator/history"

// A Reading follows a history and says where its clients are and whose the key is, in
// the way in which the judges see it. Reports use it, so that a picture of a run and
// the verdicts on it rest on one interpretation.
type Reading struct {
	c Case
	f facts
}

// NewReading begins before the first event of h. It panics where Judge does.
func NewReading(h *history.History) *Reading { return &Reading{c: CaseOf(h)} }

// Observe takes the next event of the history.
func (r *Reading) Observe(e *history.Event) {
	if Matters(e.Kind) {
		r.f.observe(&r.c, e)
	}
}

// A Stage is where a client is between asking for the lock and having given it back.
type Stage uint8

// The stages. A client that takes the lock again while it holds it is Inside.
const (
	Idle Stage = iota
	Acquiring
	Inside
	Leaving // its work is done, and it has not begun to release
	Releasing
	Dead
)

// Stage is the stage of a client (from 1) after the events observed.
func (r *Reading) Stage(client int) Stage {
	c := client8(client)
	switch {
	case r.f.dead.has(c):
		return Dead
	case r.f.inside.has(c):
		return Inside
	case r.f.leaving.has(c):
		return Leaving
	case r.f.releasing.has(c):
		return Releasing
	case r.f.acquiring.has(c):
		return Acquiring
	}
	return Idle
}

// Owner is the client whose command made the value that the key has at a node (from
// 1); 0 if none did. held says whether the key exists there.
func (r *Reading) Owner(node int) (client int, held bool) {
	switch owner := r.f.grant[node-1].owner; owner {
	case 0:
		return 0, false
	case nobody:
		return 0, true
	default:
		return int(owner), true
	}
}
