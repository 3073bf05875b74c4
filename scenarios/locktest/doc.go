// Package locktest searches a lock of your own: the code as it is, with any client library, in a go test of your
// repository. See the example of [Check].
//
// [Check] visits everything that the processes can come to within the bounds: every order of messages, every fault of
// the budget at every place. It does so in lockstep, one schedule in which messages take no time, first with one
// attempt of each process; beside that at every timing, as far as Bounds.Beside goes, to the end with Bounds.AnyTiming.
// What a complete search does not find cannot happen there; what it finds it shows on the shortest way, with the lines
// of your code, and a flag that plays that run: -locklab.replay. -locklab.details prints all that was assumed.
//
// With Clients: [Any] it proves the lock for any number of processes. [Race] plays one of the lab's races with the same
// code, [Races] plays all of them, [Sample] plays random schedules. The command locklab check runs such tests of a
// package and shows what they find in the views of the lab's own locks.
//
// # What is looked for
//
// The README lists the verdicts, the faults of a budget, and what is special on a ZooKeeper, in a database, and with
// [Any]. A release is over when the function returns, after Client.Says, or where the code sleeps for half a lease or
// longer. DEADLOCK is also a lock of a dead client that those who ask keep alive, however long they ask. A wait that a
// time to live ends is neither DEADLOCK nor STARVED: a wait without a deadline is what a DEADLOCK shows in.
//
// # What the code may do
//
// Anything that package testing/synctest carries: clocks, timers, tickers, contexts, goroutines, channels, any library
// that takes a dialer. It runs in a bubble of its own, whose clock stands still until the search says otherwise. What
// it draws by chance and sends to a Redis as a value of its own, a token, may come from anywhere: each value has a
// name. Other random numbers are the same in each execution of a history if they are of crypto/rand, or of math/rand
// and the go.mod or the test says //go:debug randseednop=0. Switch random retries off (go-redis: MaxRetries: -1).
//
// A select with several ready cases takes one by chance. Where that matters the search follows each: such a history is
// executed until 20 executions have shown no further way. So is other code that goes on in two to four ways, each of
// which it takes often. Code that differs otherwise is not proved: Check says where, and what random schedules found.
//
// # What it proves, and what not
//
// A search relies on code that does the same after the same observations. Every history is executed at least twice, of
// code that does not look at its clock at another date and hour. When the search has ended, 200 histories that are
// drawn (-locklab.apart) are executed again, and once each in an operating-system process of its own, with package
// variables, a process id and a start of its own: for that the program of the test is run again, from TestMain on, with
// LOCKLAB_HISTORY in its environment. Code that does something else there, or has another connection open than those of
// Client.Dial, is not proved. What is taken for granted all the same stands in the first line of the certificate.
//
// A search that Bounds.MaxTime or Bounds.MaxBytes ends proves nothing; what it leaves open is sampled. Further limits:
//
//   - A goroutine that was to wake while its process was paused reads the instant for which its timer was set. If an
//     answer comes at that moment too, the timer is first. What code does by itself later than three leases after its
//     last observation, while it waits for something else, is not seen.
//   - Several requests that are written to one connection before the first is answered go out one after the other.
//   - Orders of several servers' answers after which the code does the same are taken for one as long as it goes on
//     alike: two of them are followed in all ways, each other one in some ways to the end. Redsync on three servers is
//     searched to the end with crash=1; under pause=1 it reads its clock at too many moments, and is sampled.
//   - Tokens that are drawn by chance are only compared with each other. A token that is a part of a word makes that
//     word a token.
//   - Connections end in the lab: no TLS, no name look-ups, no Redis Cluster or Sentinel. Faults that set the wall
//     clock of a process are refused.
//
// What cannot be carried is said within seconds, with the goroutine's stack or the line, and is never a proof: as a
// client in a variable of the package that another execution has made, a mutex that is held while a request is under
// way, a loop that asks again at once, a goroutine that goes on asking when its client's function has returned.
package locktest
