package simulator

import "locklab/simulator/internal/table"

// A LimitError is something that the simulator has no room for. Nothing is left out
// in its place: a run that meets it has no outcome, and a search that meets it is
// not complete.
type LimitError = table.LimitError
