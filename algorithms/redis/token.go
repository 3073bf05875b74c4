package redis

import (
	"time"

	"locklab/algorithms/lock"
)

// Locks of one SET: key and TTL are created in one command, since Redis 2.6.12
// of March 2013 knows NX, EX and PX. They differ in the value and in who looks at
// it before the key is removed.

// setNXEX creates the key together with its TTL and writes the same value for
// everybody. (2013. Article 001-B; 002-B asks for 5 s, 004-B writes 1.)
//
// It was meant to mend the gap between the two commands of setnx-expire.
//
// How it falls: DEL asks nobody. A holder that works or pauses for longer than
// the TTL shares the critical section with its successor, then removes the
// successor's key and lets a third client in.
//
// Our form is the article's, in the words of the command that Spring's
// setIfAbsent sends.
var setNXEX = lock.Entry{
	ID:      "constant",
	Family:  lock.OneStep,
	Article: "001-B",
	Also:    []string{"002-B", "004-B"},
	Year:    2013,
	Title:   lock.Text{EN: "SET NX EX with a constant value, release by DEL", ZH: "SET NX EX，值是常量，直接 DEL 释放"},
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		return newKeyLock(env, constant("binghe"), setIfFreeEX, anybodys)
	},
}

// threadID writes the number of the thread and looks for it before DEL. (2013.
// Article 004-C.)
//
// It was meant to mend the DEL of a successor's key by constant.
//
// How it falls: the look and DEL are two commands. A pause between them, or a
// slow network, and the key that is removed is the successor's after all. And a
// thread's number is unique in its process only: two processes whose threads are
// both number 17 are one owner to this lock.
//
// Our form takes the number from Env.Thread, whatever text that is.
var threadID = lock.Entry{
	ID:      "thread-id",
	Family:  lock.OneStep,
	Article: "004-C",
	Year:    2013,
	Title:   lock.Text{EN: "SET NX EX with the thread id, GET and DEL: two commands again", ZH: "SET NX EX，值是线程 id，释放时先 GET 再 DEL：又成了两条命令"},
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		return newKeyLock(env, constant(env.Thread), setIfFreeEX, looked)
	},
}

// threadIDLua is thread-id with the look and the removal in one script. (2013.
// Article 004-D.)
//
// It was meant to mend the gap between them.
//
// How it falls: the script cannot tell two threads of one number apart, so a
// holder that is late removes its successor's key in a single step. All falls of
// token remain as well.
var threadIDLua = lock.Entry{
	ID:      "thread-id-lua",
	Family:  lock.OneStep,
	Article: "004-D",
	Year:    2013,
	Title:   lock.Text{EN: "SET NX EX with the thread id, compare-and-delete in Lua", ZH: "SET NX EX，值是线程 id，用 Lua 比对后删除"},
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		return newKeyLock(env, constant(env.Thread), setIfFreeEX, mine)
	},
}

// tokenLock creates the key together with its TTL, in one command, and writes a
// value into it by which it recognises its own lock. (2013: the NX and PX of SET
// came with Redis 2.6.12 in March 2013; scripts are a little older. Article
// 002-C, which also prints EX 5; 002-D sets it on a master with a replica.)
//
// It was meant to mend both falls of setnx-expire: the gap between SETNX and
// EXPIRE, and the DEL that removes a successor's lock. And it needs no clock of
// the clients, as [GetSet] does: only the server's counts.
//
// How it falls: a holder that works or pauses for longer than the TTL does not
// learn that it lost the lock, and shares the critical section with its
// successor until it tries to release. The token saves the successor's key, not
// the resource. A failover to a replica that has not seen the key grants it
// twice. A lost reply to SET leaves a key that its creator does not know to be
// its own, until the TTL ends. And all of it rests on tokens that differ: the
// article draws a random integer, others wrote the thread id.
//
// Our form takes its token from Env.Tokens, a new one for each Acquire, and
// Env.TTL in whole milliseconds. It has no watchdog; see [Watchdog].
var tokenLock = lock.Entry{
	ID:      "token",
	Family:  lock.OneStep,
	Article: "002-C",
	Also:    []string{"002-D"},
	Year:    2013,
	Title:   lock.Text{EN: "SET NX PX with a random token, compare-and-delete in Lua", ZH: "SET NX PX，值是随机令牌，用 Lua 比对后删除"},
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Millisecond,
	Expiry:  lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		return newKeyLock(env, env.Tokens.Token, setIfFree, mine)
	},
}
