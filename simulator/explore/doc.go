// Package explore answers whether a lock can break. It visits every state that any
// interleaving and any fault within a budget can reach, running the lock's own code,
// and returns the shortest way to each harm. [Search] builds the simulator of a lock
// and searches it; [Run] searches a given simulator; [DoomOf] says how much of a run's
// future is lost after each of its steps.
//
// # States
//
// A state is a world of the simulator with what the judges of exclusion remember of
// the way to it. A world consists of parts: each client, each server, and the rest
// (orphaned requests, the resource, the budget of faults). Equal parts get the same
// number, and a state is the list of these numbers. A move reaches one or two parts
// only. What it does to them is computed once, by the simulator's own Step on a world
// that holds only these parts, and looked up from then on (moves.go, effects.go).
//
// # Time
//
// At any timing (Options.Step) a message, a timer or a client's work takes any number of
// steps within the bounds of the simulator's Timing: time may pass by a step while
// something could happen, but not beyond the time by which it has to. In lockstep whatever
// is ready happens before time passes, in every possible order, and time passes to the next
// deadline; only a pause lets time pass a client that is ready, and it ends at a deadline
// of another part, or at its own bound.
//
// Times in a state count from the present, so that a state recurs whenever the same is
// left to happen. If any code reads a clock, the true time becomes part of the state,
// and the search begins anew; clients may not wait without end then.
//
// # Rest
//
// At any timing a client rests between two attempts, and each attempt has a Strategy of its
// own. A process that rests, with nothing else under way, forgets: all histories that lead
// there are one (process.Process.Rest). So a search grows with the number of attempts, and
// not with its power.
//
// # Symmetry
//
// Clients that run the same code are interchangeable: a state in which c1 holds and c2
// waits has the same futures, up to names, as one in which c2 holds and c1 waits. The
// search keeps one of them. Whether the clients' code and the servers do treat them alike
// is checked on the way; if not, the search begins anew without symmetry and says why
// (symmetry.go).
//
// # Partial-order reduction
//
// That a client gets a reply, or wakes, and sends its next request is independent of
// what all others do. If one client can do such a thing and nothing else, the search
// tries the moves of the others only afterwards (reduction.go). This keeps all
// verdicts, but not the number of steps to them. At any timing it applies only where it
// makes no difference when the client does so: what it must do now, and what leaves it in a
// state that time does not change.
//
// # Passes
//
// A state costs the faults injected on the way to it, then its steps; states are
// visited in that order, so the first way to a verdict has the fewest faults. A first
// pass, with reduction, visits every state and finds which verdicts there are. A second
// one, without reduction, ends as soon as it has the shortest way to each of them. The
// figures of a [Result] are those of the first pass.
//
// One goroutine computes what follows from the states of a layer (the states of the
// same cost), another one enters it into the set of visited states, always in the same
// order: a search comes to the same result on any number of cores.
//
// # Checkpoints
//
// A search that was stopped goes on from its [Checkpoint] and comes to the same result,
// number for number, as one that was not.
//
// # Incomplete searches
//
// A search may end early: ctx ends, MaxStates or MaxBytes is reached, or the simulator
// or the search runs out of numbers (Result.Limit says of what). Result.Complete is
// then false. What was found is real; what was not visited is unknown.
package explore
