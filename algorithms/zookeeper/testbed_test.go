package zookeeper_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jonboulle/clockwork"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	locks "locklab/algorithms/zookeeper"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/zookeeper"
)

// A process is one client process of a lock on a ZooKeeper, with a session and a
// clock of its own.
type process struct {
	lock.Queuer
	env        lock.Env
	expire     func() // its session ends, and it does not yet know
	cut        func() // nothing that it asks is answered any more
	loseCreate func() // the answer to its next create is lost
}

// A testbed is an ensemble, empty at first, on which a test runs.
type testbed struct {
	process func(t *testing.T, e lock.Entry, name string) *process
	// waiting calls await, and do once await has begun to wait.
	waiting func(do, await func())
	admin   lock.ZooKeeper // a session beside all others
}

// newProcess completes m with an env and the lock e.
func newProcess(t *testing.T, e lock.Entry, m *process, zk lock.ZooKeeper, clock lock.Clock, name string) *process {
	m.env = lock.Env{ZooKeeper: zk, Clock: clock, Tokens: &countedTokens{name: name}}
	if err := e.Check(m.env); err != nil {
		t.Fatal(err)
	}
	m.Queuer = e.New(m.env).(lock.Queuer)
	return m
}

// places lists all numbered znodes below path, with their paths.
func (h *testbed) places(t *testing.T, path string) (places []string) {
	t.Helper()
	names, err := h.admin.Children(t.Context(), path)
	if errors.Is(err, lock.ErrNoNode) {
		return nil
	}
	for _, name := range must(names, err)(t) {
		below := path + "/" + name
		if strings.ContainsAny(name[len(name)-1:], "0123456789") && strings.Contains(name, "-") {
			places = append(places, below)
		}
		places = append(places, h.places(t, below)...)
	}
	return places
}

// An ensemble is the state of a ZooKeeper in this process. Its testbed is
// deterministic: nothing runs concurrently.
type ensemble struct {
	mu       sync.Mutex
	state    zookeeper.State
	sessions map[zookeeper.SessionID]*memorySession
	pending  []func() // functions that run, one at a time, while a process waits
}

func newEnsemble() *ensemble {
	return &ensemble{state: zookeeper.New(), sessions: map[zookeeper.SessionID]*memorySession{}}
}

func (e *ensemble) testbed() *testbed {
	return &testbed{
		admin: e.connect(clockwork.NewFakeClockAt(epoch)),
		process: func(t *testing.T, entry lock.Entry, name string) *process {
			clock := clockwork.NewFakeClockAt(epoch)
			s := e.connect(clock)
			m := &process{
				expire:     s.expire,
				cut:        func() { s.down = true },
				loseCreate: func() { s.lose = func(r zookeeper.Request) bool { return r.Op == zookeeper.Create } },
			}
			return newProcess(t, entry, m, s, clock, name)
		},
		waiting: func(do, await func()) {
			e.pending = append(e.pending, do)
			await()
		},
	}
}

func (e *ensemble) connect(clock *clockwork.FakeClock) *memorySession {
	s := &memorySession{ensemble: e, clock: clock, watches: map[zookeeper.Watch]*memoryWatch{},
		unsent: map[zookeeper.Op]int{}}
	e.state, s.id = e.state.Connect()
	e.sessions[s.id] = s
	return s
}

func (e *ensemble) deliver(events []zookeeper.Event) {
	for _, event := range events {
		s := e.sessions[event.Session]
		for watch, w := range s.watches {
			if watch.Path == event.Path && (event.Type == zookeeper.NodeDeleted ||
				(event.Type == zookeeper.NodeChildrenChanged) == (watch.Kind == zookeeper.WatchChildren)) {
				w.fired = true
				delete(s.watches, watch)
			}
		}
	}
}

// A memorySession is a session with an ensemble in memory.
type memorySession struct {
	ensemble *ensemble
	id       zookeeper.SessionID
	clock    *clockwork.FakeClock
	watches  map[zookeeper.Watch]*memoryWatch
	down     bool
	lose     func(zookeeper.Request) bool // the next answer for which it says so is lost
	unsent   map[zookeeper.Op]int         // so many of the next requests do not arrive
	asked    int
}

var errBroken = errors.New("the connection broke")

func (s *memorySession) expire() {
	var events []zookeeper.Event
	s.ensemble.state, _, events = s.ensemble.state.Close(s.id)
	s.ensemble.deliver(events)
}

func (s *memorySession) ask(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, error) {
	switch {
	case ctx.Err() != nil:
		return zookeeper.Reply{}, ctx.Err()
	case s.down:
		return zookeeper.Reply{}, errBroken
	}
	s.ensemble.mu.Lock() // Curator's locks also ask in the background
	defer s.ensemble.mu.Unlock()
	if s.asked++; s.unsent[r.Op] > 0 {
		s.unsent[r.Op]--
		return zookeeper.Reply{}, errBroken
	}
	state, reply, events := s.ensemble.state.Apply(s.id, r)
	s.ensemble.state = state
	s.ensemble.deliver(events)
	if s.lose != nil && s.lose(r) {
		s.lose = nil
		return zookeeper.Reply{}, errBroken
	}
	switch reply.Code {
	case zookeeper.OK:
		return reply, nil
	case zookeeper.NoNode:
		return reply, lock.ErrNoNode
	case zookeeper.NodeExists:
		return reply, lock.ErrNodeExists
	case zookeeper.SessionExpired:
		return reply, lock.ErrSessionEnded
	}
	return reply, reply.Code
}

