// Package live plays a trace on real redis-servers, and on a real ZooKeeper (PlayZooKeeper, which
// says what is real there). What follows is about redis-servers.
//
// # What is real
//
// The servers are redis-servers, one for each server and replica of the lab, on free
// ports of the loopback, in a folder that is removed in the end; with a Pool they may have
// played other runs before, and are as new. The lock's code and its
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
// Time is real on the servers, but faster: their time of day runs Options.Speed times as
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
// # Servers that somebody else runs
//
// With Options.Given nothing is started. The servers' clocks are real and cannot be set, so nothing is scaled:
// while a lease runs, true time passes as it does on the server (TIME), which is waited for; else it is skipped. A run
// is late by what its commands take. So a lease may end anywhere within the time that the request that took it may have
// arrived at, what remains of it is told within the same bounds (the client's code hears the lab's), and a lease is over when it
// is so on both. If it may have ended before a request that the lab has in time, nothing is
// decided (LateError). No key is touched but by the lock's own requests, until in the end those keys are removed that a request or the
// lab has named. Scripts stay in the server's cache.
package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/internal/clock"
	"locklab/simulator/realserver"
	"locklab/simulator/redisnode"
	"locklab/simulator/schedule"
)

// Options of a run.
type Options struct {
	// Speed is how many seconds the servers' time of day gains in one second, above 0.
	Speed float64
	// Clocks is the library of realserver.BuildClocks; not needed with a Pool.
	Clocks string
	// Pool, if it is not nil, has servers of earlier runs; else all are new, and end with the run.
	Pool *Pool
	// Given are the servers to play on, as many as the trace has, in place of new ones: they must pass
	// CheckGiven and FitsGiven, and WhyNotGiven may have no reason. Speed, Clocks and Pool play no part then.
	Given []realserver.GivenRedis
	// Progress, if it is not nil, is called after each choice, and often while a given server's time
	// passes, with the true time of the trace.
	Progress func(at time.Duration)

	meddle func(choice int, s *server) // in tests: called before each choice with the first server
}

// A Run is what happened on real servers.
type Run struct {
	schedule.Run
	Answers     int // that were compared
	Differences []Difference
	// Stopped is why the run ended before the trace: after a difference a choice may not be
	// possible any more. Nil: it did not.
	Stopped error
	Servers int           // redis-servers that ran
	Took    time.Duration // of the machine's time, from the first choice to the last
}

// A Difference is where a real server has done something else than the lab's.
type Difference struct {
	At        time.Duration // true time
	Choice    int           // which of the trace, from 1
	Server    int           // as histories number it
	Client    int           // whose request it answers; 0: none
	Cmd       []string      // the request; nil: it is about Key
	Key       string
	Lab, Real string
}

// Play makes the choices of a trace in a simulator whose servers are Redis, on real servers. The
// error is about the machine, or ctx's; of what differs the Run tells.
func Play(ctx context.Context, sim *simulator.Simulator, choices []simulator.Choice, opt Options) (run *Run, err error) {
	r := &player{ctx: ctx, opt: opt, pool: opt.Pool, run: &Run{}, wires: map[line]*realserver.Wire{}, waits: map[uint32]wait{}}
	config := sim.Config()
	r.early = config.Timing != nil
	start := r.startGiven
	if opt.Given == nil {
		start = r.start
	}
	if opt.Given == nil && r.pool == nil {
		folder, err := realserver.NewFolder()
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		r.pool = &Pool{clocks: opt.Clocks, folder: folder.Path}
	}
	defer func() { err = errors.Join(err, r.close(run)) }()
	if err := start(config.Nodes); err != nil {
		return nil, err
	}
	sim.Carry(r)
	w := sim.NewWorld()
	r.world = &w
	began := time.Now()
	for i, c := range choices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.choice = i + 1
		if opt.meddle != nil {
			opt.meddle(r.choice, r.groups[0].master)
		}
		r.prepare(w.Now(), c)
		if r.err != nil {
			return nil, i18n.Errorf("error.choice", "n", i+1, "all", len(choices), "cause", r.err)
		}
		events, err := sim.Step(&w, c)
		if err != nil {
			if len(r.run.Differences) == 0 {
				return nil, err
			}
			r.run.Stopped = err
			break
		}
		first := len(r.run.Events)
		r.run.Choices = append(r.run.Choices, c)
		r.run.Events = append(r.run.Events, events...)
		r.follow(first)
		if r.err != nil {
			return nil, i18n.Errorf("error.choice", "n", i+1, "all", len(choices), "cause", r.err)
		}
		r.progress(w.Now())
	}
	r.run.Took = time.Since(began)
	r.run.End, r.run.Horizon = w.Now(), !sim.Quiet(&w)
	return r.run, nil
}

