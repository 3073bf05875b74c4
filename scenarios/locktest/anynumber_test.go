package locktest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestAny: a lock is proved for any number of clients, and what breaks it is found.
func TestAny(t *testing.T) {
	Check(t, Bounds{Clients: Any, Budget: "crash=any", TTL: ttl}, withToken)
	Check(t, Bounds{Clients: Any, Budget: "restart=1", TTL: ttl}, withToken,
		"OVERLAP STALE-WRITE")
	asks := locking(func(c *Client, rdb *redis.Client, token string) bool {
		who, err := rdb.Get(c.Context(), "k").Result() // whoever it is, it ends
		return err == nil && who == token
	})
	Check(t, Bounds{Clients: Any, Budget: "crash=any", Key: "k", TTL: ttl}, asks)
}

// planOfAny is the plan of a test for any number of clients, with what a proof says of it.
func planOfAny(t *testing.T, b Bounds, code func(*Client)) (*plan, *search.Proof) {
	t.Helper()
	b.Clients, b.TTL = Any, ttl
	p, _ := prepare(t, b, code)
	proof, err := p.prove(t.Context())
	if err != nil {
		t.Fatal(explain(err))
	}
	return p, proof
}

// TestAnyBreaks: of locks that are wrong the harm is not excluded, and the claim fails; also of one that two clients
// do not break.
func TestAnyBreaks(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	for _, test := range []struct {
		what, budget string
		harm         verdict.Word
		clients, par int
		code         func(*Client)
	}{
		{"the lease comes by a second command", "crash=any", verdict.Deadlock, 2, 1,
			onRedis(func(c *Client, rdb *redis.Client) {
				if taken, err := rdb.SetNX(c.Context(), "k", c.Token(), 0).Result(); err != nil || !taken ||
					rdb.Expire(c.Context(), "k", ttl).Err() != nil {
					return
				}
				c.Critical(work)
				rdb.Del(c.Context(), "k")
			})},
		{"who is refused releases as well", "crash=any", verdict.WrongDel, 2, 0,
			onRedis(func(c *Client, rdb *redis.Client) {
				if take(c, rdb, c.Token()) {
					c.Critical(work)
				}
				rdb.Del(c.Context(), "k")
			})},
		// two at a time
		{"the third enters", "", verdict.Overlap, 3, 0, locking(func(c *Client, rdb *redis.Client, _ string) bool {
			if first, err := rdb.SetNX(c.Context(), "refused", "1", 0).Result(); err != nil || first {
				rdb.Del(c.Context(), "refused")
				return false
			}
			return true
		})},
	} {
		t.Run(test.what, func(t *testing.T) {
			_, proof := planOfAny(t, Bounds{Budget: test.budget, Key: "k"}, test.code)
			s, w := proof.BrokenBy(test.harm)
			if s == nil || slices.Contains(proof.Proved(), test.harm) {
				t.Fatalf("proved %v, open %v", proof.Proved(), proof.Open)
			}
			if s.Bounds.Clients != test.clients || w.Par != test.par {
				t.Errorf("it takes %d clients and %d faults", s.Bounds.Clients, w.Par)
			}
			for par, right := range map[int]bool{never: false, test.par: true, test.par + 1: false} {
				if why := (claim{test.harm, par}).contradicted(answerOf(proof, test.harm), 1); (why == "") != right {
					t.Errorf("%d faults: %q", par, why)
				}
			}
		})
	}
}

// TestAnyAgrees: what a complete search of two clients finds is not excluded for any number of them.
func TestAnyAgrees(t *testing.T) {
	for budget, code := range map[string]func(*Client){"crash=1": withToken, "restart=1": setNX} {
		p, proof := planOfAny(t, Bounds{Budget: budget}, code)
		s := racetest.Must(p.search(t.Context()))(t)
		if !s.Complete || !proof.Closed || (len(s.Witnesses) == 0) != (budget == "crash=1") {
			t.Errorf("%s: complete %t, closed %t, found %v", budget, s.Complete, proof.Closed, s.AllPars())
		}
		for _, w := range s.Witnesses {
			if slices.Contains(proof.Proved(), w.Verdict) {
				t.Errorf("%s: %s is found, and excluded", budget, w.Verdict)
			}
		}
	}
}

// TestAnyContradicted: a claim is wrong too where nothing breaks what it says is broken, and where nothing is decided.
func TestAnyContradicted(t *testing.T) {
	proof := &search.Proof{Proof: &explore.Proof{Closed: true, Harms: []verdict.Word{verdict.Orphan}},
		Search: &search.Search{}, Open: []verdict.Word{verdict.Orphan}}
	for want, c := range map[string]claim{"": {verdict.Overlap, never}, "does not occur": {verdict.Overlap, 1}} {
		why := c.contradicted(answerOf(proof, c.word), 1)
		if (why == "") != (want == "") || !strings.Contains(why, want) {
			t.Errorf("%+v: %q, want %q", c, why, want)
		}
	}
	if !answerOf(proof, verdict.Orphan).open {
		t.Error("what is not decided is not open")
	}
}

// TestAnyRefuses: code that views do not do for is refused with the reason.
func TestAnyRefuses(t *testing.T) {
	for _, test := range []struct {
		what, want string
		code       func(*Client)
	}{
		{"the number of the client", "asks for its client's number", func(c *Client) {
			if c.ID() < 4 {
				withToken(c)
			}
		}},
		{"the time of day", "reads a clock", onRedis(func(c *Client, rdb *redis.Client) {
			token, began := c.Token(), time.Now()
			if take(c, rdb, token) && began.Hour() != 4 {
				c.Critical(work)
			}
			compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
		})},
		{"whether it has the key", "compares other clients",
			locking(func(c *Client, rdb *redis.Client, token string) bool {
				who, err := rdb.Get(c.Context(), "k").Result()
				if err != nil || who != token {
					rdb.Exists(c.Context(), "k")
				}
				return err == nil && who == token
			})},
		{"who has the key", "compares other clients", locking(func(c *Client, rdb *redis.Client, _ string) bool {
			first, _ := rdb.Get(c.Context(), "k").Result()
			second, err := rdb.Get(c.Context(), "k").Result()
			return err == nil && first != "" && first != second
		})},
	} {
		t.Run(test.what, func(t *testing.T) {
			p, proof := planOfAny(t, Bounds{Budget: "crash=any", Key: "k"}, test.code)
			if why := p.unproved(proof); !strings.Contains(why, test.want) || len(proof.Broken) > 0 {
				t.Errorf("%q, want %q", why, test.want)
			}
		})
	}
}
