package bugs_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"

	"locklab/scenarios/locktest"
	"locklab/scenarios/locktest/libraries/bugs"
)

const ttl = 9 * time.Second

// mutex is what the locks have in common.
type mutex interface {
	Acquire(ctx context.Context) (bool, error)
	Release(ctx context.Context) (held bool, err error)
}

// work reads the resource and writes it.
func work(r *locktest.Resource) { r.Write(r.Read() + 1) }

// longWork takes a lease and a half between the two, and two fifths of a lease to write.
func longWork(r *locktest.Resource) {
	n := r.Read()
	time.Sleep(ttl * 3 / 2)
	r.Write(n + 1)
}

// use takes the lock, works and gives it back. It waits without a deadline: with one, even of three leases, a wait that
// would have no end is not found.
func use(c *locktest.Client, m mutex, work func(*locktest.Resource)) {
	if ok, err := m.Acquire(c.Context()); err != nil || !ok {
		return
	}
	c.Critical(work)
	if held, err := m.Release(c.Context()); err == nil {
		c.Says(held)
	}
}

// A process uses a lock in one of its versions.
type process func(bugs.Version, *locktest.Client)

// onRedis is a process that uses a lock on Redis.
func onRedis[M mutex](
	lock func(bugs.Version, *redis.Client, string, time.Duration) M, work func(*locktest.Resource),
) process {
	return func(v bugs.Version, c *locktest.Client) {
		rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1})
		defer rdb.Close()
		use(c, lock(v, rdb, "k", ttl), work)
	}
}

// sherlock renews the lease once in work that takes longer than a lease, and gives up the work where it cannot. What it does then
// takes three quarters of a lease, so that the lease lasts for slow messages as well.
func sherlock(v bugs.Version, c *locktest.Client) {
	rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1})
	defer rdb.Close()
	m := bugs.NewSherlock(v, rdb, "k", ttl)
	use(c, m, func(r *locktest.Resource) {
		n := r.Read()
		time.Sleep(ttl * 2 / 3)
		if ok, err := m.Renew(c.Context()); err != nil || !ok {
			return
		}
		time.Sleep(ttl / 3)
		r.Write(n + 1) // takes two fifths of a lease
	})
}

// quiet is a log that nobody reads.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// session is a session with the ensemble, which has small buffers: the usual ones cost more than all else.
func session(c *locktest.Client) (*zk.Conn, error) {
	dial := func(network, addr string, _ time.Duration) (net.Conn, error) {
		return c.Dial(c.Context(), network, addr)
	}
	conn, _, err := zk.Connect([]string{c.Addr(1)}, ttl, zk.WithDialer(dial), zk.WithLogger(quiet{}),
		zk.WithMaxBufferSize(1<<12), zk.WithMaxConnBufferSize(1<<12))
	return conn, err
}

func curator10(v bugs.Version, c *locktest.Client) {
	conn, err := session(c)
	if err != nil {
		return
	}
	defer conn.Close()
	use(c, bugs.NewCurator10(v, conn, "/lock"), work)
}

func curator41(v bugs.Version, c *locktest.Client) {
	m := bugs.NewCurator41(v, func() (*zk.Conn, error) { return session(c) }, "/lock", ttl)
	defer m.Close()
	use(c, m, work)
}

var locks = map[string]process{
	"redlock-rb":    onRedis(bugs.NewRedlockRb, work),
	"ShedLock":      onRedis(bugs.NewShedLock, work),
	"OpenLinker":    onRedis(bugs.NewOpenLinker, work),
	"Redisson 3.24": onRedis(bugs.NewRedisson324, work),
	"sherlock":      sherlock,
	"Redisson 2.3":  onRedis(bugs.NewRedisson23, longWork),
	"Redisson 3.43": onRedis(bugs.NewRedisson343, longWork),
	"Laravel":       onRedis(bugs.NewLaravel, work),
	"Leshan":        onRedis(bugs.NewLeshan, work),
	"YiiRedis":      onRedis(bugs.NewYiiRedis, work),
	"Curator 1.0":   curator10,
	"Curator 4.1":   curator41,
}

