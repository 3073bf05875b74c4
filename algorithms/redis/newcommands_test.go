package redis_test

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/algorithms/lock"
)

// missingCommands has the locks whose commands no redis-server of version 7 knows,
// with such a command.
var missingCommands = map[string][]any{
	"delifeq":  {"DELIFEQ", "lock", "x"},          // Valkey 9.0
	"delex":    {"DELEX", "lock", "IFEQ", "x"},    // Redis 8.4
	"set-ifeq": {"SET", "lock", "y", "IFEQ", "x"}, // Valkey 8.1, Redis 8.4
}

// addNewCommands adds commands to miniredis, in the form that the locks send:
//   - DELIFEQ key value, of Valkey 9.0, and DELEX key IFEQ value, of Redis 8.4: the
//     number of keys removed, 1 if key holds value and else 0;
//   - SET key value IFEQ old PX ms, of Valkey 8.1 and Redis 8.4: OK and a new TTL if
//     key holds old, else nil;
//   - WAIT: the number of replicas that the test has set.
func addNewCommands(m *miniredis.Miniredis, replicas *atomic.Int64) server.Hook {
	holds := func(key, value string) bool {
		found, err := m.Get(key)
		return err == nil && found == value
	}
	remove := func(c *server.Peer, key, value string) {
		if !holds(key, value) {
			c.WriteInt(0)
			return
		}
		m.Del(key)
		c.WriteInt(1)
	}
	return func(c *server.Peer, command string, args ...string) bool {
		switch name := strings.ToUpper(command); {
		case name == "WAIT" && len(args) == 2:
			c.WriteInt(int(replicas.Load()))
		case name == "DELIFEQ" && len(args) == 2:
			remove(c, args[0], args[1])
		case name == "DELEX" && len(args) == 3 && args[1] == "IFEQ":
			remove(c, args[0], args[2])
		case name == "SET" && len(args) == 6 && args[2] == "IFEQ" && args[4] == "PX":
			ttl, err := time.ParseDuration(args[5] + "ms")
			switch {
			case err != nil:
				c.WriteError("ERR value is not an integer or out of range")
			case !holds(args[0], args[3]):
				c.WriteNull()
			default:
				_ = m.Set(args[0], args[1])
				m.SetTTL(args[0], ttl)
				c.WriteOK()
			}
		default:
			return false
		}
		return true
	}
}

// Without a list of its own a client has all its servers on it.
func TestShardedWithoutList(t *testing.T) {
	e := entry(t, "sharded")
	for servers, want := range map[int]int{1: 0, 2: 0, 3: 2} {
		s := newTestbed(t, servers)
		must(s.process(t, e, "A").Acquire(t.Context(), "lock"))(t)
		if at := slices.IndexFunc(s.lockValues(t), func(v string) bool { return v != "" }); at != want {
			t.Errorf("of %d servers number %d has the key, want %d", servers, at, want)
		}
	}
	if err := e.Check(lock.Env{}); !errors.As(err, new(*lock.ServersError)) {
		t.Errorf("no server: %v", err)
	}
}
