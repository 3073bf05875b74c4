package locktest

import (
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/child"
	"locklab/simulator/effort"
	"locklab/simulator/process"
)

// lockWith takes the lock with a value, and gives it back by a script that gets the value.
func lockWith(c *Client, value string, script *redis.Script) {
	rdb := dial(c)
	defer rdb.Close()
	if ok, err := rdb.SetNX(c.Context(), "k", value, ttl).Result(); err != nil || !ok {
		return
	}
	c.Critical(work)
	script.Run(c.Context(), rdb, []string{"k"}, value)
}

func randomToken() string { return strconv.FormatUint(rand.Uint64(), 10) }

// TestDrawnTokens: tokens of math/rand/v2 are searched like those of Client.Token, and come to the same.
func TestDrawnTokens(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; TestPolling shows the goroutines of a bubble")
	two := Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl, AnyTiming: true}
	Check(t, two, func(c *Client) { lockWith(c, randomToken(), compareAndDelete) }, "OVERLAP STALE-WRITE ORPHAN")
	many := Bounds{Clients: Any, Budget: "crash=any", TTL: ttl}
	Check(t, many, func(c *Client) { lockWith(c, randomToken(), compareAndDelete) }, "")
}

// TestDrawnAsTokens: a search with drawn tokens visits as many states as one with those of Client.Token.
func TestDrawnAsTokens(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	states := func(token func(c *Client) string) int {
		p, s := searched(t, Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl},
			func(c *Client) { lockWith(c, token(c), compareAndDelete) })
		if !s.Complete || !s.Symmetry {
			t.Fatalf("%+v", s)
		}
		head, _, _ := strings.Cut(p.certificate(s, "en"), "\n")
		if named := strings.Contains(head, "taken to be different"); named != (p.Drawn.Where() != "") {
			t.Errorf("%q has tokens drawn at %q", head, p.Drawn.Where())
		}
		return s.States
	}
	own := states((*Client).Token)
	for name, draw := range map[string]func() string{"math/rand/v2": randomToken, "crypto/rand": cryptorand.Text} {
		if drawn := states(func(*Client) string { return draw() }); drawn != own {
			t.Errorf("%d states with tokens of %s, %d with those of Client.Token", drawn, name, own)
		}
	}
}

// TestDrawnByOthers: what another client has drawn looks like what one draws oneself.
func TestDrawnByOthers(t *testing.T) {
	format := func() string {
		return fmt.Sprintf("%016x-%s", rand.Uint64(), strings.ToUpper(strconv.FormatUint(rand.Uint64(), 36)))
	}
	seen, own := 0, 0
	p, _ := prepare(t, Bounds{Clients: 2, TTL: ttl}, func(c *Client) {
		token := format()
		rdb := dial(c)
		defer rdb.Close()
		ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result()
		if err != nil {
			return
		}
		held, err := rdb.Get(c.Context(), "k").Result()
		switch _, failed := strconv.ParseUint(strings.Split(held, "-")[0], 16, 64); {
		case err != nil:
		case failed != nil:
			panic(held)
		case held == token:
			own++
		default:
			seen++
		}
		if ok {
			c.Critical(work)
			compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
		}
	})
	if _, err := p.search(t.Context()); err != nil {
		t.Fatal(explain(err))
	}
	if seen == 0 || own == 0 {
		t.Errorf("read %d values of others, %d own ones", seen, own)
	}
}

// counted counts in a variable of the package, from 1 in every process of the operating system.
var counted int

// TestDrawnOtherwise: values that are more than tokens, or not drawn by chance, are no proof.
func TestDrawnOtherwise(t *testing.T) {
	odd := redis.NewScript(`if tonumber(ARGV[1]) and tonumber(ARGV[1]) > 5 then ` +
		`return redis.call("del", KEYS[1]) end return 0`)
	length := redis.NewScript(`if #ARGV[1] > 8 then return redis.call("del", KEYS[1]) end return 0`)
	seven := 0
	for name, c := range map[string]struct {
		code func(c *Client)
		is   func(err error) bool
	}{
		// Below 2^63: the Lua of the lab's servers takes no higher number for one,
		// and half of all tokens of 64 bits are.
		"number": {func(c *Client) { lockWith(c, strconv.FormatInt(rand.Int64(), 10), odd) }, isDrawn},
		"length": {func(c *Client) { lockWith(c, randomToken(), length) }, isDrawn},
		"seven values": {func(c *Client) { seven++; lockWith(c, strconv.Itoa(seven%7), compareAndDelete) },
			isDifferent},
		"branch": {func(c *Client) {
			token := randomToken()
			if token < "15" {
				time.Sleep(time.Second)
			}
			lockWith(c, token, compareAndDelete)
		}, isDifferent},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := newPlan(t, Bounds{Clients: 2, Budget: "crash=1", TTL: ttl}, c.code)
			if err != nil {
				t.Fatal(err)
			}
			settle(t)
			if err = p.alone(); err == nil {
				_, err = p.search(t.Context())
			}
			if !c.is(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

func isDifferent(err error) bool { return errors.As(err, new(*process.NondeterministicError)) }

// TestRareChance: what code does by one number of a thousand is found with that number; one way of 64 through selects,
// whose choice nothing repeats, is no proof, nor taken for a use of the clock.
func TestRareChance(t *testing.T) {
	effort.OnlyPushed(t, "it takes seconds")
	ways := func() int {
		var all [8]chan int
		for i := range all {
			all[i] = make(chan int, 1)
			all[i] <- i
		}
		select {
		case n := <-all[0]:
			return n
		case n := <-all[1]:
			return n
		case n := <-all[2]:
			return n
		case n := <-all[3]:
			return n
		case n := <-all[4]:
			return n
		case n := <-all[5]:
			return n
		case n := <-all[6]:
			return n
		case n := <-all[7]:
			return n
		}
	}
	for _, c := range []struct {
		name, want string
		enters     func() bool
	}{
		{"a number", "OVERLAP, STALE-WRITE, ORPHAN can occur", func() bool { return mathrand.Intn(1000) == 7 }},
		{"selects", "not deterministic", func() bool { return ways() == 3 && ways() == 5 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := Bounds{Clients: 2, Attempts: 1, TTL: ttl}
			out, err := searchApart(t, b, func(l *Client) {
				rdb := dial(l)
				defer rdb.Close()
				if ok, err := rdb.SetNX(l.Context(), "k", l.Token(), ttl).Result(); err != nil || !ok && !c.enters() {
					return
				}
				l.Critical(work)
			}, 0)
			if err != nil {
				out = explain(err)
			}
			if !child.IsAgain() && (!strings.Contains(out, c.want) ||
				(err == nil) != strings.Contains(out, "with one drawing of them")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestDrawnTwice: tokens that count in a variable of the package differ in each execution, and are equal in processes
// of their own.
func TestDrawnTwice(t *testing.T) {
	_, err := searchApart(t, Bounds{Clients: 2, TTL: ttl},
		func(c *Client) { counted++; lockWith(c, strconv.Itoa(counted), compareAndDelete) }, 0)
	if child.IsAgain() {
		return
	}
	if err == nil || !strings.Contains(say(err), "two processes") {
		t.Errorf("%v", err)
	}
}

// TestDrawnSample: random tokens are sampled, too.
func TestDrawnSample(t *testing.T) {
	samples(t, 200)
	Sample(t, Bounds{Clients: 2, Budget: "pause=1", TTL: ttl},
		func(c *Client) { lockWith(c, randomToken(), compareAndDelete) }, "OVERLAP STALE-WRITE")
}
