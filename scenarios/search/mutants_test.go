package search_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A search that finds nothing may be blind. So these tests change correct locks in the
// small ways in which people get them wrong, and the search must find what each defect
// causes. A family is one lock with a knob for each defect.

// A duel is the bounds of such a search. Its numbers are free, so that a defect can be
// searched for where the correct lock is proved to hold.
type duel struct {
	clients, attempts int
	budget            string
	nodes             int // 0: one
	ttl, work, retry  time.Duration
	timeout           time.Duration // of a command; 0: the simulator's
	idle              bool          // the work touches no resource, so that only the lock's messages can be lost
	reenter           bool          // the holder acquires and releases the lock once more
	fallen            bool          // the correct lock fails too, with OVERLAP and STALE-WRITE and nothing else
}

// Two clients with two attempts each, as in search.DefaultBounds.
func two(budget string) duel {
	return duel{clients: 2, attempts: 2, budget: budget, ttl: 9 * time.Second, work: 3600 * time.Millisecond,
		retry: 9900 * time.Millisecond}
}

// renewed is for locks that must renew: the work outlasts the lease.
func renewed(budget string) duel {
	return duel{clients: 2, attempts: 2, budget: budget, ttl: 3 * time.Second, work: 3600 * time.Millisecond,
		retry: 3300 * time.Millisecond}
}

// falling is for defects that show only after a lease has ended. That a lease can end
// under its holder is a failure of the correct lock already, so the defect must cause a
// verdict that the correct lock is proved not to have.
func (d duel) falling() duel { d.fallen = true; return d }

func (d duel) reentrant() duel { d.reenter = true; return d }
func (d duel) three() duel     { d.clients = 3; return d }

// voting is three servers with a time-out longer than the lease: one server that does not
// answer uses up the whole validity.
func voting(budget string) duel {
	return duel{clients: 2, attempts: 1, budget: budget, nodes: 3, ttl: 2 * time.Second, work: time.Second,
		retry: 2500 * time.Millisecond, timeout: 3 * time.Second, idle: true}
}

// hasty is voting with a time-out that is short against the lease.
func hasty(budget string) duel {
	d := voting(budget)
	d.timeout = 50 * time.Millisecond
	return d
}

func (d duel) once() duel  { d.attempts = 1; return d }
func (d duel) twice() duel { d.attempts = 2; return d }

func (d duel) String() string {
	s := fmt.Sprintf("%dx%d", d.clients, d.attempts)
	if d.reenter {
		s += " reentrant"
	}
	return s + " " + cmp.Or(d.budget, "no faults")
}

func (d duel) search(t *testing.T, create maker) *explore.Result {
	t.Helper()
	budget := racetest.Must(faults.Budget(d.budget).Parse())(t)
	nodes := max(d.nodes, 1)
	setup := simulator.Config{Faults: budget, Timeout: d.timeout, Nodes: make([]simulator.NodeConfig, nodes)}
	for range d.clients {
		setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: d.contender(create)})
	}
	setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: d.probe(create)})
	sim := racetest.Must(simulator.New(setup))(t)
	defer sim.Close()
	opt := explore.Options{
		Case:  history.History{Clients: d.clients + 1, Nodes: nodes, Key: client.Key, TTL: d.ttl},
		Probe: d.clients + 1, Symmetric: d.clients, Limits: explore.Limits{MaxStates: 400_000},
	}
	return racetest.Must(explore.Exhaust(t.Context(), sim, opt))(t)
}

func (d duel) contender(create maker) func(*simulator.Client) {
	return func(c *simulator.Client) {
		l := create(client.Environment(c, d.ttl, max(d.nodes, 1)))
		for range d.attempts {
			if lease, err := client.Try(c, l); err == nil {
				if d.reenter {
					if again, err := client.Try(c, l); err == nil {
						client.Release(c, again)
					}
				}
				if d.idle {
					c.Clock().Sleep(d.work)
					c.Record(history.Event{Kind: history.Leave})
				} else {
					client.Work(c, lease, client.Section{Work: d.work})
				}
				client.Release(c, lease)
			}
			c.Clock().Sleep(d.retry)
		}
		c.Record(history.Event{Kind: history.Done})
	}
}

