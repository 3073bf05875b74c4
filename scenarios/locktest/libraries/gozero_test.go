package libraries

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
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
	l.SetExpire(9)
	if ok, err := l.AcquireCtx(c.Context()); err != nil || !ok {
		return
	}
	c.Critical(work)
	l.ReleaseCtx(c.Context())
}
