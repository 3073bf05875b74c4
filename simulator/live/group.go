package live

import (
	"errors"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
)

// A group is one server of the lab with its replicas. All their clocks show the same.
type group struct {
	*set    // nil: it has not begun
	of      *redisServers
	config  simulator.NodeConfig
	state   clock.State
	split   int    // the replica whose place an old master has; -1: there is no split
	synced  string // a folder with what it had at its last fsync
	crashed string // the folder of the master that was killed last
}

// start has the servers run, with connections for clients.
func (g *group) start(clients int) (err error) {
	if g.set, err = g.of.Launcher.startSet(g.of.ctx, &g.config, g.inLab()); err != nil {
		return err
	}
	for _, one := range g.all() {
		err = errors.Join(err, one.prepare(clients))
	}
	return errors.Join(err, g.sync())
}

// sync keeps what a server has on disk: a crash loses what comes after.
func (g *group) sync() error {
	if g.config.AOF != simulator.EverySecond {
		return nil
	}
	g.synced = g.master.dir + "-synced"
	return copyAOF(g.master.dir, g.synced)
}

// inLab returns what the servers' clocks show in the lab.
func (g *group) inLab() time.Time { return clock.Epoch.Add(g.state.Read(g.of.now)) }

// pass lets the servers' clocks run on by d of true time, up to now.
func (g *group) pass(d time.Duration) {
	from, to := g.state.Read(g.of.now-d), g.state.Read(g.of.now)
	for _, s := range g.all() {
		s.clock.Run(clock.Epoch.Add(from), clock.Epoch.Add(to), g.of.Speed*float64(to-from)/float64(d))
	}
}

// stand sets the clocks.
func (g *group) stand(later time.Duration) {
	for _, s := range g.all() {
		s.clock.Set(g.inLab().Add(later))
	}
}

// lastMillisecond returns when a key ends that is gone at a true time, as value.ends has it.
func (g *group) lastMillisecond(until time.Duration) int64 {
	switch {
	case until == history.Forever:
		return lasting
	case g.of.early:
		return clock.Epoch.UnixMilli() + clock.Millis(g.state.Read(until))
	}
	return clock.Epoch.UnixMilli() + clock.Millis(g.state.Read(until)) - 1
}

// until returns the true time at which a key is gone.
func (g *group) until(v value) time.Duration {
	if v.ends == lasting {
		return history.Forever
	}
	return g.state.When(g.of.now, time.Duration(v.ends+1-clock.Epoch.UnixMilli())*time.Millisecond)
}

// expire has a server remove a key whose lease is over in the lab.
func (g *group) expire(s *server, key string) error {
	if !g.of.early {
		return nil
	}
	// The lease is over to the nanosecond; Redis counts whole milliseconds.
	g.stand(time.Millisecond)
	defer g.stand(0)
	return s.Exists(g.of.ctx, key).Err()
}

// down kills the master.
func (g *group) down() {
	g.crashed = g.master.dir
	g.kill()
	g.master = nil
	g.leaveMaster()
}

// kill ends the master and its connections.
func (g *group) kill() {
	g.of.hangUp(func(w *wire) bool { return w.to == g.master })
	g.master.kill()
}

// leaveMaster has the replicas leave a master that is gone.
func (g *group) leaveMaster() {
	for i, replica := range g.replicas {
		if i != g.split {
			replica.leave()
		}
	}
}

// begin starts one more server, with what is on disk in a folder.
func (g *group) begin(from string) (*server, error) {
	g.of.run.Servers++
	return g.of.Launcher.start(g.of.ctx, &g.config, g.inLab(), from)
}

// up starts a server that has crashed, with what it has on disk.
func (g *group) up() (err error) {
	from := g.crashed
	if g.config.AOF == simulator.EverySecond {
		from = g.synced
	}
	g.master, err = g.begin(from)
	return err
}

// failover puts a replica in the place of the master, which is gone. The other replicas stay
// as they are until the trace has them catch up; a new one takes the place of the promoted.
func (g *group) failover(replica int) (err error) {
	if g.master != nil {
		g.kill()
	}
	g.master = g.replicas[replica]
	if err := g.master.promote(g.of.ctx); err != nil {
		return err
	}
	g.leaveMaster()
	if g.replicas[replica], err = g.begin(""); err != nil {
		return err
	}
	if err := g.replicas[replica].catchUp(g.of.ctx, g.master); err != nil {
		return err
	}
	return errors.Join(g.countAtOnce(), g.sync())
}

// splitOff cuts the master off from its replicas and promotes one; if that is so already, it cuts off one more client.
func (g *group) splitOff(client int8, replica int) error {
	old := g.master
	if g.split >= 0 {
		g.of.hangUp(func(w *wire) bool { return w.client == client && w.to == old })
		return nil
	}
	g.of.hangUp(func(w *wire) bool { return w.client != client && w.to == old })
	for i, other := range g.replicas {
		if other.gate == nil {
			continue
		}
		other.gate.Cut() // the master does not notice
		old.cutOff = append(old.cutOff, other.gate)
		if other.gate = nil; i == replica {
			if err := other.promote(g.of.ctx); err != nil {
				return err
			}
		}
	}
	g.master, g.replicas[replica], g.split = g.replicas[replica], old, replica
	return errors.Join(g.countAtOnce(), g.sync())
}

// heal makes the old master of a split a replica of the new one.
func (g *group) heal() error {
	if g.split < 0 || g.master == nil {
		return nil // the lab says why it cannot be
	}
	old := g.replicas[g.split]
	g.of.hangUp(func(w *wire) bool { return w.to == old })
	old.closeCutOff()
	g.split = -1
	return old.catchUp(g.of.ctx, g.master)
}

// countAtOnce has the replicas of a new master follow it immediately where it counts them. They have its
// data then before the trace says so.
func (g *group) countAtOnce() (err error) {
	for i, s := range g.replicas {
		if g.config.MinReplicas > 0 && i != g.split {
			err = errors.Join(err, s.catchUp(g.of.ctx, g.master))
		}
	}
	return err
}

// countReplicas waits until a server that wants replicas has counted them, as it does once in a real second.
func (g *group) countReplicas(s *server) error {
	if g.config.MinReplicas == 0 {
		return nil
	}
	for {
		info, err := s.replication(g.of.ctx)
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
		if err := rest(g.of.ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}
