package redis

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// Locks of one SET that are given back by a transaction, without a script: WATCH
// has the server refuse the EXEC of a connection whose key was touched since.

// watchMulti is token with WATCH, GET, MULTI, DEL and EXEC in place of the script.
// (2013: Redis in Action, section 6.2, which makes the key by SETNX.)
//
// It was meant to mend the gap between GET and DEL on servers without scripts, or
// for people who do not want any. It falls as token does.
//
// Our form sends SET NX PX, and an EXEC that is answered nil is followed by
// another look, as in the book: the key was touched, by whom is not known yet.
var watchMulti = tokenLock.Variant("watch-multi", 2013,
	lock.Text{EN: "SET NX PX with a token, release by WATCH, GET, MULTI, DEL, EXEC", ZH: "SET NX PX 加令牌，用 WATCH、GET、MULTI、DEL、EXEC 释放"},
	func(env lock.Env) lock.Strategy {
		return newKeyLock(env, env.Tokens.Token, setIfFree, giving{send: deleteInTransaction, reports: true})
	})

// watchDel is watch-multi without MULTI and EXEC. (2014: the Lock of redis-py,
// from 2.10 on and until 3.0 of 2018; pull request 1031 tells the mistake.)
//
// It was meant to be watch-multi. But redis-py's pipeline sends each command at
// once after WATCH, until somebody calls multi(), and the release never did: DEL
// went out bare, and what was executed in the end was an empty transaction.
//
// How it falls: WATCH hinders EXEC only. The look and DEL are two commands, as
// with thread-id, though the token is unique; what else breaks token breaks it too.
var watchDel = tokenLock.Variant("watch-del", 2014,
	lock.Text{EN: "SET NX PX with a token, release by WATCH, GET and DEL: MULTI was forgotten", ZH: "SET NX PX 加令牌，用 WATCH、GET、DEL 释放：忘了 MULTI"},
	func(env lock.Env) lock.Strategy {
		return newKeyLock(env, env.Tokens.Token, setIfFree, giving{send: deleteUnderWatch})
	})

// deleteInTransaction removes the key if it still holds token. It returns
// ErrNotHeld when the key is gone or holds another.
func deleteInTransaction(ctx context.Context, node redis.UniversalClient, key, token string) error {
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

// deleteUnderWatch looks, and then sends a DEL to which WATCH means nothing.
func deleteUnderWatch(ctx context.Context, node redis.UniversalClient, key, token string) error {
	return underWatch(ctx, node, key, token, func(tx *redis.Tx) error { return tx.Del(ctx, key).Err() })
}

// underWatch runs remove on a connection that watches key, if it holds token, or
// else returns ErrNotHeld.
func underWatch(ctx context.Context, node redis.UniversalClient, key, token string, remove func(*redis.Tx) error) error {
	err := node.Watch(ctx, func(tx *redis.Tx) error {
		found, err := tx.Get(ctx, key).Result()
		switch {
		case errors.Is(err, redis.Nil), err == nil && found != token:
			return lock.ErrNotHeld
		case err != nil:
			return err
		}
		return remove(tx)
	}, key)
	if err == nil || errors.Is(err, lock.ErrNotHeld) {
		return err
	}
	return lock.Unknown("delete under WATCH", key, err)
}
