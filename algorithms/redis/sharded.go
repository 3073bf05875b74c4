package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
)

// sharded is setnx-expire through a client that spreads keys over several servers: it finds the server of a key by
// consistent hashing of its own list of servers. (2010: Jedis 1.5.0 of December has such a ring, with points named by
// address; by place since 2.0.0. Article 004 sends every command of closeOrderTaskV2 and V3, which are cron-v2 and
// cron-v3, through such a pool, RedisShardedPoolUtil.)
//
// It was meant to fix no lock: a single server is short of memory, or busy, and each of several has a part of the keys.
//
// How it fails: as setnx-expire, and by the list. No server knows which keys are its own; each serves what it is asked
// for. Where two clients' lists differ, because a server was added, removed or renamed and one of them does not know
// yet, they ask two servers for one key, and both get it. Consistent hashing makes these keys fewer, about 1 in n when
// the n-th server joins; for each of them the two owners are as real as with any other hash. And where a list changes
// in a running client, EXPIRE or DEL goes to another server than SETNX did: the first leaves a key without a TTL, the
// second leaves the key, and deletes what it finds elsewhere.
//
// A Redis Cluster answers MOVED instead: its servers agree who owns a slot, and send a client with an old map there.
//
// Ours has the servers in the order of Env.Shards, without names and of equal weight, and reads the list for every
// command, as the article's pool hashes for every command. go-redis has a Ring of its own, which takes rendezvous
// hashing and leaves out servers that answer no PING: the list would depend on time, in a goroutine of the client, and
// the article is about Jedis. Key tags in braces, which Jedis takes only if asked to, and weights are left out.
var sharded = setNXExpire.Variant("sharded", 2010,
	func(env lock.Env) lock.Lock {
		s := shards{env}
		return newKeyLock(env, always("1"), createFunc(s.setnxThenExpire), silent(s.on(delBlind)))
	}).InArticle("004-H").Changed(onRing)

// shardedToken is token on the ring of sharded. (2013, as token.)
//
// It was meant to fix the two steps of sharded, and the deletion of a successor's key: its script deletes only its own.
//
// How it fails: as token, and by the list, as sharded does. A release that goes to another server than the acquire
// finds nothing there and returns ErrNotHeld, and the key stays for a TTL. Tokens do not help against two lists, and
// neither do fencing tokens that each server counts for itself.
var shardedToken = tokenLock.Variant("sharded-token", 2013, func(env lock.Env) lock.Lock {
	s := shards{env}
	create := func(ctx context.Context, _ redis.UniversalClient, key, value string, ttl time.Duration) error {
		return setNXPX(ctx, s.node(key), key, value, ttl)
	}
	return newKeyLock(env, env.Tokens, createFunc(create), reporting(s.on(compareAndDelete)))
}).Changed(onRing)

// onRing gives each client a list of two servers.
func onRing(e *lock.Entry) { e.Shards = 2 }

// shards choose the server of a key, each time anew.
type shards struct{ env lock.Env }

// node returns the server that the client's present list gives for a key.
func (s shards) node(key string) redis.UniversalClient {
	if s.env.Shards != nil {
		if list := s.env.Shards(); len(list) > 0 {
			return s.env.Nodes[list[ringOf(len(list)).place(key)]]
		}
	}
	return s.env.Nodes[ringOf(len(s.env.Nodes)).place(key)]
}

// setnxThenExpire is the function of that name, with a choice of the server for each command.
func (s shards) setnxThenExpire(ctx context.Context, _ redis.UniversalClient, key, v string, ttl time.Duration) error {
	if err := setnx(ctx, s.node(key), key, v, ttl); err != nil {
		return err
	}
	return expireBlind(ctx, s.node(key), key, v, ttl)
}

// on sends a deletion to the key's server, in place of the one that it is given.
func (s shards) on(send deleteFunc) deleteFunc {
	return func(ctx context.Context, _ redis.UniversalClient, key, value string) error {
		return send(ctx, s.node(key), key, value)
	}
}
