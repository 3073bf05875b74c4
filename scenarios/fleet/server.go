package fleet

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
)

// Loopback starts a Redis server of the coordinator's own, which other machines cannot
// reach. It has a random password, which other processes do not know. It ends with ctx, and
// its content with it.
func Loopback(ctx context.Context) (asynq.RedisClientOpt, error) {
	server, password := miniredis.NewMiniRedis(), rand.Text()
	server.RequireAuth(password)
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return asynq.RedisClientOpt{}, err
	}
	go func() { // its keys expire by FastForward only
		const step = time.Second
		ticker := time.NewTicker(step)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				server.Close()
				return
			case <-ticker.C:
				server.FastForward(step)
			}
		}
	}()
	return asynq.RedisClientOpt{Addr: server.Addr(), Password: password}, nil
}
