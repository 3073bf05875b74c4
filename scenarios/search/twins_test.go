package search_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// The budgets of a single fault: faults of clients and their messages, and faults of servers and clocks.
const (
	clientFaults = "none crash=1 pause=1 pause=1@5s lose-reply=1 lose-request=1"
	serverFaults = "restart=1 failover=1 split=1 node-clock=1@10s client-clock=1@10s"
)

// twins are searches that are compared with their twins, within bounds and under budgets. Times of the twin are
// absolute: at any timing clients may not wait without end. It makes the choices of clients too: what they do with the
// lock besides, and what their library sends again.
var twins = []struct {
	locks, bounds, budgets string // "none" is no fault
	asked                  level
}{
	{"setnx token", "", clientFaults, always},
	{"setnx setnx-expire getset token watchdog", "", clientFaults + " " + serverFaults, pushed},
	{"redlock", "nodes=3", clientFaults + " restart=1 split=1", pushed},
	{"redlock", "nodes=3", "node-clock=1@10s client-clock=1@10s", exhaustive}, // a failover takes it minutes
	{"setnx setnx-expire getset token", "attempts=2", clientFaults, exhaustive},
	{"watchdog", "attempts=2", "none crash=1 pause=1@5s lose-reply=1 lose-request=1", exhaustive},
	{"setnx setnx-expire getset token watchdog", "clients=3", "crash=1 pause=1@5s", exhaustive},
	{"sharded sharded-token", "", "server-list=1 crash=1 server-list=1+crash=1", always},
	{"setnx token", "timing=any idle=true", "none crash=1", pushed},
	{"setnx token", "timing=any idle=true", "lose-reply=1 pause=1@5s restart=1@1s lose-request=1", exhaustive},
	{"token", "timing=any idle=true", "delay=1@2s hang=1@2s node-clock=1@2s", exhaustive},
	{"setnx", "timing=any idle=true clients=1 uses=give-up", "none", pushed},
	{"token", "timing=any idle=true uses=give-up client-retries=1", "lose-reply=1", exhaustive},
	{"daemon-10-owned", "timing=any idle=true clients=1 uses=renew", "none", exhaustive}, // of two it has too many states
	{"reentrant", "timing=any idle=true uses=reenter", "none", exhaustive},
	{"setnx", "", "split=1", pushed},
	{"naive-wake", "attempts=2 uses=wait", "none", pushed},
	{"naive-wake", "attempts=2 uses=wait slow=8760h", "none", pushed}, // whoever waits without end is SLOW
	{"watchdog", "uses=all", "none", pushed},
	{"watchdog", "uses=all", "pause=1@5s", exhaustive},
	{"watchdog", "attempts=2 uses=renew", "crash=1", exhaustive},
	{"zk-naive", "uses=check+wait", "none", pushed},
	{"watchdog", "", "pause-thread=1@5s", pushed},
	{"zk-naive", "", "pause-thread=1@12s", exhaustive},
	{"setnx", "attempts=2 client-retries=3", "lose-reply=1", pushed},
	{"takeover-del", "skew=4500ms retries=0", "none", pushed},
	{"client-expiry", "timing=any idle=true skew=1500ms clients=1", "none", exhaustive},
	{"token", "tokens=constant retries=2", "pause=1", pushed},
	{"token", "tokens=clock retries=2", "pause=1", pushed},
	{"token", "tokens=prefix", "crash=1", pushed},
	{"token", "timing=any idle=true latency=1500ms lateness=0s", "none", pushed},
	{"token", "timing=any idle=true latency=0s lateness=1500ms", "pause=1@2s", exhaustive},
	{"token", "attempts=2 fenced=true", "pause=1", pushed},
	{"token", "attempts=2", "node-clock=1@9000500us", pushed},      // by a part of a millisecond, to before the epoch
	{"setnx-expire token", "attempts=2 ttl=1s", "pause=1", pushed}, // a lease shorter than the time-out of a command
	{"server-stamped", "attempts=2", "crash=1+pause=1@5s", always},
	{"zk-recheck zk-naive-patient zk-recheck-patient", "", "none crash=1 pause=1 lose-reply=1 lose-request=1", pushed},
	{"zk-protected-patient", "", "lose-reply=1 expire-session=1", pushed},
	{"zk-naive zk-protected zk-herd-patient", "attempts=2", "crash=1 lose-reply=1 expire-session=1", exhaustive}, // they rest
	{"database db-deadline", "", "none crash=1 lose-reply=1 expire-session=1", pushed},
	{"database db-deadline", "", "pause=1 lose-request=1 restart=1 failover=1 node-clock=1@10s", exhaustive},
	{"db-get-lock-pool", "", "none", exhaustive},
	// A client is started anew: one that watches keys, one that subscribes, one that reads its clock.
	{"redisson-lease token watch-multi takeover-del", "", "crash=1+return=1", always},
	{"naive-wake", "uses=wait", "crash=1+return=1", always},
	{"reentrant constant", "clients=1 timing=any", "crash=1+return=1", always},
	{"redisson-lease", "clients=1 timing=any tokens=thread", "crash=1+return=1", always},
	// What takes too long, and what is asked too often.
	{"token", "slow=1s", "lose-reply=1 pause=1@5s", exhaustive},
	{"token", "slow=2s", "crash=1+hang=1@5s", exhaustive},
	{"token", "timing=any idle=true slow=750ms", "none", exhaustive},
	{"token", "timing=any idle=true slow=1500ms", "none", exhaustive},
	{"polling-slowly", "slow=3s", "none", exhaustive},
	{"polling-fast", "noisy=2", "none", exhaustive},
	{"polling-fast", "noisy=3", "none pause=1@5s", exhaustive},
	{"polling-fast", "slow=1s noisy=2", "pause=1", exhaustive},
}

