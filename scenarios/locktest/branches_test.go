package locktest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/internal/racetest"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// renews is a lock that a ticker renews. Where an answer comes late, the ticker and the end of the section are ready
// at the same moment, and select takes either.
var renews = onRedis(func(c *Client, rdb *redis.Client) {
	token := c.Token()
	if !take(c, rdb, token) {
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
				rdb.Expire(c.Context(), "k", ttl)
			}
		}
	})
	c.Critical(work)
	stopped()
	renewing.Wait()
	compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
})

// TestBranches: a select with two ready cases is searched in both ways, in the same states each time.
func TestBranches(t *testing.T) {
	effort.OnlyExhaustive(t, "TestEitherWay shows ways of few histories; one goroutine searches")
	want := ""
	for range 2 {
		p, s := searched(t, Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}, renews)
		if !s.Complete || len(p.Branches) == 0 {
			t.Fatalf("%+v, %v", s, p.Branches)
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
	b := Bounds{Clients: 2, Attempts: 1, TTL: ttl}
	p, _ := prepare(t, b, either)
	p.Branches.Everywhere() // few histories come there, and two executions of each may do the same
	s, err := p.search(t.Context())
	if err != nil || !s.Complete || len(s.Witnesses) == 0 {
		t.Fatalf("%+v, %v", s, p.Branches)
	}
	if out := p.certificate(s, "en"); !strings.Contains(out, "at least 20 executions in a row showed no further way") {
		t.Error(out)
	}
	trace := racetest.Must(simulator.ParseLink(s.Witnesses[0].Trace.Link()))(t)
	p, _ = prepare(t, b, either)
	o, err := p.play(trace)
	if err != nil {
		t.Fatal(explain(err))
	}
	if out := show(o); words(o) == "" || !strings.Contains(out, "by chance") {
		t.Errorf("%q\n%s", words(o), out)
	}
}

// TestEndsWhatItHasStarted: where the end of an execution leaves a goroutine behind that only its code can end, that
// code is let go on in those that follow. What ends then is not counted as left behind, nor what ends a while later;
// what nothing ends is.
func TestEndsWhatItHasStarted(t *testing.T) {
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
			})
			s, err := p.search(t.Context())
			if err != nil || !s.Complete || (p.run.leaks.N > 0) != test.leaks {
				t.Errorf("%v, %+v, %d leaks", err, s, p.run.leaks.N)
			}
		})
	}
}

// TestEitherWayOfAny: so are both ways for any number of clients.
func TestEitherWayOfAny(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	p, _ := prepare(t, Bounds{Clients: Any, Budget: "crash=any", Key: "k", TTL: ttl}, either)
	p.Branches.Everywhere()
	proof, err := p.prove(t.Context())
	if err != nil || p.unproved(proof) != "" || len(proof.Broken) == 0 {
		t.Fatalf("%v, %+v", err, proof)
	}
}

// onThree takes a lock on a majority of three servers, each asked by a goroutine of its own, and looks at all of them
// so many times. It enters with a majority; and without one if the answers of a round, from 0, have come in an order
// of servers.
func onThree(looks, round int, order []int) func(c *Client) {
	return func(c *Client) {
		token := c.Token()
		ask := func(command func(rdb *redis.Client) bool) (came []int, n int) {
			type answer struct {
				server int
				ok     bool
			}
			answers := make(chan answer)
			for server := 1; server <= 3; server++ {
				go func() {
					rdb := redisOn(c, server)
					defer rdb.Close()
					answers <- answer{server, command(rdb)}
				}()
			}
			for range 3 {
				a := <-answers
				if came = append(came, a.server); a.ok {
					n++
				}
			}
			return came, n
		}
		came, n := ask(func(rdb *redis.Client) bool { return rdb.SetNX(c.Context(), "k", token, ttl).Val() })
		met := round == 0 && slices.Equal(came, order)
		for i := range looks {
			came, n = ask(func(rdb *redis.Client) bool { return rdb.Get(c.Context(), "k").Val() == token })
			met = met || round == i+1 && slices.Equal(came, order)
		}
		if n > 1 || met {
			c.Critical(work)
		}
	}
}

// TestOrders: the orders of several servers' answers are merged, with the same verdicts and fewer states. Code that
// remembers one of them, of the first round or of the second, is found all the same.
func TestOrders(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; TestPolling shows the goroutines of a bubble")
	found := func(t *testing.T, merged bool, code func(c *Client)) (states, tried int, pars []string) {
		p, _ := prepare(t, Bounds{Clients: 2, Attempts: 1, Servers: 3, TTL: ttl}, code)
		p.study.Plain.Histories = !merged
		s, err := p.search(t.Context())
		if err != nil || !s.Complete {
			t.Fatalf("%v, %+v", err, s)
		}
		return s.States, p.orders, s.Pars()
	}
	few, tried, pars := found(t, true, onThree(0, 0, nil))
	many, none, plainly := found(t, false, onThree(0, 0, nil))
	if tried == 0 || none > 0 || many < 2*few || !slices.Equal(pars, plainly) || slices.Contains(pars, "OVERLAP@0") {
		t.Errorf("%d states, %d orders tried, and %v; without merging %d states, %d orders, and %v",
			few, tried, pars, many, none, plainly)
	}
	for round, order := range [][]int{{2, 3, 1}, {3, 2, 1}} {
		t.Run(fmt.Sprint(order, " in round ", round), func(t *testing.T) {
			if _, _, pars := found(t, true, onThree(1, round, order)); !slices.Contains(pars, "OVERLAP@0") {
				t.Error(pars)
			}
		})
	}
}
