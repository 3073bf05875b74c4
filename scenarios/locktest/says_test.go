package locktest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
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
	effort.OnlyExhaustive(t, "it takes seconds; TestPolling shows the goroutines of a bubble")
	b := Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}
	t.Run("honest", func(t *testing.T) {
		Check(t, b, saying(compareAndDelete, func(deleted int) bool { return deleted > 0 }),
			"OVERLAP STALE-WRITE ORPHAN")
	})
	t.Run("always", func(t *testing.T) {
		Check(t, b, saying(compareAndDelete, func(int) bool { return true }), "OVERLAP STALE-WRITE LIE ORPHAN")
	})
	t.Run("never", func(t *testing.T) {
		Check(t, b, saying(compareAndDelete, func(int) bool { return false }), "OVERLAP STALE-WRITE LIE@0 ORPHAN")
	})
}

// TestFinds: the verdicts that come about are named, with their faults, and all others are claims as well.
func TestFinds(t *testing.T) {
	code := saying(compareAndDelete, func(int) bool { return true })
	for finds, want := range map[string]string{
		"OVERLAP STALE-WRITE LIE@1":      "",
		"OVERLAP STALE-WRITE@0 LIE":      "STALE-WRITE",
		"OVERLAP LIE":                    "STALE-WRITE",
		"OVERLAP STALE-WRITE":            "LIE",
		"OVERLAP STALE-WRITE LIE ORPHAN": "ORPHAN",
	} {
		p, claims := prepare(t, Bounds{Clients: 2, Budget: "evict=1", TTL: ttl}, code, finds)
		s := racetest.Must(p.search(t.Context()))(t)
		var wrong []string
		for _, c := range claims {
			i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == c.word })
			if found := i >= 0; found != (c.par != never) || found && s.Witnesses[i].Par != c.par {
				wrong = append(wrong, string(c.word))
			}
		}
		if got := strings.Join(wrong, " "); got != want {
			t.Errorf("%q: %q differ, want %q", finds, got, want)
		}
	}
	for _, finds := range []string{"OVERLAP@one", "OVERLAP@-1", "NONE", "LIE LIE"} {
		if _, err := claimed([]string{finds}, explore.Words()); err == nil {
			t.Errorf("%q is not refused", finds)
		}
	}
}

// TestSaysNothing: of code that says nothing no LIE is looked for, by default or by a claim.
func TestSaysNothing(t *testing.T) {
	p, claims := prepare(t, Bounds{Clients: 2, TTL: ttl}, setNX)
	s := racetest.Must(p.search(t.Context()))(t)
	full := p.certificate(s, "en")
	for line := range strings.Lines(full) {
		if strings.Contains(line, "looked for ") && strings.Contains(line, "WRONG-DEL") &&
			strings.Contains(line, string(verdict.Lie)) {
			t.Error(line)
		}
	}
	proof := &search.Proof{Proof: &explore.Proof{Closed: true}, Search: s}
	if !s.NoClaims || slices.Contains(proof.Proved(), verdict.Lie) ||
		!slices.Contains(proof.Proved(), verdict.Overlap) {
		t.Errorf("proved: %v", proof.Proved())
	}
	for _, c := range claims {
		if c.word == verdict.Lie {
			t.Error("LIE is claimed without a word")
		}
	}
}

// TestLockstepOnly: code that looks at its clock is searched in lockstep only, and that does not read as a proof.
func TestLockstepOnly(t *testing.T) {
	code := locking(func(c *Client, rdb *redis.Client, token string) bool {
		for began := time.Now(); time.Since(began) < ttl/2; time.Sleep(time.Second) {
			if take(c, rdb, token) {
				return true
			}
		}
		return false
	})
	p, claims := prepare(t, Bounds{Clients: 2, Attempts: 1, TTL: ttl}, code)
	found, err := p.find(t.Context())
	if err != nil || claims == nil {
		t.Fatal(err)
	}
	for lang, want := range map[string]string{
		"en": "Not proved, but searched in lockstep only, where messages take no time: within these bounds, " +
			"for 2 clients with 1 attempt each, no failure",
		"zh": "未证明，只搜索了锁步时序",
	} {
		head, _, _ := strings.Cut(found.certificate(lang), "\n")
		if !strings.Contains(head, want) || !strings.Contains(head, text.Say(lang, "locktest.beside.clock")) {
			t.Error(head)
		}
		line := found.headline(lang)
		if !strings.HasPrefix(head, line) || strings.Contains(line, "\n") || len(line) == 0 {
			t.Errorf("the line of a test without -v is %q", line)
		}
	}
}

// TestUnanswered: a search that has nothing to say of a fault is no pass.
func TestUnanswered(t *testing.T) {
	for budget, want := range map[string]string{"expire-session=1": "expire-session could not be injected", "": ""} {
		p, _ := prepare(t, Bounds{Clients: 2, Attempts: 1, Budget: budget, TTL: ttl}, setNX)
		found, err := p.find(t.Context())
		if err != nil || (found.unanswered == "") != (want == "") || !strings.Contains(found.unanswered, want) {
			t.Errorf("%q: %+v, %v, want %q", budget, found, err, want)
		}
	}
}
