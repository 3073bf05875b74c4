package faults_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

const sec = time.Second

// A stage is a world.
type stage struct {
	sim   *simulator.Simulator
	world simulator.World
}

// newStage makes one of the stages with a budget of faults, in which the first clients have begun.
func newStage(t *testing.T, name, budget string) *stage {
	t.Helper()
	stocked := name == "stocked" // as redis, and the first client has stored its keys
	if stocked {
		name = "redis"
	}
	at := stages[strings.TrimSuffix(name, " at any timing")]
	config := at.config()
	if strings.HasSuffix(name, " at any timing") {
		config.Timing = &simulator.Timing{Step: at.step, Lateness: sec}
	}
	var err error
	if config.Faults, err = faults.Budget(budget).Parse(); err != nil {
		t.Fatal(err)
	}
	s := &stage{}
	if s.sim, err = simulator.New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.sim.Close)
	s.world = s.sim.NewWorld()
	for c := range at.begun {
		s.step(t, simulator.Choice{Verb: simulator.Start, Client: int8(c + 1)})
	}
	answers := at.answers
	if stocked {
		answers = 3
	}
	for range answers {
		s.step(t, simulator.Choice{Verb: simulator.Arrive, Client: 1})
		s.step(t, simulator.Choice{Verb: simulator.Answer, Client: 1})
	}
	return s
}

// stages are worlds of up to three clients.
var stages = map[string]struct {
	begun   int           // so many clients, from the first
	answers int           // that the first has had
	step    time.Duration // at any timing
	config  func() simulator.Config
}{
	// The first client is asking, the second sleeps, the third's program has not begun.
	// One server of two has a replica.
	"redis": {2, 0, sec, func() simulator.Config { return on(nodes(1, 0), pinger, sleeper, idle) }},
	"zookeeper": {2, 0, sec, func() simulator.Config {
		return on([]simulator.NodeConfig{{Session: 9 * sec}}, queuer, sleeper, idle)
	}},
	"five":     {2, 0, sec, func() simulator.Config { return on(nodes(1, 1, 1, 1, 1), pinger, sleeper) }},
	"keys":     {2, 2, 3 * sec, func() simulator.Config { return on(nodes(1), manyKeys, sleeper) }},
	"pipeline": {0, 0, sec, func() simulator.Config { return on(nodes(0), pipeline) }},
	"threads":  {1, 0, sec, func() simulator.Config { return on(nodes(0), threaded(false), idle) }},
	"stopping": {1, 0, sec, func() simulator.Config { return on(nodes(0), threaded(true), idle) }},
	"lists": {0, 0, sec, func() simulator.Config {
		c := on(nodes(0, 0, 0), reader, reader, reader)
		c.Clients[2].List = 0
		return c
	}},
}

// on are clients that have two servers on their lists.
func on(nodes []simulator.NodeConfig, programs ...func(*simulator.Client)) (c simulator.Config) {
	for _, p := range programs {
		c.Clients = append(c.Clients, simulator.ClientConfig{Program: p, List: min(2, len(nodes))})
	}
	c.Nodes = nodes
	return c
}

// nodes are servers with so many replicas.
func nodes(replicas ...int) (all []simulator.NodeConfig) {
	for _, n := range replicas {
		all = append(all, simulator.NodeConfig{Replicas: n})
	}
	return all
}

func idle(*simulator.Client) {}

func sleeper(c *simulator.Client) { c.Clock().Sleep(time.Hour) }

// pinger asks for ever; a second thread of it sleeps. Its second and third request
// leave two keys, of which the second has a time to live.
func pinger(c *simulator.Client) {
	c.Clock().AfterFunc(time.Hour, func() {})
	ctx := context.Background()
	_ = c.Redis(1).Ping(ctx).Err()
	_ = c.Redis(1).Set(ctx, "a", "x", 0).Err()
	_ = c.Redis(1).Set(ctx, "b", "x", sec).Err()
	for {
		_ = c.Redis(1).Ping(ctx).Err() // what becomes of it is the test's choice
	}
}

// manyKeys stores one key more than a choice can name, and then one that ends after three seconds.
func manyKeys(c *simulator.Client) {
	pairs := []any{}
	for i := range 16 {
		pairs = append(pairs, fmt.Sprintf("k%02d", i), "x")
	}
	_ = c.Redis(1).MSet(context.Background(), pairs...).Err()
	_ = c.Redis(1).Set(context.Background(), "z", "x", 3*sec).Err()
	c.Clock().Sleep(time.Hour)
}

