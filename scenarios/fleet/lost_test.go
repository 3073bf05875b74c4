package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"locklab/reports/text"
	"locklab/scenarios/share"
)

// startLiar runs a worker whose results are those of plan plus one.
func startLiar(t *testing.T, redis asynq.RedisConnOpt, plan share.Plan) {
	t.Helper()
	lies := plan
	lies.Do = func(ctx context.Context, i int) (json.RawMessage, error) {
		r, err := plan.Do(ctx, i+1)
		return r, err
	}
	start(t, redis, 1, lies)
}

// TestDiffer: of two workers one lies, in what a task could give. Whoever computes first,
// both are named, no result is given, and nothing of them is kept.
func TestDiffer(t *testing.T) {
	t.Parallel()
	redis, plan := loopback(t), squares(20)
	start(t, redis, 1, plan)
	startLiar(t, redis, plan)
	c := coordinator(redis)
	c.Kept = &Kept{t.TempDir()}
	results, err := c.Compute(t.Context(), plan)
	if !errors.Is(err, ErrDoubtful) || strings.Count(text.SayError("en", err), Self()+"/") != 2 || !strings.Contains(text.SayError("en", err), `"square `) {
		t.Errorf("%v", err)
	}
	for i, r := range results {
		if r != nil {
			t.Errorf("result %d is %s", i, r)
		}
	}
	if left, err := filepath.Glob(filepath.Join(c.Kept.Dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("%v are kept, %v", left, err)
	}
	if c.Compared != 0 {
		t.Errorf("%d tasks were computed twice, alike", c.Compared)
	}
}

// TestCompared: two workers compute some tasks both; one worker computes none twice.
func TestCompared(t *testing.T) {
	t.Parallel()
	for workers, compared := range map[int]bool{1: false, 2: true} {
		redis, plan := loopback(t), squares(20)
		computed, _ := start(t, redis, workers, plan)
		c := coordinator(redis)
		results, err := c.Compute(t.Context(), plan)
		if err != nil || (c.Compared > 0) != compared {
			t.Errorf("%d workers: %d tasks compared, %v", workers, c.Compared, err)
		}
		checkSquares(t, results)
		all := chunks("build 1", []string{"squares"}, nil, plan.Tasks)
		want := len(all)
		if compared {
			want += len(sample(all))
		}
		if n := int(computed.Load()); n != want {
			t.Errorf("%d workers: %d chunks were computed, want %d", workers, n, want)
		}
	}
}

// TestSample: the same chunks are chosen from the same, and one of few.
func TestSample(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 16: 1, 17: 2, 100: 7} {
		tasks := squares(n).Tasks
		for i := range tasks {
			tasks[i].Cost = 1
		}
		all := chunks("b", nil, nil, tasks)
		if got := sample(all); len(got) != want {
			t.Errorf("%d of %d", len(got), n)
		}
	}
}

