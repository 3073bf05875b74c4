// Package cost computes what locks cost: how often each is expected to break in a year
// (FindRates), the commands and the time of an acquisition (Count), the time after a crash in
// which no client can enter (FindRecovery), and the cost of ways to wait (FindWaiting).
//
// # Rates
//
// Nothing is sampled: the expected number of harms a year is
//
//	faults a year x holds at any moment x contended x window x long enough
//
// (Little's law gives the holds: acquisitions a second x mean length). The window is the
// share of a hold in which the fault must strike, and long enough the share of faults that
// then last until the lease has ended. Both follow from the Lease, which is measured in
// runs; that one such fault suffices, and from which length on, is what search has proved
// (study.Tolerance). Where the two disagree there is no number.
//
// The numbers are upper bounds in one respect: a client that waits asks all the time.
//
// # Prices and recovery
//
// Both are counted in runs of the lab's simulator. A
// crashMeter has one client crash at any moment and finds when another one gets in.
//
// # Waiting
//
// Clients run the locks' real code on go-redis, and the server is a real miniredis (or the
// simulator's ensemble) that runs one command at a time. Each command takes the server the
// same time; what arrives meanwhile queues. Messages take random times. Nothing goes wrong.
// A run follows from its numbers alone. The lab's simulator cannot play these runs: its
// servers answer at once and have no queue, and it has far fewer clients.
package cost