func (d duel) probe(create maker) func(*simulator.Client) {
	return func(c *simulator.Client) {
		l := create(client.Environment(c, d.ttl, max(d.nodes, 1)))
		for range 8 { // more than there are faults
			if lease, err := client.Try(c, l); err == nil {
				explore.LeaveAndRelease(c, lease)
				return
			}
			c.Clock().Sleep(2*d.ttl + d.retry)
			c.Record(history.Event{Kind: history.Acquire})
			lease, err := l.Acquire(context.Background(), client.Key)
			if err == nil {
				c.Record(history.Event{Kind: history.Enter})
				explore.LeaveAndRelease(c, lease)
				return
			}
			if errors.Is(err, lock.ErrNotAcquired) {
				c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeRefused})
				return
			}
			c.Record(history.Event{Kind: history.Refuse})
		}
	}
}

// A defect turns one knob of its family's lock.
type defect struct {
	name string
	at   duel
	lock maker
}

// equivalent are the defects that cause the same verdicts as the correct lock in every
// search, each with the reason.
var equivalent = map[string]string{
	"token/one token for all attempts": "no request outlives the instant at which its sender gives up, " +
		"so none of an earlier attempt can meet a later grant",
	"watchdog/a refused renewal counts as one": "a renewal that looks whose lock it is finds nothing, however often",
}

// A family is a correct lock and its defects.
type family struct {
	name    string
	whole   maker
	defects []defect
}

// hold searches the correct lock at the bounds of the defects and returns its verdicts;
// they must be those that the bounds announce. The lock of the same name in package
// algorithms must have the same, with the same number of faults and steps: the mutants
// are mutants of the lock that people use.
func (f *family) hold(t *testing.T, at duel) map[verdict.Word]price {
	t.Helper()
	r := at.search(t, f.whole)
	found := prices(r)
	if !r.Complete {
		t.Errorf("%s at %v: the search of the whole lock was cut short", f.name, at)
	}
	_, overlap := found[verdict.Overlap]
	_, stale := found[verdict.StaleWrite]
	harms := maps.Clone(found)
	delete(harms, verdict.Orphan) // a lease that outlives its holder: any lock with a TTL has it
	if at.fallen != (overlap && stale && len(harms) == 2) || !at.fallen && len(harms) > 0 {
		t.Errorf("the whole %s lock at %v: %s", f.name, at, listed(found))
	}
	entry := racetest.Lock(t, f.name)
	if got, want := listed(found), listed(prices(at.search(t, entry.New))); got != want {
		t.Errorf("the whole %s lock at %v: %s, the lock of that name: %s", f.name, at, got, want)
	}
	return found
}

// TestMutants prints, with -v, which verdict reveals each defect, and the score. It must
// be a verdict that the correct lock is proved not to have at the same bounds.
func TestMutants(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, "one goroutine searches")
	t.Parallel()
	killed, survived, listedOnly := 0, 0, maps.Clone(equivalent)
	families := []family{
		{"token", tokenKnobs{}.lock, append(tokenDefects(), nameDefects()...)},
		{"getset", stampKnobs{}.lock, stampDefects()},
		{"watchdog", dogKnobs{}.lock, dogDefects()},
		{"redlock", voteKnobs{}.lock, voteDefects()},
	}
	if !effort.Exhaustive() { // the others take most of the time
		families = families[:2]
		maps.DeleteFunc(listedOnly, func(name, _ string) bool { return strings.HasPrefix(name, "watchdog/") })
	}
	for _, f := range families {
		whole := map[duel]map[verdict.Word]price{}
		for _, d := range f.defects {
			if whole[d.at] == nil {
				whole[d.at] = f.hold(t, d.at)
			}
			r := d.at.search(t, d.lock)
			by := prices(r)
			maps.DeleteFunc(by, func(w verdict.Word, _ price) bool { _, known := whole[d.at][w]; return known })

			name := f.name + "/" + d.name
			reason, excused := equivalent[name]
			delete(listedOnly, name)
			how := "killed by " + listed(by)
			if len(by) > 0 {
				killed++
			} else {
				survived++
				how = "survives: " + reason
			}
			fmt.Fprintf(t.Output(), "%-48s %-36v %s\n", name, d.at, how)
			switch {
			case len(by) == 0 && !r.Complete:
				t.Errorf("%s at %v: its search was cut short", name, d.at)
			case len(by) == 0 && !excused:
				t.Errorf("%s survives at %v", name, d.at)
			case len(by) > 0 && excused:
				t.Errorf("%s is listed as equivalent, but falls at %v to %s", name, d.at, listed(by))
			}
		}
	}
	fmt.Fprintf(t.Output(), "killed %d of %d, survived as equivalent %d\n", killed, killed+survived, survived)
	for name := range listedOnly {
		t.Errorf("%q is listed as equivalent and is no mutant", name)
	}
}

