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
	"locklab/simulator/child"
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
	effort.Unwatched(t, "executions that share a variable take turns")
	bounds := Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl}
	code := func(c *Client) {
		shared = dial(c)
		defer shared.Close()
		withShared(c)
	}
	Check(t, bounds, code, "OVERLAP STALE-WRITE ORPHAN")
	if child.IsAgain() {
		return
	}
	p, _ := prepare(t, bounds, withToken)
	turning := racetest.Must(newPlan(t, bounds, code))(t)
	turning.Turns = true
	ready(turning, nil)
	want := racetest.Must(p.search(t.Context()))(t)
	got, err := turning.search(t.Context())
	if err != nil {
		t.Fatal(explain(err))
	}
	if got.States != want.States || fmt.Sprint(got.Pars()) != fmt.Sprint(want.Pars()) {
		t.Errorf("%d states and %v, and with a variable of its own %d and %v", got.States, got.Pars(), want.States,
			want.Pars())
	}
}

// TestOutside: code that uses what another execution has made is named with the line that does so, since the runtime
// would end the program there. Code that gives its library a name in place of an address is told so, although that has
// no line in the stack of the runtime.
func TestOutside(t *testing.T) {
	for name, test := range map[string]struct {
		code func(c *Client)
		want string
	}{
		"a client": {func(c *Client) {
			if shared == nil {
				shared = dial(c)
			}
			withShared(c)
		}, lineWith(t, "// that of another execution") + " uses a connection pool"},
		"a name": {func(c *Client) {
			rdb := redis.NewClient(&redis.Options{Addr: "localhost:1"})
			defer rdb.Close()
			rdb.SetNX(c.Context(), "k", "1", ttl)
		}, "looks up a host by its name"},
	} {
		t.Run(name, func(t *testing.T) {
			if child.IsAgain() {
				answerApart(t, Bounds{Clients: 2, TTL: ttl}, test.code)
				return
			}
			err := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl}, test.code))(t).tryApart(countCheck(t))
			if err == nil || !strings.Contains(say(err), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestUndialed: code that does not dial the lab gets a message that says how to, whatever has come of that; and so
// does a client of a cluster.
func TestUndialed(t *testing.T) {
	redis.SetLogger(&logging.VoidLogger{})
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	instead := func(c *Client, options redis.Options) {
		if options.Addr = c.Addr(1); !strings.HasSuffix(options.Addr, ":0") {
			t.Errorf("at %s a real server may listen", options.Addr)
		}
		rdb := redis.NewClient(&options)
		defer rdb.Close()
		if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err == nil && ok {
			c.Critical(work)
		}
	}
	undialed := func(end string) string { return "from " + lineWith(t, end) + " on, has made no connection by c.Dial" }
	for name, test := range map[string]struct {
		code func(c *Client)
		want string
	}{
		"it gives up": {func(c *Client) { // gives up
			instead(c, redis.Options{MaxRetries: -1})
		}, undialed("// gives up")},
		"it tries again": {func(c *Client) { // tries again
			instead(c, redis.Options{})
		}, undialed("// tries again")},
		"it waits for an answer": {func(*Client) { // waits for an answer
			wait(silent.Addr().String())
		}, undialed("// waits for an answer")},
		"a cluster": {func(c *Client) {
			rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Addr(1)}, Dialer: c.Dial})
			defer rdb.Close()
			rdb.SetNX(c.Context(), "k", "1", ttl)
		}, "the command CLUSTER: there is no cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			p := racetest.Must(newPlan(t, Bounds{Clients: 2, TTL: ttl}, test.code))(t)
			settle(t)
			if err := p.alone(); err == nil || !strings.Contains(explain(err), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestShows: the code of the user's packages is shown, and neither the lab's, nor Go's, nor a library's.
func TestShows(t *testing.T) {
	r := &runner{folder: "/shop/locktest"}
	for _, of := range []struct {
		function, file string
		want           bool
	}{
		{"example.com/locktest.TestLock.func1", "/shop/locktest/mylock_test.go", true},
		{"example.com/shop/dlock.(*Lock).Acquire", "/shop/dlock/dlock.go", true},
		{"example.com/shop/vendor/a.F", "/shop/vendor/a/a.go", false},
		{"github.com/redis/go-redis/v9.cmdable.SetNX",
			"/go/pkg/mod/github.com/redis/go-redis/v9@v9.22.0/string.go", false},
		{"testing.tRunner", goRoot() + "testing/testing.go", false},
		{"locklab/simulator/bubble.(*Handle).Ask", "/locklab/simulator/bubble/handle.go", false},
	} {
		if is := r.shows(of.function, of.file); is != of.want {
			t.Errorf("%s in %s is shown: %t", of.function, of.file, is)
		}
	}
	if _, err := os.Stat(goRoot() + "runtime"); err != nil {
		t.Error(err)
	}
}

// wait waits for an answer of a server that has none.
func wait(addr string) {
	if conn, err := net.Dial("tcp", addr); err == nil {
		defer conn.Close()
		conn.Read(make([]byte, 1))
	}
}

// lineWith returns the line of this file that ends so.
func lineWith(t *testing.T, end string) string {
	t.Helper()
	text := racetest.Must(os.ReadFile("outside_test.go"))(t)
	n := slices.IndexFunc(strings.Split(string(text), "\n"),
		func(line string) bool { return strings.HasSuffix(line, end) })
	return fmt.Sprintf("outside_test.go:%d", n+1)
}

// TestREADMEExample: the test that the README prints is one of those of libraries, which are built and run.
func TestREADMEExample(t *testing.T) {
	example := string(racetest.Must(os.ReadFile("libraries/readme_test.go"))(t))
	printed := strings.Replace(example, "package libraries", "package mylock", 1)
	readme := string(racetest.Must(os.ReadFile("README.md"))(t))
	if !strings.Contains(readme, "```go\n"+printed+"```\n") {
		t.Error("README.md does not print libraries/readme_test.go")
	}
}
