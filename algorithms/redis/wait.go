package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// tokenWait is token that counts on a replica: SET and WAIT go out together, and
// if no replica has acknowledged the key in time, it is given back and the lock
// refused. (2015: WAIT came with Redis 3.0 in April.)
//
// It was meant to mend the failover to a replica that has not seen the key.
//
// How it falls: WAIT counts replicas, it does not choose which is promoted: with
// two of them, the one that has not acknowledged may become master. A promoted
// replica that restarts empty has lost the key all the same. And while no replica
// answers nobody acquires, although nobody holds.
var tokenWait = lock.Entry{
	ID:       "token-wait",
	Family:   lock.OneStep,
	Year:     2015,
	Title:    lock.Text{EN: "SET NX PX and WAIT: held only if a replica has it", ZH: "SET NX PX 加 WAIT：从库确认之后才算持有"},
	Nodes:    1,
	Replicas: 1,
	TTL:      30 * time.Second,
	Unit:     time.Millisecond,
	Expiry:   lock.ExpiryServer,
	New:      func(env lock.Env) lock.Strategy { return newKeyLock(env, env.Tokens.Token, setAndWait, mine) },
}

const (
	// waitReplicas is how many replicas have to acknowledge.
	waitReplicas = 1
	// waitTime is how long the server waits for them, at most: as long as Redisson
	// lets it.
	waitTime = time.Second
)

// setAndWait sends SET NX PX and WAIT in one piece. If too few replicas acknowledged
// in time it takes the key back and returns ErrNotAcquired, wrapped.
func setAndWait(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	reply, acked, err := andWait(ctx, node, waitReplicas, waitTime, func(p redis.Pipeliner) *redis.Cmd {
		return p.Do(ctx, "SET", key, token, "NX", "PX", ttl.Milliseconds())
	})
	if err := answered(reply, lock.ErrNotAcquired, "SET NX PX", key); err != nil {
		return err
	}
	if err == nil && acked >= waitReplicas {
		return nil
	}
	// A caller who gave up still wants his key back.
	if err := errors.Join(err, deleteIfMine(context.WithoutCancel(ctx), node, key, token)); err != nil {
		return err
	}
	return fmt.Errorf("%w: %d replicas acknowledged, want %d", lock.ErrNotAcquired, acked, waitReplicas)
}

// andWait sends one command and WAIT replicas timeout in one piece, since WAIT
// speaks of what its own connection has written. It returns the command's reply and
// how many replicas have acknowledged it; err is WAIT's.
func andWait(ctx context.Context, node redis.UniversalClient, replicas int, timeout time.Duration,
	send func(redis.Pipeliner) *redis.Cmd) (reply *redis.Cmd, acked int, err error) {
	p := node.Pipeline()
	reply = send(p)
	wait := p.Do(ctx, "WAIT", replicas, timeout.Milliseconds())
	_, _ = p.Exec(ctx) // each command has its own error
	acked, err = wait.Int()
	if err != nil {
		err = lock.Unknown("WAIT", fmt.Sprint(replicas), err)
	}
	return reply, acked, err
}
