package libraries

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/zeromicro/go-zero/core/logx"
	zero "github.com/zeromicro/go-zero/core/stores/redis"
	"github.com/zeromicro/go-zero/core/stringx"

	"locklab/scenarios/locktest"
)

// dialer is a hook that dials in the lab: go-zero has no option for that.
type dialer struct{ c *locktest.Client }

func (d dialer) DialHook(redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return d.c.Dial(ctx, network, d.c.Addr(1))
	}
}
func (dialer) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (dialer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// stores numbers the addresses: go-zero keeps a client for each address, for ever.
var stores atomic.Int64

func goZero(c *locktest.Client) {
	store := zero.New(fmt.Sprintf("127.0.0.1:%d", stores.Add(1)), zero.WithHook(dialer{c}))
	seed := fnv.New64() // its ids come from a source of its own, which it lets us seed
	seed.Write([]byte(c.Token()))
	stringx.Seed(int64(seed.Sum64()))
	l := zero.NewRedisLock(store, "k")
	l.SetExpire(10)
	if ok, err := l.AcquireCtx(c.Context()); err != nil || !ok {
		return
	}
	c.Critical(work)
	l.ReleaseCtx(c.Context())
}

// TestGoZero is the part of the table that is about go-zero. It comes last, as this file does: the library closes no
// client of Redis, and what thousands of them keep would slow the searches that follow. They ask for 9 GB of buffers,
// and touch 2.
func TestGoZero(t *testing.T) {
	logx.Disable()
	const adds = 500 * time.Millisecond // to the lease that it is asked for
	for budget, breaks := range map[string]string{"crash=1,pause=1": "OVERLAP STALE-WRITE", "lose-reply=1": ""} {
		t.Run(budget, func(t *testing.T) {
			b := locktest.Bounds{Clients: 2, Budget: budget, TTL: 10*time.Second + adds, Beside: 20_000}
			b.MaxBytes = 14 << 30
			locktest.Check(t, b, goZero, breaks)
		})
	}
}