func (r *player) progress(at time.Duration) {
	if r.opt.Progress != nil {
		r.opt.Progress(at)
	}
}

// A player is the real servers of one run.
type player struct {
	ctx    context.Context
	opt    Options
	pool   *Pool // nil: the servers are given
	run    *Run
	err    error // why the run cannot go on
	early  bool  // leases end to the nanosecond
	choice int
	world  *simulator.World
	now    time.Duration
	groups []*group
	wires  map[line]*realserver.Wire
	waits  map[uint32]wait
}

// A group is one server of the lab with its replicas, which share its clock.
type group struct {
	set
	config  simulator.NodeConfig
	real    *realClock // nil: the server is not given
	state   clock.State
	split   int                       // the replica whose place an old master has; -1: there is no split
	spoilt  bool                      // its servers are not for other runs
	synced  string                    // a folder with what it had at its last fsync
	crashed string                    // the folder of the master that was killed last
	lab     map[bool]map[string]value // what the lab's master holds, and the old master (true)
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

// number is how histories call the server of group g, or the old master in it.
func (r *player) number(g int, old bool) int {
	if old {
		return len(r.groups) + g + 1
	}
	return g + 1
}

// server is the one that a history calls number, if it runs.
func (r *player) server(number int) (g *group, s *server, old bool) {
	i := number - 1
	if old = i >= len(r.groups); old {
		i -= len(r.groups)
	}
	g = r.groups[i]
	if old {
		return g, g.replicas[g.split], old
	}
	return g, g.master, old
}

// close ends what was started, or gives it back, after a run; nil: there was an error. On servers that are
// given it removes what the run has put there.
func (r *player) close(run *Run) (err error) {
	for _, w := range r.wires {
		w.Close()
	}
	for _, g := range r.groups {
		if g.real != nil {
			err = errors.Join(err, g.clean())
			g.master.admin.Close()
			continue
		}
		r.pool.give(r.ctx, &g.set, &g.config, g.spoilt || g.split >= 0 || run == nil || run.Stopped != nil || len(run.Differences) > 0)
	}
	return err
}

// start has all servers run, side by side.
func (r *player) start(configs []simulator.NodeConfig) error {
	done := make(chan error)
	r.groups = make([]*group, len(configs))
	for i, c := range configs {
		r.run.Servers += c.Replicas + 1
		g := &group{config: c, state: clock.State{Offset: c.Offset, PPM: c.PPM}, split: -1, lab: map[bool]map[string]value{false: {}, true: {}}}
		go func() {
			s, err := r.pool.take(r.ctx, &g.config, clock.Epoch.Add(g.state.Read(0)))
			if s != nil {
				g.set, r.groups[i] = *s, g
			}
			done <- err
		}()
	}
	var err error
	for range configs {
		err = errors.Join(err, <-done)
	}
	r.groups = slices.DeleteFunc(r.groups, func(g *group) bool { return g == nil })
	for _, g := range r.groups {
		if err == nil {
			err = r.sync(g)
		}
	}
	return err
}

// startServer runs one more server of a group.
func (r *player) startServer(g *group) (*server, error) {
	r.run.Servers++
	return startServer(r.ctx, r.pool.file("server"), g.clock, &g.config)
}

// sync keeps what a server has on disk: a crash loses what comes after.
func (r *player) sync(g *group) error {
	if g.config.AOF != simulator.EverySecond || g.real != nil {
		return nil
	}
	g.synced = g.master.dir + "-synced"
	return copyAOF(g.master.dir, g.synced)
}

// fail keeps the first error.
func (r *player) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// prepare does what has to be done on the servers before the choice happens in the lab.
func (r *player) prepare(now time.Duration, c simulator.Choice) {
	r.now = now
	switch c.Verb {
	case simulator.Pass:
		r.fail(r.pass(now, c.D))
	case simulator.Replicate:
		if g := r.groups[c.Node-1]; int(c.Thread) < len(g.replicas) {
			r.fail(g.replicas[c.Thread].catchUp(r.ctx, g.master))
		} else {
			r.fail(r.sync(g))
		}
	case simulator.Heal:
		r.fail(r.heal(r.groups[c.Node-1]))
	}
}

// pass lets the servers' clocks run on by d of true time, and waits for as long as that takes.
func (r *player) pass(now, d time.Duration) error {
	r.now = now + d
	if r.opt.Given != nil {
		for _, g := range r.groups {
			if err := r.passGiven(g); err != nil {
				return err
			}
		}
		return nil
	}
	took := time.Duration(float64(d) / r.opt.Speed)
	for _, g := range r.groups {
		from, to := g.state.Read(now), g.state.Read(now+d)
		if err := g.clock.Run(clock.Epoch.Add(from), clock.Epoch.Add(to), r.opt.Speed*float64(to-from)/float64(d)); err != nil {
			return err
		}
	}
	return rest(r.ctx, took) // TIME says whether it was long enough: see compare
}

// stand sets the clock of a group.
func (r *player) stand(g *group, later time.Duration) error {
	if g.clock == nil {
		return nil
	}
	return g.clock.Set(clock.Epoch.Add(g.state.Read(r.now) + later))
}

// follow does on the servers what has happened in the lab, and compares.
func (r *player) follow(first int) {
	touched := map[int]bool{}
	for _, e := range r.run.Events[first:] {
		if e.Node > 0 {
			r.fail(r.happened(&e))
			touched[e.Node] = true
		}
		if r.err != nil {
			return
		}
	}
	passed := r.run.Choices[len(r.run.Choices)-1].Verb == simulator.Pass
	var numbers []int
	for i, g := range r.groups {
		if n := r.number(i, false); g.master != nil && (touched[n] || passed) {
			numbers = append(numbers, n)
		}
		if n := r.number(i, true); g.split >= 0 && (touched[n] || passed) {
			numbers = append(numbers, n)
		}
	}
	r.fail(r.compare(numbers, first))
}

// happened does on the servers what an event of the lab says.
func (r *player) happened(e *history.Event) error {
	g, s, old := r.server(e.Node)
	switch e.Kind {
	case history.Change:
		if e.After == "" {
			delete(g.lab[old], e.Key)
			return nil
		}
		if g.real != nil {
			g.real.touched[e.Key] = true
		}
		g.lab[old][e.Key] = value{e.After, r.lastMillisecond(g, e.Until)}
	case history.Expire:
		delete(g.lab[old], e.Key)
		if g.real != nil {
			return r.expireGiven(g, e.Key)
		}
		if r.early {
			// The lease is over to the nanosecond; Redis counts whole milliseconds.
			err := r.stand(g, time.Millisecond)
			if err == nil {
				_, err = s.do("EXISTS", e.Key)
			}
			return errors.Join(err, r.stand(g, 0))
		}
	case history.ClockStep:
		if e.Client == 0 {
			g.state.Jump(e.D) // that of the lab has jumped, too
			return r.stand(g, 0)
		}
	case history.Down:
		r.hangUp(func(l line) bool { return l.to == s })
		g.crashed, g.spoilt = s.dir, true
		s.kill()
		g.master = nil
		for i, replica := range g.replicas {
			if i != g.split {
				replica.leave()
			}
		}
	case history.Up:
		return r.up(g)
	case history.Failover:
		if s != nil {
			r.hangUp(func(l line) bool { return l.to == s })
			s.kill()
		}
		return r.failover(g, int(e.Replica))
	case history.Split:
		return r.splitOff(g, e)
	}
	return nil
}

// lastMillisecond is when a key ends that is gone at a true time, as value.ends has it.
func (r *player) lastMillisecond(g *group, until time.Duration) int64 {
	switch {
	case until == history.Forever:
		return lasting
	case r.early:
		return clock.Epoch.UnixMilli() + clock.Millis(g.state.Read(until))
	}
	return clock.Epoch.UnixMilli() + clock.Millis(g.state.Read(until)) - 1
}

// up starts a server that has crashed, with what it has on disk.
func (r *player) up(g *group) error {
	dir := r.pool.file("server")
	switch g.config.AOF {
	case simulator.Always:
		if err := copyAOF(g.crashed, dir); err != nil {
			return err
		}
	case simulator.EverySecond:
		if err := copyAOF(g.synced, dir); err != nil {
			return err
		}
	}
	r.run.Servers++
	s, err := startServer(r.ctx, dir, g.clock, &g.config)
	g.master = s
	return err
}

// hangUp breaks connections.
func (r *player) hangUp(which func(l line) bool) {
	for l, w := range r.wires {
		if which(l) {
			w.Close()
			delete(r.wires, l)
		}
	}
	maps.DeleteFunc(r.waits, func(_ uint32, w wait) bool { return which(w.on) })
}
