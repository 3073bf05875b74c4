package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/history"
)

// A scene is what befalls servers and clients, choice by choice, and what becomes of it.
type scene struct {
	name    string
	servers []simulator.NodeConfig // nil: one
	clients []string               // their programs, as does reads them
	// play has choices that are made, those that cannot be, and instants up to which all goes on: replicas hear of
	// nothing, and no network heals. In the end all goes on for twenty seconds.
	play []any
	told string // what the programs have observed, "-": it is of no interest
	data string // what happened at the servers, see server; likewise
}

// A cannot is a choice that is refused.
type cannot struct{ simulator.Choice }

const (
	now      = time.Duration(0)
	broken   = "read tcp: connection reset by peer"
	timedOut = "read tcp: i/o timeout"
)

func start(c int8) simulator.Choice  { return simulator.Choice{Verb: simulator.Start, Client: c} }
func arrive(c int8) simulator.Choice { return simulator.Choice{Verb: simulator.Arrive, Client: c} }
func answer(c int8) simulator.Choice { return simulator.Choice{Verb: simulator.Answer, Client: c} }
func giveUp(c int8) simulator.Choice { return simulator.Choice{Verb: simulator.GiveUp, Client: c} }
func wake(c int8) simulator.Choice   { return simulator.Choice{Verb: simulator.Wake, Client: c} }
func late(c int8) simulator.Choice   { return simulator.Choice{Verb: simulator.Orphaned, Client: c} }

func pass(d time.Duration) simulator.Choice { return simulator.Choice{Verb: simulator.Pass, D: d} }

// caughtUp is the choice by which replica r, from 0, of server 1 catches up; of one without replicas, its disk.
func caughtUp(r int8) simulator.Choice {
	return simulator.Choice{Verb: simulator.Replicate, Node: 1, Thread: r}
}

var heal = simulator.Choice{Verb: simulator.Heal, Node: 1}

func one(server simulator.NodeConfig) []simulator.NodeConfig { return []simulator.NodeConfig{server} }

// replicas is one server with so many.
func replicas(n int) []simulator.NodeConfig { return one(simulator.NodeConfig{Replicas: n}) }

// does is a program: commands, the answers to which it notes, or one of these words.
//
//	sleep 1s         by its clock
//	write            the resource
//	pipe INCR n, …   several commands at once
//	subscribe        to news
//	hear 1s          a message within a second; hear: without an end
func does(program string) func(*simulator.Client) {
	return func(c *simulator.Client) {
		ctx := context.Background()
		var news *redis.PubSub
		for line := range strings.SplitSeq(program, "; ") {
			word, rest, _ := strings.Cut(line, " ")
			d, _ := time.ParseDuration(rest)
			switch word {
			case "":
			case "sleep":
				c.Clock().Sleep(d)
			case "write":
				_ = c.Write(0, 0) // whether it was accepted stands in the history
			case "pipe":
				p := c.Redis(1).Pipeline()
				for command := range strings.SplitSeq(rest, ", ") {
					p.Do(ctx, args(command)...)
				}
				all, err := p.Exec(ctx)
				for _, one := range all {
					note(c, one.(*redis.Cmd).Val(), " ", err)
				}
			case "subscribe":
				news = c.Redis(1).Subscribe(ctx, "news")
			case "hear":
				receive(c, news, d)
			default:
				do(c, 1, args(line)...)
			}
		}
	}
}

func args(command string) (all []any) {
	for word := range strings.FieldsSeq(command) {
		all = append(all, word)
	}
	return all
}

// server is what happened to the data, and where: "0s n1 a until 1s" is a value that was set, "8s n2 -" a key that
// went.
func (s *stage) server() string {
	var out []string
	for _, e := range s.told {
		value := e.After
		switch e.Kind {
		case history.Split, history.Heal, history.Replicate, history.Down, history.Up:
			value = strings.ToUpper(e.Kind.String())
		case history.Broken:
			value = fmt.Sprint("BROKEN c", e.Client)
		case history.Write:
			out = append(out, fmt.Sprintf("%v WRITE c%d", e.At, e.Client))
			continue
		case history.Expire:
			value = "-"
		case history.Change:
			if value == "" {
				value = "-"
			} else if e.Until != history.Forever {
				value += fmt.Sprint(" until ", e.Until)
			}
		default:
			continue
		}
		out = append(out, fmt.Sprintf("%v n%d %s", e.At, e.Node, value))
	}
	return strings.Join(out, ", ")
}

