package search_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

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
	{"redlock", "nodes=3", clientFaults + " restart=1", pushed},
	{"redlock", "nodes=3", "split=1", exhaustive},
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
	// Of two it has too many states.
	{"daemon-10-owned", "timing=any idle=true clients=1 uses=renew", "none", exhaustive},
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
	// they rest
	{"zk-naive zk-protected zk-herd-patient", "attempts=2", "crash=1 lose-reply=1 expire-session=1", exhaustive},
	{"database db-deadline", "", "none crash=1 lose-reply=1 expire-session=1", pushed},
	{"database db-deadline", "", "pause=1 lose-request=1 restart=1 failover=1 node-clock=1@10s", exhaustive},
	{"db-get-lock-pool", "", "none", exhaustive},
	// A client is started anew: one that watches keys, one that subscribes, one that reads its clock.
	{"redisson-lease token watch-multi takeover-del", "", "crash=1+return=1", always},
	{"naive-wake", "uses=wait", "crash=1+return=1", always},
	{"reentrant constant", "clients=1 timing=any", "crash=1+return=1", always},
	{"redisson-lease", "clients=1 timing=any tokens=thread", "crash=1+return=1", always},
	{"least-number least-name first-listed", "attempts=2", "none crash=1 lose-reply=1 expire-session=1", exhaustive},
	{"own-reply lesser-reply first-client", "attempts=2", "crash=1", exhaustive},
	{"own-reply lesser-reply first-client", "clients=3", "crash=1", exhaustive},
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

// chains are bounds that are added to those of all, each of which allows all that the one before it does: what a client
// may do once more, or may wait for longer, a larger budget, a later message, a clock that is more wrong. Some lengths
// are no whole number of steps, which are 750ms.
var chains = []struct {
	locks, all, chain string
	states            int // a chain ends where a search has more; 0: any number
	asked             level
}{
	{"token", "timing=any budget=pause=1", "attempts=1|attempts=2", 0, pushed},
	{"setnx-expire", "timing=any", "|budget=pause=1@500ms|budget=pause=1@3s|budget=pause=1@3100ms|budget=pause=1@9s",
		20_000, pushed},
	{"setnx-expire", "timing=any", "|budget=pause=1|budget=pause=2", 20_000, pushed},
	{"setnx-expire", "timing=any", "|budget=delay=1@500ms|budget=delay=1@3s|budget=delay=1@10s|budget=delay=2@10s",
		20_000, pushed},
	{"setnx-expire", "timing=any", "|budget=hang=1@500ms|budget=hang=1@3s|budget=hang=1@10s|budget=hang=2@10s", 20_000,
		pushed},
	{"setnx-expire", "timing=any", "|budget=restart=1|budget=restart=1@1s|budget=restart=1@10s", 20_000, pushed},
	{"every", "timing=any",
		"|budget=pause=1@500ms|budget=pause=1@3s|budget=pause=1@3100ms|budget=pause=1|budget=pause=2", 8_000,
		exhaustive},
	{"every", "timing=any", "|budget=delay=1@500ms|budget=delay=1@3s|budget=delay=1@10s|budget=delay=2@10s", 8_000,
		exhaustive},
	{"every", "timing=any", "|budget=hang=1@500ms|budget=hang=1@3s|budget=hang=1@10s|budget=hang=2@10s", 8_000,
		exhaustive},
	{"every", "timing=any", "|budget=restart=1|budget=restart=1@1s|budget=restart=1@10s", 8_000, exhaustive},
	{"every", "timing=any", "|budget=node-clock=1@1s|budget=node-clock=1@3s|budget=node-clock=2@10s", 8_000,
		exhaustive},
	{"every", "timing=any", "|budget=client-clock=1@1s|budget=client-clock=1@10s", 8_000, exhaustive},
	{"every", "timing=any", "|budget=crash=1|budget=crash=2", 8_000, exhaustive},
	{"every", "timing=any", "|budget=lose-reply=1|budget=lose-reply=2", 8_000, exhaustive},
	{"every", "timing=any", "|budget=failover=1|budget=failover=1+restart=1", 8_000, exhaustive},
	{"setnx-expire token", "timing=any budget=pause=1", "latency=0s lateness=0s|latency=0s lateness=2250ms", 0, pushed},
	{"setnx-expire token", "timing=any budget=pause=1 lateness=0s",
		"latency=0s|latency=750ms|latency=1500ms", 0, pushed},
	{"token", "timing=any budget=lose-reply=1", "latency=0s lateness=0s|latency=750ms lateness=750ms", 0, pushed},
	{"watchdog", "timing=any budget=pause=1@5s", "latency=0s lateness=0s|latency=750ms lateness=750ms", 0, exhaustive},
	{"zk-naive", "timing=any budget=expire-session=1", "latency=0s lateness=0s|latency=750ms lateness=750ms", 0,
		exhaustive},
	{"redisson-lease reentrant-increment naive-wake", "budget=crash=1", "|uses=all", 0, pushed},
	{"watchdog redisson-lock lock-delay getset-check zk-naive", "budget=pause=1", "|uses=all", 0, exhaustive},
	{"setnx-expire reentrant", "", "budget=crash=1|budget=crash=1+return=1", 20_000, pushed},
	{"every", "", "budget=crash=1|budget=crash=1+return=1", 20_000, exhaustive},
	{"takeover-del client-expiry", "retries=1", "skew=0s|skew=3s|skew=6s", 0, pushed},
	{"getset getset-retry token", "retries=1 budget=pause=1@3s", "skew=0s|skew=6s|skew=9s", 0, exhaustive},
}