// queuer goes to the end of a line, again and again.
func queuer(c *simulator.Client) {
	r := zookeeper.Request{Op: zookeeper.Create, Path: "/n-", Mode: zookeeper.Ephemeral | zookeeper.Sequential}
	for {
		_, _ = c.ZooKeeper().Do(r)
	}
}

// pipeline sends two commands at once, then one, and tells what it got.
func pipeline(c *simulator.Client) {
	pipe := c.Redis(1).Pipeline()
	pipe.Incr(context.Background(), "n")
	pipe.Incr(context.Background(), "n")
	cmds, _ := pipe.Exec(context.Background())
	for _, cmd := range cmds {
		c.Record(history.Event{Kind: history.Refuse, Note: cmd.Err().Error()[:4]})
	}
	c.Record(history.Event{Kind: history.Refuse, Note: c.Redis(1).Incr(context.Background(), "n").String()})
}

// threaded sleeps for three seconds in its main thread; a timer of it asks after two, and is
// stopped after the first sleep if stops is true.
func threaded(stops bool) func(*simulator.Client) {
	return func(c *simulator.Client) {
		timer := c.Clock().AfterFunc(2*sec, func() { _ = c.Redis(1).Ping(context.Background()).Err() })
		c.Clock().Sleep(3 * sec)
		if stops {
			timer.Stop()
		}
		c.Clock().Sleep(time.Hour)
	}
}

// reader tells its list of servers, every second.
func reader(c *simulator.Client) {
	for {
		c.Record(history.Event{Kind: history.Refuse, Note: fmt.Sprint(c.Shards())})
		c.Clock().Sleep(sec)
	}
}

func (s *stage) step(t *testing.T, c simulator.Choice) []history.Event {
	t.Helper()
	events, err := s.sim.Step(&s.world, c)
	if err != nil {
		t.Fatalf("%s: %v", s.sim.Describe(c), err)
	}
	return events
}

// choices are the faults that can be injected.
func (s *stage) choices() (cs []simulator.Choice) {
	for _, c := range s.sim.Enabled(&s.world, nil) {
		if c.Verb >= simulator.FaultVerb {
			cs = append(cs, c)
		}
	}
	return cs
}

// told does what a line says, and returns what is told of it.
func (s *stage) told(t *testing.T, line string) string {
	var all []string
	switch line {
	case "can":
		for _, c := range s.choices() {
			all = append(all, s.sim.Describe(c))
		}
		if n := len(all); n > 8 {
			return fmt.Sprintf("%d: %s … %s", n, all[0], all[n-1])
		}
		return strings.Join(all, ", ")
	case "due":
		if at := s.sim.NextDeadline(&s.world); at != simulator.Never {
			return at.String()
		}
		return "never"
	}
	before := s.world
	events, err := s.sim.Step(&s.world, choice(t, line))
	if not := (*simulator.NotEnabledError)(nil); errors.As(err, &not) {
		if s.world != before {
			t.Errorf("%s is refused and changes the world", line)
		}
		return "no: " + strings.TrimPrefix(not.Why.Key, "refused.")
	}
	if limit := (*simulator.LimitError)(nil); errors.As(err, &limit) { // of the lab's: it could happen in the world
		return "limit: " + limit.What.Key
	} else if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	for _, e := range events {
		told := e.Name()
		for _, more := range []string{e.Note, e.Reply} {
			if more, _, _ = strings.Cut(strings.TrimPrefix(more, "(error) "), " Redis"); more != "" {
				told += " (" + more + ")"
			}
		}
		all = append(all, told)
	}
	return strings.Join(all, ", ")
}

// choice reads a choice as Simulator.Describe writes it.
func choice(t *testing.T, line string) (c simulator.Choice) {
	words := strings.Fields(line)
	verb, thread, _ := strings.Cut(words[0], ".")
	number := func(text string) int8 {
		n, err := strconv.Atoi(text)
		if err != nil && text != "" {
			t.Fatal(line, err)
		}
		return int8(n)
	}
	if f, err := faults.ByName(verb); err == nil {
		c.Verb = f.Verb
	}
	for v := range simulator.FaultVerb {
		if (simulator.Choice{Verb: v}).String() == verb {
			c.Verb = v
		}
	}
	c.Thread = number(thread)
	for _, word := range words[1:] {
		switch {
		case word[0] == 'c':
			client, thread, _ := strings.Cut(word[1:], ".")
			c.Client, c.Thread = number(client), number(thread)
		case word[0] == 'n':
			c.Node = number(word[1:])
		default:
			d, err := time.ParseDuration(word)
			if err != nil {
				t.Fatal(line, err)
			}
			c.D = d
		}
	}
	return c
}

