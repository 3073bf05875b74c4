package simulator

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/redisnode"
)

// TestUnwoundWatchers: code that is unwound while a connection watches does not return it
// to the pool, and a pool has only a few connections.
func TestUnwoundWatchers(t *testing.T) {
	l := mustLab(t, Config{Nodes: []NodeConfig{{}}, Clients: []ClientConfig{{Program: func(c *Client) {
		ctx := context.Background()
		_ = c.Redis(1).Watch(ctx, func(tx *redis.Tx) error {
			for range 20 {
				c.Clock().Sleep(time.Second)
			}
			return nil
		}, "k")
	}}}})
	NoMemo(l) // runs it anew for every observation
	w := l.NewWorld()
	for !l.Quiet(&w) {
		if _, err := l.Step(&w, l.Enabled(&w, nil)[0]); err != nil {
			t.Fatal(err)
		}
		if p := l.clients.procs[0].Code().Library().(*redisnode.Connections).Client(1); p.PoolStats().TotalConns > 1 {
			t.Fatalf("after %d runs of the code its pool has %d connections", l.Executions(1), p.PoolStats().TotalConns)
		}
	}
	if l.Executions(1) < 20 {
		t.Errorf("the code was run only %d times", l.Executions(1))
	}
}
