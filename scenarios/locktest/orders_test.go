package locktest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/effort"
)

// onThree takes a lock on a majority of three servers, each asked by a goroutine of its own, and looks at all of them so many times. It
// enters with a majority; and without one if the answers of a round, from 0, have come in an order of servers.
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

// TestOrders: the orders of several servers' answers are merged, with the same verdicts and fewer states. Code that remembers one of them
// is found all the same, whichever it is.
func TestOrders(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; TestPolling shows the goroutines of a bubble")
	found := func(t *testing.T, merged bool, code func(c *Client)) (states, tried int, pars []string) {
		p, _ := prepare(t, Bounds{Clients: 2, Attempts: 1, Servers: 3, TTL: ttl}, code, nil)
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
		t.Errorf("%d states, %d orders tried, and %v; without merging %d states, %d orders, and %v", few, tried, pars, many, none, plainly)
	}
	for _, order := range [][]int{{2, 3, 1}, {1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {3, 1, 2}, {3, 2, 1}} {
		for round := range 2 {
			t.Run(fmt.Sprint(order, " in round ", round), func(t *testing.T) {
				if _, _, pars := found(t, true, onThree(1, round, order)); !slices.Contains(pars, "OVERLAP@0") {
					t.Error(pars)
				}
			})
		}
	}
}