func (s *memorySession) Create(ctx context.Context, path string, kind lock.Znode) (string, error) {
	r := zookeeper.Request{Op: zookeeper.Create, Path: path}
	if kind == lock.EphemeralSequential {
		r.Mode = zookeeper.Ephemeral | zookeeper.Sequential
	}
	reply, err := s.ask(ctx, r)
	return reply.Path, err
}

func (s *memorySession) Delete(ctx context.Context, path string) error {
	_, err := s.ask(ctx, zookeeper.Request{Op: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion})
	return err
}

func (s *memorySession) Exists(ctx context.Context, path string) (uint64, error) {
	reply, err := s.ask(ctx, zookeeper.Request{Op: zookeeper.Exists, Path: path})
	return uint64(reply.Stat.Czxid), err
}

func (s *memorySession) Children(ctx context.Context, path string) ([]string, error) {
	reply, err := s.ask(ctx, zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	return reply.Children, err
}

func (s *memorySession) WatchNode(ctx context.Context, path string) (lock.Watch, error) {
	if _, err := s.ask(ctx, zookeeper.Request{Op: zookeeper.GetData, Path: path, Watch: true}); err != nil {
		return nil, err
	}
	return s.watch(zookeeper.Watch{Kind: zookeeper.WatchData, Path: path}), nil
}

func (s *memorySession) WatchChildren(ctx context.Context, path string) ([]string, lock.Watch, error) {
	reply, err := s.ask(ctx, zookeeper.Request{Op: zookeeper.GetChildren, Path: path, Watch: true})
	if err != nil {
		return nil, nil, err
	}
	return reply.Children, s.watch(zookeeper.Watch{Kind: zookeeper.WatchChildren, Path: path}), nil
}

func (s *memorySession) watch(watch zookeeper.Watch) *memoryWatch {
	w := s.watches[watch]
	if w == nil {
		w = &memoryWatch{session: s}
		s.watches[watch] = w
	}
	return w
}

type memoryWatch struct {
	session *memorySession
	fired   bool
}

// Wait runs what is pending, and otherwise lets time pass.
func (w *memoryWatch) Wait(ctx context.Context, patience time.Duration) (bool, error) {
	e, clock := w.session.ensemble, w.session.clock
	until := clock.Now().Add(patience)
	for {
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case !e.state.Alive(w.session.id):
			return false, lock.ErrSessionEnded
		case w.fired:
			return true, nil
		case !clock.Now().Before(until):
			return false, nil
		case len(e.pending) == 0:
			clock.Advance(patience)
			return false, nil
		}
		next := e.pending[0]
		e.pending = e.pending[1:]
		next()
	}
}

// realTestbed uses the ensemble at addr, without the locks of earlier tests.
func realTestbed(t *testing.T, addr string) *testbed {
	h := &testbed{admin: locks.OnConn(realConn(t, addr).conn, clockwork.NewRealClock())}
	clean(t, h.admin, "/locks")
	h.process = func(t *testing.T, e lock.Entry, name string) *process {
		s := realConn(t, addr)
		m := &process{
			expire: func() {
				if err := s.line.Expire(addr); err != nil {
					t.Fatal(err)
				}
				s.line.Pass <- struct{}{} // to hear it
				<-s.expired
				s.line.Pass <- struct{}{} // to begin a new session
				<-s.ready
			},
			cut: s.conn.Close,
			loseCreate: func() {
				s.line.LoseCreate()
				s.line.Pass <- struct{}{}
			},
		}
		clock := clockwork.NewRealClock()
		return newProcess(t, e, m, locks.OnConn(s.conn, clock), clock, name)
	}
	h.waiting = func(do, await func()) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			await()
		}()
		do()
		<-done
	}
	return h
}

// clean deletes path and everything below it.
func clean(t *testing.T, admin lock.ZooKeeper, path string) {
	t.Helper()
	names, err := admin.Children(t.Context(), path)
	if errors.Is(err, lock.ErrNoNode) {
		return
	}
	for _, name := range must(names, err)(t) {
		clean(t, admin, path+"/"+name)
	}
	if err := admin.Delete(t.Context(), path); err != nil && !errors.Is(err, lock.ErrNoNode) {
		t.Fatal(err)
	}
}

// A realSession is a session of a real client.
type realSession struct {
	conn           *zk.Conn
	line           *servertest.Line
	ready, expired chan struct{} // as the client hears of it
}

func realConn(t *testing.T, addr string) *realSession {
	t.Helper()
	s := &realSession{line: servertest.NewLine(), ready: make(chan struct{}, 100), expired: make(chan struct{}, 100)}
	var err error
	s.conn, _, err = zk.Connect([]string{addr, addr, addr}, time.Minute, zk.WithDialer(s.line.Dial),
		zk.WithLogger(silent{}),
		zk.WithEventCallback(func(e zk.Event) {
			switch e.State {
			case zk.StateHasSession:
				if e.Type == zk.EventSession {
					s.ready <- struct{}{}
				}
			case zk.StateExpired:
				s.expired <- struct{}{}
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.conn.Close()
		s.line.Cut(s.conn)
	})
	s.line.Pass <- struct{}{}
	<-s.ready
	return s
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// epoch is the time at which every clock of a test starts.
var epoch = time.Date(2014, time.May, 16, 12, 0, 0, 0, time.UTC)

// countedTokens makes, …: unique as long as the names are.
type countedTokens struct {
	name string
	n    int
}

func (c *countedTokens) Token() string {
	c.n++
	return fmt.Sprintf("%s-%d", c.name, c.n)
}

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

func entry(t testing.TB, id string) lock.Entry {
	t.Helper()
	e, ok := algorithms.ByName(id)
	if !ok {
		t.Fatalf("no lock %q", id)
	}
	return e
}
