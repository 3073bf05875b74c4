package libraries

import (
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"locklab/scenarios/locktest"
)

// quiet is a log that nobody reads.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// session is a session with the lab's ensemble. The buffers that the library would make for
// each, 3 MB, cost more than all else.
func session(c *locktest.Client) (*zk.Conn, error) {
	dial := func(network, addr string, _ time.Duration) (net.Conn, error) {
		return c.Dial(c.Context(), network, addr)
	}
	conn, _, err := zk.Connect([]string{c.Addr(1)}, ttl, zk.WithDialer(dial), zk.WithLogger(quiet{}),
		zk.WithMaxBufferSize(1<<12), zk.WithMaxConnBufferSize(1<<12))
	return conn, err
}

var everybody = zk.WorldACL(zk.PermAll)

// zkRecipe is the library's own lock.
func zkRecipe(c *locktest.Client) {
	conn, err := session(c)
	if err != nil {
		return
	}
	defer conn.Close()
	l := zk.NewLock(conn, "/lock", everybody)
	if l.Lock() != nil {
		return
	}
	c.Critical(work)
	l.Unlock()
}

// zkEphemeral is one ephemeral znode. Its path is all that Delete knows.
func zkEphemeral(c *locktest.Client) {
	conn, err := session(c)
	if err != nil {
		return
	}
	defer conn.Close()
	if _, err := conn.Create("/lock", nil, zk.FlagEphemeral, everybody); err != nil {
		return
	}
	c.Critical(work)
	conn.Delete("/lock", -1)
}

// TestZooKeeper is the part of the table that is about go-zookeeper/zk. Where a connection
// has broken, its Close sends nothing: the session, and the ephemeral of a Create that had
// no answer, live until the time-out.
func TestZooKeeper(t *testing.T) {
	for _, test := range []struct {
		name     string
		code     func(c *locktest.Client)
		attempts int
		budget   string
		breaks   string // with one fault; it holds against all else
	}{
		{"zk.NewLock", zkRecipe, 2, "crash=1", ""},
		{"zk.NewLock", zkRecipe, 2, "lose-reply=1", ""},
		{"zk.NewLock", zkRecipe, 1, "pause=1", "OVERLAP STALE-WRITE"},
		{"zk.NewLock", zkRecipe, 1, "expire-session=1", "OVERLAP STALE-WRITE"},
		{"ephemeral", zkEphemeral, 2, "crash=1", ""},
		{"ephemeral", zkEphemeral, 2, "lose-reply=1", "ORPHAN"},
		{"ephemeral", zkEphemeral, 2, "pause=1", "OVERLAP STALE-WRITE WRONG-DEL"},
		{"ephemeral", zkEphemeral, 2, "expire-session=1", "OVERLAP STALE-WRITE WRONG-DEL"},
	} {
		t.Run(test.name+" "+test.budget, func(t *testing.T) {
			locktest.Check(t, locktest.Bounds{Clients: 2, Attempts: test.attempts, Budget: test.budget, TTL: ttl,
				Beside: 20_000}, test.code, test.breaks)
		})
	}
}
