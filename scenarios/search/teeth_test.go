package search_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// A proof is worth something only if the same search can fail. So every row of the contract
// with HOLDS has a wrong lock that its search finds out: the row's lock with a flaw, or another
// lock of the list.

// A flaw makes a wrong lock out of one.
type flaw func(lock.Entry) lock.Entry

// instead is another lock of the list.
func instead(id string) flaw {
	return func(e lock.Entry) lock.Entry {
		o, _ := algorithms.ByName(id)
		o.ID = e.ID
		return o
	}
}

// made is a lock that is made in another way.
func made(create maker) flaw {
	return func(e lock.Entry) lock.Entry { e.New = create; return e }
}

// in is the same lock in another environment.
func in(change func(*lock.Env)) flaw {
	return func(e lock.Entry) lock.Entry {
		create := e.New
		e.New = func(env lock.Env) lock.Lock {
			change(&env)
			return create(env)
		}
		return e
	}
}

// around is a lock whose attempts have another outcome.
func around(attempt func(env lock.Env, try func() (lock.Lease, error)) (lock.Lease, error)) flaw {
	return func(e lock.Entry) lock.Entry {
		create := e.New
		e.New = func(env lock.Env) lock.Lock {
			s := create(env)
			changed := acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
				return attempt(env, func() (lock.Lease, error) { return s.Acquire(ctx, key) })
			})
			if q, ok := s.(lock.Queuer); ok {
				return standing{changed, q}
			}
			return changed
		}
		return e
	}
}

// standing is a lock whose clients wait in line as before.
type standing struct {
	acquiring
	line lock.Queuer
}

// Await implements lock.Queuer.
func (s standing) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	return s.line.Await(ctx, key, patience)
}

// believed counts a refusal as success.
func believed(_ lock.Env, try func() (lock.Lease, error)) (lock.Lease, error) {
	lease, err := try()
	if errors.Is(err, lock.ErrNotAcquired) {
		return reporting(func(context.Context) error { return nil }), nil
	}
	return lease, err
}

// unasked grants what it has not asked for.
func unasked(lock.Env, func() (lock.Lease, error)) (lock.Lease, error) {
	return reporting(func(context.Context) error { return nil }), nil
}

// hurried leaves behind what it was given after more than a second.
func hurried(env lock.Env, try func() (lock.Lease, error)) (lock.Lease, error) {
	began := env.Clock.Now()
	lease, err := try()
	if err == nil && env.Clock.Now().Sub(began) > time.Second {
		return nil, errors.New("it took too long")
	}
	return lease, err
}

// uncounted deletes the key with each release, also with that of an inner entry.
func uncounted(env lock.Env, try func() (lock.Lease, error)) (lock.Lease, error) {
	if _, err := try(); err != nil {
		return nil, err
	}
	return reporting(func(ctx context.Context) error { return env.Nodes[0].Del(ctx, client.Key).Err() }), nil
}

// fleeting has a renewal end the lease.
func fleeting(env lock.Env, try func() (lock.Lease, error)) (lock.Lease, error) {
	lease, err := try()
	renewer, ok := lock.As[lock.Renewer](lease)
	if err != nil || !ok {
		return lease, err
	}
	return ending{lease, renewer, env}, nil
}

// An ending is a lease whose renewal ends it.
type ending struct {
	lock.Lease
	renewer lock.Renewer
	env     lock.Env
}

// Unwrap is for lock.As.
func (l ending) Unwrap() lock.Lease { return l.Lease }

// Renew implements lock.Renewer.
func (l ending) Renew(ctx context.Context) error {
	err := l.renewer.Renew(ctx)
	for _, node := range l.env.Nodes {
		node.PExpire(ctx, client.Key, time.Millisecond)
	}
	return err
}

// persistent sends a create again whose answer did not come.
type persistent struct{ lock.ZooKeeper }

// Create implements lock.ZooKeeper.
func (z persistent) Create(ctx context.Context, path string, kind lock.Znode) (string, error) {
	created, err := z.ZooKeeper.Create(ctx, path, kind)
	if err != nil && !errors.Is(err, lock.ErrNoNode) && !errors.Is(err, lock.ErrNodeExists) &&
		!errors.Is(err, lock.ErrSessionEnded) {
		return z.ZooKeeper.Create(ctx, path, kind)
	}
	return created, err
}

