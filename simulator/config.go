package simulator

import (
	"errors"
	"fmt"
	"slices"
	"time"

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
	// Timeout of a client that waits for an answer, above 0, on its own
	// clock. 0 is go-redis's default of 3 s.
	Timeout time.Duration
	Guard   history.Guard // of the resource
	Faults  []FaultBudget // at most MaxFaults
	// ClientRetries is go-redis's MaxRetries, from 0: how often it sends a command again
	// whose connection broke or whose answer did not come, at once. A ZooKeeper's client
	// does not.
	ClientRetries int
	// Timing bounds how long things take. Without one a message takes as long as the
	// scheduler likes, and timers are exact.
	Timing *Timing
	// Servers makes them, if they are neither Redis nor a ZooKeeper.
	Servers Servers
}

// A ClientConfig is one client process.
type ClientConfig struct {
	// Program is all that the process does. It is called anew whenever the simulator
	// needs to know what follows on some history of observations, so it must keep its
	// state in local variables.
	Program func(*Client)
	// Host, if it is not nil, runs the code in place of coroutines, and Program is not
	// used. id is the client's number, and each call of open makes the connections of
	// one execution: a new connection to a server, from 1. At a ZooKeeper all clients
	// have one, or none.
	Host   func(id int, open func() func(server int) process.Wire) process.Host
	Timed  bool          // Host's code learns with every observation what its clock shows; see process.Process.SetHost
	Offset time.Duration // what its clock is ahead of true time at the start, up to 100 years either way
	PPM    int32         // microseconds that its clock gains per true second, up to 500,000 either way
	// Skews are by how much else its clock may be ahead at the start, each up to 100 years
	// either way; which, the scheduler says when the program begins. At most MaxSkews.
	Skews []time.Duration
	// Near says that its messages take no time, whatever Timing.Latency is.
	Near bool
}

