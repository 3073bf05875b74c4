package reality

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/algorithms/lock"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/live"
	"locklab/simulator/realserver"
	"locklab/simulator/record"
)

// A Server is a real redis-server on which clients contend for a lock, one contention at a time.
type Server struct {
	Version string           // of redis-server
	Record  *record.Recorder // of what the clients see; nil: it is not recorded

	folder *realserver.Folder
	server *realserver.Redis
}

// NewServer starts a redis-server. The error is realserver.ErrNoRedis if there is none.
func NewServer(ctx context.Context) (r *Server, err error) {
	folder, err := realserver.NewFolder()
	if err != nil {
		return nil, err
	}
	r = &Server{folder: folder}
	if r.server, err = realserver.NewRedis(ctx, folder.Path, nil); err == nil {
		r.Version, err = r.server.Version()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close ends the server and removes its folder.
func (r *Server) Close() {
	if r.server != nil {
		r.server.Kill()
	}
	r.folder.Close()
}

// connect is a client's connection to the server.
func (r *Server) connect(ctx context.Context) (*redis.Client, error) {
	c := redis.NewClient(&redis.Options{
		Addr: r.server.Address.String(), Protocol: 2, DisableIdentity: true, MaxRetries: -1, PoolSize: 4,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
		DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if err := c.Ping(ctx).Err(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// patience is the time that the server may take for one answer, far longer than it does.
const patience = 20 * time.Second

// rounds is the number of commands that are measured of one client alone; all clients together make a hundred
// times as many.
const rounds = 300

// Calibrate measures what the simulation of a contention needs to know of this machine: service
// is the time of one command when so many clients send commands without a rest, and latency that
// of one message, so that a client alone waits for an answer as long as here (the median).
func (r *Server) Calibrate(ctx context.Context, clients int) (service, latency time.Duration, err error) {
	alone, err := r.connect(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer alone.Close()
	trips := make([]time.Duration, rounds)
	for i := range trips {
		began := time.Now()
		if err := alone.Exists(ctx, client.OtherKey).Err(); err != nil {
			return 0, 0, err
		}
		trips[i] = time.Since(began)
	}
	slices.Sort(trips)
	var left atomic.Int64
	left.Store(100 * rounds)
	took, err := r.together(ctx, clients, func(ctx context.Context, _ int, c *redis.Client) error {
		for left.Add(-1) >= 0 {
			if err := c.Exists(ctx, client.OtherKey).Err(); err != nil {
				return err
			}
		}
		return nil
	})
	service = took / (100 * rounds)
	return max(service, time.Microsecond), max((trips[len(trips)/2]-service)/2, time.Microsecond), err
}

// together has so many clients do something on connections that are made before, and returns
// the time that took. The first error stops all.
func (r *Server) together(ctx context.Context, clients int, do func(ctx context.Context, i int, c *redis.Client) error) (took time.Duration, err error) {
	conns := make([]*redis.Client, clients)
	for i := range conns {
		if conns[i], err = r.connect(ctx); err != nil {
			return 0, err
		}
		defer conns[i].Close()
	}
	if err := r.server.ResetCommands(); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	began := time.Now()
	for i, c := range conns {
		all.Go(func() {
			if err := do(ctx, i, c); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	return time.Since(began), context.Cause(ctx)
}

// Contend plays a contention on the server. The error is ctx's, the server's or the lock's, or
// that a request is lost.
func (r *Server) Contend(ctx context.Context, c cost.Contention, who cost.Contender) (cost.Measures, error) {
	if _, err := r.server.DoAll([]string{"FLUSHALL"}, []string{"SCRIPT", "FLUSH"}); err != nil {
		return cost.Measures{}, err
	}
	s := &contention{Contention: c, record: r.Record, counts: make([]float64, c.Clients)}
	s.left.Store(int64(c.Requests))
	took, err := r.together(ctx, c.Clients, func(ctx context.Context, i int, conn *redis.Client) error {
		return s.client(ctx, i, conn, who)
	})
	if err != nil {
		return cost.Measures{}, fmt.Errorf("reality: %s, %s: %w", who.Policy.ID, who.Lock.ID, err)
	}
	m := c.ByClient(s.counts, s.acquires, s.releases)
	m.GaveUp, m.Together, m.Lost = s.gaveUp, int(s.together.Load()), s.lost
	m.Throughput = float64(m.Acquired) / took.Seconds()
	if m.Commands, err = r.server.Commands(); err != nil {
		return m, err
	}
	return m, c.Check(m)
}

// A contention is what its clients share.
type contention struct {
	cost.Contention
	record   *record.Recorder
	left     atomic.Int64 // requests not yet begun
	inside   atomic.Int64 // clients
	together atomic.Int64

	mu                 sync.Mutex
	counts             []float64 // how often each client got the lock
	acquires, releases []float64
	gaveUp, lost       int
}

// client makes requests until none is left.
func (s *contention) client(ctx context.Context, i int, conn *redis.Client, who cost.Contender) error {
	clock := machineClock{clockwork.NewRealClock(), ctx}
	random := race.Stream(uint64(i+1), "waiting")
	env := lock.Production(s.Load.TTL, conn)
	env.Clock = clock
	strategy := record.Wrap(who.Lock.New(env), s.record, fmt.Sprintf("%s/%s/c%d", who.Policy.ID, who.Lock.ID, i+1))
	for s.left.Add(-1) >= 0 {
		if err := s.request(ctx, i, strategy, clock, cost.Attempt{Load: s.Load, Random: random, Redis: conn}, who.Policy); err != nil {
			return err
		}
	}
	return nil
}

// request makes one request.
func (s *contention) request(ctx context.Context, i int, strategy lock.Strategy, clock lock.Clock, a cost.Attempt, p cost.Policy) error {
	began := time.Now()
	lease, err := p.Await(ctx, strategy, clock, a)
	took := time.Since(began).Seconds()
	if errors.Is(err, lock.ErrNotAcquired) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gaveUp++
		return nil
	}
	if err != nil {
		return err
	}
	if s.inside.Add(1) > 1 {
		s.together.Add(1)
	}
	clock.Sleep(s.Load.Hold)
	for range s.Load.Inside {
		if failed := a.Redis.Get(ctx, client.OtherKey).Err(); !errors.Is(failed, redis.Nil) {
			err = errors.Join(err, failed)
		}
	}
	s.inside.Add(-1)
	left := time.Now()
	failed := lease.Release(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[i]++
	s.acquires = append(s.acquires, took)
	s.releases = append(s.releases, time.Since(left).Seconds())
	if errors.Is(failed, lock.ErrNotHeld) {
		s.lost++
		failed = nil
	}
	return errors.Join(err, failed)
}

// A machineClock is that of this machine, whose sleepers wake when ctx ends.
type machineClock struct {
	clockwork.Clock
	ctx context.Context
}

// Sleep returns early when the context ends.
func (c machineClock) Sleep(d time.Duration) { live.Rest(c.ctx, d) }