// settleNoReplica does what can be done at once; replicas receive nothing, and no network heals.
func (s *stage) settleNoReplica() {
	s.t.Helper()
	for {
		enabled := s.sim.Enabled(&s.world, nil)
		i := slices.IndexFunc(enabled, func(c simulator.Choice) bool {
			return c.Verb < simulator.FaultVerb && c.Verb != simulator.Replicate && c.Verb != simulator.Heal
		})
		if i < 0 || enabled[i].Verb == simulator.Pass {
			return
		}
		s.step(enabled[i])
	}
}

// run goes on until true time d; the replicas hear of nothing and the network does not heal.
func (s *stage) run(d time.Duration) {
	s.t.Helper()
	for {
		s.settleNoReplica()
		if s.world.Now() >= d {
			return
		}
		s.step(pass(min(s.sim.NextDeadline(&s.world), d) - s.world.Now()))
	}
}

// TestScenes plays scenes.
func TestScenes(t *testing.T) {
	allowed, err := faults.Budget("crash=1,pause=1,restart=3,failover=3,split=3,hang=3,delay=3,lose-reply=1," +
		"fail-call=1,node-clock=1@900ms").Parse()
	if err != nil {
		t.Fatal(err)
	}
	refusal := regexp.MustCompile(`NOREPLICAS[^.]*\.( script: \w+, on @user_script:1\.)?|BUSY [^.]*\.[^.]*\.`)
	for _, x := range scenes {
		t.Run(x.name, func(t *testing.T) {
			config := simulator.Config{Nodes: x.servers, Faults: allowed}
			for _, program := range x.clients {
				config.Clients = append(config.Clients, simulator.ClientConfig{Program: does(program)})
			}
			s := newStage(t, config)
			for _, move := range append(x.play, 20*sec) {
				switch move := move.(type) {
				case simulator.Choice:
					s.step(move)
				case time.Duration:
					s.run(move)
				case cannot:
					if _, err := s.sim.Step(&s.world, move.Choice); !errors.As(err, new(*simulator.NotEnabledError)) {
						t.Errorf("%s: %v", s.sim.Describe(move.Choice), err)
					}
				}
			}
			if got := refusal.ReplaceAllString(s.notes(), "NO"); got != x.told && x.told != "-" {
				t.Errorf("the programs told\n%s\nwant\n%s", got, x.told)
			}
			if got := s.server(); got != x.data && x.data != "-" {
				t.Errorf("the servers' data:\n%s\nwant\n%s", got, x.data)
			}
		})
	}
}

