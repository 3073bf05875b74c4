package live

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/realserver"
	"locklab/simulator/redisnode"
)

// A group is one server of the lab with its replicas. All their clocks show the same.
type group struct {
	set
	*player
	all     *redisServers
	place   int // among all groups
	config  simulator.NodeConfig
	state   clock.State
	split   int                       // the replica whose place an old master has; -1: there is no split
	synced  string                    // a folder with what it had at its last fsync
	crashed string                    // the folder of the master that was killed last
	lab     map[bool]map[string]value // what the lab's master holds, and the old master (true)
	wires   map[line]*realserver.Conn
	waits   map[uint32]wait // by message
}

// A line is a connection of a client to a server.
type line struct {
	client int8
	name   string // see redisnode.Request.Conn
	to     *server
	spare  int // 1…: the others are blocked by a WAIT
}

// A wait is a WAIT that a server has not answered.
type wait struct {
	on      line
	need    int // replicas
	request redisnode.Request
}

// newGroup adds a group without servers.
func (r *redisServers) newGroup(c simulator.NodeConfig) *group {
	g := &group{
		player: r.player, all: r, place: len(r.groups), config: c, state: clock.State{Offset: c.Offset, PPM: c.PPM}, split: -1,
		lab: map[bool]map[string]value{false: {}, true: {}}, wires: map[line]*realserver.Conn{}, waits: map[uint32]wait{},
	}
	r.groups = append(r.groups, g)
	return g
}

// number returns how histories call the master, or the old one.
func (g *group) number(old bool) int {
	if old {
		return len(g.all.groups) + g.place + 1
	}
	return g.place + 1
}

// sync keeps what a server has on disk: a crash loses what comes after.
func (g *group) sync() error {
	if g.config.AOF != simulator.EverySecond {
		return nil
	}
	g.synced = g.master.dir + "-synced"
	return copyAOF(g.master.dir, g.synced)
}

// inLab returns what the server's clock shows in the lab.
func (g *group) inLab() time.Time { return clock.Epoch.Add(g.state.Read(g.now)) }

// pass lets the servers' clock run on by d of true time, up to now.
func (g *group) pass(d time.Duration) {
	from, to := g.state.Read(g.now-d), g.state.Read(g.now)
	for _, s := range g.set.all() {
		s.clock.Run(clock.Epoch.Add(from), clock.Epoch.Add(to), g.on.Speed*float64(to-from)/float64(d))
	}
}

// stand sets the clocks.
func (g *group) stand(later time.Duration) {
	for _, s := range g.set.all() {
		s.clock.Set(g.inLab().Add(later))
	}
}

// shown returns what the servers' clocks must show, which TIME tells in whole microseconds.
func (g *group) shown() time.Time { return g.inLab().Truncate(time.Microsecond) }

// expire has a server remove a key whose lease is over in the lab.
func (g *group) expire(s *server, key string) error {
	if !g.all.early {
		return nil
	}
	// The lease is over to the nanosecond; Redis counts whole milliseconds.
	g.stand(time.Millisecond)
	defer g.stand(0)
	_, err := s.do("EXISTS", key)
	return err
}

// lastMillisecond returns when a key ends that is gone at a true time, as value.ends has it.
func (g *group) lastMillisecond(until time.Duration) int64 {
	switch {
	case until == history.Forever:
		return lasting
	case g.all.early:
		return clock.Epoch.UnixMilli() + clock.Millis(g.state.Read(until))
	}
	return clock.Epoch.UnixMilli() + clock.Millis(g.state.Read(until)) - 1
}

// until returns the true time at which a key is gone.
func (g *group) until(v value) time.Duration {
	if v.ends == lasting {
		return history.Forever
	}
	return g.state.When(g.now, time.Duration(v.ends+1-clock.Epoch.UnixMilli())*time.Millisecond)
}

// down kills the master.
func (g *group) down() {
	old := g.master
	g.hangUp(func(l line) bool { return l.to == old })
	g.crashed, g.master = old.dir, nil
	old.kill()
	g.leaveMaster()
}

// leaveMaster has the replicas leave a master that is gone.
func (g *group) leaveMaster() {
	for i, replica := range g.replicas {
		if i != g.split {
			replica.leave()
		}
	}
}

// up starts a server that has crashed, with what it has on disk.
func (g *group) up() (err error) {
	from := g.crashed
	if g.config.AOF == simulator.EverySecond {
		from = g.synced
	}
	g.run.Servers++
	g.master, err = g.all.pool.server(g.ctx, &g.config, g.inLab(), from)
	return err
}

// failover puts a replica in the place of the master, which is gone. The other replicas stay
// as they are until the trace has them catch up; a new one takes the place of the promoted.
func (g *group) failover(replica int) error {
	s := g.replicas[replica]
	if err := s.promote(); err != nil {
		return err
	}
	g.master = s
	g.leaveMaster()
	g.run.Servers++
	fresh, err := g.all.pool.server(g.ctx, &g.config, g.inLab(), "")
	if err != nil {
		return err
	}
	g.replicas[replica] = fresh
	if err := fresh.catchUp(g.ctx, s); err != nil {
		return err
	}
	return errors.Join(g.countAtOnce(), g.sync())
}

