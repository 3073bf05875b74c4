package study_test

import (
	"context"
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// counting is a lock that claims every third attempt of a process for itself. nth says which
// attempt it is, from what the lock remembers.
type counting struct {
	inner lock.Strategy
	nth   func() int
	count int
	seen  map[string]int
	last  *counting
}

func (c *counting) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	lease, err := c.inner.Acquire(ctx, key)
	if n := c.nth(); n == 3 && err != nil {
		return acquired{}, nil
	}
	return lease, err
}

func (c *counting) byNumber() int {
	c.count++
	return c.count
}

func (c *counting) byMap() int {
	c.seen["attempts"]++
	return c.seen["attempts"]
}

func (c *counting) byList() int {
	n := 1
	for at := c.last; at != nil; at = at.last {
		n++
	}
	c.last = &counting{last: c.last}
	return n
}

type acquired struct{}

func (acquired) Release(context.Context) error { return nil }

// A lock whose instance remembers earlier attempts is not taken for a new one, wherever it
// keeps that; one that remembers nothing is.
func TestLocksThatRemember(t *testing.T) {
	token := racetest.Lock(t, "token")
	for what, nth := range map[string]func(c *counting) func() int{
		"a number":     func(c *counting) func() int { return c.byNumber },
		"a map":        func(c *counting) func() int { c.seen = map[string]int{}; return c.byMap },
		"a list":       func(c *counting) func() int { return c.byList },
		"a closure":    func(c *counting) func() int { n := 0; return func() int { n++; return n } },
		"another lock": func(c *counting) func() int { other := &counting{}; return other.byNumber },
	} {
		entry := own("counting", func(env lock.Env) lock.Strategy {
			c := &counting{inner: token.New(env)}
			c.nth = nth(c)
			return c
		})
		for attempts, broken := range map[int]bool{2: false, 3: true} {
			_, ok := prices(searched(t, entry, small(entry, 2, attempts, ""), nil))[verdict.Overlap]
			if ok != broken {
				t.Errorf("a lock that remembers by %s, %d attempts: OVERLAP %t, want %t", what, attempts, ok, broken)
			}
		}
	}
	for _, id := range []string{"token", "watchdog"} {
		entry := racetest.Lock(t, id)
		b := small(entry, 2, 2, "crash=1")
		r := searched(t, entry, b, func(o *explore.Options) { o.Symmetric = 0 })
		if all := observed(t, entry, b); r.States >= all.States || listed(prices(r)) != listed(prices(all)) {
			t.Errorf("%s: %d states and %s; where clients keep all that they observe %d and %s", id, r.States, listed(prices(r)), all.States, listed(prices(all)))
		}
	}
}

// A lock that draws a name when it is made, as watchdog does, has the same name after a rest,
// and draws no token twice.
func TestLockMadeAnewHasItsName(t *testing.T) {
	drawn := map[string]bool{}
	entry := own("named", func(env lock.Env) lock.Strategy {
		name := env.Tokens.Token()
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			drawn[name+", "+env.Tokens.Token()] = true
			_ = env.Nodes[0].Get(ctx, key).Err()
			return nil, lock.ErrNotAcquired
		})
	})
	b := small(entry, 1, 3, "")
	searched(t, entry, b, nil)
	for _, want := range []string{"c1.1, c1.2", "c1.1, c1.3", "c1.1, c1.4", "c2.1, c2.2"} {
		if !drawn[want] {
			t.Errorf("%q was not drawn", want)
		}
		delete(drawn, want)
	}
	if len(drawn) > 1 { // the probe asks twice
		t.Errorf("drawn besides: %v", drawn)
	}
}