// TestStories: the lines are choices, each with what is told of it, or with why it cannot be made. "can" lists the
// faults that can be injected, and "due" is when the next thing is due.
func TestStories(t *testing.T) {
	for _, story := range stories {
		t.Run(story.what, func(t *testing.T) {
			s := newStage(t, story.stage, story.budget)
			for line := range strings.Lines(strings.TrimSpace(story.lines)) {
				line, want, _ := strings.Cut(strings.TrimSpace(line), " -> ")
				if got := s.told(t, line); got != want {
					t.Errorf("%s -> %s\nwant %s", line, got, want)
				}
			}
		})
	}
}

var stories = []struct{ what, stage, budget, lines string }{
	{"a crash", "redis", "crash=2", `
		can -> crash c1, crash c2
		crash c1 -> crash
		can -> crash c2
		crash c1 -> no: client.dead
		crash c4 -> no: client.unknown`},
	{"a pause", "redis", "pause=2@5s", `
		can -> pause c1, pause c1.1, pause c2
		pause c2 6s -> no: budget.size
		pause c1 -1s -> no: pause.negative
		pause c2 3s -> pause
		due -> 3s
		pause c2 -> no: client.paused.already
		can -> pause c1, pause c1.1`},
	{"a pause without a length ends when somebody ends it, or at the longest", "redis", "pause=1@5s,crash=1", `
		crash c1 -> crash
		pause c2 -> pause
		due -> 5s
		resume c2 -> resume
		due -> 1h0m0s`},
	{"and without a bound only so", "redis", "pause=1,crash=1", `
		crash c1 -> crash
		pause c2 -> pause
		due -> never
		resume c2 -> resume
		due -> 1h0m0s`},
	{"a lost request", "redis", "lose-request=2", `
		can -> lose-request c1
		lose-request c1.99 -> no: message
		lose-request c1 -> lose-request
		lose-request c1 -> no: message
		due -> 3s`},
	{"a lost reply", "redis", "lose-reply=2", `
		can
		arrive c1 -> apply (PONG)
		can -> lose-reply c1
		lose-reply c1 -> lose-reply
		lose-reply c2.1 -> no: message
		due -> 3s`},
	{"a jump of a client's clock leaves its timers as they are", "threads", "client-clock=2@5s", `
		can -> client-clock c1 5s, client-clock c1 -5s, client-clock c2 5s, client-clock c2 -5s
		client-clock c1 5.000000001s -> no: budget.size
		client-clock c1 -5.000000001s -> no: budget.size
		client-clock c1 -> no: jump.length
		client-clock c1 -1s -> clock-step
		start c2
		due -> 2s`},
	{"a jump of a server's clock", "redis", "node-clock=2@5s", `
		can -> node-clock n1 5s, node-clock n1 -5s, node-clock n2 5s, node-clock n2 -5s
		node-clock n1 6s -> no: budget.size
		node-clock n1 -> no: jump.length
		node-clock n2 5s -> clock-step`},
	{"a restart", "redis", "restart=2", `
		can -> restart n1, restart n2
		restart n1 -> down, up (empty)
		answer c1 -> broken, send`},
	{"a server that is down for a while", "redis", "restart=2@5s", `
		can -> restart n1 5s, restart n2 5s
		restart n1 3s -> down
		restart n1 1s -> no: server.down.already
		restart n2 6s -> no: budget.size
		restart n2 -1s -> no: down.negative
		due -> 3s
		can -> restart n2 5s`},
	{"a failover", "redis", "failover=2", `
		can -> failover n1
		failover n2 -> no: replica.unknown
		failover n1 -> failover
		answer c1 -> broken, send`},
	{"a split", "redis", "split=2", `
		can -> split c1 n1, split c2 n1, split c3 n1
		split c1 n2 -> no: replica.unknown
		split c2 n1 -> split
		split c2 n1 -> no: split.client
		split c1.1 n1 -> no: split.already
		answer c1 -> broken, send
		can -> split c1 n1, split c3 n1`},
	{"the old master of a server needs a number of its own, and there are eight", "five", "split=1", `
		can -> split c1 n1, split c2 n1, split c1 n2, split c2 n2, split c1 n3, split c2 n3
		split c1 n4 -> limit: limit.split
		split c1 n3 -> split`},
	{"a server that hangs", "redis", "hang=2@5s", `
		can -> hang n1 5s, hang n2 5s
		hang n1 6s -> no: budget.size
		hang n1 -> no: hang.length
		hang n1 2s -> hang
		hang n1 1s -> no: server.down
		arrive c1
		due -> 2s
		can -> hang n2 5s`},
	{"a delay", "redis", "delay=2@5s", `
		can -> delay c1 5s
		delay c1 6s -> no: budget.size
		delay c1 -> no: delay.length
		delay c2 1s -> no: message
		delay c1 2s -> delay (request)
		delay c1 1s -> no: message.held
		due -> 2s`},
	{"a call that fails", "redis", "fail-call=2", `
		can -> fail-call c1
		fail-call c2 -> no: request.none
		fail-call c1 -> reject (BUSY)
		answer c1 -> answer (BUSY), send`},
	{"an eviction: the first key has no time to live", "stocked", "evict=2", `
		can -> evict.1 n1
		evict n1 -> no: key.lasting
		evict n3 -> no: server.unknown
		evict.1 n1 -> stranger (memory is short) (1), change
		evict.1 n1 -> no: key
		due -> 3s`},
	{"a flush: the other server is empty", "stocked", "flush=2", `
		can -> flush n1
		flush n1 -> stranger (by a stranger's hand) (OK), change, change
		due -> 3s`},
	{"a deletion", "stocked", "delete=2", `
		can -> delete n1, delete.1 n1
		delete n1 -> stranger (by a stranger's hand) (1), change
		delete.1 n1 -> no: key
		can -> delete n1`},
	{"a server that hangs has no keys to take", "stocked", "evict=1,flush=1,delete=1,hang=1", `
		hang n1 1s -> hang
		can
		evict.1 n1 -> no: key
		flush n1 -> no: server.down`},
	{"nor has one that is down", "stocked", "evict=1,flush=1,delete=1,restart=1@1s", `
		restart n1 1s -> down, change, change
		can
		evict.1 n1 -> no: key
		flush n1 -> no: server.down`},
	{"delays and hangs without a length are not offered", "redis", "delay=1,hang=1", `
		can`},
	{"what is held up has no call that may fail", "redis", "delay=1@5s,fail-call=1", `
		delay c1 5s -> delay (request)
		can`},
	{"the dead are not cut off", "redis", "crash=1,split=1", `
		crash c1 -> crash
		can -> split c2 n1, split c3 n1`},
	{"nor is a process paused of which a thread is", "redis", "pause-thread=1@5s,pause=1", `
		pause-thread c1 -> pause-thread
		can -> pause c2`},
	{"sixteen keys can be named", "keys", "delete=1", `
		can -> 16: delete n1 … delete.15 n1
		delete.16 n1 -> no: key`},
	{"work that takes longer", "redis", "pause=1@5s", `
		pause c2.2 -> no: delay.length
		pause c2.2 1s -> pause
		due -> 1s`},
	{"a jump to the end of a key, with the key gone and with it still there", "keys at any timing", "node-clock=1@6s", `
		can -> node-clock n1 3s, node-clock.1 n1 3s, node-clock n1 -3s, node-clock n1 6s, node-clock n1 -6s`},
	{"a fault that is not in the budget", "redis", "", `
		can
		crash c1 -> no: verb
		hang n1 1s -> no: verb`},
	{"a call that fails changes nothing, for each command of a pipeline", "pipeline", "fail-call=1", `
		start c1 -> send
		fail-call c1 -> reject (BUSY)
		answer c1 -> answer (BUSY), refuse (BUSY), refuse (BUSY), send
		arrive c1 -> apply (1), change
		answer c1 -> answer (1), refuse (incr n: 1)`},
	{"a timer is paused, and the main thread goes on", "threads", "pause-thread=2@5s,pause=1,crash=1", `
		pause-thread c1.1 -> pause-thread (another)
		pause-thread c1 -> no: thread.paused.already
		pause c1 -> no: thread.paused.already
		resume c1.1 -> no: pause.end
		pass 3s
		wake c1.1 -> no: client.paused
		wake c1 -> wake, sleep
		pass 3s -> no: due.before
		pass 2s
		pass 1ns -> no: due.first
		resume c1.2 -> wake (from its pause)
		wake c1.1 -> wake, send
		pause-thread c1.6 -> pause-thread (another)
		arrive c1.1 -> no: request.held
		resume c1.2 -> wake (from its pause)
		arrive c1.1 -> apply (PONG)`},
	{"the main thread is paused, and a timer goes on", "threads", "pause-thread=2@5s", `
		pause-thread c1 4s -> pause-thread
		pass 2s
		wake c1.1 -> wake, send
		arrive c1.1 -> apply (PONG)
		pass 1s
		wake c1 -> no: client.paused
		resume c1.1 -> no: pause.end
		pass 1s
		resume c1.1 -> wake (from its pause)
		wake c1 -> wake, sleep`},
	{"a timer that another thread stops is not paused any more", "stopping", "pause-thread=2", `
		pause-thread c1.1 -> pause-thread (another)
		pass 3s
		wake c1 -> wake, sleep
		resume c1.2 -> no: pause.end
		pause-thread c1 -> pause-thread
		resume c1.1 -> wake (from its pause)`},
	{"with a Timing a thread goes on late", "threads at any timing", "pause-thread=1@5s", `
		pause-thread c1.1 -> pause-thread (another)
		pass 3s
		wake c1 -> wake, sleep
		pass 2s
		resume c1.2 -> wake (from its pause)
		pass 1s
		pass 1ns -> no: due.first
		wake c1.1 -> wake, send`},
	{"a session ends", "zookeeper", "expire-session=2", `
		can -> expire-session c1, expire-session c2
		arrive c1 -> apply (/n-0000000000), change
		expire-session c1 -> session-end, expire
		expire-session c1 -> no: session
		reconnect c1 -> no: unheard
		answer c1 -> answer (/n-0000000000), send
		arrive c1 -> no: request.held
		reconnect c1 -> reconnect (the session has ended)
		arrive c1 -> apply (/n-0000000001), change
		expire-session c1 -> session-end, expire`},
	{"a client that has asked for nothing has no session yet", "redis", "expire-session=1", `
		expire-session c1 -> no: session`},
	{"what would befall one server of an ensemble", "zookeeper",
		"node-clock=1@1s,restart=1,failover=1,split=1,hang=1,flush=1", `
		can
		node-clock n1 1s -> no: ensemble
		restart n1 -> no: ensemble
		failover n1 -> no: ensemble
		hang n1 1s -> no: ensemble
		flush n1 -> no: ensemble`},
	{"a message that is lost takes the connection with it", "zookeeper", "lose-request=1,lose-reply=1,delay=1", `
		arrive c1 -> apply (/n-0000000000), change
		lose-reply c1 -> lose-reply
		answer c1 -> broken, send
		reconnect c1 -> reconnect
		lose-request c1 -> lose-request
		answer c1 -> broken, send
		reconnect c1 -> reconnect
		delay c1 1h0m0s -> delay (request)
		pass 6s
		give-up c1 -> timeout, send
		reconnect c1 -> reconnect
		orphaned c1 -> no: orphan`},
	{"a client sees its new list when it reads it the next time", "lists", "server-list=9,crash=1,return=1", `
		can -> server-list c1 n1, server-list c1 n2, server-list c1 n3, ` +
		`server-list c2 n1, server-list c2 n2, server-list c2 n3
		start c1 -> refuse ([0 1]), sleep
		start c2 -> refuse ([0 1]), sleep
		start c3 -> refuse ([]), sleep
		server-list c2 n3 -> server-list (added)
		server-list c2 n1 -> server-list (removed)
		server-list c2 n2 -> server-list (removed)
		pass 1s
		wake c1 -> wake, refuse ([0 1]), sleep
		wake c2 -> wake, refuse ([2]), sleep
		wake c3 -> wake, refuse ([]), sleep
		server-list c2 n3 -> no: list
		server-list c2 n4 -> no: list
		server-list c3 n1 -> no: list
		server-list c4 n1 -> no: client.unknown
		crash c2 -> crash
		server-list c2 n1 -> no: client.dead
		can -> server-list c1 n1, server-list c1 n2, server-list c1 n3, return c2
		return c2 -> return
		start c2 -> refuse ([2]), sleep
		can -> server-list c1 n1, server-list c1 n2, server-list c1 n3, server-list c2 n1, server-list c2 n2`},
}