// splitOff cuts the master off from its replicas and promotes one of them; or, if that is
// so already, one more client is cut off with it.
func (g *group) splitOff(client int8, replica int) error {
	old := g.master
	if g.split >= 0 {
		g.hangUp(func(l line) bool { return l.client == client && l.to == old })
		return nil
	}
	g.hangUp(func(l line) bool { return l.client != client && l.to == old })
	s := g.replicas[replica]
	for i, other := range g.replicas {
		if other.gate == nil {
			continue
		}
		other.gate.Cut() // the master does not notice
		old.cutOff = append(old.cutOff, other.gate)
		if other.gate = nil; i == replica {
			if _, err := other.do("REPLICAOF", "NO", "ONE"); err != nil {
				return err
			}
		}
	}
	g.master, g.replicas[replica], g.split = s, old, replica
	g.lab[true] = maps.Clone(g.lab[false])
	return errors.Join(g.countAtOnce(), g.sync())
}

// heal makes the old master of a split a replica of the new one.
func (g *group) heal() error {
	if g.split < 0 || g.master == nil {
		return nil // the lab says why it cannot be
	}
	old := g.replicas[g.split]
	g.hangUp(func(l line) bool { return l.to == old })
	old.closeCutOff()
	g.split = -1
	g.lab[true] = map[string]value{}
	return old.catchUp(g.ctx, g.master)
}

// countAtOnce has the replicas of a new master follow it immediately where it counts them. They have its
// data then before the trace says so.
func (g *group) countAtOnce() error {
	if g.config.MinReplicas == 0 {
		return nil
	}
	for i, s := range g.replicas {
		if i == g.split {
			continue
		}
		if err := s.catchUp(g.ctx, g.master); err != nil {
			return err
		}
	}
	return nil
}

// countReplicas waits until a server that refuses writes with too few replicas has counted
// them: it does so once in a second of the machine.
func (g *group) countReplicas(s *server) error {
	if g.config.MinReplicas == 0 {
		return nil
	}
	for {
		info, err := s.replication()
		if err != nil {
			return err
		}
		good, late := int64(0), false
		for _, p := range info.replicas {
			if p.online && p.lag <= maxLag(&g.config) {
				good++
			}
			late = late || p.lag > time.Second
		}
		if good == info.good && (!late || s.cutOff != nil) {
			return nil
		}
		if err := rest(g.ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// wire returns the connection on which a request comes.
func (g *group) wire(q redisnode.Request, s *server) (line, *realserver.Conn, error) {
	l := line{client: q.Client, name: q.Conn, to: s}
	for g.blocked(l) {
		l.spare++
	}
	if w := g.wires[l]; w != nil {
		return l, w, nil
	}
	w, err := s.connect()
	if err == nil {
		g.wires[l] = w
	}
	return l, w, err
}

// blocked reports whether a server has still to answer a WAIT on a connection.
func (g *group) blocked(l line) bool {
	for _, w := range g.waits {
		if w.on == l {
			return true
		}
	}
	return false
}

// hangUp breaks connections.
func (g *group) hangUp(which func(l line) bool) {
	maps.DeleteFunc(g.wires, func(l line, w *realserver.Conn) bool {
		if which(l) {
			w.Close()
		}
		return which(l)
	})
	maps.DeleteFunc(g.waits, func(_ uint32, w wait) bool { return which(w.on) })
}

// compareKeys compares all keys of the master, or of the old one, with what the lab's holds.
func (g *group) compareKeys(old bool, real map[string]value, first int) {
	number, keys := g.number(old), g.lab[old]
	for _, name := range differing(keys, real) {
		lab, inLab := keys[name]
		is, inReal := real[name]
		g.differ(Difference{Server: number, Key: name, Lab: keyText(lab, inLab), Real: keyText(is, inReal)})
		e := history.Event{At: g.now, Kind: history.Change, Node: number, Key: name, Before: lab.text}
		if inReal {
			e.After, e.Until = is.text, g.until(is)
		}
		g.run.Events = measured(g.run.Events, first, e)
		if keys[name] = is; !inReal {
			delete(keys, name)
		}
	}
}

// differing returns the names of the keys in which two servers differ, in order.
func differing(a, b map[string]value) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		v, inA := a[name]
		w, inB := b[name]
		return v == w && inA == inB
	})
}

// measured has the last event from first on about a key of a server tell what was measured; if
// there is none, it is a change of its own.
func measured(events []history.Event, first int, is history.Event) []history.Event {
	for i := len(events) - 1; i >= first; i-- {
		e := &events[i]
		if e.Node == is.Node && e.Key == is.Key && (e.Kind == history.Change || e.Kind == history.Expire) {
			if e.Before == is.After && e.Kind == history.Expire {
				return slices.Delete(events, i, i+1) // it lives on
			}
			e.Kind, e.After, e.Until = history.Change, is.After, is.Until
			return events
		}
	}
	return append(events, is)
}

func keyText(v value, is bool) string {
	switch {
	case !is:
		return "(nil)"
	case v.ends == lasting:
		return v.text
	}
	return fmt.Sprintf("%s until %d", v.text, v.ends)
}
