package locktest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/internal/racetest"
	"locklab/simulator/child"
	"locklab/simulator/effort"
)

func TestMain(m *testing.M) {
	flag.Parse()
	*apartFlag = min(*apartFlag, 2) // but where a test is about it
	// likewise; under the race detector all takes ten times as long
	*timeFlag = 0
	// these show the goroutines of a bubble
	if run := flag.Lookup("test.run"); effort.Watched && run.Value.String() == "" {
		run.Value.Set(
			"^(TestRace|TestShared|TestOutside|TestClosedConnection|TestDrawnTwice|TestNotApart|TestParallel)$")
	}
	os.Exit(m.Run())
}

// What the processes of the lab share.
var (
	firstOfProcess sync.Once
	attemptsMade   int
	drawnAtStart   = strconv.FormatUint(rand.Uint64(), 36)
)

// lockAs takes the lock as setNX does, with a value and a key, unless enters says that it goes in without.
func lockAs(c *Client, key, value string, enters bool) {
	rdb := dial(c)
	defer rdb.Close()
	ok, err := rdb.SetNX(c.Context(), key, value, ttl).Result()
	if (err != nil || !ok) && !enters {
		return
	}
	c.Critical(work)
	if held, _ := rdb.Get(c.Context(), key).Result(); held == value {
		rdb.Del(c.Context(), key)
	}
}

// searchApart is Check without its claims, with as many histories that are repeated in processes of their own as usual.
func searchApart(t *testing.T, b Bounds, client func(*Client), check int) (certificate string, err error) {
	if child.IsAgain() {
		answerApart(t, b, client)
		return "", nil
	}
	p := racetest.Must(newPlan(t, b, client))(t)
	settle(t)
	p.apart = apart{check: countCheck(t) + check, left: 200}
	if err := p.alone(); err != nil {
		return "", err
	}
	s, err := p.search(t.Context())
	if err != nil {
		return "", err
	}
	return strings.Split(p.certificate(s, "en"), "\n")[0] + "\n" + p.apart.said("en"), nil
}

