package redisnode

import "strings"

// A trait is something that is known of a command.
type trait uint8

const (
	// blind: its reply and effect do not depend on how long a key has still to live, in the forms that classify lets
	// through. A command that is neither blind nor looks is taken to read the clock, which is always safe.
	blind trait = 1 << iota
	// looks: it looks at what remains of a key's life.
	looks
	// reads: it does not write, as Redis's own table has it. Scripts may read and are refused at their first write.
	reads
	// unfit: it is refused and never executed. It is for a cluster or Sentinels, or would leave behind what no keyspace
	// holds (state of a connection, of the whole process, lifetimes of hash fields), report such a thing, or wait.
	unfit
	// random: it chooses by chance, and is never executed.
	random
	// plain: its answer has nothing of what keys hold, but lengths, flags, times, or a hash's count, which is exact.
	plain
	// counting: its answer is a string that counts.
	counting
	// inside: it looks into a string.
	inside
)

// commandTraits has the traits of commands.
var commandTraits = traits(map[trait]string{
	blind | reads: `PING ECHO DBSIZE GET MGET STRLEN EXISTS TYPE HGET HMGET HGETALL HEXISTS HLEN HKEYS HVALS
		LLEN LINDEX LRANGE SISMEMBER SMEMBERS SCARD ZSCORE ZRANK ZRANGE ZCARD ZCOUNT ZRANGEBYSCORE
		WATCH UNWATCH MULTI EXEC DISCARD PUBLISH EVAL EVALSHA EVAL_RO EVALSHA_RO SCRIPT`,
	blind: `SET SETNX SETEX PSETEX GETSET GETDEL MSET MSETNX APPEND DEL UNLINK DELEX DELIFEQ
		EXPIRE PEXPIRE PERSIST INCR INCRBY DECR DECRBY HSET HSETNX HDEL HINCRBY
		LPUSH RPUSH LPOP RPOP LREM LTRIM SADD SREM ZADD ZREM ZREMRANGEBYSCORE FLUSHALL FLUSHDB`,
	looks | reads: `TTL PTTL`,
	looks:         `GETEX COPY RENAME RENAMENX`,
	reads: `TIME KEYS SCAN GETRANGE TOUCH EXPIRETIME PEXPIRETIME HSTRLEN LPOS SMISMEMBER
		ZMSCORE ZREVRANK ZREVRANGE ZREVRANGEBYSCORE`,
	unfit: `SELECT SWAPDB MOVE SUBSCRIBE PSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE SUNSUBSCRIBE SPUBLISH PUBSUB
		BLPOP BRPOP BRPOPLPUSH BLMOVE BZMPOP BZPOPMAX BZPOPMIN XREAD XREADGROUP
		WAIT AUTH HELLO CLIENT QUIT INFO OBJECT HEXPIRE HSETEX CLUSTER SENTINEL`,
	random: `SPOP SRANDMEMBER HRANDFIELD ZRANDMEMBER RANDOMKEY`,
	plain: `DEL EXISTS EXPIRE EXPIREAT EXPIRETIME HDEL HEXISTS HINCRBY HLEN HSET HSETNX LLEN LPUSH LREM LTRIM
		MSET MSETNX PERSIST PEXPIRE PEXPIREAT PEXPIRETIME PSETEX PTTL PUBLISH RPUSH SADD SCARD SETEX SETNX
		SISMEMBER SREM TIME TTL TYPE UNLINK ZADD ZCARD ZCOUNT ZRANK ZREM ZREMRANGEBYSCORE`,
	counting: `DECR DECRBY INCR INCRBY`,
	inside: `APPEND BITCOUNT BITFIELD BITOP BITPOS GETBIT GETRANGE HSTRLEN INCRBYFLOAT KEYS LCS SCAN
		SETBIT SETRANGE SORT STRLEN SUBSTR ZLEXCOUNT ZRANGEBYLEX ZREMRANGEBYLEX ZREVRANGEBYLEX`,
})

func traits(of map[trait]string) map[string]trait {
	all := map[string]trait{}
	for t, names := range of {
		for name := range strings.FieldsSeq(names) {
			all[name] |= t
		}
	}
	return all
}

// is reports whether a command has a trait.
func is(cmd string, t trait) bool { return commandTraits[cmd]&t != 0 }
