package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/database"
	"locklab/algorithms/lock"
	"locklab/algorithms/zookeeper"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestDumbTwin covers two clients with one attempt each, for every lock under every single fault (Redlock with three
// servers of its five); and for locks of one server two attempts under the faults of clients and messages, and three
// clients under a crash or a pause.
func TestDumbTwin(t *testing.T) {
	entries, budgets := locks(t, "setnx", "token"), clientFaults
	if effort.Pushed() {
		entries, budgets = algorithms.Milestones(), slices.Concat(clientFaults, serverFaults)
	}
	atSize(t, entries, 2, 1, budgets, compare)
	if effort.Exhaustive() {
		atSize(t, oneServer(), 2, 2, clientFaults, compare)
		atSize(t, oneServer(), 3, 1, []string{"crash=1", "pause=1@5s"}, compare)
	}
	atSize(t, locks(t, "sharded", "sharded-token"), 2, 1, []string{"server-list=1", "crash=1", "server-list=1,crash=1"}, compare)
}

// twins are further searches that are compared with their twins, within bounds and under budgets. Times of the twin are
// absolute: at any timing clients may not wait without end. It makes the choices of clients too: what they do with the
// lock besides, and what their library sends again.
var twins = []struct {
	locks, bounds, budgets string // "none" is no fault
	long                   bool
}{
	{"setnx token", "timing=any idle=true", "none crash=1", false},
	{"setnx token", "timing=any idle=true", "lose-reply=1 pause=1@5s restart=1@1s lose-request=1", true},
	{"token", "timing=any idle=true", "delay=1@2s hang=1@2s node-clock=1@2s", true},
	{"setnx", "timing=any idle=true clients=1 uses=give-up", "none", false},
	{"token", "timing=any idle=true uses=give-up client-retries=1", "lose-reply=1", true},
	{"daemon-10-owned", "timing=any idle=true clients=1 uses=renew", "none", true}, // of two, this twin has too many states
	{"reentrant", "timing=any idle=true uses=reenter", "none", true},
	{"setnx", "", "split=1", false},
	{"naive-wake", "attempts=2 uses=wait", "none", false},
	{"watchdog", "uses=all", "none", false},
	{"watchdog", "uses=all", "pause=1@5s", true},
	{"watchdog", "attempts=2 uses=renew", "crash=1", true},
	{"zk-naive", "uses=check+wait", "none", false},
	{"watchdog", "", "pause-thread=1@5s", false},
	{"zk-naive", "", "pause-thread=1@12s", true},
	{"setnx", "attempts=2 client-retries=3", "lose-reply=1", false},
	{"takeover-del", "skew=4500ms retries=0", "none", false},
	{"client-expiry", "timing=any idle=true skew=1500ms clients=1", "none", true},
	{"token", "tokens=constant retries=2", "pause=1", false},
	{"token", "tokens=clock retries=2", "pause=1", false},
	{"token", "tokens=prefix", "crash=1", false},
	{"token", "timing=any idle=true latency=1500ms lateness=0s", "none", false},
	{"token", "timing=any idle=true latency=0s lateness=1500ms", "pause=1@2s", true},
	{"token", "attempts=2 fenced=true", "pause=1", false},
	{"token", "attempts=2", "node-clock=1@9000500us", false}, // by a part of a millisecond, to before the epoch
	{"zk-recheck zk-naive-patient zk-recheck-patient", "", "none crash=1 pause=1 lose-reply=1 lose-request=1", false},
	{"zk-protected-patient", "", "lose-reply=1 expire-session=1", false},
}

func TestDumbTwins(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	for _, test := range twins {
		if !test.long || effort.Exhaustive() {
			compareAll(t, locks(t, strings.Fields(test.locks)...), test.bounds, test.budgets)
		}
	}
	databases := slices.DeleteFunc(append(database.All(), waitsInMariaDB, waitsInPostgreSQL),
		func(e lock.Entry) bool { return e.ID == "db-get-lock-pool" }) // its pings go on and on
	compareAll(t, databases, "", "none crash=1 lose-reply=1 expire-session=1")
	if effort.Exhaustive() {
		compareAll(t, databases, "", "pause=1 lose-request=1 restart=1 failover=1 node-clock=1@10s")
		compareAll(t, locks(t, "db-get-lock-pool"), "", "none")
	}
}

func compareAll(t *testing.T, entries []lock.Entry, bounds, budgets string) {
	t.Helper()
	for _, entry := range entries {
		for budget := range strings.FieldsSeq(budgets) {
			b := within(t, entry, bounds+" budget="+budget)
			if err := b.Check(entry); err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprint(entry.ID, "/", bounds, "/", budget), func(t *testing.T) {
				t.Parallel()
				compare(t, entry, b)
			})
		}
	}
}

