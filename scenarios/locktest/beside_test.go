package locktest

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/study"
	"locklab/simulator/bubble"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// TestBeside: what lockstep hides is found at any timing beside it, with as many faults and a run that can be played; where that is
// complete the first line says so.
func TestBeside(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches, and the lock is a process of its own")
	both := func(b Bounds, code func(c *Client)) (*plan, *study.Search) {
		p, _ := prepare(t, b, code, nil)
		s, err := p.search(t.Context())
		if err == nil {
			err = searchBeside(t.Context(), p, s, bubble.Worked())
		}
		if err != nil {
			t.Fatal(err)
		}
		return p, s
	}
	// go-redis sends a DEL again that had no answer, and in between the next client has taken the lock.
	p, s := both(Bounds{Clients: 2, Budget: "lose-reply=1", TTL: ttl}, func(c *Client) {
		rdb := redis.NewClient(&redis.Options{Addr: c.Addr(1), Dialer: c.Dial})
		defer rdb.Close()
		if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err == nil && ok {
			c.Critical(work)
			rdb.Del(c.Context(), "k")
		}
	})
	i := slices.IndexFunc(s.Witnesses, func(w study.Witness) bool { return w.Verdict == verdict.Overlap })
	if i < 0 || slices.Contains(s.Verdicts(), verdict.Overlap) || s.Witnesses[i].Par != 1 || s.FoundBy(s.Witnesses[i]).Bounds.Timing != study.AnyTiming {
		t.Fatalf("lockstep finds %v, both %+v", s.Verdicts(), s.Witnesses)
	}
	if o, err := p.play(s.Witnesses[i].Trace); err != nil || !slices.Contains(o.Verdicts, verdict.Overlap) || !p.isOwn(s.Witnesses[i].Trace) {
		t.Errorf("played: %+v, %v", o, err)
	}

	p, s = both(Bounds{Clients: 2, Attempts: 1, Budget: "crash=1", TTL: ttl}, func(c *Client) { lockWith(c, c.Token(), compareAndDelete) })
	if first, _, _ := strings.Cut(p.certificate(s, "en"), "\n"); !strings.Contains(first, "in lockstep and at any timing: no failure") {
		t.Error(first)
	}
}