// tokenKnobs is SET NX PX with a token and compare-and-delete, with defects.
type tokenKnobs struct {
	acquire string // a script in place of SET
	set     []any  // the words after the value; nil: NX PX ttl
	then    string // a command without which the lease has no end
	always  bool   // the same, also after a refusal
	look    bool   // asks by GET whether the lock is free
	token   string // every: a constant; once: one for all attempts
	nilYes  bool   // a refusal counts as success
	errYes  bool   // an error counts as success
	release string // plain, get, getdel, exec: not by a script; retry: plain after an error; else the script
	zeroYes bool   // nothing deleted counts as success
}

var ifMine = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`

func (k tokenKnobs) lock(env lock.Env) lock.Lock {
	r, once := env.Nodes[0], ""
	if k.token == "once" {
		once = env.Tokens.Token()
	}
	return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
		token := once
		switch k.token {
		case "":
			token = env.Tokens.Token()
		case "every":
			token = "locked"
		}
		if k.look {
			if err := r.Get(ctx, key).Err(); !errors.Is(err, redis.Nil) {
				return nil, lock.ErrNotAcquired
			}
		}
		words := []any{"SET", key, token, "NX", "PX", env.TTL.Milliseconds()}
		switch {
		case k.set != nil:
			words = append(words[:3], k.set...)
		case k.acquire != "":
			words = []any{"EVAL", k.acquire, 1, key, token, env.TTL.Milliseconds()}
		}
		err := r.Do(ctx, words...).Err()
		refused := errors.Is(err, redis.Nil)
		if k.then != "" && (err == nil || k.always && refused) {
			if err := r.Do(ctx, k.then, key, env.TTL.Milliseconds()).Err(); err != nil {
				return nil, err
			}
		}
		switch {
		case refused && !k.nilYes:
			return nil, lock.ErrNotAcquired
		case err != nil && !refused && !k.errYes:
			return nil, err
		}
		return reporting(func(ctx context.Context) error { return k.giveBack(ctx, r, key, token) }), nil
	})
}

func (k tokenKnobs) giveBack(ctx context.Context, r redis.UniversalClient, key, token string) error {
	switch k.release {
	case "plain":
		return lost(r.Del(ctx, key).Result())
	case "get":
		if held, err := r.Get(ctx, key).Result(); err != nil || held != token {
			return lost(0, err)
		}
		return lost(r.Del(ctx, key).Result())
	case "getdel":
		held, err := r.GetDel(ctx, key).Result()
		if err == nil && held != token {
			return lock.ErrNotHeld
		}
		return lost(1, err)
	}
	if k.release == "exec" {
		return takeInTransaction(ctx, r, key, token)
	}
	script := ifMine
	if k.release != "" && k.release != "retry" {
		script = k.release
	}
	n, err := r.Eval(ctx, script, []string{key}, token).Int64()
	if err != nil && k.release == "retry" {
		n, err = r.Del(ctx, key).Result()
	}
	if err == nil && k.zeroYes {
		return nil
	}
	return lost(n, err)
}

// takeInTransaction releases by WATCH, GET, MULTI, DEL and EXEC. The defect: an EXEC that fails,
// because the key was touched meanwhile, counts as a release.
func takeInTransaction(ctx context.Context, r redis.UniversalClient, key, token string) error {
	err := r.Watch(ctx, func(tx *redis.Tx) error {
		if held, err := tx.Get(ctx, key).Result(); err != nil || held != token {
			return lost(0, err)
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Del(ctx, key).Err() })
		return err
	}, key)
	if errors.Is(err, redis.TxFailedErr) {
		return nil
	}
	return err
}

func tokenDefects() []defect {
	return []defect{
		{"release without a look at the token", two("pause=1").falling(), tokenKnobs{release: "plain"}.lock},
		{"release by GET, then DEL", two("pause=1").falling(), tokenKnobs{release: "get"}.lock},
		{"a failed EXEC counts as released", two("pause=1").falling(), tokenKnobs{release: "exec"}.lock},
		{"DEL before the check", two("pause=1").falling(), tokenKnobs{release: "getdel"}.lock},
		{"release again by DEL after an error", two("lose-reply=1"), tokenKnobs{release: "retry"}.lock},
		{"script compares the wrong argument", two("pause=1").falling(),
			tokenKnobs{release: `if ARGV[1] == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`}.lock},
		{"script compares the wrong way round", two("pause=1").falling(),
			tokenKnobs{release: `if redis.call("GET", KEYS[1]) ~= ARGV[1] then ` +
				`return redis.call("DEL", KEYS[1]) end return 0`}.lock},
		{"nothing deleted counts as success", two("pause=1").falling(), tokenKnobs{zeroYes: true}.lock},
		{"constant token", two("pause=1").falling(), tokenKnobs{token: "every"}.lock},
		{"one token for all attempts", two("lose-reply=1"), tokenKnobs{token: "once"}.lock},
		{"no TTL", two("crash=1"), tokenKnobs{set: []any{"NX"}}.lock},
		{"milliseconds sent as seconds", two("crash=1"), tokenKnobs{set: []any{"NX", "EX", 9000}}.lock},
		{"seconds sent as milliseconds", two("crash=1"), tokenKnobs{set: []any{"NX", "PX", 9}}.lock},
		{"TTL by a second command", two("crash=1"), tokenKnobs{set: []any{"NX"}, then: "PEXPIRE"}.lock},
		{"TTL prolonged by whoever is refused", two(""), tokenKnobs{then: "PEXPIRE", always: true}.lock},
		{"SET without NX", two(""), tokenKnobs{set: []any{"PX", 9000}}.lock},
		{"GET, then SET without NX", two(""), tokenKnobs{set: []any{"PX", 9000}, look: true}.lock},
		{"refusal counts as success", two(""), tokenKnobs{nilYes: true}.lock},
		{"error counts as success", two("lose-request=1"), tokenKnobs{errYes: true}.lock},
	}
}

// nameDefects are locks in which it depends on the clients' names who comes in: a
// search that takes clients for interchangeable may never see the one that does.
func nameDefects() []defect {
	const find, take = `local v = redis.call("GET", KEYS[1]) `,
		` return redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])`
	at, by := two("").once(), func(script string) maker { return tokenKnobs{acquire: script}.lock }
	return []defect{
		{"the greater token takes over", at, by(find + `if v and v > ARGV[1] then return false end` + take)},
		{"the last of the sorted tokens takes over", at, by(find + `local all = {v or ARGV[1], ARGV[1]} table.sort(all)
