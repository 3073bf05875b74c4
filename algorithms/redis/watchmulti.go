package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Locks of one SET that are released by a transaction instead of a script: after WATCH the
// server refuses the EXEC of a connection if the key has been modified since.

// watchMulti is token with WATCH, GET, MULTI, DEL and EXEC instead of the script. (2013:
// Redis in Action, section 6.2, which creates the key with SETNX.)
//
// It was meant to fix the gap between GET and DEL without scripts, or for people who want none. It fails as token does.
//
// Ours sends SET NX PX. As in the book, it checks the owner again after an EXEC that is
// answered nil: the key has been modified, and it is not known by whom.
var watchMulti = tokenLock.Variant("watch-multi", 2013, withToken(setNXPX, reporting(watchGetMultiDel)))

// watchDel is watch-multi without MULTI and EXEC. (2014: the Lock of redis-py, from 2.10 on
// and until 3.0 of 2018; pull request 1031 explains the mistake.)
//
// It was meant to be watch-multi. But after WATCH redis-py's pipeline sends each command at once until multi() is
// called, and the release did not call it: DEL was sent on its own, and the transaction executed in the end was empty.
//
// How it fails: WATCH prevents nothing but EXEC. The check and DEL are two commands, as in
// thread-id, although the token is unique; all failures of token remain too.
var watchDel = tokenLock.Variant("watch-del", 2014, withToken(setNXPX, silent(watchGetDel)))

// watchGetMultiDel deletes the key in a transaction. It returns ErrNotHeld if the key is gone or holds another token.
func watchGetMultiDel(ctx context.Context, node redis.UniversalClient, key, token string) error {
	for {
		err := underWatch(ctx, node, key, token, func(tx *redis.Tx) error {
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Del(ctx, key).Err() })
			return err
		})
		if !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
}

// watchGetDel checks the owner and then sends a DEL, which WATCH does not affect. It
// returns ErrNotHeld if the key is gone or holds another token.
func watchGetDel(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return underWatch(ctx, node, key, token, func(tx *redis.Tx) error { return tx.Del(ctx, key).Err() })
}

// underWatch watches key and, if it holds token, calls del on the same connection. Otherwise it returns ErrNotHeld.
func underWatch(ctx context.Context, node redis.UniversalClient, key, token string, del func(*redis.Tx) error) error {
	err := node.Watch(ctx, func(tx *redis.Tx) error {
		found, err := tx.Get(ctx, key).Result()
		switch {
		case errors.Is(err, redis.Nil), err == nil && found != token:
			return lock.ErrNotHeld
		case err != nil:
			return err
		}
		return del(tx)
	}, key)
	if err == nil || errors.Is(err, lock.ErrNotHeld) {
		return err
	}
	return lock.Unknown("delete under WATCH", key, err)
}