// found is what two clients with two attempts each come to, in both versions: verdicts that take one fault, or with @0
// none, and no others.
var found = []struct{ lock, budget, old, fixed string }{
	{"redlock-rb", "lose-reply=1", "ORPHAN", ""},
	{"redlock-rb", "pause=1", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE"},
	{"ShedLock", "crash=1", "DEADLOCK", ""},
	{"ShedLock", "pause=1", "OVERLAP STALE-WRITE WRONG-DEL LIE ORPHAN DEADLOCK", "OVERLAP STALE-WRITE WRONG-DEL LIE"},
	{"OpenLinker", "lose-reply=1", "LIE ORPHAN", "LIE"},
	{"OpenLinker", "pause=1", "OVERLAP STALE-WRITE LIE", "OVERLAP STALE-WRITE LIE"},
	{"Redisson 3.24", "lose-reply=1", "LIE ORPHAN", "ORPHAN"},
	{"Redisson 3.24", "pause=1", "OVERLAP STALE-WRITE LIE", "OVERLAP STALE-WRITE LIE"},
	{"sherlock", "crash=1", "OVERLAP@0 STALE-WRITE@0", ""},
	{"sherlock", "lose-request=1", "OVERLAP@0 STALE-WRITE@0", "OVERLAP"},
	{"Redisson 2.3", "pause=1", "OVERLAP STALE-WRITE WRONG-DEL", "OVERLAP STALE-WRITE"},
	{"Redisson 2.3", "lose-reply=1", "ORPHAN", "ORPHAN"},
	{"Redisson 3.43", "lose-request=1", "OVERLAP STALE-WRITE ORPHAN", "ORPHAN"},
	{"Redisson 3.43", "crash=1", "", ""},
	{"Laravel", "pause=1", "OVERLAP STALE-WRITE WRONG-DEL LIE ORPHAN DEADLOCK", "OVERLAP STALE-WRITE ORPHAN DEADLOCK"},
	{"Laravel", "crash=1", "DEADLOCK", "DEADLOCK"},
	{"Leshan", "pause=1", "OVERLAP STALE-WRITE WRONG-DEL LIE", "OVERLAP STALE-WRITE"},
	{"Leshan", "lose-reply=1", "ORPHAN", "ORPHAN"},
	{"YiiRedis", "crash=1", "LIE@0", ""},
	{"YiiRedis", "lose-reply=1", "LIE@0 ORPHAN", "ORPHAN"},
	{"Curator 1.0", "lose-reply=1", "LIE DEADLOCK", "LIE"},
	{"Curator 1.0", "crash=1", "", ""},
	{"Curator 4.1", "lose-reply=1", "OVERLAP STALE-WRITE LIE", "LIE"},
	{"Curator 4.1", "crash=1", "", ""},
}

// TestBugs: each row of found is as it says. Every search is complete, in lockstep: any timing has more of some verdicts in both versions.
func TestBugs(t *testing.T) {
	for _, test := range found {
		for _, version := range []struct {
			name  string
			v     bugs.Version
			finds string
		}{{"old", bugs.Old, test.old}, {"fixed", bugs.Fixed, test.fixed}} {
			t.Run(test.lock+" "+test.budget+" "+version.name, func(t *testing.T) {
				b := locktest.Bounds{Clients: 2, Budget: test.budget, TTL: ttl, Beside: -1}
				locktest.Check(t, b, func(c *locktest.Client) { locks[test.lock](version.v, c) }, locktest.Finds(version.finds))
			})
		}
	}
}

// TestToldApart: each lock has a row in which the two versions differ.
func TestToldApart(t *testing.T) {
	apart := map[string]bool{}
	for _, test := range found {
		apart[test.lock] = apart[test.lock] || test.old != test.fixed
	}
	for name := range locks {
		if !apart[name] {
			t.Errorf("%s has no row in which its versions differ", name)
		}
	}
}
