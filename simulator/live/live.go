// Package live plays a trace on real redis-servers, and on a real ZooKeeper or database (see the last sections).
// What follows is about redis-servers.
//
// # What is real
//
// The servers are redis-servers, one for each server and replica of the lab, on free
// ports of the loopback, in the folder of a Pool. They may have
// played other runs before, and are as new then. The lock's code and its
// go-redis are those of the lab. Each request that reaches a server in the trace is
// written to a TCP connection, as the bytes that go-redis wrote; the server's answer is
// what the client's code hears. So the code goes on with what a real Redis has said.
//
// Replicas are real replicas (REPLICAOF), behind a gate on the replication link that lets
// pass nothing until the trace says so. A failover is a SIGKILL of the master and
// REPLICAOF NO ONE on the replica; a split leaves the master alive; a crash is a SIGKILL, and
// the server starts again with what its append-only file holds. What a server had not
// fsynced is cut from that file, since a kill loses nothing that was written.
//
// Time is real on the servers, but faster: their time of day runs Target.Speed times as
// fast as the machine's. The order of a trace is made by gates and never by waiting for long
// enough: a request is written when it is its turn; the servers' clock stands still at the
// instant that the trace has reached, until the trace goes on. That it has come there is asked
// of each server (TIME). The clock is a library that the servers preload, see
// realserver.Clock: keys expire, WAIT times out and TTLs run down by Redis's own code.
//
// # What is not real
//
// The clients are processes of the lab: their pauses, crashes, clocks and time-outs are those
// of the simulator, as are the messages that are lost, late, or answered with an error in
// place of a server (Reject). A server that hangs gets no messages. The handshake of a
// connection is the lab's. The protected resource is the lab's.
//
// # What is compared
//
// The lab's own server executes each request as well. Each answer is compared with it, of an
// error its code; and after each step all keys of all servers, their values, and the millisecond
// in which they expire. The history of the run has the real answers, and the keys as they
// were measured.
//
// Where a lease of a search ends within the last millisecond of its life (simulator.Timing),
// the server's clock is put forward by a millisecond for that moment: Redis counts whole
// ones. The same holds for a WAIT whose time is over.
//
// # A ZooKeeper
//
// With Target.ZooKeeper the trace is played on a real ZooKeeper, below a znode of its own, which is gone at the
// end. No other client may use the server meanwhile.
//
// Each client of the lab has a session, on a connection that breaks, and is made again with the
// client's watches, when the trace says so. Each request that reaches the ensemble in the trace is
// written to it, in the protocol, and the server's answer is what the lock's code hears. News of
// watches stay on their way until the trace brings them. A request whose
// connection has broken before it arrives is run on another connection of the same session.
//
// Sessions end when the trace says so: another connection takes the session over and closes
// it, which is the same transaction as its end by silence. The server's own time-out is a minute,
// and plays no part.
//
// Compared are the answers, the news of watches that reach a client, and after each step the
// znodes with their numbers.
//
// # A database
//
// With Target.Database the trace is played on a MariaDB or a PostgreSQL, in tables that are made anew.
//
// Each connection of a client of the lab is one of the usual driver (go-sql-driver/mysql, lib/pq). Each statement that reaches the
// server in the trace is executed on it, and the server's answer is what the lock's code gets. Who loses an
// answer, also that of COMMIT, loses it in the lab: the server's session stays until it is over, or ends at once if it has nothing.
//
// A session that is idle ends by the server's own time-out, which is that of the trace: wait_timeout, or
// idle_in_transaction_session_timeout and idle_session_timeout. The server waits by the clock of the trace, which also is PostgreSQL's
// time of day, and stands still within a millisecond. For the end of a session the clock is put forward by a millisecond. MariaDB's time of day is the
// machine's; its idle time has whole seconds. Else a session ends by KILL or pg_terminate_backend, or with its connection. A restart is SIGKILL, or
// an immediate shutdown of PostgreSQL, and a start with the files that are there.
//
// Statements that wait for another session are not played, nor is a failover.
//
// Compared are the answers, of an error its code, and after each step the keys that clients have: rows with an owner and with
// the end of their leases, locks by a name, and in PostgreSQL rows that are locked, with the session that has them.
package live

import (
	"context"
	"errors"
	"time"

	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
)