// teeth are the wrong locks, and the rows that find them out: the beginnings of their names.
var teeth = []struct {
	what string
	flaw flaw
	rows []string
}{
	{"a refusal counts as success", around(believed), []string{
		"*/clients=2,attempts=2,timing=any,budget=none", "*/clients=3,attempts=2,budget=none",
		"redlock/clients=2,attempts=2,budget=none",
	}},
	{"a permit without a question", around(unasked), []string{"zk-semaphore/clients=3,attempts=1,budget=none"}},
	{"a TTL ten times as long", in(func(env *lock.Env) { env.TTL *= 10 }), []string{
		"*/clients=2,attempts=2,timing=any,budget=crash=1",
		"*/clients=2,attempts=2,timing=any,uses=reenter,budget=crash=1",
		"*/clients=2,attempts=2,timing=any,uses=renew,budget=crash=1",
		"*/clients=2,attempts=1,timing=any,budget=crash=1,return=1",
		"*/clients=2,attempts=1,timing=any,tokens=thread,budget=crash=1,return=1",
		"*/clients=3,attempts=2,budget=crash=1", "redlock/clients=2,attempts=2,budget=crash=1",
	}},
	{"half a TTL", in(func(env *lock.Env) { env.TTL /= 2 }),
		[]string{"*/clients=2,attempts=1,retries=1,skew=3s,budget=none"}},
	{"no TTL on any server", made(voteKnobs{noTTL: true}.lock),
		[]string{"redlock/clients=2,attempts=1,timing=any,nodes=3,budget=crash=1"}},
	{"votes are left behind without a majority", made(voteKnobs{leaving: true}.lock),
		[]string{"redlock/clients=2,attempts=2,nodes=3,budget=pause=1@5s"}},
	{"released only where it was granted", made(voteKnobs{sparing: true}.lock),
		[]string{"redlock/clients=2,attempts=1,retries=1,nodes=3,budget=lose-reply=2"}},
	{"no answer counts as a vote", made(voteKnobs{errYes: true}.lock), []string{
		"redlock/clients=2,attempts=2,nodes=3,budget=lose-request=1",
		"redlock/clients=2,attempts=1,nodes=3,budget=hang=1@10s",
	}},
	{"what took more than a second is left behind", around(hurried), []string{
		"*/clients=2,attempts=2,budget=pause=1@2s", "*/clients=2,attempts=2,budget=delay=1@2s",
		"*/clients=2,attempts=2,uses=wait,budget=delay=1@2s",
	}},
	{"a renewal ends the lease", around(fleeting),
		[]string{"*/clients=2,attempts=2,timing=any,uses=renew,budget=none"}},
	{"a create without an answer is sent again", in(func(env *lock.Env) { env.ZooKeeper = persistent{env.ZooKeeper} }),
		[]string{
			"*/clients=2,attempts=2,budget=lose-reply=1", "*/clients=2,attempts=1,budget=lose-reply=1",
		}},
	{"renewals end with the first that has no answer", instead("watchdog"),
		[]string{"redisson-retry/clients=2,attempts=2,timing=any,budget=lose-request=1"}},
	{"entries not counted", around(uncounted), []string{"*/clients=2,attempts=2,timing=any,uses=reenter,budget=none"}},
	{"a renewal when the lease ends", instead("daemon-29-owned"),
		[]string{"*/clients=2,attempts=1,timing=any,work=18s,budget=none"}},
	{"a waiter is not woken", instead("naive-wake"), []string{"*/clients=2,attempts=2,uses=wait,budget=none"}},
	{"woken is taken for first in line", instead("zk-naive"),
		[]string{"*/clients=3,attempts=1,uses=check,wait,budget=none"}},
	{"a create that nobody finds again", instead("zk-recheck"),
		[]string{"*/clients=2,attempts=1,timing=any,uses=give-up,budget=none"}},
	{"a row with an end", instead("db-deadline-now"),
		[]string{"db-row/clients=2,attempts=2,timing=any,budget=pause=1"}},
	{"a key without an end", instead("setnx"), []string{"*/clients=any,attempts=any,budget=crash=any",
		"*/clients=any,attempts=once,budget=crash=any"}},
	{"the id of a thread lets in", instead("redisson-lease"),
		[]string{"*/clients=2,attempts=2,timing=any,tokens=thread,budget=none"}},
}

const resends = "go-redis sends again what was lost: a lock has no part in it"