// TestServerLost: a server that comes back empty, or goes and comes back empty, gets
// everything again that is not done. Nothing counts twice.
func TestServerLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(m *miniredis.Miniredis) error{
		"flushed":   func(m *miniredis.Miniredis) error { m.FlushAll(); return nil },
		"restarted": func(m *miniredis.Miniredis) error { m.Close(); m.FlushAll(); return m.Restart() },
		"leftover": func(m *miniredis.Miniredis) error {
			keys := m.Keys()
			m.FlushAll()
			for _, key := range keys {
				if strings.Contains(key, "}:t:") { // as a worker leaves it that has computed meanwhile
					m.HSet(key, "result", "nothing")
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			redis, plan := asynq.RedisClientOpt{Addr: m.Addr()}, squares(20)
			all := chunks("build 1", []string{"squares"}, nil, plan.Tasks)
			c := coordinator(redis)
			times := 0
			c.Progress = func(s Status) {
				if s.Done > s.Of || s.Had > 0 {
					t.Errorf("%d of %d are done, %d were before", s.Done, s.Of, s.Had)
				}
				times++
				switch {
				case times == 1 && s.Waiting != len(all):
					t.Errorf("%d of %d wait", s.Waiting, len(all))
				case times == 1:
					if err := lose(m); err != nil {
						t.Error(err)
					}
				case times == 2:
					start(t, redis, 2, plan)
				}
			}
			results, err := c.Compute(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			checkSquares(t, results)
			for _, key := range m.Keys() {
				if strings.Contains(key, ":coordinator:") {
					t.Errorf("%s is left", key)
				}
			}
		})
	}
}

// TestLostLater: the server is emptied when some chunks are done: those are not computed
// again.
func TestLostLater(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	redis, plan := asynq.RedisClientOpt{Addr: m.Addr()}, squares(30)
	c := coordinator(redis)
	kept := &Kept{t.TempDir()}
	c.Kept = kept
	do, flushed := plan.Do, atomic.Bool{}
	plan.Do = func(ctx context.Context, i int) (json.RawMessage, error) {
		done, err := filepath.Glob(filepath.Join(kept.Dir, "*.json"))
		if len(done) >= 5 && flushed.CompareAndSwap(false, true) {
			m.FlushAll()
		}
		return errOr(do(ctx, i))(err)
	}
	start(t, redis, 2, plan)
	results, err := c.Compute(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	checkSquares(t, results)
	if !flushed.Load() {
		t.Error("the server was not emptied")
	}
}

func errOr(r json.RawMessage, err error) func(error) (json.RawMessage, error) {
	return func(other error) (json.RawMessage, error) { return r, errors.Join(err, other) }
}

// TestPassword: whoever does not know the password of the coordinator's own server gets
// nothing from it.
func TestPassword(t *testing.T) {
	t.Parallel()
	own, other := loopback(t), loopback(t)
	if own.Password == "" || own.Password == other.Password {
		t.Errorf("the passwords are %q and %q", own.Password, other.Password)
	}
	for password, refused := range map[string]bool{"": true, other.Password: true, own.Password: false} {
		rdb := redis.NewClient(&redis.Options{Addr: own.Addr, Password: password})
		err := rdb.Set(t.Context(), "k", "v", 0).Err()
		rdb.Close()
		if (err != nil) != refused || refused && !strings.Contains(text.SayError("en", err), "NOAUTH") && !strings.Contains(text.SayError("en", err), "WRONGPASS") {
			t.Errorf("password %q: %v", password, err)
		}
	}
	err := (&Worker{Redis: asynq.RedisClientOpt{Addr: own.Addr}, Build: "build 1"}).Run(t.Context())
	if !errors.Is(err, ErrRedis) || !strings.Contains(text.SayError("en", err), "NOAUTH") {
		t.Errorf("a worker without a password: %v", err)
	}
}

// silent is a server that accepts connections, calls accepted, and never answers.
func silent(t *testing.T, accepted func()) (addr string, connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	connections = &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			connections.Add(1)
			accepted()
		}
	}()
	return l.Addr().String(), connections
}

// TestStopped: a coordinator or a worker that is stopped while nothing answers ends with
// the connection that it has: it does not try again.
func TestStopped(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]func(addr string) asynq.RedisConnOpt{
		"server": func(addr string) asynq.RedisConnOpt { return asynq.RedisClientOpt{Addr: addr} },
		"sentinel": func(addr string) asynq.RedisConnOpt {
			return asynq.RedisFailoverClientOpt{MasterName: "m", SentinelAddrs: []string{addr}}
		},
		"sentinel with TLS": func(addr string) asynq.RedisConnOpt {
			return asynq.RedisFailoverClientOpt{MasterName: "m", SentinelAddrs: []string{addr}, TLSConfig: &tls.Config{}}
		},
	} {
		for role, run := range map[string]func(ctx context.Context, opt asynq.RedisConnOpt) error{
			"coordinator": func(ctx context.Context, opt asynq.RedisConnOpt) error {
				_, err := coordinator(opt).Compute(ctx, squares(3))
				return err
			},
			"worker": func(ctx context.Context, opt asynq.RedisConnOpt) error {
				return (&Worker{Redis: opt, Build: "build 1"}).Run(ctx)
			},
		} {
			t.Run(name+"/"+role, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				addr, connections := silent(t, cancel)
				if err := run(ctx, option(addr)); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				if n := connections.Load(); n != 1 {
					t.Errorf("%d connections", n)
				}
			})
		}
	}
}

