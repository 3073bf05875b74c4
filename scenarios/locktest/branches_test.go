package locktest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/simulator"
	"locklab/simulator/effort"
)

// renews is a lock that a ticker renews. Where an answer comes late, the ticker and the end of the section are ready at the same moment, and
// select takes either; looks: the code looks at the end again, so that it makes no difference.
func renews(looks bool) func(c *Client) {
	return func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		token := c.Token()
		if ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result(); err != nil || !ok {
			return
		}
		stop, stopped := context.WithCancel(c.Context())
		var renewing sync.WaitGroup
		renewing.Go(func() {
			tick := time.NewTicker(ttl / 3)
			defer tick.Stop()
			for {
				select {
				case <-stop.Done():
					return
				case <-tick.C:
					if looks && stop.Err() != nil {
						return
					}
					rdb.Expire(c.Context(), "k", ttl)
				}
			}
		})
		c.Critical(work)
		stopped()
		renewing.Wait()
		compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
	}
}

// TestBranches: a select with two ready cases is searched in both ways, in the same states each time.
func TestBranches(t *testing.T) {
	effort.OnlyExhaustive(t, "TestEitherWay shows ways of few histories; one goroutine searches")
	want := ""
	for range 2 {
		p, _ := prepare(t, Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}, renews(false), nil)
		s, err := p.search(t.Context())
		if err != nil || !s.Complete || len(p.branches) == 0 {
			t.Fatalf("%v, %+v, %v", err, s, p.branches)
		}
		found := fmt.Sprint(s.States, s.Histories, s.Pars())
		if want == "" {
			want = found
		}
		if found != want {
			t.Errorf("%s, and before %s", found, want)
		}
	}
}

// either enters without the lock if select takes one of two ready cases.
func either(c *Client) {
	rdb := dial(c)
	defer rdb.Close()
	a, b := make(chan bool, 1), make(chan bool, 1)
	ok := rdb.SetNX(c.Context(), "k", c.Token(), ttl).Val()
	a <- ok
	b <- true
	select {
	case ok = <-a:
	case ok = <-b:
	}
	if ok {
		c.Critical(work)
		rdb.Del(c.Context(), "k")
	}
}

// TestEitherWay: what only one of two ways leads to is found, its run shows the way and can be played from its link.
func TestEitherWay(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches, and the lock is a process of its own")
	b := Bounds{Clients: 2, Attempts: 1, TTL: ttl}
	p, _ := prepare(t, b, either, nil)
	p.branches.Everywhere() // few histories come there, and two executions of each may do the same
	s, err := p.search(t.Context())
	if err != nil || !s.Complete || len(s.Witnesses) == 0 {
		t.Fatalf("%v, %+v, %v", err, s, p.branches)
	}
	if out := p.certificate(s, "en"); !strings.Contains(out, "at least 20 executions in a row showed no further way") {
		t.Error(out)
	}
	trace, err := simulator.ParseLink(s.Witnesses[0].Trace.Link())
	if err != nil {
		t.Fatal(err)
	}
	p, _ = prepare(t, b, either, nil)
	o, err := p.play(trace)
	if err != nil {
		t.Fatal(explain(err))
	}
	if out := show(o); words(o) == "" || !strings.Contains(out, "by chance") {
		t.Errorf("%q\n%s", words(o), out)
	}
}

// TestEndsWhatItHasStarted: where the end of an execution leaves a goroutine behind that only its code can end, that code is let go on in
// those that follow. What ends then is not counted as left behind, nor what ends a while later; what nothing ends is.
func TestEndsWhatItHasStarted(t *testing.T) {
	effort.Unwatched(t, "TestPolling shows the goroutines of a bubble")
	closes := func(c *Client, _ *redis.Client) (end func()) {
		stop := make(chan bool)
		go func() {
			for tick := time.Tick(time.Second); ; {
				select {
				case <-stop:
					return
				case <-tick:
				}
			}
		}()
		return func() { stop <- true }
	}
	for name, test := range map[string]struct {
		start func(c *Client, rdb *redis.Client) (end func())
		leaks bool
	}{
		"a channel that it closes": {start: closes},
		"a subscription": {start: func(c *Client, rdb *redis.Client) func() {
			end, messages := closes(c, rdb), rdb.Subscribe(c.Context(), "freed")
			messages.Channel() // its goroutine sleeps when its connection fails, and then sees that it is closed
			return func() {
				messages.Close()
				end()
			}
		}},
		"a goroutine without an end": {leaks: true, start: func(*Client, *redis.Client) func() {
			go func() { <-make(chan bool) }()
			return func() {}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := prepare(t, Bounds{Clients: 2, Attempts: 1, Budget: "crash=1", TTL: ttl}, func(c *Client) {
				rdb := dial(c)
				defer rdb.Close()
				ok := rdb.SetNX(c.Context(), "k", c.Token(), ttl).Val()
				end := test.start(c, rdb)
				if ok {
					c.Critical(work)
				}
				end()
			}, nil)
			s, err := p.search(t.Context())
			if err != nil || !s.Complete || (p.leaks.N > 0) != test.leaks {
				t.Errorf("%v, %+v, %d leaks", err, s, p.leaks.N)
			}
		})
	}
}

// TestEitherWayOfAny: so are both ways for any number of clients.
func TestEitherWayOfAny(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	p, _ := prepare(t, Bounds{Clients: Any, Budget: "crash=any", Key: "k", TTL: ttl}, either, nil)
	p.branches.Everywhere()
	proof, err := p.any.prove(t.Context())
	if err != nil || p.any.unproved(proof) != "" || len(proof.Broken) == 0 {
		t.Fatalf("%v, %+v", err, proof)
	}
}
