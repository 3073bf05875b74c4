package locktest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
)

var compareAndSet = redis.NewScript(`if (redis.call("get", KEYS[1]) or "") == ARGV[1] then ` +
	`redis.call("set", KEYS[1], ARGV[2]) return 1 end return 0`)

// recorded is a lock that is a record, owner|state, which it writes again while it works, and does not delete. free is
// what it does to release.
func recorded(free func(swap func(old, now string) bool, now string)) func(c *Client) {
	return func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		swap := func(old, now string) bool {
			n, err := compareAndSet.Eval(c.Context(), rdb, []string{"k"}, old, now).Int()
			return err == nil && n == 1
		}
		old, err := rdb.Get(c.Context(), "k").Result()
		me := c.Token()
		if err != nil && err != redis.Nil || ownerOf(old) != "" || !swap(old, me+"|new") {
			return
		}
		c.Critical(func(r *Resource) {
			seen := r.Read()
			time.Sleep(time.Second)
			if swap(me+"|new", me+"|busy") {
				r.Write(seen + 1)
			}
		})
		free(swap, me+"|busy")
	}
}

func ownerOf(record string) string {
	owner, _, _ := strings.Cut(record, "|")
	return owner
}

// TestHolder: a record that says that the lock is free is nobody's, and one that is written again with its owner is the
// same lock: nobody is wronged who has none.
func TestHolder(t *testing.T) {
	b := Bounds{Clients: 2, TTL: ttl, Beside: -1}
	release := func(swap func(old, now string) bool, now string) { swap(now, "|free") }
	t.Run("not said", func(t *testing.T) { Check(t, b, recorded(release), "WRONG-DEL@0") })
	b.Holder = ownerOf
	t.Run("said", func(t *testing.T) { Check(t, b, recorded(release)) })
	t.Run("kept", func(t *testing.T) {
		Check(t, b, recorded(func(func(old, now string) bool, string) {}), "ORPHAN@0 DEADLOCK@0")
	})
	t.Run("any", func(t *testing.T) {
		b.Clients = Any
		if _, err := newPlan(t, b, recorded(release)); err == nil || !strings.Contains(err.Error(), "bounds.any") {
			t.Error(err)
		}
	})
}

// TestRefusedWithAWayOn: commands that wait in the server or count its connections are refused by name, with what to
// do instead.
func TestRefusedWithAWayOn(t *testing.T) {
	for want, does := range map[string]func(*redis.Client, *Client) error{
		"LPOP in place of BLPOP": func(rdb *redis.Client,
			c *Client) error {
			return rdb.BLPop(c.Context(), ttl, "signal").Err()
		},
		"INCR and DECR": func(rdb *redis.Client, c *Client) error { return rdb.PubSubNumSub(c.Context(), "k").Err() },
	} {
		p := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl}, func(c *Client) {
			rdb := dial(c)
			defer rdb.Close()
			if does(rdb, c) == nil && take(c, rdb, c.Token()) {
				c.Critical(work)
			}
		}))(t)
		if err := p.alone(); err == nil || !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestJobTwice: a job that is chosen before the lock is there is done twice, one time after the other, and that is a
// STALE-WRITE; one that is chosen inside is not.
func TestJobTwice(t *testing.T) {
	job := func(chosenInside bool) func(c *Client) {
		return func(c *Client) {
			rdb := dial(c)
			defer rdb.Close()
			done, _ := rdb.Get(c.Context(), "done").Int()
			if !take(c, rdb, c.Token()) {
				return
			}
			if chosenInside {
				done, _ = rdb.Get(c.Context(), "done").Int()
			}
			c.Critical(func(r *Resource) { r.Write(done + 1) })
			rdb.Set(c.Context(), "done", done+1, 0)
			rdb.Del(c.Context(), "k")
		}
	}
	b := Bounds{Clients: 2, TTL: ttl, Key: "k", Beside: -1}
	t.Run("before", func(t *testing.T) { Check(t, b, job(false), "STALE-WRITE@0") })
	t.Run("inside", func(t *testing.T) { Check(t, b, job(true)) })
	t.Run("any", func(t *testing.T) {
		p := racetest.Must(newPlan(t, Bounds{Clients: Any, TTL: ttl, Key: "k"}, job(true)))(t)
		if err := p.alone(); err != nil || !strings.Contains(p.unproved(&search.Proof{}), "Resource.Read") {
			t.Error(err)
		}
	})
}

// TestMissedWakeUp: a client that is refused, and subscribes when the holder has gone, is not woken, without any fault.
// In lockstep that takes a client that begins when the holder's work ends.
func TestMissedWakeUp(t *testing.T) {
	b := Bounds{Clients: 2, Attempts: 1, TTL: ttl, Slow: ttl * 9 / 10}
	Check(t, b, onRedis(func(c *Client, rdb *redis.Client) {
		token := c.Token()
		if !take(c, rdb, token) {
			freed := rdb.Subscribe(c.Context(), "freed")
			defer freed.Close()
			ctx, cancel := context.WithTimeout(c.Context(), ttl)
			defer cancel()
			if _, err := freed.Receive(ctx); err != nil {
				return
			}
			if _, err := freed.ReceiveMessage(ctx); err != nil || !take(c, rdb, token) {
				return
			}
		}
		c.Critical(work)
		compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
		rdb.Publish(c.Context(), "freed", "1")
	}), "SLOW@0")
}

// TestReleaseThatFails: what a release has left behind is an ORPHAN while the process does something else.
func TestReleaseThatFails(t *testing.T) {
	b := Bounds{Clients: 2, TTL: ttl, Beside: -1}
	Check(t, b, onRedis(func(c *Client, rdb *redis.Client) {
		if ok, err := rdb.SetNX(c.Context(), "k", c.Token(), 0).Result(); err != nil || !ok {
			return
		}
		c.Critical(work)
		compareAndDelete.Run(c.Context(), rdb, []string{"k"}, "another token")
		time.Sleep(3 * ttl)
		rdb.Del(c.Context(), "k")
	}), "ORPHAN@0")
}
