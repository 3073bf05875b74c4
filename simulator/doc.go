// Package simulator is a small world in which real lock code runs against real Redis commands, or against a ZooKeeper
// ensemble, and in which every step is an explicit choice made by a scheduler.
//
// # A run is a list of choices
//
// A [World] is everything that is at one instant: the true time, the clients, the servers, the messages under way, the
// protected resource, and the rest of the fault budgets. It is a plain value: assign it to keep it, compare it with ==.
//
// A [Choice] is one thing that may happen next: a request reaches its server, a reply reaches its client, a sleep ends,
// true time passes, a fault is injected. [Simulator.Enabled] lists the choices of a world, and [Simulator.Step] makes
// one happen and returns what it was, as events of package history. Nothing else moves a world. Whatever picks among
// the choices is a scheduler; timed runs (package schedule), searches (package explore) and the replay of a [Trace] are
// different schedulers over the same steps.
//
// A [Simulator] holds what all worlds of one [Config] share: tables that remember what code and servers do. They make a
// step cheap and change nothing else. A world's numbers name entries of these tables, so it belongs to its Simulator.
//
// # Processes
//
// A client is ordinary blocking Go code ([ClientConfig].Program) on an unmodified go-redis client, or on a ZooKeeper
// session. Its connections end in the simulator; its clock and its tokens come from a [Client]. So what it does next is
// a function of what it has observed, and package process keeps that function in a table: code runs only for a history
// of observations that no run has had before. Code that observes anything else (the machine's clock, a global variable,
// a goroutine of its own) is found out and ends the run with a [NondeterministicError].
//
// # Nodes
//
// A node is a server as a value. Package node is the contract between a world and a kind of server; the kinds are
// redisnode (a Redis with replicas, whose commands are executed by miniredis) and zookeeper (an ensemble). The world
// does not know which kind it steps. To add one, see package node.
//
// # Faults
//
// A [Fault] adds choices while its budget lasts and acts through a [FaultContext]. Faults are in package faults; a
// fault that has no budget does not happen. The history has the events of its effects (a crash, a pause, a command),
// and where these do not tell enough one of its own before them ([FaultContext.Record]). Requests whose sender gives up
// or dies stay under way as orphaned requests and may still be executed.
//
// # What is left out
//
// A server executes one request at a time, in no time. A pipeline arrives whole. Connections are made again without
// delay, except those of which the server keeps something (watched keys, subscriptions), which break with it, and
// ZooKeeper sessions. A server does not notice that a client closes a connection or dies; only a ZooKeeper session
// times out. What redisnode refuses, and where it differs from a Redis 7, its documentation lists; so does zookeeper's.
// How the servers of an ensemble agree, and Redis Cluster and Sentinel, are left out: a failover is one step.
//
// Limits: see [MaxClients] and the constants with it. They keep a World a plain value.
package simulator