// TestDumbTwinOfServersClock: the lease is in the value, and the server compares it with its own clock: the TTL does not
// show how much of the lease is left.
func TestDumbTwinOfServersClock(t *testing.T) {
	const script = `local now = redis.call("TIME") now = now[1] * 1000 + math.floor(now[2] / 1000)
if now < tonumber(redis.call("GET", KEYS[1]) or 0) then return 0 end
redis.call("SET", KEYS[1], now + ARGV[1]) return now + ARGV[1]`
	stamped := taking("stamped", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		n, err := env.Nodes[0].Eval(ctx, script, []string{key}, env.TTL.Milliseconds()).Int64()
		return n > 0, err
	})
	b := small(stamped, 2, 2, "crash=1,pause=1@5s")
	compare(t, stamped, b)
	if !searched(t, stamped, b, nil).ReadsClock {
		t.Error("the time of day was not part of the state")
	}
}

// The simplest search agrees where a client is started anew, in any of its states.
func TestDumbTwinOfReturn(t *testing.T) {
	for _, question := range []string{
		"redisson-lease", "redisson-lease clients=1 timing=any tokens=thread", "token", "reentrant clients=1 timing=any",
		"constant clients=1 timing=any", "watch-multi", // it watches keys
		"naive-wake uses=wait", "takeover-del", // it subscribes; it reads its clock
	} {
		id, bounds, _ := strings.Cut(question, " ")
		entry := racetest.Lock(t, id)
		b := within(t, entry, bounds+" budget=crash=1+return=1")
		got, want := listed(prices(completed(t, entry, b).Result)), listed(dumbly(t, entry, b, nil).found)
		if got != want {
			t.Errorf("%s, %v: found %s, the twin %s", id, b, got, want)
		}
	}
}

// polling is a lock whose Acquire asks again after a pause, so many times.
func polling(pause time.Duration, times int) lock.Entry {
	return taking("polling", func(ctx context.Context, env lock.Env, key string) (bool, error) {
		for range times {
			if ok, err := env.Nodes[0].SetNX(ctx, key, env.Tokens.Token(), env.TTL).Result(); err != nil || ok {
				return ok, err
			}
			env.Clock.Sleep(pause)
		}
		return false, nil
	})
}

// TestDumbTwinOfBounds: the search finds SLOW and NOISY where its twin does.
func TestDumbTwinOfBounds(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	token, slowly, fast := racetest.Lock(t, "token"), polling(2*time.Second, 3), polling(400*time.Millisecond, 4)
	for name, test := range map[string]struct {
		entry        lock.Entry
		bounds, want string
	}{
		"a lost reply":        {token, "slow=1s budget=lose-reply=1", "SLOW@1"},
		"not longer":          {token, "slow=3s budget=lose-reply=1", ""},
		"a pause":             {token, "slow=1s budget=pause=1@5s", ""},
		"a crash":             {token, "slow=2s budget=crash=1+hang=1@5s", "SLOW@1"},
		"messages":            {token, "timing=any idle=true slow=750ms", "SLOW@0"},
		"messages in time":    {token, "timing=any idle=true slow=1500ms", ""},
		"its own wait":        {slowly, "slow=3s", "SLOW@0"},
		"a fast poll":         {fast, "noisy=2", "NOISY@0"},
		"not fast enough":     {fast, "noisy=3", ""},
		"both":                {fast, "slow=1s noisy=2 budget=pause=1", "SLOW@0 NOISY@0"},
		"a pause, and a poll": {fast, "noisy=3 budget=pause=1@5s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := within(t, test.entry, test.bounds)
			compare(t, test.entry, b)
			bounded := slices.DeleteFunc(searched(t, test.entry, b, nil).Pars(), func(found string) bool {
				return !strings.HasPrefix(found, string(verdict.Slow)) && !strings.HasPrefix(found, string(verdict.Noisy))
			})
			if got := strings.Join(bounded, " "); got != test.want {
				t.Errorf("%v, want %q", got, test.want)
			}
		})
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
	} {
		entry := locks(t, test.lock)[0]
		if par, ok := parsOf(completed(t, entry, within(t, entry, test.bounds)))[test.word]; ok != (test.par >= 0) || ok && par != test.par {
			t.Errorf("%s, %s: %s@%d, %t, want @%d", test.lock, test.bounds, test.word, par, ok, test.par)
		}
	}
	// Who waits in line until the holder is done.
	waits := patient(racetest.Lock(t, "zk-protected"), 20*time.Second)
	for budget, want := range map[string]string{
		"crash=1": "", "lose-reply=1": "", "expire-session=1": "OVERLAP@1 STALE-WRITE@1", "pause=1": "OVERLAP@1 STALE-WRITE@1",
	} {
		if got := strings.Join(completed(t, waits, small(waits, 2, 1, budget)).Pars(), " "); got != want {
			t.Errorf("zk-protected, %s: %q, want %q", budget, got, want)
		}
	}
	// A fault that can be injected nowhere leaves the question open.
	if s := completed(t, racetest.Lock(t, "token"), within(t, racetest.Lock(t, "token"), "budget=expire-session=1")); !s.Inconclusive() {
		t.Error("token is said to survive a session's end")
	}
}