// TestEndedDialsNobody: once its context has ended, a client makes no connection, not even one that
// it closes at once. The next connection that arrives is the test's own.
func TestEndedDialsNobody(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	dial := bound{asynq.RedisClientOpt{}, ended}.dialer(nil)
	for range 100 {
		if _, err := dial(t.Context(), "tcp", l.Addr().String()); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		own, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		first, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := first.RemoteAddr().String(), own.LocalAddr().String(); got != want {
			t.Fatalf("%s has connected, before %s", got, want)
		}
		own.Close()
		first.Close()
	}
}

// TestSentinel: with TLS and passwords the sentinel is asked and the master used, both over
// TLS, each with its own password. Where one does not fit, no command gets through.
func TestSentinel(t *testing.T) {
	t.Parallel()
	https := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	defer https.Close()
	config := &tls.Config{Certificates: https.TLS.Certificates}
	master := miniredis.NewMiniRedis()
	master.RequireAuth("of the master")
	if err := master.StartTLS(config); err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	sentinel, asked := fakeSentinel(t, config, master.Addr())

	trusting := &tls.Config{RootCAs: x509.NewCertPool()}
	trusting.RootCAs.AddCert(https.Certificate())
	right := asynq.RedisFailoverClientOpt{
		MasterName: "m", SentinelAddrs: []string{sentinel}, SentinelPassword: "of the sentinel", Password: "of the master", TLSConfig: trusting,
	}
	plan := squares(3)
	start(t, right, 1, plan)
	results, err := coordinator(right).Compute(t.Context(), plan)
	if err != nil || asked.Load() == 0 {
		t.Fatalf("the sentinel was asked %d times, %v", asked.Load(), err)
	}
	checkSquares(t, results)
	for name, wrong := range map[string]func(o *asynq.RedisFailoverClientOpt){
		"no TLS":                func(o *asynq.RedisFailoverClientOpt) { o.TLSConfig = nil },
		"another authority":     func(o *asynq.RedisFailoverClientOpt) { o.TLSConfig = &tls.Config{} },
		"the master's password": func(o *asynq.RedisFailoverClientOpt) { o.Password = "guessed" },
		"the sentinel's":        func(o *asynq.RedisFailoverClientOpt) { o.SentinelPassword = "guessed" },
	} {
		o := right
		wrong(&o)
		if _, err := coordinator(o).Compute(t.Context(), plan); !errors.Is(err, ErrRedis) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fakeSentinel names the master to those who know its password.
func fakeSentinel(t *testing.T, config *tls.Config, master string) (addr string, asked *atomic.Int64) {
	t.Helper()
	s, err := server.NewServerTLS("127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	asked = &atomic.Int64{}
	host, port, err := net.SplitHostPort(master)
	if err != nil {
		t.Fatal(err)
	}
	known := func(c *server.Peer) bool {
		if c.Ctx == nil {
			c.WriteError("NOAUTH Authentication required.")
		}
		return c.Ctx != nil
	}
	for name, do := range map[string]server.Cmd{
		"AUTH": func(c *server.Peer, _ string, args []string) {
			if args[len(args)-1] != "of the sentinel" {
				c.WriteError("WRONGPASS invalid username-password pair")
				return
			}
			c.Ctx = "known"
			c.WriteOK()
		},
		"SENTINEL": func(c *server.Peer, _ string, args []string) {
			if !known(c) {
				return
			}
			if strings.EqualFold(args[0], "sentinels") {
				c.WriteLen(0)
				return
			}
			asked.Add(1)
			c.WriteStrings([]string{host, port})
		},
		"SUBSCRIBE": func(c *server.Peer, _ string, args []string) {
			for i, channel := range args {
				c.WriteLen(3)
				c.WriteBulk("subscribe")
				c.WriteBulk(channel)
				c.WriteInt(i + 1)
			}
		},
		"PING": func(c *server.Peer, _ string, _ []string) { c.WriteInline("PONG") },
	} {
		if err := s.Register(name, do); err != nil {
			t.Fatal(err)
		}
	}
	return s.Addr().String(), asked
}

func TestMain(m *testing.M) {
	redis.SetLogger(quietRedis{}) // servers go away here on purpose
	os.Exit(m.Run())
}

type quietRedis struct{}

func (quietRedis) Printf(context.Context, string, ...any) {}
