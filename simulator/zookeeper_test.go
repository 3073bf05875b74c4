package simulator_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

// inLine is a client that queues and waits for the one before it.
func inLine(c *simulator.Client) {
	zk := c.ZooKeeper()
	do := func(r zookeeper.Request) (zookeeper.Reply, error) {
		reply, err := zk.Do(r)
		note(c, r.Op, reply, err)
		return reply, err
	}
	_, _ = do(zookeeper.Request{Op: zookeeper.Create, Path: "/q"})
	for range 3 {
		own, err := do(zookeeper.Request{Op: zookeeper.Create, Path: "/q/n-",
			Mode: zookeeper.Ephemeral | zookeeper.Sequential})
		if err != nil {
			continue
		}
		for {
			reply, watch, err := zk.Watch(zookeeper.Request{Op: zookeeper.GetChildren, Path: "/q"})
			note(c, reply, err)
			// its own may have gone with a session
			if err != nil || len(reply.Children) == 0 || "/q/"+slices.Min(reply.Children) >= own.Path {
				break
			}
			fired, err := watch.Wait(1500 * time.Millisecond)
			note(c, fired, err)
			if err != nil || !fired {
				break
			}
		}
		c.Clock().Sleep(500 * time.Millisecond)
		_, _ = do(zookeeper.Request{Op: zookeeper.Delete, Path: own.Path, Version: zookeeper.AnyVersion})
	}
}

// onlooker reads what inLine does.
func onlooker(c *simulator.Client) {
	zk := c.ZooKeeper()
	for range 4 {
		_, w, err := zk.Watch(zookeeper.Request{Op: zookeeper.Exists, Path: "/q"})
		note(c, err)
		c.Clock().Sleep(300 * time.Millisecond)
		if w != nil {
			fired, err := w.Wait(700 * time.Millisecond)
			note(c, fired, err)
		}
		reply, err := zk.Do(zookeeper.Request{Op: zookeeper.SetData, Path: "/q", Data: c.Token(),
			Version: zookeeper.AnyVersion})
		note(c, reply, err)
	}
}

// zoo is a setup with an ensemble and every fault that it allows.
func zoo() simulator.Config {
	return simulator.Config{
		Clients: []simulator.ClientConfig{{Program: inLine}, {Program: inLine}, {Program: onlooker}},
		Nodes:   []simulator.NodeConfig{{Session: 2 * time.Second}},
		Faults: []simulator.FaultBudget{
			{Fault: faults.Crash, Times: 1}, {Fault: faults.Pause, Times: 2}, {Fault: faults.LoseReply, Times: 2},
			{Fault: faults.LoseRequest, Times: 2}, {Fault: faults.Delay, Times: 2, Max: 3 * time.Second},
			{Fault: faults.ExpireSession, Times: 2},
			{Fault: faults.Restart, Times: 1}, {Fault: faults.Hang, Times: 1},
			{Fault: faults.NodeClock, Times: 1, Max: time.Second},
		},
	}
}

// TestThreadsNeedOrder: of two threads one waits for a watch, and the other leaves one that the same news would end.
// Whether it was left before the news was sent, or after, decides, and the threads hear of them in no order: that is
// named, and nothing is made of it.
func TestThreadsNeedOrder(t *testing.T) {
	create := func(c *simulator.Client, path string) {
		_, _ = c.ZooKeeper().Do(zookeeper.Request{Op: zookeeper.Create, Path: path})
	}
	beside := func(other func(c *simulator.Client)) func(*simulator.Client) {
		return func(c *simulator.Client) {
			_, w, _ := c.ZooKeeper().Watch(zookeeper.Request{Op: zookeeper.Exists, Path: "/a"})
			c.Parallel(func() { _, _ = w.Wait(10 * sec) }, func() { other(c) })
		}
	}
	watch := func(op zookeeper.Op, path string) func(c *simulator.Client) {
		return func(c *simulator.Client) { _, _, _ = c.ZooKeeper().Watch(zookeeper.Request{Op: op, Path: path}) }
	}
	second := func(verb simulator.Verb) simulator.Choice { return simulator.Choice{Verb: verb, Client: 1, Thread: 1} }
	for name, run := range map[string]struct {
		programs []func(*simulator.Client)
		before   []simulator.Choice
		last     simulator.Choice
	}{
		"left after the news": {
			[]func(*simulator.Client){
				beside(func(c *simulator.Client) { create(c, "/a"); watch(zookeeper.GetData, "/a")(c) })},
			[]simulator.Choice{second(simulator.Arrive), second(simulator.Answer)}, second(simulator.Arrive),
		},
		"left before it": {
			[]func(*simulator.Client){
				beside(watch(zookeeper.Exists, "/b")), func(c *simulator.Client) { create(c, "/b"); create(c, "/a") },
			},
			[]simulator.Choice{second(simulator.Arrive), start(2), arrive(2), answer(2), arrive(2)},
			simulator.Choice{Verb: simulator.Deliver, Client: 1},
		},
	} {
		config := simulator.Config{Nodes: one(simulator.NodeConfig{Session: sec})}
		for _, program := range run.programs {
			config.Clients = append(config.Clients, simulator.ClientConfig{Program: program})
		}
		s := newStage(t, config)
		s.step(append([]simulator.Choice{start(1), arrive(1), answer(1)}, run.before...)...)
		if _, err := s.sim.Step(&s.world, run.last); !errors.As(err, new(*simulator.LimitError)) {
			t.Errorf("%s: %v, want a limit", name, err)
		}
	}
}

