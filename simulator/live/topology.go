package live

import (
	"errors"

	"locklab/simulator/history"
)

// failover puts a replica in the place of the master, which is gone. The other replicas stay
// as they are until the trace has them catch up; a new one takes the place of the promoted.
func (r *player) failover(g *group, replica int) error {
	s := g.replicas[replica]
	if err := s.promote(); err != nil {
		return err
	}
	g.master = s
	for i, other := range g.replicas {
		if i != replica && i != g.split {
			other.leave()
		}
	}
	fresh, err := r.startServer(g)
	if err != nil {
		return err
	}
	g.replicas[replica] = fresh
	if err := fresh.catchUp(r.ctx, s); err != nil {
		return err
	}
	return errors.Join(r.heardOf(g), r.sync(g))
}

// splitOff cuts the master off from its replicas and promotes one of them; or, if that is
// so already, one more client is cut off with it.
func (r *player) splitOff(g *group, e *history.Event) error {
	client, replica := int8(e.Client), int(e.Replica)
	if g.split >= 0 {
		r.hangUp(func(l line) bool { return l.client == client && l.to == g.master })
		return nil
	}
	old := g.master
	r.hangUp(func(l line) bool { return l.client != client && l.to == old })
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
	g.master, g.replicas[replica], g.split, g.spoilt = s, old, replica, true
	g.lab[true] = g.lab[false]
	g.lab[false] = map[string]value{}
	for key, v := range g.lab[true] {
		g.lab[false][key] = v
	}
	return errors.Join(r.heardOf(g), r.sync(g))
}

// heardOf has the replicas of a new master follow it at once where it counts them. They have its
// data then before the trace says so.
func (r *player) heardOf(g *group) error {
	if g.config.MinReplicas == 0 {
		return nil
	}
	for i, s := range g.replicas {
		if i == g.split {
			continue
		}
		if err := s.catchUp(r.ctx, g.master); err != nil {
			return err
		}
	}
	return nil
}

// heal makes the old master of a split a replica of the new one.
func (r *player) heal(g *group) error {
	if g.split < 0 || g.master == nil {
		return nil // the lab says why it cannot be
	}
	old := g.replicas[g.split]
	r.hangUp(func(l line) bool { return l.to == old })
	old.closeCutOff()
	g.split = -1
	g.lab[true] = map[string]value{}
	return old.catchUp(r.ctx, g.master)
}
