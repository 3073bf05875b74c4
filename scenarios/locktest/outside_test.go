package locktest

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"locklab/scenarios/internal/racetest"
	"locklab/simulator/effort"
)

// shared is a client as programs have them.
var shared *redis.Client

func withShared(c *Client) {
	token := c.Token()
	if ok, err := shared.SetNX(c.Context(), "k", token, ttl).Result(); err != nil || !ok { // that of another execution
		return
	}
	c.Critical(work)
	compareAndDelete.Run(c.Context(), shared, []string{"k"}, token)
}

// TestShared: code may set variables of its package first of all. It is searched like code that has them to itself.
func TestShared(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	bounds := Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl}
	code := func(c *Client) {
		shared = dial(c)
		defer shared.Close()
		withShared(c)
	}
	Check(t, bounds, code, Holds("WRONG-DEL"), Breaks("OVERLAP", 1))
	if isApart() {
		return
	}
	p, _ := prepare(t, bounds, withToken, nil)
	turning := racetest.Must(newPlan(t, bounds, code))(t)
	turning.Turns = true
	ready(turning, nil)
	want := racetest.Must(p.search(t.Context()))(t)
	got, err := turning.search(t.Context())
	if err != nil {
		t.Fatal(explain(err))
	}
	if got.States != want.States || fmt.Sprint(got.Pars()) != fmt.Sprint(want.Pars()) {
		t.Errorf("%d states and %v, and with a variable of its own %d and %v", got.States, got.Pars(), want.States, want.Pars())
	}
}

// TestOutside: code that uses what another execution has made is named with the line that does so. The runtime would end the program there.
func TestOutside(t *testing.T) {
	code := func(c *Client) {
		if shared == nil {
			shared = dial(c)
		}
		withShared(c)
	}
	if isApart() {
		answerApart(t, Bounds{Clients: 2, TTL: ttl}, code)
		return
	}
	err := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl}, code))(t).tryApart(countCheck(t))
	if err == nil || !strings.Contains(say(err), lineWith(t, "// that of another execution")+" uses a connection pool") {
		t.Errorf("%v", err)
	}
}

// TestUndialed: code that does not dial the lab gets a message that says how to, whatever has come of that.
func TestUndialed(t *testing.T) {
	redis.SetLogger(&logging.VoidLogger{})
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	instead := func(c *Client, options redis.Options) {
		options.Addr = "127.0.0.1:1" // nobody listens there
		rdb := redis.NewClient(&options)
		defer rdb.Close()
		if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err == nil && ok {
			c.Critical(work)
		}
	}
	for name, code := range map[string]func(c *Client){
		"it gives up":            func(c *Client) { instead(c, redis.Options{MaxRetries: -1}) }, // gives up
		"it tries again":         func(c *Client) { instead(c, redis.Options{}) },               // tries again
		"it waits for an answer": func(*Client) { wait(silent.Addr().String()) },                // waits for an answer
	} {
		t.Run(name, func(t *testing.T) {
			p, err := newPlan(t, Bounds{Clients: 2, TTL: ttl}, code)
			if err != nil {
				t.Fatal(err)
			}
			settle(t)
			line := lineWith(t, "// "+strings.TrimPrefix(name, "it "))
			if err := p.alone(); err == nil || !strings.Contains(say(err), "from "+line+" on, has made no connection by c.Dial") {
				t.Errorf("%v", err)
			}
		})
	}
}

// wait waits for an answer of a server that has none.
func wait(addr string) {
	if conn, err := net.Dial("tcp", addr); err == nil {
		defer conn.Close()
		conn.Read(make([]byte, 1))
	}
}

// TestNames: code that gives its library a name in place of an address is told so, although that has no line in the
// stack of the runtime.
func TestNames(t *testing.T) {
	code := func(c *Client) {
		rdb := redis.NewClient(&redis.Options{Addr: "localhost:1"})
		defer rdb.Close()
		rdb.SetNX(c.Context(), "k", "1", ttl)
	}
	if isApart() {
		answerApart(t, Bounds{Clients: 2, TTL: ttl}, code)
		return
	}
	if err := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl}, code))(t).tryApart(countCheck(t)); err == nil || !strings.Contains(say(err), "looks up a host by its name") {
		t.Errorf("%v", err)
	}
}

// TestCluster: a client of a cluster is told that there is none.
func TestCluster(t *testing.T) {
	p, err := newPlan(t, Bounds{Clients: 2, TTL: ttl}, func(c *Client) {
		rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Addr(1)}, Dialer: c.Dial})
		defer rdb.Close()
		rdb.SetNX(c.Context(), "k", "1", ttl)
	})
	if err != nil {
		t.Fatal(err)
	}
	settle(t)
	if err := p.alone(); err == nil || !strings.Contains(explain(err), "the command CLUSTER: there is no cluster") {
		t.Errorf("%v", err)
	}
}

// lineWith returns the line of this file that ends so.
func lineWith(t *testing.T, end string) string {
	t.Helper()
	text := racetest.Must(os.ReadFile("outside_test.go"))(t)
	n := slices.IndexFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.HasSuffix(line, end) })
	return fmt.Sprintf("outside_test.go:%d", n+1)
}