// A driver compares the package zookeeper with the simulator: it follows the events of a
// run, drives a State of its own by the true time, with a ping of each client that is
// heard before every event, and must come to the same replies.
type driver struct {
	t        *testing.T
	state    zookeeper.State
	sessions map[int]zookeeper.SessionID
	heard    map[int]time.Duration // when the ensemble last received something from the client
	silent   map[int]bool          // nothing is heard of the client
	still    map[int]bool          // it is dead or paused
	cut      map[int]bool          // it has no connection
	held     map[int]time.Duration // until when a request of it, and all behind, is held up
	told     map[int][]string      // paths of watches that have fired and are not accounted for
	timeout  time.Duration
}

func newDriver(t *testing.T, clients int, timeout time.Duration) *driver {
	d := &driver{
		t: t, state: zookeeper.New(), timeout: timeout, sessions: map[int]zookeeper.SessionID{},
		heard: map[int]time.Duration{}, silent: map[int]bool{}, still: map[int]bool{}, cut: map[int]bool{},
		held: map[int]time.Duration{}, told: map[int][]string{},
	}
	for c := range clients {
		d.state, d.sessions[c+1] = d.state.Connect()
	}
	return d
}

// hear processes one event of a run, in order, with the choice that caused it.
func (d *driver) hear(verb simulator.Verb, e *history.Event) {
	for c, id := range d.sessions {
		if !d.silent[c] {
			d.state, _, _ = d.state.Apply(id, zookeeper.Request{Op: zookeeper.Ping})
			d.heard[c] = e.At
		}
	}
	switch c := e.Client; e.Kind {
	case history.Pause, history.Crash:
		d.silent[c], d.still[c] = true, true
		if e.Kind == history.Crash {
			d.hangUp(c)
		}
	case history.Resume:
		d.silent[c], d.still[c] = d.cut[c] || d.held[c] > e.At, false
	case history.Delay:
		if e.Note == "request" {
			d.silent[c], d.held[c] = true, e.At+e.D
		}
	case history.LoseReply, history.LoseRequest, history.Timeout:
		if e.Node > 0 {
			d.silent[c] = true
			d.hangUp(c)
		}
	case history.Reconnect:
		if ended := !d.state.Alive(d.sessions[c]); ended != (e.Note != "") {
			d.t.Fatalf("%v: c%d is told %q, and its session has ended: %t", e.At, c, e.Note, ended)
		} else if ended {
			d.state, d.sessions[c] = d.state.Connect()
			d.heard[c] = e.At
		}
		d.silent[c], d.cut[c] = false, false
	case history.SessionEnd:
		if !d.state.Alive(d.sessions[c]) || d.over(c, e.At-1) {
			d.t.Fatalf("%v: the session of c%d has ended before", e.At, c)
		}
		if verb == simulator.Pass && !d.over(c, e.At) {
			d.t.Fatalf("%v: the session of c%d ends too early", e.At, c)
		}
		var fired []zookeeper.Event
		d.state, _, fired = d.state.Close(d.sessions[c])
		d.silent[c] = true
		d.fire(fired)
	case history.Apply:
		if e.Node != 1 {
			return
		}
		var reply zookeeper.Reply
		var fired []zookeeper.Event
		r := request(e.Cmd)
		d.state, reply, fired = d.state.Apply(d.sessions[c], r)
		d.heard[c] = e.At
		d.silent[c] = d.silent[c] && (d.still[c] || d.cut[c])
		if got := replyText(r, reply); got != e.Reply {
			d.t.Fatalf("%v: c%d's %v is answered %q, and %q without a lab", e.At, c, e.Cmd, e.Reply, got)
		}
		if d.cut[c] { // late: a watch that it leaves is left on a connection that is none
			d.state = d.state.Disconnect(d.sessions[c])
		}
		d.fire(fired)
	case history.Fire:
		i := slices.Index(d.told[c], e.Key)
		if i < 0 {
			return // it has been missed, and fires at a Reconnect
		}
		d.told[c] = slices.Delete(d.told[c], i, i+1)
	}
}