if all[2] ~= ARGV[1] then return false end` + take)},
		{"the last in rank takes over", at, by(`redis.call("ZADD", "line", 0, ARGV[1])
if redis.call("ZRANK", "line", ARGV[1]) + 1 ~= redis.call("ZCARD", "line") then return false end` + take)},
		{"a key for each client", at,
			by(`return redis.call("SET", KEYS[1] .. string.sub(ARGV[1], 1, 2), ARGV[1], "NX", "PX", ARGV[2])`)},
	}
}

// dogKnobs is a reentrant lock in a hash with a watchdog, with defects.
type dogKnobs struct {
	acquire, renew, release string // scripts in place of the right ones
	period                  int    // parts of a TTL; 0: a third; <0: never
	unstopped               bool   // release leaves the watchdog running
	stubborn                bool   // a renewal that was refused counts as one
}

const (
	dogAcquire = `if redis.call("EXISTS", KEYS[1]) == 0 or redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then
  redis.call("HINCRBY", KEYS[1], ARGV[1], 1) redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1 end return 0`
	dogRenew = `if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return 0 end ` +
		`return redis.call("PEXPIRE", KEYS[1], ARGV[2])`
	dogRelease = `if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call("HINCRBY", KEYS[1], ARGV[1], -1) > 0 then redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 2 end ` +
		`redis.call("DEL", KEYS[1]) return 1`
)

// dog is the lock of one process; it has one watchdog while it is held.
type dog struct {
	dogKnobs
	env     lock.Env
	owner   string
	running bool
	number  int // of the watchdog that may go on
}

func (k dogKnobs) lock(env lock.Env) lock.Lock {
	for script, right := range map[*string]string{&k.acquire: dogAcquire, &k.renew: dogRenew, &k.release: dogRelease} {
		if *script == "" {
			*script = right
		}
	}
	if k.period == 0 {
		k.period = 3
	}
	return &dog{dogKnobs: k, env: env, owner: env.Tokens.Token()}
}

func (d *dog) run(ctx context.Context, script, key string) (int64, error) {
	return d.env.Nodes[0].Eval(ctx, script, []string{key}, d.owner, d.env.TTL.Milliseconds()).Int64()
}

func (d *dog) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	n, err := d.run(ctx, d.acquire, key)
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, lock.ErrNotAcquired
	}
	if !d.running && d.period > 0 {
		d.running = true
		d.number++
		d.watch(ctx, key, d.number)
	}
	return reporting(func(ctx context.Context) error {
		n, err := d.run(ctx, d.release, key)
		if n != 2 && !d.unstopped { // no longer held, or unknown
			d.running = false
		}
		return lost(n, err)
	}), nil
}

func (d *dog) watch(ctx context.Context, key string, number int) {
	d.env.Clock.AfterFunc(d.env.TTL/time.Duration(d.period), func() {
		if !d.running || d.number != number {
			return
		}
		n, err := d.run(ctx, d.renew, key)
		if err == nil && (n > 0 || d.stubborn) {
			d.watch(ctx, key, number)
		}
	})
}

func dogDefects() []defect {
	return []defect{
		{"no renewal", renewed(""), dogKnobs{period: -1}.lock},
		{"renewal once a TTL", renewed("pause=1@500ms"), dogKnobs{period: 1}.lock},
		{"renewal without a look at the owner", renewed("pause=1").falling(),
			dogKnobs{renew: `return redis.call("PEXPIRE", KEYS[1], ARGV[2])`}.lock},
		{"renewal makes the key anew", renewed("pause=1").falling(),
			dogKnobs{renew: `redis.call("DEL", KEYS[1]) redis.call("HSET", KEYS[1], ARGV[1], 1) ` +
				`return redis.call("PEXPIRE", KEYS[1], ARGV[2])`}.lock},
		{"renewal goes on after the release", renewed("lose-request=1").falling(), dogKnobs{unstopped: true}.lock},
		{"a refused renewal counts as one", renewed("pause=1").falling(), dogKnobs{stubborn: true}.lock},
		{"renewal in the wrong unit", renewed(""),
			dogKnobs{renew: strings.Replace(dogRenew, `"PEXPIRE", KEYS[1], ARGV[2]`,
				`"PEXPIRE", KEYS[1], ARGV[2] / 1000`, 1)}.lock},
		{"renewal for ever", renewed("crash=1"),
			dogKnobs{renew: strings.Replace(dogRenew, "PEXPIRE", "EXPIRE", 1)}.lock},
		{"no TTL before the first renewal", renewed("crash=1"),
			dogKnobs{acquire: strings.Replace(dogAcquire, `redis.call("PEXPIRE", KEYS[1], ARGV[2])`, "", 1)}.lock},
		{"acquire for any owner", renewed(""), dogKnobs{acquire: strings.Replace(dogAcquire,
			`redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1`, `redis.call("HLEN", KEYS[1]) == 1`, 1)}.lock},
		{"entries not counted", renewed("").reentrant(),
			dogKnobs{acquire: strings.Replace(dogAcquire, `"HINCRBY"`, `"HSET"`, 1)}.lock},
		{"release whatever the count", renewed("").reentrant(),
			dogKnobs{release: strings.Replace(dogRelease, "> 0", "> 9", 1)}.lock},
		{"release one entry too early", renewed("").reentrant(),
			dogKnobs{release: strings.Replace(dogRelease, "> 0", "> 1", 1)}.lock},
		{"count not taken down", renewed("").reentrant(),
			dogKnobs{release: strings.Replace(dogRelease, "ARGV[1], -1", "ARGV[1], 0", 1)}.lock},
		{"DEL, then the count", renewed(""),
			dogKnobs{release: `redis.call("DEL", KEYS[1]) redis.call("HINCRBY", KEYS[1], ARGV[1], -1) return 1`}.lock},
		{"release of any owner", renewed("pause=1").falling(),
			dogKnobs{release: `return redis.call("DEL", KEYS[1])`}.lock},
	}
}

// stampKnobs is SETNX with a time stamp and takeover by GETSET, with defects.
type stampKnobs struct {
	ends     func(now, ttl int64) int64 // the stamp; nil: now + ttl
	backward bool                       // takes over what has not ended
	takeover string                     // set, del: in place of GETSET
	anyOld   bool                       // whatever GETSET gives back
}

func (k stampKnobs) lock(env lock.Env) lock.Lock {
	r := env.Nodes[0]
	return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
		lease := reporting(func(ctx context.Context) error { return lost(r.Del(ctx, key).Result()) })
		now := env.Clock.Now().UnixMilli()
		ends := now + env.TTL.Milliseconds()
		if k.ends != nil {
			ends = k.ends(now, env.TTL.Milliseconds())
		}
		stamp := strconv.FormatInt(ends, 10)
		if made, err := r.Do(ctx, "SETNX", key, stamp).Bool(); err != nil || made {
			return lease, err
		}
		old, err := r.Get(ctx, key).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		until, err := strconv.ParseInt(old, 10, 64)
		if err != nil || (now < until) != k.backward {
			return nil, lock.ErrNotAcquired
		}
		switch k.takeover {
		case "set":
			return lease, r.Set(ctx, key, stamp, 0).Err()
		case "del":
			if err := r.Del(ctx, key).Err(); err != nil {
				return nil, err
			}
			made, err := r.Do(ctx, "SETNX", key, stamp).Bool()
			if err == nil && !made {
				err = lock.ErrNotAcquired
			}
			return lease, err
		}
		replaced, err := r.GetSet(ctx, key, stamp).Result()
		if errors.Is(err, redis.Nil) || err == nil && replaced != old && !k.anyOld {
			err = lock.ErrNotAcquired
		}
		return lease, err
	})
}

func stampDefects() []defect {
	return []defect{
		{"comparison the wrong way round", two(""), stampKnobs{backward: true}.lock},
		{"stamp without the TTL", two(""), stampKnobs{ends: func(now, _ int64) int64 { return now }}.lock},
		{"stamp in seconds", two(""), stampKnobs{ends: func(now, ttl int64) int64 { return (now + ttl) / 1000 }}.lock},
		{"TTL in microseconds", two("crash=1"),
			stampKnobs{ends: func(now, ttl int64) int64 { return now + ttl*1000 }}.lock},
		{"takeover by SET", two("crash=1").three(), stampKnobs{takeover: "set"}.lock},
		{"takeover by DEL, then SETNX", two("crash=1").three(), stampKnobs{takeover: "del"}.lock},
		{"takeover whatever GETSET gives back", two("crash=1").three(), stampKnobs{anyOld: true}.lock},
	}
}

// voteKnobs is Redlock, with defects.
type voteKnobs struct {
	fewer     int    // votes less than a majority
	nilYes    bool   // a refusal counts as a vote
	errYes    bool   // no answer counts as a vote
	answered  bool   // a majority of those that answered is enough
	late      bool   // validity is not looked at
	lateStart bool   // validity counts from after the last answer
	token     string // constant; "": a new one
	plain     bool   // DEL without a look
	noTTL     bool
	sparing   bool // release only on servers that granted the lock
	leaving   bool // what was granted without a majority is left behind
	zeroHeld  bool // a release that found nothing counts
}

func (k voteKnobs) lock(env lock.Env) lock.Lock {
	return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
		token := k.token
		if token == "" {
			token = env.Tokens.Token()
		}
		words := []any{"SET", key, token, "NX", "PX", env.TTL.Milliseconds()}
		if k.noTTL {
			words = words[:4]
		}
		start := env.Clock.Now()
		yes, silent, agreed := 0, 0, map[int]bool{}
		for i, node := range env.Nodes {
			err := node.Do(ctx, words...).Err()
			refused := errors.Is(err, redis.Nil)
			if err != nil && !refused {
				silent++
			}
			if err == nil || refused && k.nilYes || err != nil && !refused && k.errYes {
				yes++
				agreed[i] = err == nil
			}
		}
		if k.lateStart {
			start = env.Clock.Now()
		}
		need := len(env.Nodes)/2 + 1 - k.fewer
		if k.answered {
			need = (len(env.Nodes)-silent)/2 + 1
		}
		lease := reporting(func(ctx context.Context) error { return k.takeBack(ctx, env, key, token, agreed) })
		if yes >= need && (k.late || env.Clock.Now().Sub(start) < env.TTL) {
			return lease, nil
		}
		if !k.leaving {
			_ = lease(ctx)
		}
		return nil, lock.ErrNotAcquired
	})
}

func (k voteKnobs) takeBack(ctx context.Context, env lock.Env, key, token string, agreed map[int]bool) error {
	held, silent := 0, 0
	for i, node := range env.Nodes {
		if k.sparing && !agreed[i] {
			continue
		}
		var n int64
		var err error
		if k.plain {
			n, err = node.Del(ctx, key).Result()
		} else {
			n, err = node.Eval(ctx, ifMine, []string{key}, token).Int64()
		}
		switch {
		case err != nil:
			silent++
		case n == 1 || k.zeroHeld:
			held++
		}
	}
	need := len(env.Nodes)/2 + 1
	switch {
	case held >= need:
		return nil
	case held+silent < need:
		return lock.ErrNotHeld
	}
	return errors.New("nobody knows")
}

func voteDefects() []defect {
	return []defect{
		{"quorum of N/2", voting(""), voteKnobs{fewer: 1}.lock},
		{"refusal counts as a vote", voting(""), voteKnobs{nilYes: true}.lock},
		{"no answer counts as a vote", hasty("lose-request=1"), voteKnobs{errYes: true}.lock},
		{"majority of those that answered", hasty("lose-request=2"), voteKnobs{answered: true}.lock},
		{"validity not checked", voting("lose-reply=1").twice(), voteKnobs{late: true}.lock},
		{"validity from the last answer", voting("lose-reply=1").twice(), voteKnobs{lateStart: true}.lock},
		{"constant token", voting(""), voteKnobs{token: "locked"}.lock},
		{"release without a look at the token", voting(""), voteKnobs{plain: true}.lock},
		{"no TTL", voting("crash=1"), voteKnobs{noTTL: true}.lock},
		{"release only where it agreed", hasty("lose-reply=2").twice(), voteKnobs{sparing: true}.lock},
		{"a release that found nothing counts", voting("pause=1"), voteKnobs{zeroHeld: true}.lock},
	}
}
