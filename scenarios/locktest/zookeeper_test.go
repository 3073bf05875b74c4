package locktest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"locklab/simulator/effort"
	"locklab/simulator/realserver"
	"locklab/simulator/realserver/servertest"
)

// session is a session of go-zookeeper/zk with the lab's ensemble.
func session(c *Client) *zk.Conn { return sessionAt(c, c.Addr(1), ttl) }

func sessionAt(c *Client, addr string, timeout time.Duration) *zk.Conn {
	dial := func(network, addr string, _ time.Duration) (net.Conn, error) {
		return c.Dial(c.Context(), network, addr)
	}
	conn, _, err := zk.Connect([]string{addr}, timeout, zk.WithDialer(dial), zk.WithLogger(silent{}),
		zk.WithMaxBufferSize(1<<12), zk.WithMaxConnBufferSize(1<<12))
	if err != nil {
		panic(err)
	}
	return conn
}

var everybody = zk.WorldACL(zk.PermAll)

// A process that lives keeps its session, and the lock with it, if it does not release.
func TestZooKeeperNeverClosed(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches, and the lock is a process of its own")
	Check(t, Bounds{Clients: 2, Attempts: 1, TTL: ttl}, func(c *Client) {
		if _, err := session(c).Create("/lock", nil, zk.FlagEphemeral, everybody); err == nil {
			c.Critical(work)
		}
	}, "ORPHAN@0 DEADLOCK@0")
}

// The client sees the same on the lab's ensemble as on a real one.
func TestZooKeeperReal(t *testing.T) {
	addr := servertest.ZooKeeper(t, t.TempDir())
	conn, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithDialer(realserver.ConnectZooKeeper),
		zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	real := script(conn)
	conn.Close()
	var lab []string
	_, _ = prepare(t, Bounds{Clients: 1, Attempts: 1, TTL: ttl, Key: "/own"}, func(c *Client) {
		conn := session(c)
		defer conn.Close()
		lab = script(conn)
		conn.Create("/own", nil, zk.FlagEphemeral, everybody)
		c.Critical(work)
	})
	if diff := cmp.Diff(real, lab); diff != "" {
		t.Errorf("on a real ensemble and on the lab's:\n%s", diff)
	}
}

// script is what a client sees that does one thing after the other.
func script(conn *zk.Conn) (seen []string) {
	first := int64(0)
	see := func(what string, stat *zk.Stat, err error) {
		if stat != nil && err == nil {
			if first == 0 {
				first = stat.Czxid
			}
			what += fmt.Sprintf(" %d %d %d %d %d %d %d %t",
				stat.Czxid-first, stat.Mzxid-stat.Czxid, stat.Pzxid-stat.Czxid, stat.Version, stat.Cversion,
				stat.DataLength, stat.NumChildren, stat.EphemeralOwner == conn.SessionID())
		}
		seen = append(seen, fmt.Sprint(what, " ", err))
	}
	create := func(path string, flags int32) {
		name, err := conn.Create(path, []byte("data"), flags, everybody)
		see(name, nil, err)
	}
	next := func(events <-chan zk.Event) {
		select {
		case e := <-events:
			seen = append(seen, fmt.Sprint(e.Type, e.Path, e.Err))
		case <-time.After(time.Second):
			seen = append(seen, "nothing")
		}
	}
	create("/a/b", 0)
	create("/a", 0)
	create("/a", 0)
	create("/a/n-", zk.FlagSequence)
	create("/a/n-", zk.FlagSequence|zk.FlagEphemeral)
	create("/a/n-0000000001/x", 0)
	create("/a/e", zk.FlagEphemeral)
	_, stat, err := conn.Exists("/a")
	see("exists", stat, err)
	there, _, err := conn.Exists("/none")
	see(fmt.Sprint(there), nil, err)
	names, stat, err := conn.Children("/a")
	slices.Sort(names)
	see(strings.Join(names, " "), stat, err)
	data, stat, err := conn.Get("/a/e")
	see(string(data), stat, err)
	_, _, err = conn.Get("/none")
	see("", nil, err)
	stat, err = conn.Set("/a/e", []byte("more"), 0)
	see("set", stat, err)
	_, err = conn.Set("/a/e", nil, 0)
	see("set", nil, err)
	see("delete", nil, conn.Delete("/a", -1))
	see("delete", nil, conn.Delete("/a/e", 7))
	_, _, changed, err := conn.GetW("/a/e")
	see("watch", nil, err)
	_, _, children, err := conn.ChildrenW("/a")
	see("watch", nil, err)
	_, _, created, err := conn.ExistsW("/new")
	see("watch", nil, err)
	see("delete", nil, conn.Delete("/a/e", -1))
	create("/new", zk.FlagEphemeral)
	next(changed)
	next(children)
	next(created)
	path, err := conn.Sync("/a")
	see(path, nil, err)
	return seen
}