// over reports whether nothing was received from a client for its session's time-out.
func (d *driver) over(c int, now time.Duration) bool { return d.heard[c]+d.timeout <= now }

func (d *driver) hangUp(c int) {
	d.cut[c], d.held[c] = true, 0
	d.state = d.state.Disconnect(d.sessions[c])
}

func (d *driver) fire(events []zookeeper.Event) {
	for _, e := range events {
		for c, id := range d.sessions {
			if id == e.Session {
				d.told[c] = append(d.told[c], e.Path)
			}
		}
	}
}

// done checks that no session has timed out and that all news were on their way.
func (d *driver) done(now time.Duration) {
	for c, id := range d.sessions {
		if d.silent[c] && d.state.Alive(id) && d.over(c, now-1) {
			d.t.Errorf("the session of c%d should have ended before %v", c, now)
		}
		if len(d.told[c]) > 0 {
			d.t.Errorf("c%d was not told of %v", c, d.told[c])
		}
	}
}

// request reads a request as histories show it.
func request(cmd []string) (r zookeeper.Request) {
	r.Op = map[string]zookeeper.Op{
		"CREATE": zookeeper.Create, "DELETE": zookeeper.Delete, "EXISTS": zookeeper.Exists,
		"SETDATA": zookeeper.SetData, "GETCHILDREN": zookeeper.GetChildren,
	}[cmd[0]]
	r.Path, r.Version = cmd[1], zookeeper.AnyVersion
	for _, arg := range cmd[2:] {
		switch arg {
		case "EPHEMERAL_SEQUENTIAL":
			r.Mode = zookeeper.Ephemeral | zookeeper.Sequential
		case "WATCH":
			r.Watch = true
		default:
			r.Data = arg
		}
	}
	return r
}

// replyText is the text of a reply in a history.
func replyText(r zookeeper.Request, reply zookeeper.Reply) string {
	switch {
	case reply.Code == zookeeper.NoNode:
		return "(error) NONODE"
	case reply.Code == zookeeper.NodeExists:
		return "(error) NODEEXISTS"
	case reply.Code != zookeeper.OK:
		return reply.Code.Error()
	case r.Op == zookeeper.Create:
		return reply.Path
	case r.Op == zookeeper.Exists:
		return "czxid " + strconv.FormatInt(reply.Stat.Czxid, 10)
	case r.Op == zookeeper.GetChildren:
		return "[" + strings.Join(reply.Children, ", ") + "]"
	}
	return "OK"
}

// The replies in whole runs of the simulator, with every fault, are those that a State
// gives by itself.
func TestZooKeeperDriven(t *testing.T) {
	sim := simulator.MustLab(t, zoo())
	applied, ended := 0, 0
	for seed := range uint64(100) {
		d := newDriver(t, 3, 2*time.Second)
		w := sim.NewWorld()
		walk(rand.New(rand.NewPCG(seed, 7)), sim, &w, 300, func(c simulator.Choice, s step) {
			for i := range s.events {
				d.hear(c.Verb, &s.events[i])
				switch s.events[i].Kind {
				case history.Apply:
					applied++
				case history.SessionEnd:
					ended++
				}
			}
		})
		d.done(w.Now())
	}
	if applied < 1000 || ended < 20 {
		t.Errorf("only %d requests and %d ends of sessions were looked at", applied, ended)
	}
}
