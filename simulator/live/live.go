// Package live plays a trace on real servers: on redis-servers, on a ZooKeeper or on a database. What follows
// is about redis-servers; see ZooKeeper and Database for these.
//
// # What is real
//
// The servers are redis-servers, one for each server and replica of the lab, on free ports of the loopback, in the
// folder of a Launcher. The lock's code and its go-redis are those of the lab. Each request that reaches a server in
// the trace is written to a TCP connection, as the bytes that go-redis wrote; the server's answer is
// what the client's code hears. So the code goes on with what a real Redis has said.
//
// Replicas are real replicas (REPLICAOF), behind a gate on the replication link that lets pass nothing until the trace
// says so. A failover is a SIGKILL of the master and REPLICAOF NO ONE on the replica; a split leaves the master alive;
// a crash is a SIGKILL, and the server starts again with what its append-only file holds. What a server had not fsynced
// is cut from that file, since a kill loses nothing that was written.
//
// Time is real on the servers, but faster: their time of day runs Redis.Speed times as fast as the machine's. The order
// of a trace is made by gates and never by waiting for long enough: a request is written when it is its turn; the
// servers' clock stands still at the instant that the trace has reached, until the trace goes on. That it has come
// there is asked of each server (TIME). The clock is a library that the servers preload, see realserver.Clock: keys
// expire, WAIT times out and TTLs run down by Redis's own code.
//
// # What is not real
//
// The clients are processes of the lab: their pauses, crashes, clocks and time-outs are those of the simulator, as are
// the messages that are lost, late, or answered with an error in place of a server (Reject). A server that hangs gets
// no messages. The handshake of a connection is the lab's. The protected resource is the lab's.
//
// # What is compared
//
// The lab's own server executes each request as well. Each answer is compared with it, of an error its code; and after
// each step all keys of all servers, their values, and the millisecond in which they expire. The history of the run has
// the real answers, and the keys as they were measured.
//
// Where a lease of a search ends within the last millisecond of its life (simulator.Timing), the server's clock is put
// forward by a millisecond for that moment: Redis counts whole ones. The same holds for a WAIT whose time is over.
package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/schedule"
)

// A Target is what a trace is played on: a Redis, a ZooKeeper or a Database, each for simulators of its kind.
type Target interface{ servers(p *player) servers }

// A Server is a ZooKeeper or a Database that runs, for one run after another.
type Server interface {
	Target
	Version() string // of a database, with its name
	Close()          // ends it and removes its files
}

// servers are the real servers of one run, which execute what those of the simulator do.
type servers interface {
	// start has them run and carries the simulator's requests to them.
	start() error
	// before does what has to be done before a choice happens in the lab.
	before(c simulator.Choice) error
	// after does what has happened in the lab by then, the events from first on, and compares.
	after(c simulator.Choice, first int) error
	// close ends what was started.
	close() error
}

// A Playback is a run on real servers, with what differed from the lab.
type Playback struct {
	schedule.Run
	Answers     int // that were compared
	Differences []Difference
	// Stopped is why the run ended before the trace: after a difference a choice may be impossible. Nil: it did not.
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

// Play makes the choices of a trace in a simulator, and on real servers. The
// error is about the machine, or ctx's; the Playback has what differs.
func Play(
	ctx context.Context, sim *simulator.Simulator, choices []simulator.Choice, on Target,
) (run *Playback, err error) {
	p := &player{ctx: ctx, sim: sim, run: &Playback{}}
	s := on.servers(p)
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.start(); err != nil {
		return nil, err
	}
	w := sim.NewWorld()
	p.world = &w
	for i, c := range choices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.choice = i + 1
		err := p.make(s, c)
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
	sim    *simulator.Simulator
	world  *simulator.World
	run    *Playback
	err    error // why the run cannot go on
	choice int
	now    time.Duration
}

// make makes a choice in the lab and on the servers. The error is the lab's, of a choice that is not possible.
func (p *player) make(s servers, c simulator.Choice) error {
	p.now = p.world.Now()
	if c.Verb == simulator.Pass {
		p.now += c.D
	}
	if p.fail(s.before(c)); p.err != nil {
		return nil
	}
	events, err := p.sim.Step(p.world, c)
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

// A value is what a key holds, as histories write it.
type value struct {
	text string
	// ends is the key's last millisecond on the server's clock, since the Unix epoch; lasting: it has no time to live.
	ends int64
}

const lasting = -1

// compareKeys compares all keys of a server with what it holds in the lab, and returns those that differ, in order.
func (p *player) compareKeys(server int, lab, real map[string]value) (names []string) {
	all := maps.Clone(lab)
	maps.Copy(all, real)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v, inLab := lab[name]
		w, inReal := real[name]
		if v != w || inLab != inReal {
			names = append(names, name)
			p.differ(Difference{Server: server, Key: name, Lab: keyText(v, inLab), Real: keyText(w, inReal)})
		}
	}
	return names
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
