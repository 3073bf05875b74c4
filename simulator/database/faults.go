package database

import (
	"slices"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/internal/clock"
	world "locklab/simulator/node"
)

// maxReplicas bounds the replicas of a server.
const maxReplicas = 2

type outage uint8

const (
	serving outage = iota
	down           // crashed: every request breaks its connection
	hung           // stands still: what arrives waits
)

var (
	_ world.Fallible = (*Kind)(nil)
	_ world.Failing  = DatabaseState{}
)

// Down reports whether the server has crashed and is not back.
func (s DatabaseState) Down() bool { return s.outage == down }

// Hung reports whether the server stands still.
func (s DatabaseState) Hung() bool { return s.outage == hung }

// Split is false: no old master is simulated.
func (s DatabaseState) Split() bool { return false }

// Behind reports whether a replica lacks something.
func (s DatabaseState) Behind() bool { return s.behind != 0 }

// WithoutCopies is the server without what its replicas hold.
func (s DatabaseState) WithoutCopies() world.State {
	s.replicas = [maxReplicas]uint32{}
	return s
}

// WithoutAges is the server itself: a deadline that is over has no age.
func (s DatabaseState) WithoutAges() world.State { return s }

// Hang has the server stand still for d, or for at most so long. What arrives meanwhile is executed afterwards; its clock goes on.
func (k *Kind) Hang(w world.World, _ int8, d, longest time.Duration) (why string) {
	s := k.open(w)
	defer k.group.Close(w)
	switch {
	case d <= 0:
		return "refused.hang.length"
	case s.outage != serving:
		return "refused.server.down"
	}
	s.outage, s.until = hung, clock.Later(w.Now(), longest)
	if e := s.record(history.Hang, 0); !k.config.EarlyEnd {
		e.D = d
	}
	return ""
}

// Restart crashes the server, which comes back after d with all that it has committed, and without any session.
func (k *Kind) Restart(w world.World, _ int8, d time.Duration) (why string) {
	s := k.open(w)
	defer k.group.Close(w)
	switch {
	case s.outage == down:
		return "refused.server.down.already"
	case d < 0:
		return "refused.down.negative"
	}
	s.record(history.Down, 0)
	world.HangUp(w, theServer, history.AllClients)
	s.replace(s.now().state.Committed(), disk)
	if s.outage, s.until = down, clock.Later(w.Now(), d); d == 0 {
		s.comeBack()
	}
	return ""
}

// disk in place of a replica is the server's own.
const disk = history.Disk

// comeBack ends an outage.
func (s *server) comeBack() {
	if s.outage == down {
		s.record(history.Up, 0).Note = "with what was committed"
	}
	s.outage, s.until = serving, 0
}

// resume ends an outage before its time.
func (s *server) resume() (why string) {
	if s.outage == serving || !s.kind.config.EarlyEnd {
		return "refused.outage"
	}
	was := s.outage
	s.comeBack()
	if was == hung {
		for c := int8(1); int(c) <= s.w.Clients(); c++ {
			for t, th := range s.w.Client(c).Each {
				if th.Phase == world.Asking && th.Hold > s.w.Now() && s.w.Op(c, t).Node == theServer {
					th.Hold = 0
				}
			}
		}
		s.w.ReleaseOrphans(theServer)
	}
	return ""
}

// replace has the server hold another state, in which there are no sessions. A client that waits for nothing notices that its own has ended when
// it asks for something.
func (s *server) replace(state State, source int8) {
	after := *s.now()
	for id := SessionID(1); id <= maxSessions; id++ {
		switch after.connOf(id) {
		case connOpen, connEnded:
			after.setConn(id, connEnded)
			if s.on(clientOf(id), slotOf(id)) >= 0 { // whose connection has broken
				after.setConn(id, connNone)
			}
		case connLeft:
			after.setConn(id, connNone)
		}
	}
	after.state, after.ready, after.checked = state, nil, nil
	before := s.now().leases
	s.contents = s.x.contents.ID(after)
	s.ends = [maxSessions]time.Duration{}
	for _, ch := range leaseChanges(before, s.now().leases, 0) {
		e := s.record(history.Change, 0)
		e.Key, e.Before, e.After, e.Replica = ch.before.key, ch.before.text(), ch.after.text(), source
		if ch.after.held() {
			e.Until = s.endOfLease(ch.after)
		}
	}
	s.compare()
}

// compare finds out which replicas lack something.
func (s *server) compare() {
	s.behind = 0
	for i := range s.kind.config.Replicas {
		if s.replicas[i] != s.x.committed(s.contents) {
			s.behind |= 1 << i
		}
	}
}

// HasReplica reports whether the server has that replica, from 0.
func (k *Kind) HasReplica(_ world.World, _, replica int8) bool {
	return replica >= 0 && int(replica) < k.config.Replicas
}

// Failover puts a replica, from 0, in the server's place, with the commits that it has received.
func (k *Kind) Failover(w world.World, _, replica int8) (why string) {
	if !k.HasReplica(w, theServer, replica) {
		return "refused.replica.unknown"
	}
	s := k.open(w)
	s.record(history.Failover, 0).Replica = replica
	world.HangUp(w, theServer, history.AllClients)
	s.outage, s.until = serving, 0
	s.replace(s.x.contents.At(s.replicas[replica]).state, replica)
	k.group.Close(w)
	return ""
}

// replicate brings a replica up to date.
func (s *server) replicate(replica int8) (why string) {
	switch {
	case replica < 0 || s.behind>>replica&1 == 0:
		return "refused.replica.behind"
	case s.outage != serving:
		return "refused.server.down"
	}
	s.replicas[replica] = s.x.committed(s.contents)
	s.behind &^= 1 << replica
	s.record(history.Replicate, 0).Replica = replica
	return ""
}

