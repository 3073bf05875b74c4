package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"locklab/simulator/i18n"
)

// ErrRedis is in the chain of errors of the Redis server, and of the connection to it.
var ErrRedis = errors.New("fleet: the Redis server")

// A marked is an error that errors.Is finds to be mark.
type marked struct {
	error
	mark error
}

func (m marked) Is(target error) bool { return target == m.mark }
func (m marked) Unwrap() error        { return m.error }

func redisError(err error) error {
	if err == nil {
		return nil
	}
	return marked{i18n.Errorf("error.fleet.redis", "cause", err), ErrRedis}
}

// A bound connects as its option says until ctx ends. Then connections are closed, and no
// other is made: asynq's commands have no context of their own, and would go on for as long
// as go-redis tries.
type bound struct {
	asynq.RedisConnOpt
	ctx context.Context
}

// dialTimeout is go-redis's own.
const dialTimeout = 5 * time.Second

// MakeRedisClient is called by asynq. Sentinels and the master that they name are reached
// with the same TLS settings.
func (b bound) MakeRedisClient() any {
	switch o := b.RedisConnOpt.(type) {
	case asynq.RedisClientOpt:
		return redis.NewClient(&redis.Options{
			Network: o.Network, Addr: o.Addr, Username: o.Username, Password: o.Password, DB: o.DB,
			Dialer: b.dialer(o.TLSConfig), DialerRetries: 1,
		})
	case asynq.RedisFailoverClientOpt:
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: o.MasterName, SentinelAddrs: o.SentinelAddrs, SentinelUsername: o.SentinelUsername, SentinelPassword: o.SentinelPassword,
			Username: o.Username, Password: o.Password, DB: o.DB,
			Dialer: b.dialer(o.TLSConfig), DialerRetries: 1,
		})
	}
	return b.RedisConnOpt.MakeRedisClient()
}

// dialer speaks TLS unless config is nil. A name in config replaces that of the address.
func (b bound) dialer(config *tls.Config) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		// AfterFunc below calls cancel from another goroutine: a connection could be made before.
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		defer context.AfterFunc(b.ctx, cancel)()
		dial := new(net.Dialer).DialContext
		if config != nil {
			dial = (&tls.Dialer{Config: config}).DialContext
		}
		conn, err := dial(ctx, network, addr)
		switch {
		case b.ctx.Err() != nil && err == nil:
			conn.Close()
			fallthrough
		case b.ctx.Err() != nil:
			return nil, b.ctx.Err()
		case err != nil:
			return nil, err
		}
		context.AfterFunc(b.ctx, func() { conn.Close() })
		return conn, nil
	}
}

// lingering is a context that ends d after another one, or when it is cancelled.
func lingering(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return longer, func() { stop(); cancel() }
}