// Verdicts do not depend on the unit of time: they are the same from the shortest lease to the longest.
func TestVerdictsScale(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	const year = 365 * 24 * time.Hour
	leases := []time.Duration{2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, time.Second, time.Hour, year}
	for _, question := range []string{
		"setnx budget=crash=1", "setnx budget=pause=1", "token budget=crash=1", "token budget=pause=1", "getset budget=crash=1",
		"getset budget=pause=1", "token timing=any budget=crash=1",
	} {
		id, bounds, _ := strings.Cut(question, " ")
		b := within(t, racetest.Lock(t, id), "attempts=2 "+bounds)
		want := foundBy(t, id, b)
		for _, b.TTL = range leases {
			if b.Timing == search.AnyTiming {
				b.TTL = max(b.TTL, 12*time.Millisecond)
			}
			if got := foundBy(t, id, b); len(weaker(got, want))+len(weaker(want, got)) > 0 {
				t.Errorf("%s, lease %v: %v, want %v", question, b.TTL, got, want)
			}
		}
	}
}

// Bounds that a world cannot carry are refused, each with a sentence of its own.
func TestBadBounds(t *testing.T) {
	for bounds, want := range map[string]string{
		"ttl=1ms": "ttl=1ms", "ttl=876000h": "ttl=876000h", "ttl=11ms timing=any": "ttl=11ms", "ttl=11ms timing=auto latency=0s": "ttl=11ms",
		"budget=crash=1+node-clock=2@490000h": "490000h", "budget=pause=255@8000h": "pause=255",
		"retries=1 timing=any": "retries=1", "retries=1 timing=auto latency=0s": "retries=1", "retries=6": "retries=6",
		"retries=-1": "0 to 5, or auto", "retries=x": "0 to 5, or auto", "asks=2": "no such bound",
		"timing=any latency=1s": "latency=1s", "timing=any lateness=10s": "lateness=10s", "timing=lockstep lateness=0s": "lateness=0s",
		"skew=-750ms": "skew=-750ms", "skew=1s": "skew=1s", "skew=1ns": "skew=1ns", "skew=45750ms": "skew=45.75s", "skew=45s": "",
		"slow=-1s": "slow=-1s", "noisy=-1": "noisy=-1", "noisy=3 timing=any": "noisy=3", "noisy=3 timing=auto": "noisy=3",
		"slow=1s attempts=any timing=any": "slow", "slow=1s timing=lockstep": "", "noisy=3 timing=lockstep": "", "slow=1s timing=any clients=3": "",
	} {
		b := search.DefaultBounds()
		err := setAll(&b, bounds)
		if err == nil {
			err = search.CheckSearch(racetest.Lock(t, "token"), b)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("%s: %v, want %q", bounds, err, want)
		}
		if again, err := search.ParseBounds(b.String()); want == "" && (err != nil || again.String() != b.String()) {
			t.Errorf("%s is read as %s, %v", b, again, err)
		}
	}
}

// Every witness of a search at any timing is found again by its link alone, also where a server that is down or hangs
// goes on early; what a search finds before it is cut short is as real.
func TestWitnessesAtAnyTiming(t *testing.T) {
	questions := map[string]string{"setnx": "restart=1@10s hang=1@10s pause=1@10s"}
	if effort.Exhaustive() {
		for _, id := range []string{"setnx-expire", "token", "getset"} {
			questions[id] = "pause=1@5s lose-reply=1 failover=1 delay=1@15s"
		}
	}
	for id, budgets := range questions {
		for budget := range strings.FieldsSeq(budgets) {
			b := everyTiming(racetest.Lock(t, id), 2, 1, budget)
			b.MaxStates = 100_000
			s := exploring(t, racetest.Lock(t, id), b)
			if replays(t, s); len(s.Witnesses) == 0 {
				t.Errorf("%s, %s: nothing is found", id, budget)
			}
		}
	}
}