// CannotSplit is always so: how two masters of a database are kept apart is not simulated.
func (k *Kind) CannotSplit(_ world.World, _, _, _ int8) (why string, err error) {
	return "refused.database.split", nil
}

// Split does nothing; see CannotSplit.
func (k *Kind) Split(w world.World, c, n, replica int8) (why string, err error) {
	return k.CannotSplit(w, c, n, replica)
}

// StepClock moves the server's clock by d, and with it all deadlines in rows: one that was over is to come again if the clock is set back.
func (k *Kind) StepClock(w world.World, _ int8, d time.Duration, _ bool) (why string) {
	s := k.open(w)
	defer k.group.Close(w)
	was := clock.Millis(s.clock.Read(w.Now()))
	if why = s.clock.Jump(d); why != "" {
		return why
	}
	s.record(history.ClockStep, 0).D = d
	s.emit(s.pass(s.x, clock.Millis(s.clock.Read(w.Now()))-was), step{}, 0)
	return ""
}

// JumpsToEnd is false: a deadline in a row ends nothing by itself.
func (k *Kind) JumpsToEnd(world.World, int8, time.Duration) bool { return false }

// Keys calls yield for the keys that have a row with an owner, in order, with whether it has a deadline on the server's clock.
func (k *Kind) Keys(w world.World, _ int8, yield func(name string, expires bool)) {
	for _, l := range k.open(w).now().leases {
		if l.session == 0 {
			yield(l.key, l.until != forever)
		}
	}
}

// Command has rows be deleted by a statement that no client sent: DEL with a key, or FLUSHALL.
func (k *Kind) Command(w world.World, _ int8, note string, args ...string) (why string, err error) {
	s := k.open(w)
	defer k.group.Close(w)
	if s.outage != serving {
		return "refused.server.down", nil
	}
	state := s.now().state
	text := []string{"DELETE", "FROM locks"}
	for _, t := range k.config.Tables {
		for _, r := range state.Rows(t.Name) {
			name := r.Committed[t.column("name")].Text
			if r.Holder != 0 || len(args) > 1 && name != args[1] {
				continue
			}
			state = withoutRow(state, t.Name, name)
		}
	}
	if len(args) > 1 {
		text = append(text, "WHERE name = '"+args[1]+"'")
	}
	e := s.record(history.External, 0)
	e.Cmd, e.Reply, e.Note = text, "OK", note
	before, after := s.now().leases, *s.now()
	after.state = state
	s.contents = s.x.contents.ID(after)
	for _, ch := range leaseChanges(before, s.now().leases, 0) {
		e := s.record(history.Change, 0)
		e.Key, e.Before = ch.before.key, ch.before.text()
	}
	s.compare()
	return "", nil
}

// withoutRow is a State without the row of a key.
func withoutRow(s State, table, name string) State {
	s = s.clone()
	for i := range s.tables {
		if t := &s.tables[i]; t.def.Name == table {
			t.rows = slices.DeleteFunc(t.rows, func(r row) bool { return r.old != nil && r.old[t.def.column("name")].Text == name })
		}
	}
	s.order()
	return s
}

// Reject returns the answer to a statement that is refused with an error.
func (k *Kind) Reject(_ uint32, err string) (answer uint32, text string) {
	a := storedAnswer{Reply: Reply{Code: QueryInterrupted, Text: err}}
	return k.Executor.answers.ID(a), a.words()[0]
}

// Check returns the first thing that is wrong with contents.
func (c *Contents) Check() error {
	if c.Dialect < MariaDB || c.Dialect > PostgreSQL || c.Idle < 0 {
		return i18n.Errorf("error.database.dialect", "n", uint8(c.Dialect), "idle", c.Idle)
	}
	var names []string
	for _, t := range c.Tables {
		if isTaken(t.Name, names) {
			return i18n.Errorf("error.database.table", "table", t.Name)
		}
		names = append(names, t.Name)
		if key, what := t.check(); key != "" {
			return i18n.Errorf(key, "table", t.Name, "what", what)
		}
	}
	return nil
}

// isTaken reports whether a name is that of another thing, or none.
func isTaken(name string, others []string) bool {
	return name == "" || name != strings.ToLower(name) || slices.Contains(others, name)
}

// check returns the text that says what is wrong with a table, "": nothing, and what is it.
func (t *Table) check() (key string, what any) {
	var names []string
	for _, c := range t.Columns {
		if isTaken(c.Name, names) || c.Type < Text || c.Type > Timestamp {
			return "error.database.column", c.Name
		}
		names = append(names, c.Name)
	}
	for _, name := range slices.Concat(t.Key, []string{""})[:max(len(t.Key), 1)] {
		if at := t.column(name); at < 0 || t.Columns[at].Type == Timestamp {
			return "error.database.key", name
		}
	}
	for _, name := range []string{t.Owner, t.Until} {
		if name != "" && t.column(name) < 0 {
			return "error.database.role", name
		}
	}
	for i, row := range t.Rows {
		fits := func(c Column) bool {
			v := row[t.column(c.Name)]
			return v.Type == c.Type || v.Type == Null && !slices.Contains(t.Key, c.Name)
		}
		if len(row) != len(names) || slices.ContainsFunc(t.Columns, func(c Column) bool { return !fits(c) }) ||
			slices.ContainsFunc(t.Rows[:i], func(o []Value) bool { return compareKeys(t.key(o), t.key(row)) == 0 }) {
			return "error.database.row", i + 1
		}
	}
	return "", nil
}
