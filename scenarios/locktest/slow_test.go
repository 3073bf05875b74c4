package locktest

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
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
	t.Run("no time-out", func(t *testing.T) { Check(t, b, waiting(-1), Breaks("SLOW", 1)) })
	t.Run("time-out", func(t *testing.T) { Check(t, b, waiting(2*time.Second), Holds("SLOW")) })
	t.Run("any timing", func(t *testing.T) {
		b := b
		b.AnyTiming = true
		Check(t, b, waiting(-1), Breaks("SLOW", 1))
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

// TestNoisy: a client that polls every 10 ms sends more than 50 requests a second, one that polls every 500 ms does not.
func TestNoisy(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; TestPolling shows the goroutines of a bubble")
	b := Bounds{Clients: 2, Attempts: 1, TTL: ttl, Noisy: 50}
	t.Run("10ms", func(t *testing.T) { Check(t, b, polling(10*time.Millisecond), Breaks("NOISY", 0)) })
	t.Run("500ms", func(t *testing.T) { Check(t, b, polling(500*time.Millisecond), Holds("NOISY")) })
}

// TestBoundsOfVerdicts: a claim about a verdict whose bound is not given is refused.
func TestBoundsOfVerdicts(t *testing.T) {
	p := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl}, setNX))(t)
	for _, claims := range [][]Claim{Holds("SLOW"), Breaks("NOISY", 0)} {
		if err := p.checkClaims(claims); err == nil || !strings.Contains(text.SayError("en", err), "give Bounds.Slow for SLOW") {
			t.Errorf("%v: %v", claims, err)
		}
	}
}

// TestBy: a claim with a cause holds if the verdict comes about by that fault and victim, and else its message says by which.
func TestBy(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	b := Bounds{Clients: 2, Budget: "pause=1,lose-reply=1", TTL: ttl}
	Check(t, b, setNX, Breaks("OVERLAP", 1).By("pause", Holder))
	p, claims := prepare(t, b, setNX, nil)
	s, err := p.search(t.Context())
	if err != nil || claims == nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		claim Claims
		want  string // "": borne out
	}{
		{Breaks("OVERLAP", 1).By("pause"), ""},
		{Breaks("OVERLAP", 1).By("pause", Waiter, Holder), ""},
		{Breaks("OVERLAP", 1).By("lose-reply"), `the test says Breaks("OVERLAP", 1).By("lose-reply"). It takes 1 faults, but these do not cause it. What does: Breaks("OVERLAP", 1).By("pause", locktest.`},
		{Breaks("ORPHAN", 1).By("lose-reply", Waiter), ""},
	} {
		if got := contradictedByCauses(t.Context(), p, s, test.claim[0]); got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %q, want %q", written(test.claim[0]), got, test.want)
		}
	}
}

// TestBadBy: unknown faults and victims are refused by name before the search.
func TestBadBy(t *testing.T) {
	p := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl, Budget: "pause=1"}, setNX))(t)
	for _, test := range []struct {
		claim Claims
		want  string
	}{
		{Breaks("OVERLAP", 1).By("pauze"), "pauze"},
		{Breaks("OVERLAP", 1).By("crash"), `Bounds.Budget is "pause=1", which has no such fault`},
		{Breaks("OVERLAP", 1).By("pause", "reader"), `"reader"`},
		{Breaks("OVERLAP", 1).By("pause").By("pause"), "2 faults"},
	} {
		if err := p.checkClaims(test.claim); err == nil || !strings.Contains(text.SayError("en", err), test.want) {
			t.Errorf("%s: %v, want %q", written(test.claim[0]), err, test.want)
		}
	}
	if withoutCauses(Breaks("OVERLAP", 1).By("pause"), raceWords) == nil || withoutCauses(Breaks("OVERLAP", 1), raceWords) != nil {
		t.Error("By is for Check alone")
	}
}

// TestBorneOut: each cause of a claim is another one of the way.
func TestBorneOut(t *testing.T) {
	pause := func(v Victim) explore.Cause { return explore.Cause{Fault: "pause", Victim: v} }
	way := []explore.Cause{pause(Holder), pause(Waiter)}
	for _, test := range []struct {
		claim Claims
		want  bool
	}{
		{Breaks("OVERLAP", 2).By("pause").By("pause", Holder), true}, // the first is the waiter
		{Breaks("OVERLAP", 2).By("pause", Holder).By("pause", Holder), false},
		{Breaks("OVERLAP", 2).By("pause", Waiter), true},
		{Breaks("OVERLAP", 2).By("crash"), false},
	} {
		if got := borneOut(test.claim[0].causes, way); got != test.want {
			t.Errorf("%s: %t", written(test.claim[0]), got)
		}
	}
}
