// Package explore answers whether a lock can break. It visits every state that any interleaving and any fault within a
// budget can reach, running the lock's own code, and returns the shortest way to each harm. [Search] builds the
// simulator of a lock and searches it; [Exhaust] searches a given simulator; [DoomOf] says how much of a run's future
// is lost after each of its steps.
//
// Read rules.go first: they are what may happen in a search. The test scenarios/search/plain_test.go makes of them the
// whole search, unreduced, in a hundred lines, and holds the fast search against it, which all that follows is about.
//
// # States
//
// A state is a world of the simulator with what the judges of exclusion remember of the way to it. A world consists of
// parts: each client, each server, and the rest (orphaned requests, the resource, the budget of faults). Equal parts
// have one number, and a state lists the numbers. A move reaches one or two parts. What it does to them is computed
// once, by the simulator's own Step on a world that holds only these parts, and then looked up (moves.go, effects.go).
//
// # Time
//
// At any timing (Options.Step) a message, a timer or a client's work takes any number of steps within the bounds of the
// simulator's Timing: time may pass by a step while something could happen, but not beyond the time by which it has to.
// In lockstep whatever is ready happens before time passes, in every order, and time passes to the next deadline; only
// a pause lets time pass a client that is ready, and it ends at a deadline of another part, or at its own bound.
//
// A key lives in [0, T), a half-open time, and so do sessions and outages. Whole steps suffice only where all bounds
// are closed (Henzinger, Manna, Pnueli 1992): of a run in real time there is then one in whole steps in which each
// thing happens at the step below or above its time, in the same order. So ends count as closed bounds: at the instant
// T at which something ends, it ends before or after whatever else happens then (simulator.Pending, simulator.End), and
// all of it before time passes. Every run in real time has its like, with any number of keys under way; tests have
// locks that need halves and thirds of a step without this. What is found may be too much: it is a run of closed
// bounds, which some real time comes close to or, where ends depend on one another, none. Orders that cannot be are
// left out where that is cheap: keys to which one command gives the same end, end together. Ends at the same instant on
// several servers come together, too, which leaves out orders that can be: those of keys that were set at different
// times. Not covered are constants with which code compares clocks, the rest of a key's life or elapsed time.
//
// Where a length is no whole number of steps, time stops at its end, and goes on by steps from there: no other instants
// in between are visited. Result.Lengths are the lengths that were met. With what code compares a clock or the rest of
// a key's life is not among them.
//
// A pause ends at any step, not only where something else is due: what the client then starts, such as a key's time to
// live, ends a fixed time later, and may have to end between two deadlines of others (TestPausesEndBetweenDeadlines has
// a lock that only such a pause breaks). Ends at deadlines alone would leave out 11 to 19 % of the states of milestones
// with one pause, and 45 % of those of redlock on five servers.
//
// Times in a state count from the present, so that a state recurs whenever the same is left to happen. So do the
// readings of clocks, and time stamps in requests, answers and data, as far as the code does the same at other times of
// day (simulator.Stamps); of stamps that show seconds, where in a second the present is belongs to the state. If the
// code does not, the true time becomes part of the state, and the search begins anew. Clients that write stamps, or
// look at the time of day, may not wait without end.
//
// # Transactions
//
// An ensemble numbers its transactions, so that no state would recur after one. In a search only transactions that
// create a znode have numbers (package hypothesis): clients learn of no others, and code that compares two czxids finds
// the same order. Code that counts with them could tell the difference.
//
// # Rest
//
// A process has one Lock for its whole life, as in production. Between two attempts it rests. A process that rests,
// with nothing else under way, forgets what has left nothing in the memory of its Lock: histories that lead to the
// same memory are one, and if it is the memory of a new Lock, all of them are (memory.go; process.Code.Rest). So a
// search grows with the number of attempts, and not with its power. Where the memory cannot be read, as that of a
// closure or a channel, the process keeps its history. A client that has come to its end forgets in any case.
//
// # Histories
//
// At any timing a client forgets what its code forgets: of histories of equally many observations, after which the code
// waits for the same, one stands for all, as far as the code does the same after all of them, whatever it observes
// then. That is taken for a hypothesis and checked on the code wherever a search comes to (process.Process.Merge). If a
// check fails, the search is restarted with refined assumptions. If there are too many histories to check, if a clock
// is read, or on an ensemble, a client forgets only in which order its threads have observed what they have, checked
// likewise, or nothing. In lockstep there are few histories, and to check those that cannot happen takes longer.
//
// # What is dropped
//
// At any timing a state does not hold what nothing that follows depends on, by the faults that the budget has left:
// time-outs that cannot come before their answer, what replicas and disks hold that will never take a server's place,
// how long ago their keys have ended, and versions of the resource that no comparison can reach any more (drop.go).
//
// # Uses
//
// What clients do with a lock besides (Scope.Uses: renew, check, enter again, wait in line, give up) are choices of the
// search: where one idles, when and how it goes on (process.Clock.Idle). If nothing but faults is left to happen, and a
// client still waits for its turn, that is a DEADLOCK; the probe's begin stands for it in a witness.
//
// # Bounds of verdicts
//
// With Scope.Slow and Scope.Noisy, SLOW and NOISY are looked for as well. Since when a client waits and the requests of
// its running second are then part of the state, with the judges. Of attempts that are longer than Slow in real time
// one is longer in whole steps as well (the two ends can be rounded apart); the requests of a second have no such like,
// so Noisy is for lockstep. Neither is for any number of attempts or clients.
//
// # Symmetry
//
// Clients that run the same code are interchangeable: a state in which c1 holds and c2 waits has the same futures, up
// to names, as one in which c2 holds and c1 waits. The search keeps one of them. Whether code and servers treat them
// alike is checked on the way; if not, the search begins anew without symmetry and says why (symmetry.go).
//
// # Shortest ways
//
// A state costs the faults injected on the way to it, then its steps; states are visited in that order, so the first
// way to a verdict has the fewest faults and, of these, the fewest steps.
//
// What follows from the states of a layer (those of the same cost) is computed by one goroutine, and ahead of it, as
// far as the tables have it, by a worker for each further core that no other search has (lookahead.go). Another enters
// it into the set of visited states, always in the same order: a search has the same result on any number of cores.
//
// # Any number of attempts
//
// [SearchAgain] searches a number of clients that make any number of attempts: one that rests and keeps nothing begins
// anew. Where servers keep sessions, the numbers of a state are the smallest ones in their order; see again.go.
//
// # Any number of clients
//
// [ProveFor] computes, from views of one client (views.go), what any number of clients and attempts can come to.
//
// # Incomplete searches
//
// A search may end early: ctx ends, MaxStates or MaxBytes is reached, or the simulator or the search runs out of
// numbers (Result.Limit says of what). Result.Complete is then false. What was found has a run, with ends as closed
// bounds (see Time); what was not visited is unknown.
package explore
