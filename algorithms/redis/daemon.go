package redis

import (
	"time"

	"locklab/algorithms/lock"
)

// Locks with a daemon: a thread of the holder's process that resets the TTL while
// the holder works. They differ in when it does, and in whether it asks whose key
// it prolongs. [Watchdog] is Redisson's.
//
// How all of them fall: one renewal that fails is the last one, since the error
// ends the thread, and the holder is not told. A pause of the process pauses the
// daemon as well. A holder that hangs holds for ever.
//
// Our forms keep each article's proportions, rounded down to a millisecond, when
// Env.TTL is not the article's.

// daemon20 is constant with a child thread that sets the TTL to 30 s every 20 s.
// (2013, when constant could first be written. Article 001-C.)
//
// It was meant to mend the work that takes longer than the TTL.
//
// How it falls: as all of these do. And nobody tells the thread to end, nor does
// it ask whose key it is: as long as its process lives it keeps any key of that
// name alive, also the one of a successor that crashed.
//
// Our form starts one thread for each key, at the first Acquire, or at the next
// one after an error has ended it.
var daemon20 = lock.Entry{
	ID:      "daemon-20",
	Family:  lock.Renewed,
	Article: "001-C",
	Year:    2013,
	Title:   lock.Text{EN: "SET NX EX 30, a child thread renews every 20 s, whoever holds the lock", ZH: "SET NX EX 30，子线程每 20 秒续期一次，不管锁在谁手里"},
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		every := part(env.TTL, 20, 30)
		return newKeyLock(env, constant("binghe"), setIfFreeEX, anybodys).
			kept(keeping{first: every, every: every, extend: env.TTL, send: expireAnybodys, endless: true})
	},
}

// daemon29 is thread-id-lua with a daemon that sets the TTL to 20 s when 29 of the
// first 30 have passed, and then every 20 s. (2013. Article 004-E.)
//
// It was meant to mend the work that takes longer than the TTL.
//
// How it falls: from the second renewal on it comes when the TTL ends, with no
// margin at all: whatever a message takes is too late. It does not ask whose key
// it is, so a daemon that is late shortens a successor's TTL from 30 s to 20. One
// that nobody closed, after an exception, keeps the key for the process's life.
//
// Our form closes the daemon before it gives the key back.
var daemon29 = lock.Entry{
	ID:      "daemon-29",
	Family:  lock.Renewed,
	Article: "004-E",
	Year:    2013,
	Title:   lock.Text{EN: "SET NX EX 30, a daemon renews for 20 s after 29 s and every 20 s, whoever holds the lock", ZH: "SET NX EX 30，守护线程在第 29 秒续 20 秒，之后每 20 秒一次，不管锁在谁手里"},
	Nodes:   1,
	TTL:     30 * time.Second,
	Unit:    time.Second,
	Expiry:  lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		return newKeyLock(env, constant(env.Thread), setIfFreeEX, mine).kept(after29(env, expireAnybodys))
	},
}

// daemon10 is daemon-29 with the rhythm of [Watchdog], a third of the TTL: the
// margin is 20 s, and the daemon still asks nobody.
var daemon10 = lock.Entry{
	ID:     "daemon-10",
	Family: lock.Renewed,
	Year:   2013,
	Title:  lock.Text{EN: "SET NX EX 30, a daemon renews every 10 s, whoever holds the lock", ZH: "SET NX EX 30，守护线程每 10 秒续期一次，不管锁在谁手里"},
	Nodes:  1,
	TTL:    30 * time.Second,
	Unit:   time.Second,
	Expiry: lock.ExpiryServer,
	New: func(env lock.Env) lock.Strategy {
		return newKeyLock(env, constant(env.Thread), setIfFreeEX, mine).kept(each(env, 10, expireAnybodys))
	},
}

// The three rhythms with an owner: a token of one's own, and a script that
// prolongs the key only if it holds it. daemon-10-owned is what is left of
// [Watchdog] without the hash, and what most libraries do.
var (
	daemon10Owned = ownedDaemon("daemon-10-owned", lock.Text{EN: "SET NX PX with a token, renewed every third of the TTL if it is still one's own", ZH: "SET NX PX 加令牌，每三分之一 TTL 续期一次，只续自己的锁"},
		func(env lock.Env) keeping { return each(env, 10, expireIfMine) })
	daemon20Owned = ownedDaemon("daemon-20-owned", lock.Text{EN: "SET NX PX with a token, renewed every two thirds of the TTL if it is still one's own", ZH: "SET NX PX 加令牌，每三分之二 TTL 续期一次，只续自己的锁"},
		func(env lock.Env) keeping { return each(env, 20, expireIfMine) })
	daemon29Owned = ownedDaemon("daemon-29-owned", lock.Text{EN: "SET NX PX with a token, renewed as daemon-29 does if it is still one's own", ZH: "SET NX PX 加令牌，续期节奏同 daemon-29，只续自己的锁"},
		func(env lock.Env) keeping { return after29(env, expireIfMine) })
)

func ownedDaemon(id string, title lock.Text, rhythm func(lock.Env) keeping) lock.Entry {
	return lock.Entry{
		ID:     id,
		Family: lock.Renewed,
		Year:   2013,
		Title:  title,
		Nodes:  1,
		TTL:    30 * time.Second,
		Unit:   time.Millisecond,
		Expiry: lock.ExpiryServer,
		New: func(env lock.Env) lock.Strategy {
			k := rhythm(env)
			k.owned = true
			return newKeyLock(env, env.Tokens.Token, setIfFree, mine).kept(k)
		},
	}
}

// each renews the whole TTL every n of its 30 parts.
func each(env lock.Env, n time.Duration, send prolonging) keeping {
	every := part(env.TTL, n, 30)
	return keeping{first: every, every: every, extend: env.TTL, send: send}
}

// after29 renews two thirds of the TTL, first after 29 of its 30 parts and then
// each time that two thirds have passed.
func after29(env lock.Env, send prolonging) keeping {
	thirds := part(env.TTL, 20, 30)
	return keeping{first: part(env.TTL, 29, 30), every: thirds, extend: thirds, send: send}
}

// part is n/of of d in whole milliseconds, at least one.
func part(d, n, of time.Duration) time.Duration {
	return max((d * n / of).Truncate(time.Millisecond), time.Millisecond)
}
