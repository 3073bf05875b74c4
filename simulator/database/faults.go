package database

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	world "locklab/simulator/node"
)

// Condition returns what faults have made of the server. No old master is simulated.
func (s DatabaseState) Condition() world.Condition {
	return world.Condition{Down: s.outage == down, Hung: s.outage == hung, Behind: s.behind != 0}
}

// WithoutCopies is the server without what its replicas hold.
func (s DatabaseState) WithoutCopies() world.State {
	s.replicas = [maxReplicas]uint32{}
	return s
}

// WithoutAges is the server itself: a deadline that is over has no age.
func (s DatabaseState) WithoutAges() world.State { return s }

// strike has a fault happen to the server.
//
// While it hangs, what arrives is executed afterwards; its clock goes on. A replica that takes its place has the
// commits that it has received. All deadlines in rows move with its clock: one that was over is to come again if that
// is set back. A session ends as if an administrator had killed it.
func (s *server) strike(e world.Input) error {
	switch d, replica := e.Choice.D, e.Choice.Thread; e.What {
	case world.EndSession:
		id := s.kills(e.Client)
		if id == 0 {
			return world.Refuse("refused.session")
		}
		s.endSession(id)
		return nil
	case world.Hang:
		if s.outage != serving {
			return world.Refuse("refused.server.down")
		}
		s.outage, s.until = hung, clock.Later(s.w.Now(), d)
		if e := s.record(history.Hang, 0); !s.kind.x.config.EarlyEnd {
			e.D = d
		}
		return nil
	case world.Failover:
		if !s.kind.HasReplica(nil, theServer, replica) {
			return world.Refuse("refused.replica.unknown")
		}
		s.record(history.Failover, 0).Replica = replica
		s.outage, s.until = serving, 0
		s.restart(s.kind.x.contents.At(s.replicas[replica]).state, replica)
		return nil
	case world.StepClock:
		was := s.read(s.w.Now())
		if why := s.clock.Jump(d); why != "" {
			return world.Refuse(why)
		}
		s.record(history.ClockStep, 0).D = d
		s.emit(s.pass(s.kind.x, s.read(s.w.Now())-was), step{}, 0)
		return nil
	case world.Restart:
		return s.crashFor(d)
	case world.Split:
		return s.kind.CannotSplit(nil, 0, theServer, replica)
	}
	return s.command(e.Note, e.Command)
}

// crashFor crashes the server, which comes back after d with all that it has committed, and without any session.
func (s *server) crashFor(d time.Duration) error {
	switch {
	case s.outage == down:
		return world.Refuse("refused.server.down.already")
	case d < 0:
		return world.Refuse("refused.down.negative")
	}
	s.record(history.Down, 0)
	s.restart(s.now().state.Committed(), history.Disk)
	if s.outage, s.until = down, clock.Later(s.w.Now(), d); d == 0 {
		s.comeBack()
	}
	return nil
}

// comeBack ends an outage.
func (s *server) comeBack() {
	if s.outage == down {
		s.record(history.Up, 0).Note = "with what was committed"
	}
	s.outage, s.until = serving, 0
}

// resume ends an outage before its time.
func (s *server) resume() error {
	if s.outage == serving || !s.kind.x.config.EarlyEnd {
		return world.Refuse("refused.outage")
	}
	was := s.outage
	s.comeBack()
	if was == hung {
		for c := int8(1); int(c) <= s.w.Clients(); c++ {
			for t, th := range s.w.Client(c).Each {
				if th.Phase == world.Asking && s.w.Op(c, t).Node == theServer {
					th.Hold = 0
				}
			}
		}
		s.w.ReleaseOrphans(theServer)
	}
	return nil
}

// restart breaks all connections and gives the server another state, without sessions: a replica's, or its disk's.
func (s *server) restart(state State, source int8) {
	world.HangUp(s.w, theServer, history.AllClients)
	s.ends = [maxSessions]time.Duration{}
	s.hold(s.now().restarted(state, func(id SessionID) bool { return s.on(id) >= 0 }), source)
}

// hold has the server hold other contents, of a source as events of a Change have it.
func (s *server) hold(to contents, source int8) {
	eff := s.kind.x.effect(s.contents, to, 0)
	s.contents = eff.to
	for _, ch := range eff.leases {
		s.change(ch, 0).Replica = source
	}
	s.compare()
}

// compare finds out which replicas lack something.
func (s *server) compare() {
	s.behind = 0
	for i := range s.kind.x.config.Replicas {
		if s.replicas[i] != s.kind.x.committed(s.contents) {
			s.behind |= 1 << i
		}
	}
}

// HasReplica reports whether the server has that replica, from 0.
func (k *Kind) HasReplica(_ world.State, _, replica int8) bool {
	return replica >= 0 && int(replica) < k.x.config.Replicas
}

// replicate brings a replica up to date.
func (s *server) replicate(replica int8) error {
	switch {
	case replica < 0 || s.behind>>replica&1 == 0:
		return world.Refuse("refused.replica.behind")
	case s.outage != serving:
		return world.Refuse("refused.server.down")
	}
	s.replicas[replica] = s.kind.x.committed(s.contents)
	s.behind &^= 1 << replica
	s.record(history.Replicate, 0).Replica = replica
	return nil
}

// CannotSplit is always so: how two masters of a database are kept apart is not simulated.
func (k *Kind) CannotSplit(world.State, int8, int8, int8) error {
	return world.Refuse("refused.database.split")
}

// JumpsToEnd is false: a deadline in a row ends nothing by itself.
func (k *Kind) JumpsToEnd(time.Duration, world.State, time.Duration) bool { return false }

// Keys calls yield for the keys of rows with an owner, in order, with whether it has a deadline on the server's clock.
func (k *Kind) Keys(_ time.Duration, state world.State, yield func(name string, expires bool, left time.Duration)) {
	s, _ := state.(DatabaseState)
	for _, l := range k.x.contents.At(s.contents).leases {
		if l.session == 0 {
			yield(l.key, l.until != forever, clock.Never)
		}
	}
}

// command deletes rows by a statement that no client sent: DEL with a key, or FLUSHALL. Rows that are locked stay.
func (s *server) command(note string, args []string) error {
	if s.outage != serving {
		return world.Refuse("refused.server.down")
	}
	e := s.record(history.External, 0)
	if e.Cmd, e.Reply, e.Note = []string{"DELETE", "FROM locks"}, "OK", note; len(args) > 1 {
		e.Cmd = append(e.Cmd, "WHERE name = '"+args[1]+"'")
	}
	to := *s.now()
	to.state = to.state.clone()
	for ti := range to.state.tables {
		t := &to.state.tables[ti]
		t.rows = slices.DeleteFunc(t.rows, func(r row) bool {
			return s.now().state.holder(ti, r) == 0 && (len(args) < 2 || r.old[t.def.column("name")].Text == args[1])
		})
	}
	s.hold(to, 0)
	return nil
}

// Reject returns the answer to a statement that is refused with an error.
func (k *Kind) Reject(_ uint32, err string) (answer uint32, text string) {
	a := storedAnswer{Reply: Reply{Code: QueryInterrupted, Text: err}}
	return k.x.answers.ID(a), a.String()
}
