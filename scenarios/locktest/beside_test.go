package locktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// TestBeside: what lockstep hides is found at any timing beside it, with as many faults and a run that can be played; where that is
// complete the first line says so, and where code is not carried so the certificate has the reason.
func TestBeside(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches, and the lock is a process of its own")
	both := func(b Bounds, code func(c *Client)) (*plan, *study.Search) {
		p, _ := prepare(t, b, code, nil)
		s, err := p.search(t.Context())
		if err == nil {
			err = searchBeside(t.Context(), p, s, worked())
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

	// Only a client that comes later finds that another one has been there, and then goes by the order of a map.
	p, s = both(Bounds{Clients: 2, Attempts: 1, TTL: ttl}, func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		if rdb.Exists(c.Context(), "done").Val() > 0 {
			for i := range map[int]bool{1: true, 2: true, 3: true, 4: true} {
				rdb.Exists(c.Context(), fmt.Sprint("done", i))
				break
			}
			return
		}
		if ok, err := rdb.SetNX(c.Context(), "k", c.Token(), ttl).Result(); err == nil && ok {
			c.Critical(work)
			rdb.Set(c.Context(), "done", "1", 0)
			rdb.Del(c.Context(), "k")
		}
	})
	if out := p.certificate(s, "en"); !s.Complete || p.timed || !strings.Contains(out, "beside lockstep, any timing was not searched: the code of c") {
		t.Error(out)
	}
}