// scenes are those of TestScenes. Package faults has one of each fault, and package redisnode what one server does.
var scenes = []scene{
	// Clocks of servers.
	{"a clock that is half a millisecond ahead", one(simulator.NodeConfig{Offset: time.Millisecond / 2}),
		[]string{"SET k x PX 10000"}, nil, "0s:OK", "0s n1 x until 10.0005s, 10.0005s n1 -"},
	{"one that is half a millisecond behind", one(simulator.NodeConfig{Offset: -time.Millisecond / 2}),
		[]string{"SET k x PX 10000"}, nil, "0s:OK", "0s n1 x until 10.0005s, 10.0005s n1 -"},
	{"a fast one", one(simulator.NodeConfig{PPM: 250_000}),
		[]string{"SET k x PX 10000"}, nil, "0s:OK", "0s n1 x until 8.0008s, 8.0008s n1 -"},
	{"a slow one", one(simulator.NodeConfig{PPM: -200_000}),
		[]string{"SET k x PX 10000"}, nil, "0s:OK", "0s n1 x until 12.50125s, 12.50125s n1 -"},
	{"one that is set back", nil,
		[]string{"SET k x PX 10000"}, []any{2 * sec, faults.NodeClockOf(1, -900*time.Millisecond)},
		"0s:OK", "0s n1 x until 10.001s, 10.901s n1 -"},
	{"a key that gets the time to live that it has is not changed", nil,
		[]string{"SET k x PX 10000; PEXPIRE k 10000; sleep 1s; PEXPIRE k 10000; PEXPIRE k 10000"}, nil,
		"0s:OK 0s:1 1s:1 1s:1", "0s n1 x until 10.001s, 1s n1 x until 11.001s, 11.001s n1 -"},

	// Servers that stand still, and messages that are late.
	{"a hang that is shorter than the client's patience", replicas(1),
		[]string{"INCR n; sleep 1s; INCR n"}, []any{start(1), arrive(1), faults.HangOf(1, 2*sec), cannot{caughtUp(0)}},
		"0s:1 2s:2", "0s n1 1, 2s n1 2"},
	{"a longer one", nil,
		[]string{"INCR n; sleep 1s; INCR n"}, []any{start(1), arrive(1), faults.HangOf(1, 6*sec)},
		"0s:1 4s:" + timedOut, "0s n1 1, 6s n1 2"},
	{"leases end on a hung server, and the old master of a split does not hang with the new one", replicas(1),
		[]string{"SET k a PX 1000; APPEND k b", "sleep 1s; APPEND k c"},
		[]any{now, caughtUp(0), faults.SplitOf(2, 1, 0), faults.HangOf(1, 2*sec)}, "0s:OK 0s:2 1s:3",
		"0s n1 a until 1.001s, 0s n1 ab until 1.001s, 0s n1 REPLICATE, 0s n1 SPLIT, 1s n2 abc until 1.001s, " +
			"1.001s n1 -, 1.001s n2 -"},
	{"a late request at a hung server", nil,
		[]string{"INCR n"},
		[]any{start(1), faults.CrashOf(1), faults.HangOf(1, sec), late(1), cannot{late(1)}, pass(sec), late(1)},
		"", "1s n1 1"},
	{"a late request", nil,
		[]string{"INCR n"}, []any{start(1), faults.DelayOf(1, 0, 2*sec)}, "2s:1", "2s n1 1"},
	{"one for which nobody waits any more", nil,
		[]string{"INCR n"}, []any{start(1), faults.DelayOf(1, 0, 5*sec)}, "3s:" + timedOut, "5s n1 1"},
	{"one of a client that dies", nil,
		[]string{"INCR n"}, []any{start(1), faults.DelayOf(1, 0, 2*sec), faults.CrashOf(1)}, "", "2s n1 1"},
	{"a request and a reply", nil,
		[]string{"INCR n"}, []any{start(1), faults.DelayOf(1, 0, sec), pass(sec), arrive(1), faults.DelayOf(1, 0, sec)},
		"2s:1", "1s n1 1"},
	{"a late reply that is lost after all", nil,
		[]string{"INCR n"}, []any{start(1), arrive(1), faults.DelayOf(1, 0, sec), faults.LoseReplyTo(1, 0)},
		"3s:" + timedOut, "0s n1 1"},
	{"a late request whose connection breaks", nil,
		[]string{"INCR n"}, []any{start(1), faults.DelayOf(1, 0, 2*sec), faults.RestartOf(1)}, "0s:" + broken, "-"},
	{"a late write reaches the resource after a later one", nil,
		[]string{"write", "write"}, []any{start(1), faults.DelayOf(1, 0, sec), start(2), arrive(2)},
		"", "0s WRITE c2, 1s WRITE c1"},

	// Servers that go down.
	{"what a server keeps, and what has expired meanwhile", one(simulator.NodeConfig{AOF: simulator.Always}),
		[]string{"SET a A PX 2500; SET b B PX 9000; sleep 1s; GET a; sleep 3s; EXISTS a b"},
		[]any{sec / 2, faults.RestartAfter(1, 3*sec)}, "0s:OK 0s:OK 1s:" + broken + " 4s:1",
		"0s n1 A until 2.501s, 0s n1 B until 9.001s, 500ms n1 DOWN, 1s n1 BROKEN c1, 3.5s n1 UP, " +
			"3.5s n1 -, 9.001s n1 -"},
	{"what it does not keep", nil,
		[]string{"SET b B PX 9000; sleep 1s; GET a; sleep 3s; EXISTS b"},
		[]any{sec / 2, faults.RestartAfter(1, 3*sec)},
		"0s:OK 1s:" + broken + " 4s:0", "0s n1 B until 9.001s, 500ms n1 DOWN, 500ms n1 -, 1s n1 BROKEN c1, 3.5s n1 UP"},
	{"nor what has not reached its disk", one(simulator.NodeConfig{AOF: simulator.EverySecond}),
		[]string{"SET a A; sleep 300ms; SET b B; sleep 700ms; GET a; GET b"},
		[]any{sec / 4, caughtUp(0), sec / 2, faults.RestartAfter(1, sec/4)},
		"0s:OK 300ms:OK 1s:A 1s:<nil>", "0s n1 A, 300ms n1 B, 500ms n1 DOWN, 500ms n1 -, 750ms n1 UP"},
	{"a server that is down is replaced", replicas(2),
		[]string{"SET k x; sleep 1s; GET k"},
		[]any{now, caughtUp(1), faults.RestartAfter(1, time.Hour), cannot{faults.SplitOf(1, 1, 0)},
			faults.FailoverTo(1, 1)},
		"0s:OK 1s:x", "0s n1 x, 0s n1 REPLICATE, 0s n1 DOWN, 0s n1 -, 0s n1 x"},
	{"the disk of a new master has its data", one(simulator.NodeConfig{Replicas: 1, AOF: simulator.EverySecond}),
		[]string{"SET k x", "sleep 1h"}, []any{now, caughtUp(1), faults.SplitOf(2, 1, 0), faults.RestartOf(1)},
		"0s:OK", "0s n1 x, 0s n1 SPLIT, 0s n1 -, 0s n1 DOWN, 0s n1 UP"},
	{"a late request to a server that is down is lost", one(simulator.NodeConfig{AOF: simulator.Always}),
		[]string{"INCR n"}, []any{faults.RestartAfter(1, sec), start(1), faults.CrashOf(1), late(1)},
		"", "0s n1 DOWN, 1s n1 UP"},
	{"a late request goes with its server", nil,
		[]string{"SET k x"}, []any{start(1), faults.CrashOf(1), faults.RestartOf(1), cannot{late(1)}},
		"", "0s n1 DOWN, 0s n1 UP"},
	{"and not with another", make([]simulator.NodeConfig, 2),
		[]string{"SET k x"}, []any{start(1), faults.CrashOf(1), faults.RestartOf(2), late(1)},
		"", "0s n2 DOWN, 0s n2 UP, 0s n1 x"},
	{"a replica that lags brings back dead keys", replicas(1),
		[]string{"SET k x PX 1000"}, []any{now, caughtUp(0), pass(1001 * time.Millisecond), faults.FailoverOf(1)},
		"0s:OK", "0s n1 x until 1.001s, 0s n1 REPLICATE, 1.001s n1 -, 1.001s n1 x until 1.001s, 1.001s n1 -"},
	{"the replica of a server that is empty has the data", replicas(1),
		[]string{"SET k x"}, []any{now, caughtUp(0), faults.RestartOf(1), faults.FailoverOf(1)},
		"0s:OK", "0s n1 x, 0s n1 REPLICATE, 0s n1 DOWN, 0s n1 -, 0s n1 UP, 0s n1 x"},
	{"until it has copied that", replicas(1),
		[]string{"SET k x"}, []any{now, caughtUp(0), faults.RestartOf(1), caughtUp(0), faults.FailoverOf(1)},
		"0s:OK", "0s n1 x, 0s n1 REPLICATE, 0s n1 DOWN, 0s n1 -, 0s n1 UP, 0s n1 REPLICATE"},

	// A network that is split.
	{"on an old master keys expire", replicas(1),
		[]string{"SET k x PX 10000"}, []any{now, caughtUp(0), pass(sec), faults.SplitOf(1, 1, 0)},
		"0s:OK", "0s n1 x until 10.001s, 0s n1 REPLICATE, 1s n1 SPLIT, 10.001s n1 -, 10.001s n2 -"},
	{"connections across it break, and when it heals those to the old master", replicas(1),
		[]string{"PING; PING; PING", "PING; PING; PING", "PING; PING; PING"},
		[]any{start(1), start(2), start(3), faults.SplitOf(1, 1, 0), cannot{answer(1)}, answer(2), answer(3),
			faults.SplitOf(2, 1, 0), cannot{answer(1)}, answer(2), cannot{answer(3)}, heal, answer(1), answer(2)}, "-",
		"0s n1 SPLIT, 0s n1 BROKEN c2, 0s n1 BROKEN c3, 0s n1 SPLIT, 0s n1 BROKEN c2, 0s n1 HEAL, " +
			"0s n1 REPLICATE, 0s n1 BROKEN c1, 0s n1 BROKEN c2"},
	{"WAIT hears of no replica on the old master, and of one less on the new one", replicas(2),
		[]string{"sleep 1s; WAIT 2 500", "sleep 1s; WAIT 2 500"}, []any{sec / 2, faults.SplitOf(1, 1, 1)},
		"1.5s:0 1.5s:1", "500ms n1 SPLIT"},
	{"a late request goes to the side of its sender", replicas(1),
		[]string{"SET k a", "SET k b"},
		[]any{start(1), pass(3 * sec), giveUp(1), start(2), pass(3 * sec), giveUp(2), faults.SplitOf(1, 1, 0)},
		"3s:" + timedOut + " 6s:" + timedOut, "6s n1 SPLIT, 6s n2 a"},
	{"with too few replicas a server takes no writes",
		one(simulator.NodeConfig{Replicas: 1, MinReplicas: 1, MaxLag: 2 * sec}), []string{asks},
		[]any{1500 * time.Millisecond, faults.SplitOf(1, 1, 0)}, "2s:1 2s:1 4s:NO 4s:1", "-"},
	{"nor does the new one, from the first on", one(simulator.NodeConfig{Replicas: 1, MinReplicas: 1, MaxLag: 2 * sec}),
		[]string{asks, ""}, []any{1500 * time.Millisecond, faults.SplitOf(2, 1, 0)},
		"2s:NO 2s:<nil> 4s:NO 4s:<nil>", "-"},
	{"but one that has another replica", one(simulator.NodeConfig{Replicas: 2, MinReplicas: 1, MaxLag: 2 * sec}),
		[]string{asks, ""}, []any{1500 * time.Millisecond, faults.SplitOf(2, 1, 0)}, "2s:1 2s:1 4s:2 4s:2", "-"},

	// Clients that wait for replicas.
	{"nobody is asked for", replicas(2), []string{"SET k x; WAIT 0 1000"}, nil, "0s:OK 0s:0", "-"},
	{"there is no replica", nil, []string{"SET k x; WAIT 1 1000"}, nil, "0s:OK 1s:0", "-"},
	{"one of two", replicas(2), []string{"SET k x; WAIT 1 1000"}, []any{sec / 2, caughtUp(1)}, "0s:OK 500ms:1", "-"},
	{"one of the two is too late", replicas(2),
		[]string{"SET k x; WAIT 2 1000"}, []any{sec / 4, caughtUp(1)}, "0s:OK 1s:1", "-"},
	{"for ever", replicas(1), []string{"SET k x; WAIT 1 0"}, []any{2 * sec, caughtUp(0)}, "0s:OK 2s:1", "-"},
	{"for longer than anybody waits", replicas(1), []string{"SET k x; WAIT 1 0"}, nil, "0s:OK 3s:" + timedOut, "-"},
	{"a pipeline is executed at once, and answered with its WAIT", replicas(1),
		[]string{"pipe SET k x NX, WAIT 1 1000"}, []any{sec / 2, caughtUp(0)},
		"500ms:OK <nil> 500ms:1 <nil>", "0s n1 x, 500ms n1 REPLICATE"},
	{"a client that has sent nothing waits for no writes of others; after any command it does", replicas(1),
		[]string{"SET a x", "WAIT 1 1000; SET a y NX; WAIT 1 1000"}, []any{sec / 2, caughtUp(0)},
		"0s:OK 0s:1 0s:<nil> 500ms:1", "-"},
	{"who waits at a server that is replaced gets no reply", replicas(2),
		[]string{"SET k x; WAIT 2 0; GET k; WAIT 2 0"},
		[]any{now, caughtUp(0), faults.FailoverTo(1, 0), now, caughtUp(1)}, "0s:OK 0s:" + broken + " 0s:x 0s:2", "-"},
	{"who is dead waits for nothing", replicas(1),
		[]string{"pipe INCR n, WAIT 1 0", "pipe INCR n, WAIT 1 0"},
		[]any{start(1), arrive(1), faults.CrashOf(1), caughtUp(0)},
		"3s:<nil> " + timedOut + " 3s:<nil> " + timedOut, "0s n1 1, 0s n1 REPLICATE, 0s n1 2"},
	{"the rest of what it has sent is executed", replicas(1),
		[]string{"pipe INCR n, WAIT 1 0"}, []any{start(1), faults.CrashOf(1), late(1)}, "", "0s n1 1"},
	{"by the server's clock, also while its client is paused", one(simulator.NodeConfig{Replicas: 1, PPM: 250_000}),
		[]string{"SET k x; WAIT 1 1000; sleep 100ms; GET k"}, []any{now, faults.PauseOf(1, 900*time.Millisecond)},
		"0s:OK 900ms:0 1s:x", "-"},

	// Clients that listen.
	{"messages that are heard as they come", nil, []string{listens, speaks}, nil,
		"0s:subscribe: news 1s:nothing 1s:1 1s:1 2s:1", ""},
	{"kept while nobody reads", nil, []string{"subscribe; hear; sleep 3s; hear 1s; hear 1s; hear 1s", speaks}, nil,
		"0s:subscribe: news 1s:1 2s:1 3s:1 3s:2 4s:nothing", ""},
	{"lost with the connection", nil,
		[]string{"subscribe; hear 1s; sleep 3s; hear 1s", speaks}, []any{1500 * time.Millisecond, faults.RestartOf(1)},
		"0s:subscribe: news 1s:1 2s:0 3s:broken", "1.5s n1 DOWN, 1.5s n1 UP, 3s n1 BROKEN c1"},
	{"broken while it listens", replicas(1),
		[]string{"subscribe; hear; hear", speaks}, []any{sec / 2, faults.FailoverOf(1)},
		"0s:subscribe: news 500ms:broken 1s:0 2s:0", "500ms n1 BROKEN c1"},
	{"a pause keeps what comes, and the time is over", nil,
		[]string{"subscribe; hear; hear 800ms", speaks}, []any{sec / 2, faults.PauseOf(1, 1200*time.Millisecond)},
		"0s:subscribe: news 1s:1 1.7s:1 2s:1", ""},
	{"a server that hangs tells nothing", nil,
		[]string{"subscribe; hear; hear 800ms", speaks}, []any{sec / 2, faults.HangOf(1, sec)},
		"0s:subscribe: news 800ms:nothing 1.5s:1 2.5s:1", ""},
	{"a message that is on its way when the time is over arrives", nil,
		[]string{listens, speaks},
		[]any{999 * time.Millisecond, pass(time.Millisecond), wake(2), arrive(2), unblock, giveUp(1)},
		"0s:subscribe: news 1s:nothing 1s:1 1s:1 2s:1", ""},
	{"where a message is lost the connection has broken", nil,
		[]string{listens, speaks},
		[]any{999 * time.Millisecond, pass(time.Millisecond), wake(2), arrive(2), unblock, faults.LoseReplyTo(1, 0)},
		"0s:subscribe: news 1s:broken 1s:subscribe: news 1s:1 2s:2", "1s n1 BROKEN c1"},
	{"a subscription that is refused", nil,
		[]string{"subscribe; hear; subscribe; hear"},
		[]any{start(1), simulator.Choice{Verb: faults.FailCall.Verb, Client: 1}},
		"0s:BUSY 0s:subscribe: news", ""},
}

