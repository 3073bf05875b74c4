package locktest

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// setNXOnSockets is setNX with a library that cannot be given a dialer.
func setNXOnSockets(c *Client) {
	rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), MaxRetries: -1})
	defer rdb.Close()
	if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err != nil || !ok {
		return
	}
	c.Critical(work)
	rdb.Del(c.Context(), "k")
}

func TestLoopback(t *testing.T) {
	b := Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl, Loopback: true, Schedules: 40}
	Sample(t, b, setNXOnSockets, Holds("DEADLOCK"), Breaks("OVERLAP", 1), Breaks("WRONG-DEL", 1))
}

// A reply that is lost ends the connection: the lock is left behind.
func TestLoopbackLostReply(t *testing.T) {
	b := Bounds{Clients: 2, Budget: "lose-reply=1", TTL: ttl, Loopback: true, Schedules: 40}
	Sample(t, b, setNXOnSockets, Holds("OVERLAP"), Breaks("ORPHAN", 1))
}

// Code that sleeps on real connections is named.
func TestLoopbackSleeps(t *testing.T) {
	p, err := newPlan(t, Bounds{Clients: 2, TTL: ttl, Loopback: true}, func(c *Client) { time.Sleep(time.Minute) })
	if err != nil {
		t.Fatal(err)
	}
	err = p.alone()
	if err == nil {
		t.Fatal("it was carried")
	}
	if got := explain(err); !strings.Contains(got, "a goroutine is in [sleep]") || !strings.Contains(got, "TestLoopbackSleeps") {
		t.Errorf("it says %s", got)
	}
}
