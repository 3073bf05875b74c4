package simulator

import (
	"fmt"
	"slices"
	"time"

	"locklab/simulator/database"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
	"locklab/simulator/zookeeper"
)

// A Config is what a world starts from.
type Config struct {
	Clients []ClientConfig // 1 to MaxClients
	Nodes   []NodeConfig   // 1 to MaxNodes
	// Timeout of a client that waits for an answer, above 0, on its own clock. 0 is go-redis's default of 3 s.
	Timeout time.Duration
	Guard   history.Guard // of the resource
	Faults  []FaultBudget // at most MaxFaults
	// ClientRetries is go-redis's MaxRetries, from 0: how often it sends a command again whose connection broke or
	// whose answer did not come, at once. A ZooKeeper's client does not.
	ClientRetries int
	// Drawn, if not nil, returns a text with values as code draws them in place of names that stand for these: see
	// bubble.Drawn. Redis servers must then do the same with them, else the step ends with a *hypothesis.Refuted.
	Drawn func(text string) string
	Epoch Date // when right clocks begin
	// Timing bounds how long things take. Without it a message takes as long as the scheduler likes; timers are exact.
	Timing *Timing
	// Travel is, without a Timing, the least time that a message to or from a server takes.
	Travel time.Duration
}

// A ClientConfig is one client process.
type ClientConfig struct {
	// Program is all that the process does. It is called anew whenever the simulator needs to know what follows on some
	// history of observations, so it must keep its state in local variables.
	Program func(*Client)
	// Host, if it is not nil, runs the code in place of coroutines, and Program is not used. id is the client's number,
	// and each call of open makes the connections of one execution: a new connection to a server, from 1. At a
	// ZooKeeper or a database all clients have one, or none.
	Host  func(id int, open func() func(server int) process.Wire) process.Host
	Timed bool // Host's code learns with every observation what its clock shows; see process.Process.SetHost
	Rests bool // and looks at it only when it has rested once
	// Branches are the places at which Host's code may go on in several ways after one history; nil: that is an error.
	Branches process.Branches
	Offset   time.Duration // what its clock is ahead of true time at the start, up to 100 years either way
	PPM      int32         // microseconds that its clock gains per true second, up to 500,000 either way
	// Skews are by how much else its clock may be ahead at the start, each up to 100 years
	// either way; which, the scheduler says when the program begins. At most MaxSkews.
	Skews []time.Duration
	// List is the number of servers on its list at the start, from the first: those among which its code
	// chooses; see lock.Env.Shards. 0: it has no list.
	List int
	// Near says that its messages take no time, whatever Timing.Latency is.
	Near bool
}

// A NodeConfig is one server.
type NodeConfig struct {
	Replicas int // 0 to MaxReplicas, which Replicate brings up to date and Failover promotes
	// MinReplicas is Redis's min-replicas-to-write, up to Replicas: with fewer whose last acknowledgement is at most
	// MaxLag old, on its own clock, the server refuses writes. It hears of all but those that a split has cut off.
	MinReplicas int
	MaxLag      time.Duration // min-replicas-max-lag; 0: Redis's default of 10 s
	AOF         AOF           // what a crash leaves; the zero value is nothing
	Offset      time.Duration // as of a client
	PPM         int32         // as of a client
	// Session is the time-out of the clients' sessions, on its clock. Above 0 it makes a server without other Contents
	// a ZooKeeper ensemble, which must be alone: all else but PPM is for a Redis. A database has one or none (0).
	Session time.Duration
	// Contents are the data at the start, a value of its kind: of an ensemble a
	// [zookeeper.Contents], and of a database, which must be alone as well, a [database.Contents]. nil: nothing.
	Contents any
}

// AOF is the persistence of a server, in the words of Redis's appendfsync.
type AOF = redisnode.AOF

// The values of AOF.
const (
	NoAOF       = redisnode.NoAOF
	EverySecond = redisnode.EverySecond
	Always      = redisnode.Always
)

// A FaultBudget is a fault and how often it may be injected.
type FaultBudget struct {
	Fault *Fault
	Times int           // 0 to 255
	Max   time.Duration // longest or largest single injection; 0: any
}

// A check is the first thing that is wrong; nil: nothing so far.
type check struct{ err error }

func (k *check) wrong(is bool, format string, args ...any) {
	if is && k.err == nil {
		k.err = fmt.Errorf("simulator: "+format, args...)
	}
}

