package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	locks "locklab/algorithms/database"
	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/database"
	"locklab/simulator/history"
)

// idler idles, twice, and then asks a server under a context whose deadline may come at any
// moment, and once more without it.
func idler(c *simulator.Client) {
	note(c, c.Clock().Idle(2*sec, 2))
	note(c, c.Clock().Idle(0, 0))
	ctx, stop := c.WithDeadline()
	defer stop()
	note(c, c.Redis(1).Get(context.WithoutCancel(ctx), "a").Err())
	note(c, c.Redis(1).Get(ctx, "b").Err())
	note(c, ctx.Err())
	note(c, c.Redis(1).Get(ctx, "c").Err())
	note(c, c.Redis(1).Get(context.WithoutCancel(ctx), "d").Err())
}

// TestWays: a thread that idles goes on in any way, at any time within its bound; and what
// it asks for a context with a deadline it may give up at any moment, but nothing else.
func TestWays(t *testing.T) {
	s := newStage(t, simulator.Config{
		Nodes: make([]simulator.NodeConfig, 1), Timing: &simulator.Timing{Latency: sec},
		Clients: []simulator.ClientConfig{{Program: idler}},
	})
	type C = simulator.Choice
	may := func(want ...simulator.Verb) {
		t.Helper()
		var got []simulator.Verb
		for _, c := range s.sim.Enabled(&s.world, nil) {
			got = append(got, c.Verb)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("may happen: %v, want %v", got, want)
		}
	}
	s.step(C{Verb: simulator.Start, Client: 1})
	may(simulator.Wake, simulator.Choose, simulator.Choose, simulator.Pass)
	s.step(C{Verb: simulator.Pass, D: 2 * sec})
	may(simulator.Wake, simulator.Choose, simulator.Choose)
	for _, way := range []int8{0, 3, -1} {
		w := s.world
		if _, err := s.sim.Step(&w, C{Verb: simulator.Choose, Client: 1, Node: way}); err == nil {
			t.Errorf("there is a way %d", way)
		}
	}
	s.step(C{Verb: simulator.Choose, Client: 1, Node: 2})
	may(simulator.Wake)
	s.step(C{Verb: simulator.Wake, Client: 1})
	may(simulator.Arrive, simulator.Pass) // for a context without end
	s.step(C{Verb: simulator.Arrive, Client: 1}, C{Verb: simulator.Answer, Client: 1})
	may(simulator.Arrive, simulator.GiveUp, simulator.Pass)
	s.step(C{Verb: simulator.Arrive, Client: 1})
	may(simulator.Answer, simulator.GiveUp, simulator.Pass)
	s.step(C{Verb: simulator.GiveUp, Client: 1})
	may(simulator.Arrive, simulator.Pass) // "c" was never sent
	s.step(C{Verb: simulator.Arrive, Client: 1}, C{Verb: simulator.Answer, Client: 1})
	s.wantNotes("2s:2 2s:0 2s:redis: nil 2s:read tcp: i/o timeout 2s:context deadline exceeded 2s:context deadline " +
		"exceeded 2s:redis: nil")
}

// TestLibraryRetries: go-redis sends a command again, at once, whose answer does not come or
// whose connection breaks, as often as it is told to and no more.
func TestLibraryRetries(t *testing.T) {
	for retries := range 3 {
		s := newStage(t, simulator.Config{
			Nodes: make([]simulator.NodeConfig, 1), ClientRetries: retries,
			Clients: []simulator.ClientConfig{{Program: func(c *simulator.Client) { do(c, 1, "GET", "a") }}},
		})
		type C = simulator.Choice
		s.step(C{Verb: simulator.Start, Client: 1})
		for range retries + 1 {
			s.step(C{Verb: simulator.Pass, D: 3 * time.Second}, C{Verb: simulator.GiveUp, Client: 1})
		}
		if sent := s.count(history.Send); sent != retries+1 {
			t.Errorf("%d retries: %d requests", retries, sent)
		}
		s.wantNotes(fmt.Sprintf("%v:read tcp: i/o timeout", time.Duration(retries+1)*3*time.Second))
	}
}

