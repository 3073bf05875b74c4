// Package locktest searches a lock of your own: the code as it is, with any client
// library, in a go test of your repository.
//
//	func TestMyLock(t *testing.T) {
//		locktest.Check(t, locktest.Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: 10 * time.Second},
//			func(c *locktest.Client) { // one process
//				rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1})
//				defer rdb.Close()
//				m := redsync.New(goredis.NewPool(rdb)).NewMutex("k", redsync.WithExpiry(10*time.Second), redsync.WithTries(1))
//				if m.LockContext(c.Context()) != nil {
//					return
//				}
//				c.Critical(func(r *locktest.Resource) { r.Write(r.Read() + 1) })
//				m.Unlock()
//			},
//			locktest.Holds("WRONG-DEL", "DEADLOCK"), locktest.Breaks("OVERLAP", 1))
//	}
//
// [Check] visits everything that the processes can come to within the bounds: every order of messages, every fault of
// the budget at every place. It does so in lockstep, one schedule in which messages take no time, and beside that at
// every timing, with one attempt of each and then with all, as far as Bounds.Beside goes, or to the end with
// Bounds.AnyTiming; the certificate lists what may happen and what was assumed, in full with -locklab.details. What
// it does not find cannot happen there; what it finds it shows on the shortest way, with the lines of your code, and
// a flag that plays exactly that run: -locklab.replay. With -locklab.keep the witness of a failed test is kept in
// testdata/locklab and is played first from then on.
//
// What the code makes of its release, Client.Says tells the search: without it no LIE is looked for. With Bounds.Slow
// it looks for SLOW, an attempt that waits for longer, as for a hung server without a read time-out; with
// Bounds.Noisy for NOISY, more requests a second while waiting.
//
// With Clients: [Any] it proves the lock for any number of processes, each of which locks once, at any timing; the
// budget may then say crash=any. Code that views do not do for is refused with the reason: see "Any number of
// processes".
//
// [Race] plays one of the lab's races with the same code, [Races] plays all of them. The
// command locklab check runs such tests of a package and shows what they find in the
// views of the lab's own locks; -locklab.report writes it as data.
//
// # What is looked for
//
// Holds and Breaks take these words; a verdict that no claim names is not checked once there is a claim, but for
// Finds, whose claims are about all of them.
//
//   - OVERLAP: two clients are inside at once. FENCED: they are, and with Bounds.Fenced the resource has refused the late write.
//   - STALE-WRITE: the resource has accepted a write that came too late, or a job has been done twice: see Resource.Write.
//   - WRONG-DEL: a release has removed the lock of another client.
//   - LIE: a release has returned the wrong answer; of code with Client.Says.
//   - ORPHAN: a lock stands that its client has left behind by a failed acquire or release, and refuses others until it expires.
//   - DEADLOCK: no client ever gets the lock again. STARVED: none has got it in the whole run. A wait that a time to live ends is
//     neither: a wait without a deadline is what a DEADLOCK shows in.
//   - SLOW and NOISY: with Bounds.Slow and Bounds.Noisy, see there.
//
// Faults of a budget, a number of times each (crash=1,pause=2), and up to a length (pause=1@2s): crash, return (a
// crashed process starts again), pause, pause-thread, hang (the server answers nothing for a while), lose-request,
// lose-reply (the client has a time-out, or on a ZooKeeper a broken connection), delay, restart, failover, split,
// evict, flush, delete; of a ZooKeeper also expire-session. What does not apply is refused by name.
//
// In lockstep, a message takes no time, and clients ask at few moments: at once, 1.1 leases after an attempt, and
// when their code wakes. Work takes two fifths of a lease, in Resource.Write or at the end of Client.Critical; code
// that renews may take longer there: it may sleep and call its lock inside of Critical.
//
// A lock that is kept as a record, which is written again and not deleted, says by Bounds.Holder whose it is: a lease of
// Kubernetes, an item of DynamoDB, a row of ShedLock. Without that each value that is written is a lock of its writer.
//
// # What the code may do
//
// Anything that package testing/synctest carries: clocks, timers, tickers, contexts, goroutines, channels, any
// library that takes a dialer. It runs in a bubble of its own, whose clock stands still until the search says
// otherwise; its connections end in the search. What it draws by chance and sends to a Redis as a value of its own, a
// token, may come from anywhere, a package for UUIDs or math/rand/v2: each value has a name, and is searched like
// that of Client.Token. Other random numbers, such as how long it waits, are the same in each execution of a history
// if they are of crypto/rand, or of math/rand and the go.mod or the test says so:
//
//	//go:debug randseednop=0
//
// go-redis draws how long it waits before it sends a command again: switch that off
// (MaxRetries: -1) or seed it.
//
// A select with several ready cases takes one by chance. Where that makes a difference the search follows each: such
// a history is executed until 20 executions have shown no further way. So is other code that goes on in two to four
// ways, each of which it takes often. Each way costs executions: under crash=1,pause=1 a ticker that renews while its
// answers are late takes 10 to 20 s, a poll every second with a deadline of 5 s takes 30 s.
//
// # ZooKeeper
//
// Code whose first word is one of ZooKeeper's protocol has an ensemble at Client.Addr(1), in
// place of Redis servers, and Bounds.TTL is the time-out of its sessions. That is all there
// is to say of it:
//
//	dial := func(network, addr string, _ time.Duration) (net.Conn, error) { return c.Dial(c.Context(), network, addr) }
//	conn, _, err := zk.Connect([]string{c.Addr(1)}, 10*time.Second, zk.WithDialer(dial),
//		zk.WithMaxBufferSize(1<<12), zk.WithMaxConnBufferSize(1<<12)) // its usual 3 MB cost more than all else
//
// Pings are no steps of the search: the ensemble has pings of a session while its process
// lives and is not paused, its connection stands, and no request on it is held up. From
// then on its time-out runs. A connection that breaks is the code's affair: its library
// connects again after a while, finds the session ended or not, and hands in its watches.
// The ensemble has been used before: it holds what one process alone has left.
//
// # Databases
//
// Code on database/sql has the MariaDB, MySQL or PostgreSQL of Bounds.Database, at its default isolation level, and
// opens it by [Client.Connector] in place of a driver: sql.OpenDB(c.Connector(1)).
//
// The key of the lock is that of a row, with the owner and the end of its lease in the columns that database.Table
// names, or the name or the number of GET_LOCK and pg_advisory_lock. Bounds.TTL is the lease of a row that has an
// end, and of other locks the unit of time only. The session of a client that crashes or closes its connection ends;
// one whose connection breaks for the client only (lose-request, lose-reply) lasts until Contents.Idle.
//
// Package database lists the statements that there are. Any other one, a table that was not declared, and an argument
// that is no text and no integer end the test with the statement, its line, and what is understood there. A client
// has three open connections at most. A sql.Conn or sql.Tx that two goroutines use at the same time cannot be
// carried: one holds its mutex while the other waits for it. Errors have a method SQLState, and are none of a
// driver's types. A deadline of a context makes code timed, which takes many states. Values that the code draws by
// chance are the same in each execution. There is no [Race] in a database, and no locktest.Any.
//
// # Any number of processes
//
// With Bounds.Clients [Any] the views of package explore are those of one process of yours. Of its histories only
// orders are merged, unlike those of the lab's own locks; since each process runs the code once, they are few. What a
// claim says holds is proved, and what it says breaks is found with two or three processes. The verdicts are OVERLAP,
// STALE-WRITE, WRONG-DEL, ORPHAN, DEADLOCK, and LIE with Client.Says. Refused is code
//
//   - whose behaviour depends on the time of day; it may measure how long something takes, which makes many views;
//   - that calls Client.ID, or does different things after reading the values of different other processes; it may compare a value
//     with its own in a script on the server, and in the client if it ends where they differ;
//   - on a ZooKeeper, or with Bounds.Fenced;
//   - that has more than 100000 views, as long faults and several servers make them.
//
// A token lock takes 0.4 s with crash=any, 2 s with restart=1, and 40 s with pause=1.
//
// # Shares
//
// Where the tests take long, machines can divide them: with LOCKLAB_SHARD=3/16 in the
// environment a test does only the searches of the third of sixteen shares, and skips the
// others, saying so. A search is in one share, by the name of its test.
//
// # What it proves, and what not
//
// A search relies on code that does the same after the same observations. Every history is executed at least twice,
// the second time at least 25 years later and with more time passing between. Code that differs goes on by chance. If
// it does so in two to four ways, all of them are searched, as above; the first line of the certificate says so. Else
// nothing is proved: Check says where it differs, and what random schedules have found. [Sample] asks for these from
// the beginning. Code that differs only because time passed is searched with the time that it measures in its
// history, which takes more states.
//
// In a search all processes are goroutines of one. When it has ended, the histories that it has found, or 200 that
// are drawn from them (-locklab.apart), are executed again: 32 times each, at every hour, on every weekday, in every
// month and on a 29 February, and once in an operating-system process of its own, with package variables, a process
// id and a start of its own. For that the program of the test is run again, from TestMain on, with LOCKLAB_HISTORY in
// its environment and -test.run for this test; a Check that is not wanted there returns at once, and so do Sample,
// Race and Races. Code that does something else is not proved: one whose sync.Once is used up, whose token is the
// process id, or that throws a die. Nor is code that has another connection open than those of Client.Dial, on Linux.
// Where the program cannot be run again, the certificate says what processes have shared. Its first line says what is
// taken for granted all the same: no chance, no talk but through Client.Dial, no data race, one machine, and the
// number of attempts.
//
// A search ends when processors have worked for a minute, or before it uses 1 GB more than the program had, and then
// proves nothing: Bounds.MaxTime or
// -locklab.time, and Bounds.MaxBytes.
//
// Many executions are no proof that there is none that differs. Further limits:
//
//   - Code that uses its clock only to measure how long something takes is searched without the time of day; its histories are executed
//     again at other times. What it has measured since its first attempt stands in the state: at any timing one attempt of each client
//     is searched to the end, and seldom two. Timers of code that looks at its clock are exact. Where the time of day makes a difference
//     it stands in the state too, and at any timing a client then wants the lock within a lease and a half, so that time has an
//     end; the certificate says so. Sample is in lockstep.
//   - A goroutine that was to wake while its process was paused reads the instant for which
//     its timer was set. If an answer comes at that moment too, the timer is first.
//   - What code does by itself later than three leases after its last observation, while
//     it waits for something else, is not seen.
//   - Several requests that are written to one connection before the first is answered go
//     out one after the other.
//   - Clients of several servers that ask all of them at once have many orders of answers, and code observes them: redsync goes on when
//     a majority has answered. Orders after which the code does the same are taken for one as long as it goes on alike: two of them
//     are followed in all ways, each other one in one way to the end, and what differs is searched. The certificate has how many
//     were tried so. Redsync on three servers is searched to the end with crash=1: with one attempt each 25,025 states (799,042 if
//     no orders are merged), with two 366,085; at any timing, one attempt each, 2,044,725. Under pause=1 it reads its clock at too
//     many moments, and is sampled.
//   - Tokens that are drawn by chance are words of commands to a Redis, different in each execution, and only compared with each
//     other: by the code, and by servers, which execute each command with names and with values like those drawn. A token that is
//     a part of a word makes that word a token. Two processes that draw the same one, as a counter of the package does, are found when
//     histories are repeated. Where the code draws by chance what is more than that, its random numbers are the same in
//     each execution, if they can be: then they do not name the clients, and there is no symmetry.
//   - On a ZooKeeper it supports locks by ephemeral znodes, alone or in a queue; there is no
//     access control, no multi, no container and no ctime.
//   - Faults that set the wall clock of a process are refused.
//   - Connections end in the lab: no TLS, no name look-ups, no Redis Cluster or Sentinel.
//
// What cannot be carried is said within seconds, with the goroutine's stack or the line, and is never a proof: a
// client in a variable of the package, which one execution makes and another one uses (found by running the code
// alone in a process of its own, unless -locklab.apart is 0; if each call of the client's function sets the variable
// before it uses it, executions run one at a time, and nothing is refused), code that makes no connection by
// Client.Dial, a mutex that is held while a request is under way, a channel or pool that was made outside the
// client's function, a channel on which no goroutine will ever send, a command that the lab does not simulate, a
// client that never ends, a loop that asks again at once (100 times), a goroutine that goes on asking when its
// client's function has returned (100 times).
package locktest
