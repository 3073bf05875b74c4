package locktest

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// saying takes the lock with a token, and says of its release what how makes of the script's answer.
func saying(script *redis.Script, how func(deleted int) bool) func(c *Client) {
	return func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		token := c.Token()
		if ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result(); err != nil || !ok {
			return
		}
		c.Critical(work)
		if deleted, err := script.Run(c.Context(), rdb, []string{"k"}, token).Int(); err == nil {
			c.Says(how(deleted))
		}
	}
}

// TestSays: what code says of its release is compared with what it held.
func TestSays(t *testing.T) {
	b := Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}
	t.Run("honest", func(t *testing.T) {
		Check(t, b, saying(compareAndDelete, func(deleted int) bool { return deleted > 0 }), Holds("LIE", "WRONG-DEL"))
	})
	t.Run("always", func(t *testing.T) {
		Check(t, b, saying(compareAndDelete, func(int) bool { return true }), Breaks("LIE", 1))
	})
	t.Run("never", func(t *testing.T) {
		Check(t, b, saying(compareAndDelete, func(int) bool { return false }), Breaks("LIE", 0))
	})
}

// TestSaysNothing: of code that says nothing no LIE is looked for, by default or by a claim.
func TestSaysNothing(t *testing.T) {
	p, claims := prepare(t, Bounds{Clients: 2, TTL: ttl}, setNX, nil)
	s, err := p.search(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	full := p.certificate(s, "en")
	for line := range strings.Lines(full) {
		if strings.Contains(line, "looked for ") && strings.Contains(line, "WRONG-DEL") && strings.Contains(line, string(verdict.Lie)) {
			t.Error(line)
		}
	}
	proof := &study.Proof{Proof: &explore.Proof{Closed: true}, Search: s}
	if !s.NoClaims || slices.Contains(proof.Proved(), verdict.Lie) || !slices.Contains(proof.Proved(), verdict.Overlap) {
		t.Errorf("proved: %v", proof.Proved())
	}
	for _, c := range claims {
		if c.word == verdict.Lie {
			t.Error("LIE is claimed without a word")
		}
	}
}