// TestDumbTwins: a search finds what its twin finds.
func TestDumbTwins(t *testing.T) {
	for _, test := range twins {
		if !test.asked.asked() {
			continue
		}
		for _, entry := range locks(t, strings.Fields(test.locks)...) {
			for budget := range strings.FieldsSeq(test.budgets) {
				b := within(t, entry, test.bounds+" budget="+budget)
				if err := b.Check(entry); err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprint(entry.ID, "/", test.bounds, "/", budget), func(t *testing.T) {
					t.Parallel()
					compare(t, entry, b)
				})
			}
		}
	}
}

// TestMoreFindsNoLess: what a client may do once more, or may wait for longer, and what a larger budget, a later message
// or a clock that is more wrong allows, loses no verdict and takes no more faults. Each of a chain of bounds allows all
// that the one before it does; one with too many states ends it.
func TestMoreFindsNoLess(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	type chain struct {
		lock   string
		states int
		bounds []string
	}
	var chains []chain
	add := func(ids []string, states int, bounds ...string) {
		for _, id := range ids {
			chains = append(chains, chain{id, states, bounds})
		}
	}
	add([]string{"token"}, 0, "timing=any budget=pause=1", "timing=any attempts=2 budget=pause=1")
	// Some lengths are no whole number of steps, which are 750ms.
	growing := [][]string{
		{"pause=1@500ms", "pause=1@3s", "pause=1@3100ms", "pause=1@9s", "pause=1", "pause=2"},
		{"delay=1@500ms", "delay=1@3s", "delay=1@9s", "delay=1@10s", "delay=2@10s"},
		{"hang=1@500ms", "hang=1@3s", "hang=1@10s", "hang=2@10s"},
		{"restart=1", "restart=1@1s", "restart=1@10s", "restart=2@10s"},
		{"node-clock=1@1s", "node-clock=1@3s", "node-clock=1@10s", "node-clock=2@10s"},
		{"client-clock=1@1s", "client-clock=1@10s"},
		{"crash=1", "crash=2"}, {"lose-reply=1", "lose-reply=2"}, {"lose-request=1", "lose-request=2"},
		{"failover=1", "failover=1+restart=1"},
	}
	budgeted, states, uses := []string{"setnx-expire"}, 20_000, []string{"redisson-lease", "reentrant-increment", "naive-wake"}
	returns, skewed := []string{"setnx-expire", "reentrant"}, []string{"takeover-del", "client-expiry"}
	late := []string{"setnx-expire budget=pause=1", "token budget=pause=1", "token budget=lose-reply=1"}
	if effort.Exhaustive() {
		budgeted, states, returns = nil, 8_000, nil
		for _, e := range algorithms.All() {
			budgeted = append(budgeted, e.ID)
			if !e.OnZooKeeper() {
				returns = append(returns, e.ID)
			}
		}
		uses = append(uses, "watchdog", "redisson-lock", "lock-delay", "getset-check", "zk-naive")
		skewed = append(skewed, "getset", "getset-retry", "token")
		late = append(late, "watchdog budget=pause=1@5s", "redlock budget=none", "zk-naive budget=expire-session=1")
	} else {
		growing = growing[:4]
	}
	for _, budgets := range growing {
		bounds := []string{"timing=any"}
		for _, budget := range budgets {
			bounds = append(bounds, "timing=any budget="+budget)
		}
		add(budgeted, states, bounds...)
	}
	for _, lateness := range []string{"latency=0s lateness=2250ms", "latency=750ms lateness=0s", "latency=750ms lateness=750ms", "latency=1500ms lateness=0s"} {
		for _, question := range late {
			id, budget, _ := strings.Cut(question, " ")
			if id != "redlock" || !strings.Contains(lateness, "1500ms") { // tens of millions of states
				add([]string{id}, 0, "timing=any latency=0s lateness=0s "+budget, "timing=any "+lateness+" "+budget)
			}
		}
	}
	add(uses, 0, "budget=crash=1", "uses=all budget=crash=1") // in lockstep nobody gives up
	if effort.Exhaustive() {
		add(uses, 0, "budget=pause=1", "uses=all budget=pause=1")
		add(uses, 0, "budget=lose-reply=1", "uses=all budget=lose-reply=1")
		add(skewed, 0, "retries=1 budget=pause=1@3s", "retries=1 skew=6s budget=pause=1@3s", "retries=1 skew=9s budget=pause=1@3s")
	}
	add(returns, 20_000, "budget=crash=1", "budget=crash=1+return=1")
	add(skewed, 0, "retries=1", "retries=1 skew=3s", "retries=1 skew=6s")
	for _, c := range chains {
		t.Run(fmt.Sprint(c.lock, "/", c.bounds[len(c.bounds)-1]), func(t *testing.T) {
			t.Parallel()
			entry, before := racetest.Lock(t, c.lock), map[verdict.Word]int{}
			for i, bounds := range c.bounds {
				found := tried(t, entry, within(t, entry, bounds), c.states, nil)
				if found == nil {
					t.Logf("%s: too many states", bounds)
					break
				}
				if in := weaker(found, before); in != nil {
					t.Errorf("%s finds %v, %s finds more: %v", bounds, found, c.bounds[i-1], in)
				}
				before = found
			}
		})
	}
}

