package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// What several strategies say to one server, in one place.
//
// Scripts are sent by EVAL, as the articles print them and as Redisson 3.12.5
// does by default. EVALSHA would save bytes and bring a failure of its own: see
// evalsha.

// compareAndDelete removes a key if it still holds the caller's token. The
// server runs a script without interruption, so nobody can come between the
// look and the removal. KEYS: lock. ARGV: token. Reply: how many keys went.
var compareAndDelete = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call("DEL", KEYS[1])
`)

// compareAndExpire resets the TTL of a key that still holds the caller's token.
// KEYS: lock. ARGV: token, TTL in ms. Reply: 1, or 0 when it holds another.
var compareAndExpire = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])
`)

// ScriptName says in a word what the script with this SHA1 does, for readers of
// a transcript; "" if it is none of this package's.
func ScriptName(sha string) string {
	for name, script := range map[string]*redis.Script{
		"delandtell":     compareDeleteAndTell,
		"delifequals":    compareAndDelete, // as article 002 calls the command that it wishes for
		"expireifequals": compareAndExpire,
		"enqueue":        acquireInTurn,
		"lock":           acquireHash,
		"renew":          renewHash,
		"unlock":         releaseHash,
	} {
		if script.Hash() == sha {
			return name
		}
	}
	return ""
}

// Ways to create the key.

// setnx sends SETNX key value and says whether that created the key. The SetNX of
// go-redis would send SET key value NX, which the servers of that time do not know.
func setnx(ctx context.Context, node redis.UniversalClient, key, value string) (created bool, err error) {
	created, err = node.Do(ctx, "SETNX", key, value).Bool()
	if err != nil {
		return false, lock.Unknown("SETNX", key, err)
	}
	return created, nil
}

// setnxOnly creates a key without a TTL.
func setnxOnly(ctx context.Context, node redis.UniversalClient, key, value string, _ time.Duration) error {
	created, err := setnx(ctx, node, key, value)
	if err == nil && !created {
		return lock.ErrNotAcquired
	}
	return err
}

// setnxThenExpire creates the key and gives it a TTL afterwards, in whole seconds.
func setnxThenExpire(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error {
	if err := setnxOnly(ctx, node, key, value, ttl); err != nil {
		return err
	}
	// From here to the next reply the key is immortal. The reply is not read.
	if err := node.Expire(ctx, key, ttl).Err(); err != nil {
		return lock.Unknown("EXPIRE", key, err)
	}
	return nil
}

// setIfFree sends SET key token NX PX ttl, in the order of words in which
// articles print it. ttl goes out in whole milliseconds.
func setIfFree(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	return set(ctx, node, lock.ErrNotAcquired, key, token, "NX", "PX", ttl.Milliseconds())
}

// setIfFreeEX is setIfFree in whole seconds: SET key value NX EX ttl.
func setIfFreeEX(ctx context.Context, node redis.UniversalClient, key, value string, ttl time.Duration) error {
	return set(ctx, node, lock.ErrNotAcquired, key, value, "NX", "EX", int64(ttl/time.Second))
}

// set sends SET key value with the words that follow. It returns refusal when a
// condition among them does not hold: the reply is nil then.
func set(ctx context.Context, node redis.UniversalClient, refusal error, key, value string, words ...any) error {
	reply := node.Do(ctx, append([]any{"SET", key, value}, words...)...)
	return answered(reply, refusal, fmt.Sprint("SET ", words[0]), key)
}

// answered reads a reply that is nil when the server refused.
func answered(reply *redis.Cmd, refusal error, command, key string) error {
	switch err := reply.Err(); {
	case errors.Is(err, redis.Nil):
		return refusal
	case err != nil:
		return lock.Unknown(command, key, err)
	}
	return nil
}

// Ways to give it back.

var (
	// anybodys is DEL without a look at whose key it is. The articles do not read
	// the reply.
	anybodys = giving{send: del}
	// looked is a look and then DEL: two commands, and whatever happens between
	// them. Its nil is therefore no statement.
	looked = giving{send: getThenDelete}
	// mine is the look and the removal in one script.
	mine = giving{send: deleteIfMine, reports: true}
)

func del(ctx context.Context, node redis.UniversalClient, key, _ string) error {
	if err := node.Del(ctx, key).Err(); err != nil {
		return lock.Unknown("DEL", key, err)
	}
	return nil
}

func getThenDelete(ctx context.Context, node redis.UniversalClient, key, value string) error {
	found, there, err := get(ctx, node, key)
	switch {
	case err != nil:
		return err
	case !there || found != value:
		return lock.ErrNotHeld
	}
	// The weak place: from here on the key may be another's.
	return del(ctx, node, key, value)
}

// deleteIfMine runs compareAndDelete on node. It returns ErrNotHeld when the
// key is gone or holds another token.
func deleteIfMine(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return changed("compare and delete", key, compareAndDelete.Eval(ctx, node, []string{key}, token))
}

// Ways to prolong it.

// expireAnybodys sends EXPIRE, or PEXPIRE when ttl is no whole number of seconds,
// without a look at whose key it is. The reply is not read.
func expireAnybodys(ctx context.Context, node redis.UniversalClient, key, _ string, ttl time.Duration) error {
	expire := node.Expire
	if ttl%time.Second != 0 {
		expire = node.PExpire
	}
	if err := expire(ctx, key, ttl).Err(); err != nil {
		return lock.Unknown("EXPIRE", key, err)
	}
	return nil
}

// expireIfMine runs compareAndExpire on node. It returns ErrNotHeld when the key
// is gone or holds another token.
func expireIfMine(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	return changed("compare and expire", key, compareAndExpire.Eval(ctx, node, []string{key}, token, ttl.Milliseconds()))
}

// get sends GET key and says whether the key is there.
func get(ctx context.Context, node redis.UniversalClient, key string) (value string, there bool, err error) {
	value, err = node.Get(ctx, key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "", false, nil
	case err != nil:
		return "", false, lock.Unknown("GET", key, err)
	}
	return value, true, nil
}

// getset sends GETSET key value and says whether there was an old value.
func getset(ctx context.Context, node redis.UniversalClient, key, value string) (old string, there bool, err error) {
	old, err = node.GetSet(ctx, key, value).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "", false, nil
	case err != nil:
		return "", false, lock.Unknown("GETSET", key, err)
	}
	return old, true, nil
}

// changed reads the reply of a command that counts the keys it changed: with 0 the
// caller's token was not there.
func changed(command, key string, reply *redis.Cmd) error {
	n, err := reply.Int()
	switch {
	case err != nil:
		return lock.Unknown(command, key, err)
	case n == 0:
		return lock.ErrNotHeld
	}
	return nil
}