// A Target is what a trace is played on.
type Target struct {
	// Speed is the number of seconds that the servers' time of day gains in one second, above 0.
	Speed float64
	// Pool has the servers, new ones or those of earlier runs.
	Pool *Pool
	// ZooKeeper is the address of the server for a simulator whose server is a ZooKeeper. All of the above
	// plays no part then.
	ZooKeeper string
	// Database is the server for a simulator whose server is a database of its dialect. All of the above but ZooKeeper plays no part then.
	Database *Database

	disturb func(choice int, s servers) // in tests: called before each choice
}

// A Playback is a run on real servers, with what differed from the lab.
type Playback struct {
	schedule.Run
	Answers     int // that were compared
	Differences []Difference
	// Stopped is the reason why the run ended before the trace: after a difference a choice may not be
	// possible any more. Nil: it did not.
	Stopped error
	Servers int // redis-servers that ran, or starts of another server
}

// A Difference is where a real server has done something else than the lab's.
type Difference struct {
	At     time.Duration `json:"at_ns"`             // true time
	Choice int           `json:"choice"`            // which of the trace, from 1
	Server int           `json:"server"`            // as histories number it
	Client int           `json:"client,omitempty"`  // whose request it answers; 0: none
	Cmd    []string      `json:"command,omitempty"` // the request; nil: it is about Key
	Key    string        `json:"key,omitempty"`
	Lab    string        `json:"lab"`
	Real   string        `json:"real"`
}

// servers are the real servers of one run, which execute what those of the simulator do.
type servers interface {
	// start has them run and carries the simulator's requests to them.
	start(sim *simulator.Simulator) error
	// before does what has to be done before a choice happens in the lab.
	before(c simulator.Choice) error
	// after does what has happened in the lab by then, the events from first on, and compares.
	after(c simulator.Choice, first int) error
	// close ends what was started, or gives it back, after a run; nil: there was an error.
	close(run *Playback) error
}

// Play makes the choices of a trace in a simulator, and on real servers. The
// error is about the machine, or ctx's; the Playback has what differs.
func Play(ctx context.Context, sim *simulator.Simulator, choices []simulator.Choice, on Target) (run *Playback, err error) {
	p := &player{ctx: ctx, on: on, run: &Playback{}}
	var s servers = newRedis(p)
	switch {
	case on.ZooKeeper != "":
		s = newZooKeeper(p)
	case on.Database != nil:
		s = &databaseRun{player: p, Database: on.Database, sessions: map[place]*databaseSession{}, lab: map[string]value{}, names: map[string]bool{}}
	}
	defer func() { err = errors.Join(err, s.close(run)) }()
	if err := s.start(sim); err != nil {
		return nil, err
	}
	w := sim.NewWorld()
	p.world = &w
	for i, c := range choices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.choice = i + 1
		if on.disturb != nil {
			on.disturb(p.choice, s)
		}
		err := p.make(sim, s, c)
		if p.err != nil {
			return nil, i18n.Errorf("error.choice", "n", i+1, "all", len(choices), "cause", p.err)
		}
		if err != nil && len(p.run.Differences) == 0 {
			return nil, err
		}
		if err != nil {
			p.run.Stopped = err
			break
		}
	}
	p.run.End, p.run.Horizon = w.Now(), !sim.Quiet(&w)
	return p.run, nil
}

// A player makes the choices of one run.
type player struct {
	ctx    context.Context
	on     Target
	world  *simulator.World
	run    *Playback
	err    error // why the run cannot go on
	choice int
	now    time.Duration
}

// make makes a choice in the lab and on the servers. The error is the lab's, of a choice that is not possible.
func (p *player) make(sim *simulator.Simulator, s servers, c simulator.Choice) error {
	p.now = p.world.Now()
	if c.Verb == simulator.Pass {
		p.now += c.D
	}
	if p.fail(s.before(c)); p.err != nil {
		return nil
	}
	events, err := sim.Step(p.world, c)
	if err != nil || p.err != nil {
		return err
	}
	first := len(p.run.Events)
	p.run.Choices = append(p.run.Choices, c)
	p.run.Events = append(p.run.Events, events...)
	p.fail(s.after(c, first))
	return nil
}

// fail keeps the first error.
func (p *player) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *player) differ(d Difference) {
	d.At, d.Choice = p.now, p.choice
	p.run.Differences = append(p.run.Differences, d)
}
