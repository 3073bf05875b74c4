package locktest

import (
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// valid takes the lock as redsync does, which enters only if enough of the lease is left; refused is what it does without it.
func valid(refused func(c *Client, rdb *redis.Client)) func(c *Client) {
	return func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		token, began := rand.Text(), time.Now()
		if !take(c, rdb, token) {
			refused(c, rdb)
			return
		}
		if until := began.Add(ttl); time.Until(until) > ttl/2 {
			c.Critical(work)
		}
		compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
	}
}

// TestMeasures: code that uses its clock only to measure is searched to the end at any timing, without the time of day.
func TestMeasures(t *testing.T) {
	_, s := searched(t, Bounds{Clients: 2, Attempts: 1, Budget: "crash=1", TTL: ttl, AnyTiming: true}, valid(func(*Client, *redis.Client) {}))
	if !s.Complete || !s.Measures || !s.Symmetry || s.ReadsClock || s.Bounds.Idle || len(s.Witnesses) > 0 {
		t.Errorf("complete %t, measures %t, symmetry %t, %v", s.Complete, s.Measures, s.Symmetry, s.AllPars())
	}
}

// TestMeasuredBreaks: what breaks such code is found, and the witness can be played.
func TestMeasuredBreaks(t *testing.T) {
	b := Bounds{Clients: 2, Attempts: 1, TTL: ttl, Key: "k", AnyTiming: true}
	p, s := searched(t, b, valid(func(c *Client, rdb *redis.Client) { rdb.Del(c.Context(), "k") }))
	if !s.Complete || !s.Measures || !slices.Contains(s.AllPars(), "WRONG-DEL@0") {
		t.Errorf("complete %t, measures %t, %v", s.Complete, s.Measures, s.AllPars())
	}
	for _, w := range s.Witnesses {
		if o, err := p.play(w.Trace); err != nil || !p.isOwn(w.Trace) || !slices.Contains(o.Verdicts, w.Verdict) {
			t.Errorf("%s: %v, %v", w.Verdict, o, err)
		}
	}
}
