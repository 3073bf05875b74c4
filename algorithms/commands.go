package algorithms

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// What several strategies say to one server, in one place.
//
// Scripts are sent by EVAL, as the articles print them and as Redisson 3.12.5
// does by default. EVALSHA would save bytes and bring a failure of its own: a
// server that has lost its script cache refuses it until somebody sends the
// source again.

// compareAndDelete removes a key if it still holds the caller's token. The
// server runs a script without interruption, so nobody can come between the
// look and the removal. KEYS: lock. ARGV: token. Reply: how many keys went.
var compareAndDelete = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call("DEL", KEYS[1])
`)

// ScriptName says in a word what the script with this SHA1 does, for readers of
// a transcript; "" if it is none of this package's.
func ScriptName(sha string) string {
	for name, script := range map[string]*redis.Script{
		"delifequals": compareAndDelete, // as article 002 calls the command that it wishes for
		"lock":        acquireHash,
		"renew":       renewHash,
		"unlock":      releaseHash,
	} {
		if script.Hash() == sha {
			return name
		}
	}
	return ""
}

// deleteIfMine runs compareAndDelete on node. It returns ErrNotHeld when the
// key is gone or holds another token.
func deleteIfMine(ctx context.Context, node redis.UniversalClient, key, token string) error {
	deleted, err := compareAndDelete.Eval(ctx, node, []string{key}, token).Int()
	switch {
	case err != nil:
		return unknown("compare and delete", key, err)
	case deleted == 0:
		return ErrNotHeld
	}
	return nil
}

// setnx sends SETNX key value and says whether that created the key. The SetNX of
// go-redis would send SET key value NX, which the servers of that time do not know.
func setnx(ctx context.Context, node redis.UniversalClient, key, value string) (created bool, err error) {
	created, err = node.Do(ctx, "SETNX", key, value).Bool()
	if err != nil {
		return false, unknown("SETNX", key, err)
	}
	return created, nil
}

// setIfFree sends SET key token NX PX ttl, in the order of words in which
// articles print it. It returns ErrNotAcquired when the key exists. ttl goes out
// in whole milliseconds.
func setIfFree(ctx context.Context, node redis.UniversalClient, key, token string, ttl time.Duration) error {
	err := node.Do(ctx, "SET", key, token, "NX", "PX", ttl.Milliseconds()).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return ErrNotAcquired
	case err != nil:
		return unknown("SET NX PX", key, err)
	}
	return nil
}

// unknown says that the server may or may not have run command: an error of the
// network or the server, which the network's own words do not tie to a command.
func unknown(command, key string, err error) error {
	return fmt.Errorf("algorithms: %s %q: %w", command, key, err)
}
