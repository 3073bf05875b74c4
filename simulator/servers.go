package simulator

import (
	"cmp"
	"slices"
	"time"

	"locklab/simulator/database"
	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/redisnode"
	"locklab/simulator/zookeeper"
)

// newServers makes the servers of a simulator, whose tables are those of m: Redis servers, or what holds the contents
// of the first one: a database, or a ZooKeeper ensemble, which sessions with a time-out make of one without contents.
// All of a world are of one kind.
func newServers(c *Config, m *memo.Memo) (node.Kind, error) {
	first, wires := &c.Nodes[0], c.Clients[0].Host != nil
	at := clock.State{Offset: first.Offset, PPM: first.PPM}
	if contents, ok := first.Contents.(database.Contents); ok {
		contents.Idle = cmp.Or(contents.Idle, first.Session)
		return database.NewKind(database.Config{
			Contents: contents, Wires: wires, Replicas: first.Replicas,
			Horizon: c.rewound(), EarlyEnd: c.Timing != nil, Clock: at,
		}, m), nil
	}
	if first.Session > 0 {
		contents, _ := first.Contents.(zookeeper.Contents)
		config := zookeeper.Config{Session: first.Session, Contents: contents, Wires: wires, Clock: at}
		return zookeeper.NewKind(config, m), nil
	}
	var configs []redisnode.Config
	for _, n := range c.Nodes {
		configs = append(configs, redisnode.Config{
			Replicas: n.Replicas, MinReplicas: n.MinReplicas, MaxLag: n.MaxLag, AOF: n.AOF,
			EarlyExpiry: c.Timing != nil, EarlyEnd: c.Timing != nil, Clock: clock.State{Offset: n.Offset, PPM: n.PPM},
		})
	}
	k, err := redisnode.New(configs, m)
	if err == nil {
		k.Retries, m.Drawn = c.ClientRetries, c.Drawn
	}
	return k, err
}

// rewound is by how much clocks of servers may be set back.
func (c *Config) rewound() (d time.Duration) {
	for _, f := range c.Faults {
		if f.Fault.Rewinds && f.Max == 0 {
			return clock.EndOfTime
		}
		if f.Fault.Rewinds {
			d += time.Duration(f.Times) * f.Max
		}
	}
	return d
}

// happen has an event happen at the servers.
func (v *view) happen(e node.Input) error {
	v.s.reached = true
	return v.s.kind.Step(v, e)
}

// notice has the servers notice what happens to a client.
func (v *view) notice(what node.What, c, thread int8) error {
	return v.happen(node.Input{What: what, Client: c, Thread: thread})
}

// serversDue is the next true time at which something is due at a server.
func (s *Simulator) serversDue(w *World) time.Duration {
	next := Never
	for _, state := range &w.servers {
		if state != nil {
			next = min(next, s.kind.Due(w.now, state))
		}
	}
	return next
}

// serversEnabled appends what servers can do by themselves. What still stands at several ends together.
func (s *Simulator) serversEnabled(w *World, buf []Choice) []Choice {
	several, stands := len(s.config.Nodes) > 1, false
	for n, state := range &w.servers {
		if state == nil {
			continue
		}
		before := len(buf)
		buf = s.kind.Enabled(w.now, state, int8(n+1), buf)
		if several && slices.ContainsFunc(buf[before:], isEnd) {
			stands = true
			buf = append(buf[:before], slices.DeleteFunc(buf[before:], isEnd)...)
		}
	}
	if stands {
		buf = append(buf, Choice{Verb: End})
	}
	return buf
}

func isEnd(c Choice) bool { return c.Verb == End }

// endTogether ends what still stands at all servers.
func (v *view) endTogether() error {
	for n, state := range &v.w.servers {
		if state != nil && slices.ContainsFunc(v.s.kind.Enabled(v.w.now, state, int8(n+1), nil), isEnd) {
			return v.happen(node.Input{What: node.Settled})
		}
	}
	return node.Refuse("refused.nothing.ends")
}