// TestApart: code that looks at what real processes do not share with each other, or that draws, is not proved; or the
// first line of its certificate names what it looks at.
func TestApart(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; TestDrawnTwice shows the processes")
	const process, chance = "in an operating-system process of its own", "OVERLAP, STALE-WRITE can occur"
	listener := racetest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	go func() { // until it is closed
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			conn.Close()
		}
	}()
	server := cmp.Or(os.Getenv(listenerVariable), listener.Addr().String())
	t.Setenv(listenerVariable, server) // of processes that are run again, too
	for _, c := range []struct {
		name   string
		code   func(c *Client)
		few    bool   // one attempt without faults
		wrong  string // in the error
		proved string // in the first lines of the certificate
	}{
		{name: "a sync.Once", wrong: process, code: func(c *Client) {
			enters := false
			firstOfProcess.Do(func() { enters = true })
			lockAs(c, "k", c.Token(), enters)
		}},
		{name: "a key from the process id", wrong: process,
			code: func(c *Client) { lockAs(c, fmt.Sprint("k", os.Getpid()), c.Token(), false) }},
		{name: "a token that was drawn at the start", wrong: process,
			code: func(c *Client) { lockAs(c, "k", drawnAtStart, false) }},
		{name: "a token from the host", proved: "one machine for all processes", code: func(c *Client) {
			host, _ := os.Hostname()
			lockAs(c, "k", host, false)
		}},
		{name: "chance", few: true, proved: chance,
			code: func(c *Client) { lockAs(c, "k", c.Token(), rand.IntN(5) == 0) }},
		{name: "the order of a map", few: true, proved: chance, code: func(c *Client) {
			for i := range map[int]bool{1: true, 2: true, 3: true, 4: true} {
				lockAs(c, "k", c.Token(), i == 4)
				return
			}
		}},
		{name: "a select", few: true, proved: "OVERLAP, STALE-WRITE, WRONG-DEL can occur", code: either},
		{name: "every 61st attempt", wrong: "is not deterministic", code: func(c *Client) {
			attemptsMade++
			lockAs(c, "k", c.Token(), attemptsMade%61 == 0)
		}},
		{name: "many attempts of one client", proved: "and 2 attempts each",
			code: func(c *Client) { lockAs(c, "k", c.Token(), false) }},
		{name: "noon", proved: "clocks that begin at 2026-05-28 20:26:40 UTC",
			code: func(c *Client) { lockAs(c, "k", c.Token(), time.Now().Hour() == 12) }},
		{name: "29 February", proved: "clocks that begin at 2026-05-28 20:26:40 UTC",
			code: func(c *Client) { lockAs(c, "k", c.Token(), time.Now().YearDay() == 60 && time.Now().Day() == 29) }},
		{name: "a millisecond", proved: "on 29 February, at as many milliseconds",
			code: func(c *Client) { lockAs(c, "k", c.Token(), time.Now().UnixMilli()%1000 == 13) }},
		{name: "a connection of its own", wrong: "a connection that is not one of Client.Dial", code: func(c *Client) {
			if conn, err := net.Dial("tcp", server); err == nil {
				defer conn.Close()
			}
			lockAs(c, "k", c.Token(), false)
		}},
		{name: "a token", proved: "12 of 12 histories were repeated, each in an operating-system process of its own",
			code: func(c *Client) { lockAs(c, "k", c.Token(), false) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := Bounds{Clients: 2, Budget: "crash=1", TTL: ttl}
			if c.few {
				b.Attempts, b.Budget = 1, ""
			}
			out, err := searchApart(t, b, c.code, 0)
			if err != nil {
				out = explain(err)
			}
			if (err != nil) != (c.wrong != "") || !strings.Contains(out, c.wrong+c.proved) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// listenerVariable has the address of a server that is none of the lab's.
const listenerVariable = "LOCKTEST_LISTENER"

// TestNotApart: where the program of a test does not come to its Check when it is run again, the certificate says what
// processes share.
func TestNotApart(t *testing.T) {
	out, err := searchApart(t, Bounds{Clients: 2, Budget: "crash=1", TTL: ttl},
		func(c *Client) { lockAs(c, "k", c.Token(), false) }, 1)
	want := "share its package variables, process id and start: no history was repeated in a process of its own " +
		"(the program of this test was run again and did not come to this Check"
	if !strings.Contains(out, want) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestEndless: code that asks again and again in a history without end is named, and takes no memory for that.
func TestEndless(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; TestPolling shows the goroutines of a bubble")
	for _, c := range []struct {
		name, want string
		code       func(c *Client)
	}{
		{"a loop without a pause", "the code of c2 has asked 100 times without letting time pass",
			onRedis(func(c *Client, rdb *redis.Client) {
				for ok, err := false, error(nil); !ok; {
					if ok, err = rdb.SetNX(c.Context(), "k", c.Token(), ttl).Result(); err != nil {
						return
					}
				}
				c.Critical(work)
				rdb.Del(c.Context(), "k")
			})},
		{"a ticker that is not stopped",
			"the function of c2 has returned, and a goroutine that it has started has asked 100 times since",
			func(c *Client) {
				rdb := dial(c)
				if ok, err := rdb.SetNX(c.Context(), "k", c.Token(), ttl).Result(); err != nil || !ok {
					return
				}
				go func() {
					for range time.NewTicker(ttl / 3).C {
						rdb.Expire(c.Context(), "k", ttl)
					}
				}()
				c.Critical(work)
				rdb.Del(c.Context(), "k")
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if out, err := searchApart(t, Bounds{Clients: 2, Budget: "crash=1", TTL: ttl}, c.code, 0); err == nil ||
				!strings.Contains(explain(err), c.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
