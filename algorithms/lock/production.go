package lock

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
)

// Production returns an Env on the machine's clock, with random tokens. Its lease
// is ttl (see Env.TTL) and its servers are nodes, whose options carry the time-out
// of a command and must switch off retries (see Env.Nodes). Its thread is number
// 1 in every process, as the main thread is on many runtimes. Tasks that run side
// by side are goroutines.
func Production(ttl time.Duration, nodes ...redis.UniversalClient) Env {
	return Env{
		Nodes:    nodes,
		Clock:    clockwork.NewRealClock(),
		Parallel: sideBySide,
		Tokens:   RandomTokens{},
		Thread:   "1",
		TTL:      ttl,
	}
}

func sideBySide(tasks ...func()) {
	var all sync.WaitGroup
	for _, task := range tasks {
		all.Go(task)
	}
	all.Wait()
}

var _ Tokens = RandomTokens{}

// RandomTokens makes tokens of 20 bytes from crypto/rand, as the Redis manual
// recommends, in 40 hexadecimal digits. It may be used concurrently.
type RandomTokens struct{}

// Token implements [Tokens].
func (RandomTokens) Token() string {
	var b [20]byte
	rand.Read(b[:]) // never fails: the program ends if the system has no random numbers
	return hex.EncodeToString(b[:])
}
