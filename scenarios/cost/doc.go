// Package cost computes what locks cost: how often one lets two clients in, in a year (FindRates); for how long it is
// closed after a crash (FindRecovery); the commands of an acquisition (Count); and ways to wait (FindWaiting).
//
// # Leases
//
// How often a lock breaks, and for how long a crash closes it, both follow from its Lease: for how long it stays
// closed when its holder stops, by the age of the hold. MeasureLease finds that in runs of the lab's simulator.
//
// # Rates
//
// Nothing is sampled. At most so many times a year two clients are inside at once:
//
//	pauses a year of a machine x locks held at any moment x contended share x share of pauses that do harm
//
// Little's law gives the locks held: acquisitions a second x work. A pause does harm if it strikes a hold at a moment,
// and lasts for so long, that the lease ends first; that follows from the Lease. That one such pause suffices, and from
// which length on, is what search has proved (study.Tolerance). Where the two disagree there is no number.
//
// The number is an upper bound: a client that waits asks all the time, and lengths of which only percentiles are known
// are taken to be the longest. Two pauses at once are not counted.
//
// # Waiting
//
// Clients run the locks' real code on go-redis, and the server is a real miniredis (or the simulator's ensemble) that
// runs one command at a time. Each command takes the server the same time; what arrives meanwhile queues. Messages take
// random times. Nothing goes wrong. A run follows from its numbers alone. The lab's simulator cannot play these runs:
// its servers answer at once and have no queue, and it has far fewer clients.
package cost
