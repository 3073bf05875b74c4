// Package redisnode is a Redis server as a value: with its replicas, disk and clock, and the old master of a split.
//
// Commands are executed by a real miniredis (engine.go), one for all servers of a simulator: it is put into a keyspace,
// given the commands of one write, and read out again. What that did is remembered in a table ([Kind]), so that the
// engine runs once for every keyspace and write. A [State] is a comparable value that names keyspaces by their numbers
// and holds the deadlines of the keys that expire.
//
// Clients are unmodified go-redis clients ([Connections]); their connections end in this package. What lasts on a
// connection from write to write, as watched keys and subscriptions, is in the server's keyspace under its name.
//
// # What is refused
//
// A refusal is an error that ends the run and names the command: SELECT, patterns of channels and blocking commands,
// which would leave state on a connection that no keyspace holds; a MULTI whose EXEC does not come in the same write;
// WAIT in a script; lifetimes of hash fields, streams, HyperLogLogs.
//
// A LimitError ends the run where a server has more than [MaxKeys] keys with a time to live, or the data and command do
// not determine an answer (chance.go): one of KEYS, SCAN, SMEMBERS, SSCAN, SINTER, SUNION, SDIFF, HKEYS, HVALS,
// HGETALL, HSCAN, ZSCAN or a GEO search with more than one element, or between MULTI and EXEC; SPOP, SRANDMEMBER,
// HRANDFIELD, ZRANDMEMBER and RANDOMKEY; in a script math.random, math.randomseed, os.clock, collectgarbage, the text
// of a table or function, and pairs or next of a table in which several keys are no index from 1.
//
// # Where it differs from a Redis 7
//
// Beyond Redis 7 a server knows what compares before it writes: DELEX with IFEQ or
// IFNE and SET with IFEQ, of Redis 8.4, and DELIFEQ, of Valkey 9.0 (ifequal.go).
//
// Clocks are read in whole milliseconds. A server does not notice that a client has
// closed a connection: watches and subscriptions of it stay, without effect.
//
// A SCAN's cursor is 0 at once, for any number of elements. cjson.encode writes a table's keys sorted by name.
//
// Where a miniredis answers otherwise than a Redis 7, so does this package: the words of some errors; between MULTI and
// EXEC an unknown command does not abort the transaction, but an argument that should be a number and is not does; LREM
// and SREM that find nothing count as writes for WATCH; TTL rounds down; a lifetime of more than 292 years ends at
// once, and so does one of SET or GETEX with EXAT or PXAT that names the present millisecond. TestDifferential compares
// everything else that the locks send with a real server, in random programs; such deadlines, for which a clock must
// stand still, are in TestServer.
//
// Differences of pub/sub, WAIT and split brain are listed at the top of pubsub.go, wait.go and replication.go.
package redisnode
