package live

import (
	"errors"
	"os"
	"testing"

	"locklab/simulator"
	"locklab/simulator/internal/clock"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/resp"
)

// TestPoolOnLoopback: other machines reach neither the servers of a run, with an append-only file or
// without, nor their replicas, nor what stands between them.
func TestPoolOnLoopback(t *testing.T) {
	t.Parallel()
	p := pool(t)
	for _, config := range []simulator.NodeConfig{{Replicas: 2}, {AOF: simulator.Always}} {
		s, err := p.take(t.Context(), &config, clock.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		defer s.end()
		for _, one := range append(s.replicas, s.master) {
			servertest.OnlyLoopback(t, os.Getpid(), one.Addr)
		}
	}
}

// TestPoolEndsWhatIsNotNew: a server is used again after everything that a run may do to it, and is
// not if anything is left that cleaning does not know of.
func TestPoolEndsWhatIsNotNew(t *testing.T) {
	t.Parallel()
	p := pool(t)
	for _, test := range []struct {
		leave  []string
		master bool // it is left on the master; else on the replica
		again  bool
	}{
		{[]string{"SET", "k", "v"}, true, true},
		{[]string{"EVAL", "return 1", "0"}, true, true},
		{[]string{"EVAL", "return 1", "0"}, false, true},
		{[]string{"NONSENSE"}, true, true},
		{[]string{"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"}, true, false},
		{[]string{"CONFIG", "SET", "replica-read-only", "no"}, false, false},
		{[]string{"CONFIG", "SET", "min-replicas-to-write", "1"}, true, false},
		{[]string{"ACL", "SETUSER", "bob", "on"}, true, false},
		{[]string{"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"}, true, false},
		{[]string{"CLIENT", "SETNAME", "x"}, true, false},
		{[]string{"REPLICAOF", "NO", "ONE"}, false, false},
	} {
		config := simulator.NodeConfig{Replicas: 1}
		s, err := p.take(t.Context(), &config, clock.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		to := s.master
		if !test.master {
			to = s.replicas[0]
		}
		if _, err := to.Do(test.leave...); err != nil && !errors.As(err, new(resp.Error)) {
			t.Fatal(err)
		}
		before := s.master.Addr
		p.give(t.Context(), s, &config, false)
		next, err := p.take(t.Context(), &config, clock.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		if again := next.master.Addr == before; again != test.again {
			t.Errorf("%q: used again %v, want %v", test.leave, again, test.again)
		}
		if n, err := next.master.do("DBSIZE"); err != nil || n != 0 {
			t.Errorf("%q: %v keys, %v", test.leave, n, err)
		}
		p.give(t.Context(), next, &config, false)
	}
}
