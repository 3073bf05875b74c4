package redis_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/algorithms"
	"locklab/algorithms/lock"
)

// epoch is the time at which every clock of a test starts.
var epoch = time.Date(2014, time.May, 16, 12, 0, 0, 0, time.UTC)

// A testbed is a set of servers, all empty at first, on which a test runs.
type testbed struct {
	start    time.Time // what the servers' clocks, and those of new processes, show at first
	addrs    []string
	password string              // of the servers; "": they ask for none
	admins   []*redis.Client     // one for each server, beside those of the processes
	pass     func(time.Duration) // lets time pass on all servers, and on no client

	processes int          // made so far
	replicas  atomic.Int64 // how many acknowledge a WAIT
}

// newTestbed starts n servers in this process, on real sockets.
func newTestbed(t testing.TB, n int) *testbed {
	s := &testbed{start: epoch}
	s.replicas.Store(1)
	var servers []*miniredis.Miniredis
	for range n {
		m := miniredis.RunT(t)
		m.SetTime(epoch)
		m.ClockTTL(true)
		m.Server().SetPreHook(addNewCommands(m, &s.replicas))
		servers = append(servers, m)
		s.addServer(t, m.Addr())
	}
	now := epoch
	s.pass = func(d time.Duration) {
		now = now.Add(d)
		for _, m := range servers {
			m.SetTime(now)
		}
	}
	return s
}

func (s *testbed) addServer(t testing.TB, addr string) {
	s.addrs = append(s.addrs, addr)
	s.admins = append(s.admins, dial(t, addr, s.password))
}

// dial returns a client without retries and without a greeting.
func dial(t testing.TB, addr, password string) *redis.Client {
	c := redis.NewClient(&redis.Options{
		Addr:                     addr,
		Password:                 password,
		Protocol:                 2,
		MaxRetries:               -1,
		DialerRetries:            1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { c.Close() })
	return c
}

// A process is one client of the lock, with connections and a clock of its own.
type process struct {
	lock.Lock
	env   lock.Env
	clock *notifyingClock
	conns []*redis.Client
}

// process makes a process called name that uses e with the TTL of its article.
func (s *testbed) process(t testing.TB, e lock.Entry, name string) *process {
	s.processes++
	p := &process{clock: newNotifyingClock(s.start)}
	p.env = lock.Env{Clock: p.clock, Tokens: &countedTokens{name: name}, Thread: fmt.Sprint(s.processes), TTL: e.TTL}
	for _, addr := range s.addrs {
		c := dial(t, addr, s.password)
		p.conns = append(p.conns, c)
		p.env.Nodes = append(p.env.Nodes, c)
	}
	if err := e.Check(p.env); err != nil {
		t.Fatal(err)
	}
	p.Lock = e.New(p.env)
	return p
}

// pair makes the servers that a lock wants, and two processes that use it.
func pair(t testing.TB, id string) (e lock.Entry, s *testbed, a, b *process) {
	e = entry(t, id)
	s = newTestbed(t, e.Nodes)
	return e, s, s.process(t, e, "A"), s.process(t, e, "B")
}

// values returns every key of server i with its value; a hash or a list is given
// as text.
func (s *testbed) values(t testing.TB, i int) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, key := range must(s.admins[i].Keys(t.Context(), "*").Result())(t) {
		switch must(s.admins[i].Type(t.Context(), key).Result())(t) {
		case "hash":
			all[key] = fmt.Sprint(must(s.admins[i].HGetAll(t.Context(), key).Result())(t))
		case "list":
			all[key] = fmt.Sprint(must(s.admins[i].LRange(t.Context(), key, 0, -1).Result())(t))
		default:
			all[key] = must(s.admins[i].Get(t.Context(), key).Result())(t)
		}
	}
	return all
}

// lockValues returns the value of the key "lock" on every server, "" for none.
func (s *testbed) lockValues(t testing.TB) (values []string) {
	t.Helper()
	for i := range s.admins {
		values = append(values, s.values(t, i)["lock"])
	}
	return values
}

// holding counts the servers that have key.
func (s *testbed) holding(t testing.TB, key string) (n int) {
	t.Helper()
	for i := range s.admins {
		if _, ok := s.values(t, i)[key]; ok {
			n++
		}
	}
	return n
}

// deleteKey deletes key on every server, as an administrator might.
func (s *testbed) deleteKey(t testing.TB, key string) {
	t.Helper()
	for _, admin := range s.admins {
		must(admin.Del(t.Context(), key).Result())(t)
	}
}

// countedTokens makes, …: unique as long as the names are.
type countedTokens struct {
	name string
	n    int
}

func (c *countedTokens) Token() string {
	c.n++
	return fmt.Sprintf("%s-%d", c.name, c.n)
}

// A notifyingClock is a fake clock that reports when a timer's function has returned.
type notifyingClock struct {
	*clockwork.FakeClock
	returned chan struct{}
	last     time.Duration // of the timer armed last
}

func newNotifyingClock(start time.Time) *notifyingClock {
	return &notifyingClock{FakeClock: clockwork.NewFakeClockAt(start), returned: make(chan struct{}, 100)}
}

// Sleep advances the clock, since nothing else does.
func (c *notifyingClock) Sleep(d time.Duration) { c.Advance(d) }

func (c *notifyingClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	c.last = d // read after tick, or where no timer is due
	return c.FakeClock.AfterFunc(d, func() {
		f()
		c.returned <- struct{}{}
	})
}

// tick lets d pass, in which exactly one timer is due, and waits until its function
// has returned.
func (c *notifyingClock) tick(d time.Duration) {
	c.Advance(d)
	<-c.returned
}

// armed says whether any timer is pending.
func (c *notifyingClock) armed() bool {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	// With enough waiters this returns nil at once, whatever the context says.
	return c.BlockUntilContext(gone, 1) == nil
}

// must fails the test on an error: must(f())(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// mustRelease fails the test unless Release answers want.
func mustRelease(t testing.TB, l lock.Lease, want error) {
	t.Helper()
	if err := l.Release(t.Context()); !errors.Is(err, want) {
		t.Fatalf("Release: %v, want %v", err, want)
	}
}

// mustRefuse fails the test unless p is refused key.
func mustRefuse(t testing.TB, p *process, key string) {
	t.Helper()
	if _, err := p.Acquire(t.Context(), key); !errors.Is(err, lock.ErrNotAcquired) {
		t.Fatalf("Acquire: %v, want %v", err, lock.ErrNotAcquired)
	}
}

// entry returns the lock with that ID.
func entry(t testing.TB, id string) lock.Entry {
	t.Helper()
	e, ok := algorithms.ByName(id)
	if !ok {
		t.Fatalf("no lock %q", id)
	}
	return e
}
