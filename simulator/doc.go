// Package simulator is a small world in which real lock code runs against real
// Redis commands, and in which nothing moves unless somebody chooses so.
//
// A run is a list of choices. A [World] is a value: the true time, the
// clients, the servers, the network and the protected resource. [Lab.Enabled]
// lists what may happen next and [Lab.Step] makes it happen. Whoever picks
// among the enabled choices is a scheduler, and schedulers are all that
// differs between telling a story, sampling, searching and replaying.
//
// A client is ordinary blocking Go code on an unmodified go-redis client. Its
// connections end in the lab, its clock and its tokens come from the lab, and
// so what it does next is a function of what it has observed. That function is
// kept in a table (process.go): code runs only where the table has no entry.
// A server is a miniredis, and what a command does to its data is kept in a
// table in the same way (node.go, engine.go).
//
// Or the server is a ZooKeeper ensemble, by the package zookeeper below (zoo.go).
//
// What this world leaves out: a server executes one request at a time and in
// no time; a pipeline arrives whole; connections are re-established without
// delay, except those that watch keys (watch.go) or listen to channels
// (pubsub.go), which break with their server; SELECT, patterns of channels and
// blocking commands are refused, because they would leave state on a connection
// that no snapshot holds, and so is a MULTI whose EXEC does not come in the same
// write. What else cannot be carried is refused by name:
// commands that roll dice (SPOP, math.random in a script), WAIT in a script,
// lifetimes of hash fields, streams, HyperLogLogs. The servers' clocks are read in
// whole milliseconds. A server does not learn that a client has given a
// connection up; what that watched is kept, to no effect, and so is what it listened
// to, whose messages nobody hears.
//
// Beyond Redis 7 a server knows what compares before it writes: DELEX with IFEQ
// or IFNE and SET with IFEQ, of Redis 8.4, and DELIFEQ, of Valkey 9.0 (ifequal.go).
//
// Where a miniredis answers otherwise than a Redis 7, so does the lab: the words
// of some errors; in a script, the code of a failed command's error (ERR for
// WRONGTYPE); a script that fails is not cached; between MULTI and EXEC an unknown
// command does not spoil the transaction, and a number that is none spoils it
// whole; LREM and SREM that find nothing count as writes for WATCH; TTL rounds
// down; a lifetime of more than 292 years ends at once; SET with EXAT or PXAT that
// names the present millisecond makes a key without an end. A test holds all else
// that the strategies send against a real server.
package simulator