// A NodeConfig is one server.
type NodeConfig struct {
	Replicas int // 0 to MaxReplicas, which Replicate brings up to date and Failover promotes
	// MinReplicas is Redis's min-replicas-to-write, up to Replicas: with fewer that
	// whose last acknowledgement is at most MaxLag old, on its own clock, the server refuses writes. It
	// hears of all but those that a split has cut it off from.
	MinReplicas int
	MaxLag      time.Duration // min-replicas-max-lag; 0: Redis's default of 10 s
	AOF         AOF           // what a crash leaves; the zero value is nothing
	Offset      time.Duration // as of a client
	PPM         int32         // as of a client
	// Session above 0 makes the server a ZooKeeper ensemble, which must be alone:
	// the time-out of the clients' sessions, on its clock. All else but PPM is for
	// a Redis.
	Session time.Duration
	// Znodes are the contents of an ensemble at the start; the zero value is only a root.
	Znodes zookeeper.State
	// Lines are the names, in histories, of the znodes at which clients queue; those that are
	// not in it go by their paths.
	Lines map[string]string
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

func (c *Config) check() error {
	switch {
	case len(c.Clients) < 1 || len(c.Clients) > MaxClients:
		return fmt.Errorf("simulator: %d clients: give 1 to %d", len(c.Clients), MaxClients)
	case len(c.Nodes) < 1 || len(c.Nodes) > MaxNodes:
		return fmt.Errorf("simulator: %d servers: give 1 to %d", len(c.Nodes), MaxNodes)
	case c.Timeout < 0:
		return fmt.Errorf("simulator: a time-out of %v: give 0 or more", c.Timeout)
	case c.ClientRetries < 0:
		return fmt.Errorf("simulator: %d retries by the clients' library: give 0 or more", c.ClientRetries)
	case c.Timing != nil && min(c.Timing.Step, c.Timing.Latency, c.Timing.Lateness) < 0:
		return fmt.Errorf("simulator: a step of %v, a latency of %v and a lateness of %v: give 0 or more", c.Timing.Step, c.Timing.Latency, c.Timing.Lateness)
	case len(c.Faults) > MaxFaults:
		return fmt.Errorf("simulator: %d kinds of fault: give at most %d", len(c.Faults), MaxFaults)
	}
	for i, client := range c.Clients {
		if client.Program == nil && client.Host == nil {
			return fmt.Errorf("simulator: client %d has no program", i+1)
		}
		if err := checkClock("client", i, client.Offset, client.PPM); err != nil {
			return err
		}
		if len(client.Skews) > MaxSkews {
			return fmt.Errorf("simulator: the clock of client %d may be off in %d ways: give at most %d", i+1, len(client.Skews), MaxSkews)
		}
		for _, skew := range client.Skews {
			if err := checkClock("client", i, client.Offset+skew, client.PPM); err != nil {
				return err
			}
		}
	}
	other := func(one ClientConfig) bool { return (one.Host == nil) != (c.Clients[0].Host == nil) }
	if c.Nodes[0].Session > 0 && slices.ContainsFunc(c.Clients, other) {
		return errors.New("simulator: a ZooKeeper, some clients whose code opens connections, and some whose does not: give all a Host, or none")
	}
	if why := c.checkZooKeeper(); why != "" {
		return fmt.Errorf("simulator: %s", why)
	}
	for i := range c.Nodes {
		if err := c.Nodes[i].check(i); err != nil {
			return err
		}
	}
	return c.checkFaults()
}

func (n *NodeConfig) check(i int) error {
	switch {
	case n.Replicas < 0 || n.Replicas > MaxReplicas:
		return fmt.Errorf("simulator: server %d has %d replicas: give 0 to %d", i+1, n.Replicas, MaxReplicas)
	case n.MinReplicas < 0 || n.MinReplicas > n.Replicas || n.MaxLag < 0:
		return fmt.Errorf("simulator: server %d has %d replicas and refuses writes with fewer than %d within %v: give 0 to %d and a time of 0 or more", i+1, n.Replicas, n.MinReplicas, n.MaxLag, n.Replicas)
	case n.AOF > Always:
		return fmt.Errorf("simulator: server %d has AOF %d: give NoAOF, EverySecond or Always", i+1, n.AOF)
	}
	return checkClock("server", i, n.Offset, n.PPM)
}

func checkClock(who string, i int, offset time.Duration, ppm int32) error {
	switch {
	case offset > clock.EndOfTime || offset < -clock.EndOfTime:
		return fmt.Errorf("simulator: the clock of %s %d is off by %v: give up to %v either way", who, i+1, offset, clock.EndOfTime)
	case ppm > clock.MaxPPM || ppm < -clock.MaxPPM:
		return fmt.Errorf("simulator: the clock of %s %d gains %d ppm: give up to %d either way", who, i+1, ppm, clock.MaxPPM)
	}
	return nil
}

// checkZooKeeper says what is wrong with a server that is one.
func (c *Config) checkZooKeeper() (why string) {
	i := slices.IndexFunc(c.Nodes, func(n NodeConfig) bool { return n.Session != 0 })
	if i < 0 {
		return ""
	}
	switch n := &c.Nodes[i]; {
	case n.Session < 0:
		return "a session of " + n.Session.String() + ": give a time-out above 0"
	case len(c.Nodes) > 1:
		return "a ZooKeeper beside other servers: it is one ensemble, give it alone"
	case n.Replicas != 0 || n.MinReplicas != 0 || n.AOF != NoAOF:
		return "a ZooKeeper with replicas or an AOF: what an ensemble does inside is not looked at, give none"
	}
	return ""
}

func (c *Config) checkFaults() error {
	for i, f := range c.Faults {
		switch {
		case f.Fault == nil:
			return fmt.Errorf("simulator: fault %d of the setup is nil", i+1)
		case f.Fault.Verb < FaultVerb:
			return fmt.Errorf("simulator: fault %s has verb %d: give one from %d on", f.Fault.Name, f.Fault.Verb, FaultVerb)
		}
		if f.Times < 0 || f.Times > 255 || f.Max < 0 {
			return fmt.Errorf("simulator: %s=%d@%v: give 0 to 255 times of no negative length", f.Fault.Name, f.Times, f.Max)
		}
		for _, g := range c.Faults[:i] {
			if f.Fault.Verb == g.Fault.Verb {
				return fmt.Errorf("simulator: fault %s is listed twice", f.Fault.Name)
			}
		}
	}
	return nil
}