// TestWatchEndsWithItsServer: a watching connection breaks when its server restarts. If
// it were replaced silently, the transaction would delete the key.
func TestWatchEndsWithItsServer(t *testing.T) {
	for fault, last := range map[simulator.Choice]string{faults.FailoverOf(1): "mine", faults.RestartOf(1): "<nil>"} {
		program := func(c *simulator.Client) {
			do(c, 1, "SET", "lock", "mine")
			err := releaseByWatch(c, "lock", "mine", func() { c.Clock().Sleep(2 * sec) })
			note(c, errors.Is(err, redis.TxFailedErr), err)
			do(c, 1, "GET", "lock")
			note(c, releaseByWatch(c, "lock", last, nil))
			do(c, 1, "GET", "lock")
		}
		s := newStage(t, simulator.Config{
			Nodes: replicas(1), Faults: budget(t), Clients: []simulator.ClientConfig{{Program: program}},
		})
		s.settleNoReplica()
		s.step(caughtUp(0), fault)
		s.told = nil
		s.run(5 * sec)
		want := "2s:false read tcp: connection reset by peer 2s:" + last + " 2s:<nil> 2s:<nil>"
		if last == "<nil>" {
			want = "2s:false read tcp: connection reset by peer 2s:<nil> 2s:not held: \"\" redis: nil 2s:<nil>"
		}
		if got := s.notes(); got != want {
			t.Errorf("after %s\n%s\nwant\n%s", s.sim.Describe(fault), got, want)
		}
		if s.count(history.Broken) != 1 {
			t.Errorf("after %s %d connections broke, want that which watched",
				s.sim.Describe(fault), s.count(history.Broken))
		}
	}
}

// TestOrphanedExec: a transaction whose sender has given up is still executed, on the
// connection on which it was sent; the next attempt uses another.
func TestOrphanedExec(t *testing.T) {
	s := solo(t, func(c *simulator.Client) {
		do(c, 1, "SET", "lock", "mine")
		for range 2 {
			note(c, releaseByWatch(c, "lock", "mine", func() { c.Clock().Sleep(sec) }))
		}
	})
	s.settleNoReplica()
	exec := simulator.Choice{Verb: simulator.Pass, D: sec}
	giveUp := []simulator.Choice{{Verb: simulator.Pass, D: 3 * sec}, {Verb: simulator.GiveUp, Client: 1}}
	s.step(exec, simulator.Choice{Verb: simulator.Wake, Client: 1})
	s.step(giveUp...)
	for s.count(history.Sleep) < 2 { // up to the middle of the second attempt
		s.step(s.sim.Enabled(&s.world, nil)[0])
	}
	late := simulator.Choice{Verb: simulator.Orphaned, Client: 1}
	if !slices.Contains(s.sim.Enabled(&s.world, nil), late) {
		t.Fatal("the first EXEC is not under way any more")
	}
	s.told = nil
	s.step(late)
	if i := slices.IndexFunc(s.told, func(e history.Event) bool { return e.Kind == history.Change }); i < 0 ||
		s.told[i].After != "" {
		t.Errorf("the late EXEC did not delete the lock: %+v", s.told)
	}
	s.run(10 * sec)
	s.wantNotes("5s:redis: transaction failed")
}

// joiner asks two servers at once, reads its clock in both tasks, and starts parallel
// requests again inside one of them.
func joiner(c *simulator.Client) {
	for i := range 3 {
		c.Parallel(
			func() { do(c, 1, "INCR", "n"); c.Clock().Now() },
			func() {
				c.Clock().Now()
				c.Parallel(
					func() { do(c, 2, "INCR", "n") },
					func() { do(c, 1, "PTTL", "n"); c.Clock().Sleep(time.Duration(i) * 100 * time.Millisecond) })
			},
			func() { c.Clock().Now(); do(c, 2, "SET", "a", c.Token(), "PX", 900) })
		do(c, 1, "GET", "n")
	}
}