// TestCountedTransactions: a search in which an ensemble numbers creations only finds what
// one finds in which it numbers every transaction, as a real one does, in fewer states.
func TestCountedTransactions(t *testing.T) {
	t.Parallel()
	locks := zookeeper.All()
	if !effort.Exhaustive() {
		locks = []lock.Entry{racetest.Lock(t, "zk-recheck")}
	}
	for _, e := range locks {
		for _, budget := range []string{"", "crash=1", "expire-session=1", "lose-reply=1", "pause=1"} {
			b := small(e, 2, 1, budget)
			b.Timing = search.Lockstep
			counted := searched(t, e, b, nil)
			all := searched(t, e, b, func(o *explore.Options) { o.Plain.Transactions = true })
			if got, want := listed(prices(counted)), listed(prices(all)); got != want {
				t.Errorf("%s, %s: found are\n%s\nwith all transactions\n%s", e.ID, b.Faults(), got, want)
			}
			if counted.States > all.States || budget == "pause=1" && counted.States == all.States {
				t.Errorf("%s, %s: %d states, with all transactions %d", e.ID, b.Faults(), counted.States, all.States)
			}
		}
	}
}

// twinQuestion is a search of two clients with one attempt each, at any timing.
type twinQuestion struct {
	lock   lock.Entry
	budget string
	states int // a twin that has more is not compared
}

// ask asks for each lock with each budget.
func ask(locks []lock.Entry, states int, budgets ...string) (list []twinQuestion) {
	for _, e := range locks {
		for _, budget := range budgets {
			list = append(list, twinQuestion{e, budget, states})
		}
	}
	return list
}

// fewerStates compares searches with their twins, which keep something in their states: they
// find the same, in no more states, and at least one of them in fewer.
func fewerStates(t *testing.T, questions []twinQuestion, keep func(o *explore.Options)) {
	t.Helper()
	fewer := 0
	for _, q := range questions {
		b := small(q.lock, 2, 1, q.budget)
		b.Timing = search.AnyTiming
		cut := func(o *explore.Options) {
			o.MaxStates = q.states
			o.Unending = false // where a clock is read there is no end, and the search is cut
		}
		twin := searchedUpTo(t, q.lock, b, func(o *explore.Options) { cut(o); keep(o) })
		if !twin.Complete {
			t.Logf("%s, %s: cut", q.lock.ID, q.budget)
			continue
		}
		r := searchedUpTo(t, q.lock, b, cut)
		t.Logf("%s, %s: %d states, its twin %d", q.lock.ID, q.budget, r.States, twin.States)
		if got, want := listed(prices(r)), listed(prices(twin)); got != want || !r.Complete {
			t.Errorf("%s, %s: found are\n%s\nby its twin\n%s", q.lock.ID, q.budget, got, want)
		}
		if r.States > twin.States {
			t.Errorf("%s, %s: %d states, its twin %d", q.lock.ID, q.budget, r.States, twin.States)
		}
		if r.States < twin.States {
			fewer++
		}
	}
	if fewer == 0 {
		t.Error("no search has fewer states")
	}
}

// TestMergedHistories: clients that forget what their code does not show.
func TestMergedHistories(t *testing.T) {
	t.Parallel()
	locks := algorithms.All()
	if !effort.Exhaustive() {
		locks = []lock.Entry{racetest.Lock(t, "set-ifeq")}
	}
	fewerStates(t, ask(locks, 20_000, "crash=1"), func(o *explore.Options) { o.Plain.Histories = true })
}

// TestDropped: states without time-outs that cannot come, copies that nothing reads, how long ago their keys have ended, and
// versions that nobody compares.
func TestDropped(t *testing.T) {
	t.Parallel()
	of := func(id string, budgets ...string) []twinQuestion {
		return ask([]lock.Entry{racetest.Lock(t, id)}, 400_000, budgets...)
	}
	// where a time-out comes, or a copy is read, before the budget is spent and after it
	questions := append(of("token", "delay=1@3s", "lose-reply=1", "failover=1"), of("token-wait", "failover=1", "crash=1")...)
	questions = append(questions, of("setnx", "split=1", "delay=1@5s,crash=1")...)
	if effort.Exhaustive() {
		questions = append(questions, of("token", "lose-request=1", "hang=1@5s", "restart=1@1s", "pause=1@3s", "split=1")...)
		questions = append(questions, of("setnx-expire", "failover=1", "restart=1@10s", "failover=1,node-clock=1@10s")...)
		questions = append(questions, of("token-wait", "split=1", "restart=1@1s", "delay=1@3s")...)
		questions = append(questions, of("zk-recheck", "expire-session=1", "lose-reply=1", "delay=1@3s")...)
		questions = append(questions, ask(algorithms.All(), 30_000, "crash=1")...)
	}
	fewerStates(t, questions, func(o *explore.Options) { o.Plain.Parts = true })
}
