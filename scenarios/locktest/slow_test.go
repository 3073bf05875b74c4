package locktest

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/simulator/effort"
)

// waiting is setNX with a library that waits so long for an answer; below 0: for ever.
func waiting(timeout time.Duration) func(c *Client) {
	return func(c *Client) {
		rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial, MaxRetries: -1, ReadTimeout: timeout})
		defer rdb.Close()
		if ok, err := rdb.SetNX(c.Context(), "k", c.Token(), ttl).Result(); err != nil || !ok {
			return
		}
		c.Critical(work)
		rdb.Del(c.Context(), "k")
	}
}

// TestSlow: a server that is hung makes an attempt of a lock without a read time-out last for as long.
func TestSlow(t *testing.T) {
	b := Bounds{Clients: 2, Attempts: 1, Budget: "hang=1@10s", TTL: ttl, Slow: 4 * time.Second}
	t.Run("no time-out", func(t *testing.T) { Check(t, b, waiting(-1), "WRONG-DEL SLOW") })
	t.Run("time-out", func(t *testing.T) { Check(t, b, waiting(2*time.Second), "WRONG-DEL ORPHAN") })
	t.Run("any timing", func(t *testing.T) {
		b := b
		b.AnyTiming = true
		Check(t, b, waiting(-1), "WRONG-DEL SLOW")
	})
}

// polling asks again and again until it has the lock, with so much time between.
func polling(every time.Duration) func(c *Client) {
	return locking(func(c *Client, rdb *redis.Client, token string) bool {
		for c.Context().Err() == nil {
			time.Sleep(every)
			if take(c, rdb, token) {
				return true
			}
		}
		return false
	})
}

// TestNoisy: a client that polls every 10 ms sends more than 50 requests a second, one that polls every 500 ms does
// not.
func TestNoisy(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; TestPolling shows the goroutines of a bubble")
	b := Bounds{Clients: 2, Attempts: 1, TTL: ttl, Noisy: 50}
	t.Run("10ms", func(t *testing.T) { Check(t, b, polling(10*time.Millisecond), "NOISY@0") })
	t.Run("500ms", func(t *testing.T) { Check(t, b, polling(500*time.Millisecond), "") })
}

// TestBoundsOfVerdicts: a claim about a verdict whose bound is not given is refused.
func TestBoundsOfVerdicts(t *testing.T) {
	p := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl}, setNX))(t)
	for _, finds := range []string{"SLOW", "NOISY@0", "LIE", "FENCED"} {
		if _, err := p.claims([]string{finds}); err == nil ||
			!strings.Contains(text.SayError("en", err), "NOISY want Bounds.Fenced, Bounds.Slow and Bounds.Noisy") {
			t.Errorf("%v: %v", finds, err)
		}
	}
}

// TestLatency: where every message takes a fifth of a lease, a lock ends between the GET of its owner and the DEL,
// without any fault; in a script it does not.
func TestLatency(t *testing.T) {
	ends := func(release func(c *Client, rdb *redis.Client, token string)) func(*Client) {
		return onRedis(func(c *Client, rdb *redis.Client) {
			token := c.Token()
			if take(c, rdb, token) {
				c.Critical(work)
				release(c, rdb, token)
			}
		})
	}
	looks := ends(func(c *Client, rdb *redis.Client, token string) {
		if rdb.Get(c.Context(), "k").Val() == token {
			rdb.Del(c.Context(), "k")
		}
	})
	script := ends(func(c *Client, rdb *redis.Client, token string) {
		compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
	})
	b := Bounds{Clients: 2, TTL: ttl, Latency: ttl / 5}
	t.Run("GET and DEL", func(t *testing.T) { Check(t, b, looks, "WRONG-DEL@0") })
	t.Run("a script", func(t *testing.T) { Check(t, b, script) })
	b.Latency = 0
	t.Run("at once", func(t *testing.T) { Check(t, b, looks) })
}