func TestParallel(t *testing.T) {
	sleep := func(c *simulator.Client, s time.Duration) func() {
		return func() { c.Clock().Sleep(s * sec); note(c, int(s)) }
	}
	for _, test := range []struct {
		name    string
		program func(*simulator.Client)
		want    string
	}{
		{"twice, and the caller's is the first to end", func(c *simulator.Client) {
			for range 2 {
				c.Parallel(sleep(c, 1), sleep(c, 3), sleep(c, 2), sleep(c, 3))
			}
		}, "1s:1 2s:2 3s:3 3s:3 4s:1 5s:2 6s:3 6s:3 6s:joined"},
		{"none asks for anything", func(c *simulator.Client) {
			c.Parallel(func() { note(c, "a") }, func() { note(c, "b") })
		}, "0s:a 0s:b 0s:joined"},
		{"one task", func(c *simulator.Client) { c.Parallel(sleep(c, 1)) }, "1s:1 1s:joined"},
		{"one within the other", func(c *simulator.Client) {
			c.Parallel(sleep(c, 1), func() { c.Parallel(sleep(c, 4), sleep(c, 2)); note(c, "inner") }, sleep(c, 3))
		}, "1s:1 2s:2 3s:3 4s:4 4s:inner 4s:joined"},
		{"all read the clock", func(c *simulator.Client) {
			now := func() { note(c, c.Clock().Now().Sub(simulator.Epoch)) }
			c.Parallel(now, now, func() { c.Clock().Sleep(sec); now() })
		}, "0s:0s 0s:0s 1s:1s 1s:joined"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := solo(t, func(c *simulator.Client) { test.program(c); note(c, "joined") })
			s.run(20 * sec)
			s.wantNotes(test.want)
			if !s.sim.Quiet(&s.world) {
				t.Error("something is left")
			}
		})
	}
}

// TestParallelCrashes: a crash ends the tasks with their caller; requests that they have sent may still arrive.
func TestParallelCrashes(t *testing.T) {
	s := newStage(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: joiner}}, Nodes: make([]simulator.NodeConfig, 2), Faults: budget(t),
	})
	s.step(start(1), faults.CrashOf(1))
	if late := len(s.sim.OrphanedRequests(&s.world, nil)); late != 4 || !s.sim.Quiet(&s.world) {
		t.Errorf("%d requests of the dead are under way, want 4", late)
	}
}

// TestGuardsAreStatements: the resource takes and refuses what the statements of package algorithms/database do on a
// row.
func TestGuardsAreStatements(t *testing.T) {
	number := func(n int) database.Value { return database.IntegerValue(int64(n)) }
	columns := func(names ...string) (all []database.Column) {
		for _, n := range names {
			all = append(all, database.Column{Name: n, Type: database.Integer})
		}
		return all
	}
	tables := []database.Table{
		{Name: "accounts", Key: []string{"id"}, Columns: columns("id", "balance", "version", "token"),
			Rows: [][]database.Value{{number(1), number(0), number(0), number(0)}}},
		{Name: "payments", Key: []string{"id"}, Columns: columns("id", "amount")},
	}
	for _, test := range []struct {
		guard       history.Guard
		dialect     database.Dialect
		read, write string
		args        func(amount, base, token int) []database.Value // of write
	}{
		{history.CompareAndSet, database.MariaDB, "", locks.WriteByVersion,
			func(a, b, _ int) []database.Value { return []database.Value{number(a), number(1), number(b)} }},
		{history.Once, database.MariaDB, "", locks.WriteOnce,
			func(a, _, _ int) []database.Value { return []database.Value{number(1), number(a)} }},
		{history.Fenced, database.PostgreSQL, locks.SeeToken, locks.WriteByToken,
			func(a, _, token int) []database.Value { return []database.Value{number(a), number(token), number(1)} }},
	} {
		random, taken := rand.New(rand.NewPCG(1, 2)), [2]int{}
		for range 200 {
			state := database.New(test.dialect, tables, database.Options{}).Connect(1)
			execute := func(text string, args ...database.Value) bool {
				st, err := database.Parse(test.dialect, text)
				if err != nil {
					t.Fatal(err)
				}
				var r database.Reply
				state, r, _ = state.Apply(1, st, args)
				if r.Code != 0 {
					t.Fatalf("%s: %+v", text, r)
				}
				return r.Affected > 0
			}
			s := newStage(t, simulator.Config{Guard: test.guard,
				Clients: []simulator.ClientConfig{{Program: func(c *simulator.Client) {
					for i := range 8 {
						base, token := random.IntN(4), random.IntN(4)
						if random.IntN(3) == 0 {
							_, _ = c.Read(uint64(token))
							if test.read != "" {
								execute(test.read, number(token), number(1))
							}
							continue
						}
						took := c.Write(base, uint64(token)) == nil
						changed := execute(test.write, test.args(i+1, base, token)...)
						if took != changed {
							t.Errorf("%q, write based on %d with token %d: taken %v, the statement changes a row: %v",
								test.guard, base, token, took, changed)
						}
						taken[map[bool]int{true: 1}[took]]++
					}
				}}}})
			s.run(sec)
		}
		if taken[0] == 0 || taken[1] == 0 {
			t.Errorf("%q: %v refused and taken", test.guard, taken)
		}
	}
}
