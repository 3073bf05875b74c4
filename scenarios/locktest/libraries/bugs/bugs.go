// Package bugs has locks of published libraries, each with a defect that its tracker or changelog reports, before and
// after the repair.
//
// They are ports to Go: of the library only what the defect needs, on one server, under the names of the library.
// Where a library's own client sends a request again, the port does, whatever the retries of the client that it is
// given.
//
// Acquire reports whether the caller has the lock. Release reports whether it had the lock until then. An error of
// either means that this is not known. A lock is of one caller and is taken once; ttl is its lease.
package bugs

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Version is one of the two versions of a lock.
type Version bool

// The versions of each lock: as its users reported it, and as its authors repaired it.
const (
	Old   Version = false
	Fixed Version = true
)

// newToken returns a value that no other call returns.
func newToken() string { return rand.Text() }

// deleteOwn deletes the key if it has the caller's value.
var deleteOwn = redis.NewScript(
	`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`)

// expireOwn gives the key a new time to live if it has the caller's value.
var expireOwn = redis.NewScript(
	`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`)

// resend sends a command, and once more after an answer has not come, as client libraries do that retry by themselves.
func resend[T any](send func() (T, error)) (T, error) {
	answer, err := send()
	if err == nil || errors.Is(err, redis.Nil) {
		return answer, err
	}
	return send()
}

// watchdog renews a lease every now and then.
type watchdog struct {
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// start calls renew at each end of a period, until it returns false or stop is called.
func (w *watchdog) start(period time.Duration, renew func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(period, func() {
		if !renew() {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.stopped {
			w.timer.Reset(period)
		}
	})
}

// stop ends the renewals. One that is under way is not waited for.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped = true; w.timer != nil {
		w.timer.Stop()
	}
}

// released makes the answer of a script that deletes a key an answer of Release.
func released(ctx context.Context, rdb *redis.Client, key, token string) (bool, error) {
	deleted, err := deleteOwn.Eval(ctx, rdb, []string{key}, token).Int()
	return deleted == 1, err
}
