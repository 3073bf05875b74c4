package locktest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

const zkSession = 9 * time.Second


// connectZK is a session of go-zookeeper/zk with the lab's ensemble.
func connectZK(c *Client, addr string) *zk.Conn {
	conn, _, err := zk.Connect([]string{addr}, zkSession, zk.WithLogger(silent{}), zk.WithMaxBufferSize(1<<16), zk.WithMaxConnBufferSize(1<<16),
		zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			return c.Dial(context.Background(), network, address)
		}))
	if err != nil {
		panic(err)
	}
	return conn
}

// ephemeral is a lock by one ephemeral znode.
func ephemeral(c *Client) {
	conn := connectZK(c, c.Addr(1))
	defer conn.Close()
	if _, err := conn.Create("/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		return
	}
	c.Critical(work)
	conn.Delete("/lock", -1)
}

// recipe is the library's own lock.
func recipe(c *Client) {
	conn := connectZK(c, c.Addr(1))
	defer conn.Close()
	l := zk.NewLock(conn, "/lock", zk.WorldACL(zk.PermAll))
	if l.Lock() != nil {
		return
	}
	c.Critical(work)
	l.Unlock()
}

func TestZooKeeperEphemeral(t *testing.T) {
	Check(t, Bounds{Clients: 2, Budget: "pause=1", TTL: zkSession}, ephemeral)
}

func TestZooKeeperRecipe(t *testing.T) {
	Check(t, Bounds{Clients: 2, Budget: "pause=1", TTL: zkSession}, recipe)
}
