package lock

import (
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
)

// Env is everything that a lock may observe or use.
type Env struct {
	// Nodes are the servers: one, or several independent ones for a quorum lock (see Entry.Nodes). Their options set
	// the time-out of a single command (ReadTimeout). Retries inside the client must be off (MaxRetries: -1); otherwise
	// the client resends a command whose reply was lost, and the lock does not know.
	Nodes []redis.UniversalClient
	// Shards returns the client's present list of servers, for the locks that choose the server of a key from a list
	// (see Entry.Shards): positions in Nodes, in the order of the list. Two clients may have different lists at one
	// time, and a list may change between two calls. nil, or an empty list: all of Nodes.
	Shards func() []int
	// ZooKeeper is the client's session with an ensemble, for the locks that lock there. Otherwise it is nil.
	ZooKeeper ZooKeeper
	// DB is the client's pool of connections to a database, for the locks that lock there. Otherwise it is nil. Its
	// driver must send no statement twice, and have placeholders as Entry.Database has them.
	DB *sql.DB
	// Clock is the client's own clock. It may be wrong.
	Clock Clock
	// Parallel runs tasks concurrently and returns when all have ended. Locks
	// that ask several servers at once use it. nil: one task after the other.
	Parallel func(tasks ...func())
	// Tokens makes the values by which a client recognises its own lock.
	Tokens Tokens
	// Thread is the id, as text, that the process's runtime gives to the thread
	// that uses the lock. Threads of two processes may have the same id.
	Thread string
	// TTL is the lease to ask for: above 0, and a whole multiple of Entry.Unit. A lock without expiry ignores it.
	TTL time.Duration
}

// Clock has the methods of a clock that locks call. The clocks of clockwork implement it.
type Clock interface {
	// Now reads the clock of the client's machine.
	Now() time.Time
	// Sleep blocks for d.
	Sleep(d time.Duration)
	// AfterFunc runs f in a thread of its own after d, unless the timer is stopped first.
	AfterFunc(d time.Duration, f func()) clockwork.Timer
}

// Tokens makes values that distinguish the lock of one client from that of another.
type Tokens interface {
	// Token returns a value that no other call returns, in any process.
	Token() string
}

// Production returns an Env on the machine's clock, with random tokens. Its lease is ttl (see Env.TTL). Its servers are
// nodes, whose options set the time-out of a command and must switch off retries (see Env.Nodes). Its thread is number
// 1 in every process, like the main thread on many runtimes. Parallel tasks are goroutines.
func Production(ttl time.Duration, nodes ...redis.UniversalClient) Env {
	return Env{
		Nodes:    nodes,
		Clock:    clockwork.NewRealClock(),
		Parallel: parallel,
		Tokens:   RandomTokens{},
		Thread:   "1",
		TTL:      ttl,
	}
}

func parallel(tasks ...func()) {
	var all sync.WaitGroup
	for _, task := range tasks {
		all.Go(task)
	}
	all.Wait()
}

// RandomTokens makes tokens of 20 bytes from crypto/rand, as the Redis manual recommends, written as 40 hexadecimal
// digits. It may be used concurrently. It is for production: clients of the simulator get their tokens from it.
type RandomTokens struct{}

// Token implements [Tokens].
func (RandomTokens) Token() string {
	var b [20]byte
	rand.Read(b[:]) // never fails: the program ends if the system has no random numbers
	return hex.EncodeToString(b[:])
}