// check returns what is wrong with the config.
func (c *Config) check() error {
	var k check
	k.wrong(len(c.Clients) < 1 || len(c.Clients) > MaxClients, "%d clients: give 1 to %d", len(c.Clients), MaxClients)
	k.wrong(len(c.Nodes) < 1 || len(c.Nodes) > MaxNodes, "%d servers: give 1 to %d", len(c.Nodes), MaxNodes)
	k.wrong(c.Epoch < 0 || c.Epoch >= datesEnd,
		"clocks that begin at %d: give Unix milliseconds, up to %d", c.Epoch, datesEnd)
	k.wrong(c.Timeout < 0, "a time-out of %v: give 0 or more", c.Timeout)
	k.wrong(c.ClientRetries < 0, "%d retries by the clients' library: give 0 or more", c.ClientRetries)
	if t := c.Timing; t != nil {
		k.wrong(min(t.Step, t.Latency, t.Lateness) < 0,
			"a step of %v, a latency of %v and a lateness of %v: give 0 or more", t.Step, t.Latency, t.Lateness)
	}
	k.wrong(len(c.Faults) > MaxFaults, "%d kinds of fault: give at most %d", len(c.Faults), MaxFaults)
	for i := range c.Clients {
		k.client(i+1, &c.Clients[i])
		k.wrong(c.Clients[i].List < 0 || c.Clients[i].List > len(c.Nodes),
			"client %d has %d servers on its list: give 0 to %d", i+1, c.Clients[i].List, len(c.Nodes))
	}
	_, isDatabase := c.Nodes[0].Contents.(database.Contents)
	other := func(one ClientConfig) bool { return (one.Host == nil) != (c.Clients[0].Host == nil) }
	k.wrong(k.err == nil && (isDatabase || c.Nodes[0].Session > 0) && slices.ContainsFunc(c.Clients, other),
		"a database or a ZooKeeper, some clients whose code opens connections, and some whose does not: "+
			"give all a Host, or none")
	switch {
	case isDatabase:
		k.wrong(len(c.Nodes) > 1, "a database beside other servers: give it alone")
		k.wrong(c.Nodes[0].Session < 0, "an idle time-out of %v: give 0 or more", c.Nodes[0].Session)
	case k.err == nil:
		k.zooKeeper(c)
	}
	for i := range c.Nodes {
		k.node(i+1, &c.Nodes[i])
	}
	for i, f := range c.Faults {
		k.fault(i+1, &f, c.Faults[:i])
	}
	return k.err
}

func (k *check) client(id int, c *ClientConfig) {
	k.wrong(c.Program == nil && c.Host == nil, "client %d has no program", id)
	k.clock("client", id, c.Offset, c.PPM)
	k.wrong(len(c.Skews) > MaxSkews,
		"the clock of client %d may be off in %d ways: give at most %d", id, len(c.Skews), MaxSkews)
	for _, skew := range c.Skews {
		k.clock("client", id, c.Offset+skew, c.PPM)
	}
}

func (k *check) node(id int, n *NodeConfig) {
	k.wrong(n.Replicas < 0 || n.Replicas > MaxReplicas,
		"server %d has %d replicas: give 0 to %d", id, n.Replicas, MaxReplicas)
	k.wrong(n.MinReplicas < 0 || n.MinReplicas > n.Replicas || n.MaxLag < 0,
		"server %d has %d replicas and refuses writes with fewer than %d within %v: "+
			"give 0 to %d and a time of 0 or more",
		id, n.Replicas, n.MinReplicas, n.MaxLag, n.Replicas)
	k.wrong(n.AOF > Always, "server %d has AOF %d: give NoAOF, EverySecond or Always", id, n.AOF)
	k.clock("server", id, n.Offset, n.PPM)
}

func (k *check) clock(who string, id int, offset time.Duration, ppm int32) {
	k.wrong(offset > clock.EndOfTime || offset < -clock.EndOfTime,
		"the clock of %s %d is off by %v: give up to %v either way", who, id, offset, clock.EndOfTime)
	k.wrong(ppm > clock.MaxPPM || ppm < -clock.MaxPPM,
		"the clock of %s %d gains %d ppm: give up to %d either way", who, id, ppm, clock.MaxPPM)
}

// zooKeeper checks a server that is one.
func (k *check) zooKeeper(c *Config) {
	i := slices.IndexFunc(c.Nodes, func(n NodeConfig) bool { return n.Session != 0 })
	if i < 0 {
		return
	}
	n := &c.Nodes[i]
	_, known := n.Contents.(zookeeper.Contents)
	k.wrong(n.Contents != nil && !known, "a ZooKeeper that holds a %T: give a zookeeper.Contents", n.Contents)
	k.wrong(n.Session < 0, "a session of %v: give a time-out above 0", n.Session)
	k.wrong(len(c.Nodes) > 1, "a ZooKeeper beside other servers: it is one ensemble, give it alone")
	k.wrong(n.Replicas != 0 || n.MinReplicas != 0 || n.AOF != NoAOF,
		"a ZooKeeper with replicas or an AOF: what an ensemble does inside is not looked at, give none")
}

func (k *check) fault(place int, f *FaultBudget, before []FaultBudget) {
	if k.wrong(f.Fault == nil, "fault %d of the setup is nil", place); k.err != nil {
		return
	}
	name := f.Fault.Name
	k.wrong(f.Fault.Verb < FaultVerb, "fault %s has verb %d: give one from %d on", name, f.Fault.Verb, FaultVerb)
	k.wrong(f.Times < 0 || f.Times > 255 || f.Max < 0,
		"%s=%d@%v: give 0 to 255 times of no negative length", name, f.Times, f.Max)
	twice := func(g FaultBudget) bool { return g.Fault.Verb == f.Fault.Verb }
	k.wrong(slices.ContainsFunc(before, twice), "fault %s is listed twice", name)
}