// TestFoundWithin: what searches find, within bounds that once hid it or made too much of it.
func TestFoundWithin(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	for _, test := range []struct {
		lock, bounds string
		word         verdict.Word
		par          int // of the word; -1: it is not found
	}{
		// What one schedule could not show: the rival of a client that pauses asks too early, or an attempt comes too soon.
		{"token", "timing=any retries=0 budget=pause=1", verdict.Overlap, 1},
		{"takeover-del", "attempts=2 retries=2 budget=pause=1", verdict.Overlap, 1},
		{"getset-retry", "attempts=2 retries=2 budget=pause=1", verdict.Overlap, 1},
		{"getset-check", "attempts=2 retries=2 budget=pause=1", verdict.Overlap, 1},
		// A deadlock is said only of a refusal that lasts: a request that has just landed, late, ends with its lease. And
		// messages of the probe take no time, however long those take with which nobody has a majority.
		{"token", "attempts=2 budget=hang=1@20s", verdict.Deadlock, -1},
		{"token", "attempts=2 budget=delay=2@15s", verdict.Deadlock, -1},
		{"setnx", "attempts=2 budget=crash=1+hang=1@20s", verdict.Deadlock, 1},
		{"setnx", "attempts=2 budget=crash=1+delay=2@15s", verdict.Deadlock, 1},
		{"redlock", "clients=1 timing=any latency=1500ms", verdict.Starved, 0},
		{"redlock", "clients=1 timing=any latency=1500ms", verdict.Deadlock, -1},
		// A key that is lost is back within a lease, and a DEL that comes later finds nothing.
		{"token", "timing=any budget=restart=1@1s", verdict.Overlap, 1},
		{"token", "timing=any budget=restart=1@10s", verdict.Overlap, 1},
		{"setnx-expire", "timing=any budget=delay=1@9s", verdict.WrongDel, 1},
		{"setnx-expire", "timing=any budget=delay=1@10s", verdict.WrongDel, 1},
		// A reply under way when its connection breaks may arrive. Where it is lost, nobody has the stamp that SETNX has
		// made and the restart has deleted.
		{"getset", "attempts=2 budget=crash=1+restart=1", verdict.Orphan, 2},
		// What a use brings to light that no search without it knows.
		{"naive-wake", "attempts=2 budget=delay=1@2s", verdict.Deadlock, -1},
		{"naive-wake", "attempts=2 uses=wait budget=delay=1@2s", verdict.Deadlock, 0},
		{"zk-naive", "clients=3", verdict.Overlap, -1},
		{"zk-naive", "clients=3", verdict.Lie, -1},
		{"zk-naive", "clients=3 uses=check+wait", verdict.Overlap, 0},
		{"zk-naive", "clients=3 uses=check+wait", verdict.Lie, 0},
		{"reentrant", "timing=any", verdict.Overlap, -1},
		{"reentrant", "timing=any uses=reenter", verdict.Overlap, 0},
		{"redlock-extend", "budget=pause=1", verdict.Lie, -1},
		{"redlock-extend", "uses=renew budget=pause=1", verdict.Lie, 1},
		{"token", "timing=any", verdict.Orphan, -1},
		{"token", "timing=any uses=give-up", verdict.Orphan, 0},
		{"setnx", "timing=any budget=lose-reply=1", verdict.WrongDel, -1},
		{"setnx", "timing=any client-retries=3 budget=lose-reply=1", verdict.WrongDel, 1},
		// Clocks that are off break locks that compare times of two clients, once they are off by as long as a lease
		// outlasts the work; and no lock that only measures how long something took.
		{"getset", "retries=1 skew=2250ms", verdict.Overlap, -1},
		{"getset", "retries=1 skew=6s", verdict.Overlap, 0},
		{"takeover-del", "retries=1 skew=6s", verdict.WrongDel, 0},
		{"client-expiry", "timing=any skew=1500ms", verdict.Overlap, -1},
		{"client-expiry", "retries=1 skew=6s", verdict.Overlap, 0},
		{"token", "timing=any skew=9s", verdict.Overlap, -1},
		{"redlock", "nodes=3 retries=1 skew=3s", verdict.Overlap, -1},
		// What takes longer, or comes more often, than a bound.
		{"token", "slow=1s budget=lose-reply=1", verdict.Slow, 1},
		{"token", "slow=3s budget=lose-reply=1", verdict.Slow, -1},
		{"token", "slow=2s budget=crash=1+hang=1@5s", verdict.Slow, 1},
		{"token", "timing=any idle=true slow=750ms", verdict.Slow, 0},
		{"token", "timing=any idle=true slow=1500ms", verdict.Slow, -1},
		{"naive-wake", "attempts=2 uses=wait slow=8760h", verdict.Slow, 0},
		{"polling-slowly", "slow=3s", verdict.Slow, 0},
		{"polling-fast", "noisy=2", verdict.Noisy, 0},
		{"polling-fast", "noisy=3", verdict.Noisy, -1},
		// Of two clients that wait for a row one gets it when the other's transaction ends, in whatever way.
		{"waits-in-mariadb", "timing=any", verdict.StaleWrite, -1},
		{"waits-in-mariadb", "timing=any budget=crash=1", verdict.StaleWrite, 1},
		{"waits-in-mariadb", "timing=any budget=crash=1", verdict.Overlap, -1},
		{"waits-in-postgresql", "timing=any", verdict.Overlap, -1},
		{"waits-in-postgresql", "timing=any budget=expire-session=1", verdict.Overlap, 1},
		// A budget is at most: two pauses of its length leave too little before PTTL, or end too soon after it.
		{"wary", "timing=any budget=pause=2@1600ms", verdict.Overlap, 2},
	} {
		entry := locks(t, test.lock)[0]
		if par, ok := parsOf(completed(t, entry, within(t, entry, test.bounds)))[test.word]; ok != (test.par >= 0) || ok && par != test.par {
			t.Errorf("%s, %s: %s@%d, %t, want @%d", test.lock, test.bounds, test.word, par, ok, test.par)
		}
	}
	// A fault that can be injected nowhere leaves the question open.
	if s := completed(t, racetest.Lock(t, "token"), within(t, racetest.Lock(t, "token"), "budget=expire-session=1")); !s.Inconclusive() {
		t.Error("token is said to survive a session's end")
	}
}

// TestVerdictsScale: verdicts do not depend on the unit of time: they are the same from the shortest lease to the longest.
func TestVerdictsScale(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, question := range []string{
		"setnx budget=crash=1", "setnx budget=pause=1", "token budget=crash=1", "token budget=pause=1", "getset budget=crash=1",
		"getset budget=pause=1", "token timing=any budget=crash=1",
	} {
		id, bounds, _ := strings.Cut(question, " ")
		entry, want := racetest.Lock(t, id), map[verdict.Word]int(nil)
		for _, ttl := range []string{"9s", "12ms", "2ms", "5ms", "1s", "1h", "8760h"} {
			b := within(t, entry, "attempts=2 ttl="+ttl+" "+bounds)
			if search.CheckSearch(entry, b) != nil {
				continue // at any timing a step is a millisecond
			}
			got := parsOf(completed(t, entry, b))
			if want == nil {
				want = got
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s, lease %v: %v, want %v", question, b.TTL, got, want)
			}
		}
	}
}