const (
	asks    = `sleep 2s; INCR n; GET n; sleep 2s; INCR n; GET n`
	listens = "subscribe; hear; hear 1s; hear 1s"
	speaks  = "sleep 1s; PUBLISH news 1; sleep 1s; PUBLISH news 2"
)

var unblock = simulator.Choice{Verb: simulator.Unblock, Client: 1}

// TestEqualOrphanedRequests: late requests that are equal except for their message number are offered once; others are
// each offered.
func TestEqualOrphanedRequests(t *testing.T) {
	s := solo(t, does("INCR n; INCR n; INCR n; INCR n; INCR n; GET n; sleep 1s"))
	s.step(start(1))
	for range 6 {
		s.step(pass(3*sec), giveUp(1))
	}
	var places []int8
	for _, c := range s.sim.Enabled(&s.world, nil) {
		if c.Verb == simulator.Orphaned {
			places = append(places, c.Thread)
		}
	}
	all := s.sim.OrphanedRequests(&s.world, nil)
	if !slices.Equal(places, []int8{0, 5}) || len(all) != 6 || all[4].Choice.Thread != 4 || all[4].Msg != 5 {
		t.Errorf("the late requests at %v are offered, want 0 and 5, of %v", places, all)
	}
}

// TestConfigRefuses: a config that cannot be is refused with what is wrong; the largest one is not.
func TestConfigRefuses(t *testing.T) {
	idle := []simulator.ClientConfig{{Program: does("GET k")}}
	for want, nodes := range map[string][]simulator.NodeConfig{
		"server 2 has 3 replicas: give 0 to 2":                         {{}, {Replicas: 3}},
		"server 1 has -1 replicas":                                     {{Replicas: -1}},
		"server 1 has AOF 3":                                           {{AOF: 3}},
		"server 1 has 1 replicas and refuses writes with fewer than 2": {{Replicas: 1, MinReplicas: 2}},
		"within -1s: give 0 to 1 and a time of 0 or more":              {{Replicas: 1, MaxLag: -sec}},
	} {
		_, err := simulator.New(simulator.Config{Clients: idle, Nodes: nodes})
		if err == nil || !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	largest := simulator.NodeConfig{Replicas: simulator.MaxReplicas, AOF: simulator.EverySecond}
	simulator.MustLab(t, simulator.Config{Clients: idle, Nodes: slices.Repeat(one(largest), simulator.MaxNodes)})
}

// TestUnfit: a script cannot WAIT, and a deadline by the machine's clock would differ from run to run.
func TestUnfit(t *testing.T) {
	s := solo(t, func(c *simulator.Client) { do(c, 1, "EVAL", `return redis.call("wait", 1, 10)`, 0) })
	s.step(start(1))
	if _, err := s.sim.Step(&s.world, arrive(1)); err == nil || !strings.Contains(text.SayError("en", err), "WAIT") {
		t.Errorf("error %v, want one that names WAIT", err)
	}
	s = solo(t, func(c *simulator.Client) {
		news := c.Redis(1).Subscribe(context.Background(), "news")
		receive(c, news, 0)
		_, err := news.ReceiveTimeout(context.Background(), time.Minute)
		note(c, strings.Contains(fmt.Sprint(err), "a read deadline by the machine's clock"))
	})
	s.run(now)
	if got := s.notes(); got != "0s:subscribe: news 0s:true" {
		t.Error(got)
	}
}

// TestTimeoutRunsOnTheClientsClock: the time-out of a command is measured on the client's own clock.
func TestTimeoutRunsOnTheClientsClock(t *testing.T) {
	s := newStage(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: does("PING"), PPM: 250_000}}, Timeout: 10 * sec, Faults: budget(t),
	})
	s.step(start(1), faults.LoseRequestOf(1, 0))
	s.run(60 * sec)
	s.wantNotes("8s:" + timedOut)
}

// within is a context with a deadline by the client's own clock.
type within struct {
	context.Context
	end time.Time
}

func (w within) Deadline() (time.Time, bool) { return w.end, true }

// receive waits for d, or without an end if d is 0, and notes what it received.
func receive(c *simulator.Client, s *redis.PubSub, d time.Duration) {
	ctx, bound := context.Background(), time.Duration(0)
	if d > 0 {
		ctx, bound = within{ctx, c.Clock().Now().Add(d)}, time.Hour
	}
	got, err := s.ReceiveTimeout(ctx, bound)
	var timeout interface{ Timeout() bool }
	switch m, ok := got.(*redis.Message); {
	case errors.As(err, &timeout) && timeout.Timeout():
		note(c, "nothing")
	case err != nil && strings.HasPrefix(err.Error(), "BUSY"):
		note(c, "BUSY")
	case err != nil:
		note(c, "broken")
	case ok:
		note(c, m.Payload)
	default:
		note(c, got)
	}
}
