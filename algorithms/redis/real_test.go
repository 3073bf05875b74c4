package redis_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	onredis "locklab/algorithms/redis"
	"locklab/simulator/effort"
	"locklab/simulator/realserver"
	"locklab/simulator/realserver/servertest"
)

// TestConformanceOnRealServers checks the rules on redis-server. Where a rule lets
// time pass, keys that would expire are ended instead of waited for.
func TestConformanceOnRealServers(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	most := 0
	for _, e := range onredis.All() {
		most = max(most, e.Nodes)
	}
	var addrs []string
	for range most {
		addrs = append(addrs, servertest.Redis(t, "--repl-diskless-sync-delay", "0"))
	}
	replicate(t, addrs[0])
	forEachRule(t, func(t testing.TB, e lock.Entry) *testbed {
		s := realTestbed(t, addrs[:e.Nodes])
		command, ok := missingCommands[e.ID]
		if !ok {
			return s
		}
		// If the server knows the command, the lock must be tested on it: remove it
		// from missingCommands.
		if err := s.admins[0].Do(t.Context(), command...).Err(); err == nil || errors.Is(err, redis.Nil) {
			t.Errorf("this redis-server knows %v: %s is to be held against it", command, e.ID)
		}
		return nil
	})
}

// realTestbed empties the servers at addrs and makes a testbed of them.
func realTestbed(t testing.TB, addrs []string) *testbed {
	s := &testbed{start: time.Now(), password: realserver.Password} // some locks send the time to the server
	for i, addr := range addrs {
		s.addServer(t, addr)
		must(s.admins[i].FlushAll(t.Context()).Result())(t)
		must(s.admins[i].ScriptFlush(t.Context()).Result())(t)
	}
	s.pass = func(d time.Duration) {
		for i, admin := range s.admins {
			for key := range s.values(t, i) {
				left := must(admin.PTTL(t.Context(), key).Result())(t)
				if left >= 0 && left <= d { // below 0: no TTL
					must(admin.PExpire(t.Context(), key, 0).Result())(t)
				}
			}
		}
	}
	return s
}

// replicate gives the server at addr a replica, and returns when it has
// acknowledged a write.
func replicate(t *testing.T, addr string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	servertest.Redis(t, "--replicaof", host+" "+port)
	admin := dial(t, addr, realserver.Password)
	must(admin.Set(t.Context(), "hello", "replica", 0).Result())(t)
	if acked := must(admin.Do(t.Context(), "WAIT", 1, 10_000).Int())(t); acked != 1 {
		t.Fatalf("%d replicas acknowledged, want 1", acked)
	}
}