// Each of these ends with a sentence of its own.
func TestZooKeeperCannotBeCarried(t *testing.T) {
	on := func(do func(conn *zk.Conn) error) func(*Client) {
		return func(c *Client) {
			conn := session(c)
			defer conn.Close()
			if do(conn) == nil {
				c.Critical(work)
			}
		}
	}
	for name, test := range map[string]struct {
		code func(*Client)
		want string
	}{
		"no server": {func(c *Client) {
			conn := sessionAt(c, "127.0.0.9:2181", ttl)
			defer conn.Close()
			if zk.NewLock(conn, "/k", everybody).Lock() == nil {
				c.Critical(work)
			}
		}, "the code has dialed 127.0.0.9:2181, where there is no server"},
		"multi": {on(func(conn *zk.Conn) error {
			_, err := conn.Multi(&zk.CreateRequest{Path: "/k", Acl: everybody, Flags: zk.FlagEphemeral})
			return err
		}), "the request multi (op code 14)"},
		"an ACL": {on(func(conn *zk.Conn) error {
			_,
				err := conn.Create("/k", nil, 1, zk.WorldACL(zk.PermRead))
			return err
		}), "creates /k with an access control list"},
		"persistent": {on(func(conn *zk.Conn) error { _, err := conn.Create("/k", nil, 0, everybody); return err }),
			"creates no ephemeral znode before it enters"},
		"time-out": {func(c *Client) {
			conn := sessionAt(c, c.Addr(1), 5*time.Second)
			defer conn.Close()
			conn.Create("/k", nil, zk.FlagEphemeral, everybody)
			c.Critical(work)
		}, "the code asks for sessions of 5s"},
		"time-outs": {func(c *Client) {
			conn, other := session(c), sessionAt(c, c.Addr(1), 5*time.Second)
			defer conn.Close()
			defer other.Close()
			conn.Create("/k", nil, zk.FlagEphemeral, everybody)
			c.Critical(work)
		}, "sessions of 5s and of 9s"},
		"a Redis as well": {func(c *Client) {
			conn, rdb := session(c), dial(c)
			defer conn.Close()
			defer rdb.Close()
			conn.Exists("/k")
			rdb.Get(c.Context(), "k")
		}, "as Redis's clients do, to a server that is a ZooKeeper"},
		"too long": {func(c *Client) {
			conn, _ := c.Dial(c.Context(), "tcp", c.Addr(1))
			conn.Write([]byte("\x00\x00\x00\x2d\x00\x00\x00\x00"))
			conn.Write([]byte(strings.Repeat("\x00", 41) + "\xff\xff\xff\xff"))
			conn.Read(make([]byte, 1))
		}, "which is no message of ZooKeeper's protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := newPlan(t, Bounds{Clients: 2, TTL: ttl}, test.code)
			if err == nil {
				err = errors.Join(p.alone(), p.checkLease())
			}
			if err == nil {
				t.Fatal("it was carried")
			}
			if got := explain(err); !strings.Contains(got, test.want) {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}