// TestMoreFindsNoLess: what allows more loses no verdict and takes no more faults.
func TestMoreFindsNoLess(t *testing.T) {
	for _, c := range chains {
		if !c.asked.asked() {
			continue
		}
		t.Run(c.locks+"/"+c.all+"/"+c.chain, func(t *testing.T) {
			t.Parallel()
			for _, entry := range locks(t, strings.Fields(c.locks)...) {
				before := map[verdict.Word]int{}
				for one := range strings.SplitSeq(c.chain, "|") {
					b := within(t, entry, c.all+" "+one)
					if b.Check(entry) != nil {
						break // a fault that this lock has no use for
					}
					found := tried(t, entry, b, c.states)
					if found == nil {
						t.Logf("%s, %s: too many states", entry.ID, one)
						break
					}
					if in := weaker(found, before); in != nil {
						t.Errorf("%s: %s finds %v, less of it finds more: %v", entry.ID, one, found, in)
					}
					before = found
				}
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
		// What one schedule could not show: the rival of a client that pauses asks too early,
		// or an attempt comes too soon.
		{"token", "timing=any retries=0 budget=pause=1", verdict.Overlap, 1},
		{"takeover-del", "attempts=2 retries=2 budget=pause=1", verdict.Overlap, 1},
		{"getset-retry", "attempts=2 retries=2 budget=pause=1", verdict.Overlap, 1},
		{"getset-check", "attempts=2 retries=2 budget=pause=1", verdict.Overlap, 1},
		// A deadlock is said only of a refusal that lasts: a request that has just landed, late, ends with its lease.
		// And messages of the probe take no time, however long those take with which nobody has a majority.
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
		// A reply under way when its connection breaks may arrive. Where it is lost, nobody has the stamp that SETNX
		// has made and the restart has deleted.
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
		par, ok := parsOf(completed(t, entry, within(t, entry, test.bounds)))[test.word]
		if ok != (test.par >= 0) || ok && par != test.par {
			t.Errorf("%s, %s: %s@%d, %t, want @%d", test.lock, test.bounds, test.word, par, ok, test.par)
		}
	}
	// A fault that can be injected nowhere leaves the question open.
	if s := completed(t, racetest.Lock(t, "token"),
		within(t, racetest.Lock(t, "token"), "budget=expire-session=1")); !s.Inconclusive() {
		t.Error("token is said to survive a session's end")
	}
}

// TestVerdictsScale: verdicts do not depend on the unit of time: they are the same from the shortest lease to the
// longest.
func TestVerdictsScale(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, question := range []string{
		"setnx budget=crash=1", "setnx budget=pause=1", "token budget=crash=1", "token budget=pause=1",
		"getset budget=crash=1",
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
