package algorithms_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
)

// TestConformanceOnRealServers plays the rules on redis-server. Where a rule lets
// time pass, the keys whose time it is are ended instead of waited for.
func TestConformanceOnRealServers(t *testing.T) {
	binary, err := exec.LookPath("redis-server")
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal("redis-server is not on PATH: install the package redis-server")
	case err != nil:
		t.Skip("redis-server is not on PATH: install the package redis-server")
	}
	most := 0
	for _, e := range algorithms.All() {
		most = max(most, e.Nodes)
	}
	var addrs []string
	for range most {
		addrs = append(addrs, startRedis(t, binary))
	}
	replicate(t, binary, addrs[0])
	forEachRule(t, func(t testing.TB, e algorithms.Entry) *stage {
		s := realStage(t, addrs[:e.Nodes])
		command, ok := lacking[e.ID]
		if !ok {
			return s
		}
		// A server that has learnt it must play by the rules: take it off the list.
		if err := s.admins[0].Do(t.Context(), command...).Err(); err == nil || errors.Is(err, redis.Nil) {
			t.Errorf("this redis-server knows %v: %s is to be held against it", command, e.ID)
		}
		return nil
	})
}

// realStage empties the servers at addrs and makes a stage of them.
func realStage(t testing.TB, addrs []string) *stage {
	s := &stage{start: time.Now()} // some strategies send the time to the server
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
func replicate(t *testing.T, binary, addr string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	startRedis(t, binary, "--replicaof", host+" "+port)
	admin := dial(t, addr)
	must(admin.Set(t.Context(), "hello", "replica", 0).Result())(t)
	if acked := must(admin.Do(t.Context(), "WAIT", 1, 10_000).Int())(t); acked != 1 {
		t.Fatalf("%d replicas acknowledged, want 1", acked)
	}
}

// startRedis runs a redis-server for the length of the test and returns its
// address. Somebody may take the port that was just found free: then it tries
// another one.
func startRedis(t *testing.T, binary string, options ...string) string {
	t.Helper()
	talk := ""
	for range 5 {
		_, port, err := net.SplitHostPort(nobody(t))
		if err != nil {
			t.Fatal(err)
		}
		var ready bool
		if talk, ready = tryRedis(t, binary, port, options); ready {
			return net.JoinHostPort("127.0.0.1", port)
		}
	}
	t.Fatalf("redis-server does not start; it says:\n%s", talk)
	return ""
}

// tryRedis starts redis-server and reads its log until it is ready or has ended.
func tryRedis(t *testing.T, binary, port string, options []string) (talk string, ready bool) {
	cmd := exec.Command(binary, append([]string{"--bind", "127.0.0.1", "--port", port, "--repl-diskless-sync-delay", "0",
		"--save", "", "--appendonly", "no", "--dir", t.TempDir()}, options...)...)
	stdout := must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var said strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if strings.Contains(lines.Text(), "Ready to accept connections") {
			return said.String(), true
		}
	}
	return said.String(), false
}
