package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Single commands that several locks send, with their replies in Go terms.

// sendSETNX sends SETNX key value and reports whether that created the key. SetNX of
// go-redis would send SET key value NX, which servers of that time do not know.
func sendSETNX(ctx context.Context, node redis.UniversalClient, key, value string) (created bool, err error) {
	created, err = node.Do(ctx, "SETNX", key, value).Bool()
	if err != nil {
		return false, lock.Unknown("SETNX", key, err)
	}
	return created, nil
}

// sendSET sends SET key value and words. It returns refusal if the reply is nil, since a condition among them fails.
func sendSET(ctx context.Context, node redis.UniversalClient, refusal error, key, value string, words ...any) error {
	reply := node.Do(ctx, append([]any{"SET", key, value}, words...)...)
	return refusedIfNil(reply, refusal, fmt.Sprint("SET ", words[0]), key)
}

// sendGET sends GET key and reports whether the key exists.
func sendGET(ctx context.Context, node redis.UniversalClient, key string) (value string, exists bool, err error) {
	value, err = node.Get(ctx, key).Result()
	return valueOf("GET", key, value, err)
}

// sendGETSET sends GETSET key v and reports whether the key existed before.
func sendGETSET(ctx context.Context, node redis.UniversalClient, key, v string) (old string, existed bool, err error) {
	old, err = node.GetSet(ctx, key, v).Result()
	return valueOf("GETSET", key, old, err)
}

// valueOf reads a reply that is nil if there is no key.
func valueOf(command, key, value string, err error) (string, bool, error) {
	switch {
	case errors.Is(err, redis.Nil):
		return "", false, nil
	case err != nil:
		return "", false, lock.Unknown(command, key, err)
	}
	return value, true, nil
}

// refusedIfNil reads a reply that is nil if the server refused.
func refusedIfNil(reply *redis.Cmd, refusal error, command, key string) error {
	switch err := reply.Err(); {
	case errors.Is(err, redis.Nil):
		return refusal
	case err != nil:
		return lock.Unknown(command, key, err)
	}
	return nil
}

// notHeldIfZero reads the number of keys that a command has changed. With 0 the key did not hold the caller's token.
func notHeldIfZero(reply *redis.Cmd, command, key string) error {
	n, err := reply.Int()
	switch {
	case err != nil:
		return lock.Unknown(command, key, err)
	case n == 0:
		return lock.ErrNotHeld
	}
	return nil
}

// sendWithWAIT sends a command and WAIT replicas timeout in one pipeline, since WAIT counts what its own connection has
// written. It returns the reply to the command and how many replicas have acknowledged it. err is WAIT's.
func sendWithWAIT(ctx context.Context, node redis.UniversalClient, replicas int, timeout time.Duration,
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