// toothless are the rows that nothing is known to break, with the reason why they are listed
// all the same.
var toothless = map[string]string{
	"setnx/clients=2,attempts=2,timing=any,client-retries=3,budget=lose-request=1":         resends,
	"token/clients=2,attempts=2,timing=any,client-retries=3,budget=lose-request=1":         resends,
	"thread-id-lua/clients=2,attempts=2,timing=any,client-retries=3,budget=lose-request=1": resends,
	"redlock/clients=2,attempts=1,timing=any,nodes=3,latency=750ms,budget=crash=1": "more can happen " +
		"than without the latency, where a lock without a TTL is found out",
	"reentrant/clients=2,attempts=1,timing=any,budget=crash=1,return=1": "with a TTL ten times as long " +
		"it fails without the crash as well",
}

// TestEveryProofCanFail: the search of every row with HOLDS finds out the row's wrong lock, by a
// verdict that this lock does not have without the faults and uses of the row. A row without a
// wrong lock is an error: give it one, other bounds, or no place.
func TestEveryProofCanFail(t *testing.T) {
	effort.OnlyExhaustive(t, "it makes a hundred searches; one goroutine searches")
	t.Parallel()
	used, unknown := map[string]bool{}, len(toothless)
	calm := map[string]map[verdict.Word]int{} // what a wrong lock does without faults, by its flaw, name and bounds
	for _, r := range contract.Own() {
		if r.IsRace() || r.Expected[0].Verdict != verdict.Holds {
			continue
		}
		if toothless[r.Name()] != "" {
			unknown--
			continue
		}
		pattern, what, flaw := toothOf(r)
		if flaw == nil {
			t.Errorf("%s:%d: no wrong lock is known that %s finds out", r.File, r.Line, r.Name())
			continue
		}
		used[pattern] = true
		if r.IsProof() {
			t.Run(what+"/"+r.Name(), func(t *testing.T) { refutes(t, r, flaw(r.Lock)) })
			continue
		}
		if r.Bounds.Timing == search.AnyTiming && os.Getenv("LOCKLAB_HUNT") == "" {
			continue // minutes: make hunt
		}
		t.Run(what+"/"+r.Name(), func(t *testing.T) { bites(t, r, what, flaw(r.Lock), calm) })
	}
	for _, tooth := range teeth {
		for _, pattern := range tooth.rows {
			if !used[pattern] {
				t.Errorf("%s: no row is %s", tooth.what, pattern)
			}
		}
	}
	if unknown != 0 {
		t.Error("a row that is said to be toothless is none of the contract")
	}
}

// toothOf is the wrong lock of a row; nil: it has none.
func toothOf(r contract.Expectation) (pattern, what string, f flaw) {
	for _, tooth := range teeth {
		for _, pattern := range tooth.rows {
			if of, subject, _ := strings.Cut(pattern, "/"); (of == "*" || of == r.Lock.ID) && subject == r.Subject() {
				return pattern, tooth.what, tooth.flaw
			}
		}
	}
	return "", "", nil
}

// bites checks that the search of a row finds a verdict of a wrong lock, and does not find it
// without what the row is about. Rows of one wrong lock share the search without faults, in calm.
func bites(t *testing.T, r contract.Expectation, what string, wrong lock.Entry, calm map[string]map[verdict.Word]int) {
	b := r.Bounds
	b.MaxStates = 40_000 // is enough to find it
	if b.Timing == search.AnyTiming {
		b.MaxStates = 150_000
	}
	found := parsOf(exploring(t, wrong, b))
	if b.Budget != "" || b.Uses != 0 || b.Skew != 0 || b.Tokens != client.Unique {
		b.Budget, b.Uses, b.Skew, b.Tokens = "", 0, 0, client.Unique
		key := what + "/" + wrong.ID + "/" + b.String()
		if calm[key] == nil {
			calm[key] = parsOf(exploring(t, wrong, b))
		}
		for w := range calm[key] {
			delete(found, w)
		}
	}
	if len(found) == 0 {
		t.Errorf("%s:%d: %s finds nothing wrong", r.File, r.Line, r.Command())
	}
}

// refutes checks that the proof of a row finds a verdict of a wrong lock, which this has by the faults of the row
// alone.
func refutes(t *testing.T, r contract.Expectation, wrong lock.Entry) {
	p := racetest.Must(search.Prove(t.Context(), wrong, r.Bounds))(t)
	if all := p.Witnesses(); len(all) == 0 || all[0].Par == 0 {
		t.Errorf("%s:%d: %s finds nothing wrong", r.File, r.Line, r.Command())
	}
}
