package locktest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// shared is set by each execution, and used by others.
var shared *redis.Client

// TestOutside: code that keeps in a variable of its package what an execution has made is named with the line that uses it. The runtime
// would end the program there.
func TestOutside(t *testing.T) {
	code := func(c *Client) {
		shared = dial(c)
		if ok, err := shared.SetNX(c.Context(), "k", "1", ttl).Result(); err != nil || !ok {
			return
		}
		c.Critical(work)
		shared.Del(c.Context(), "k") // that of another execution
	}
	if isApart() {
		answerApart(t, Bounds{Clients: 2, TTL: ttl}, code)
		return
	}
	err := tryApart(t, countCheck(t), code)
	if err == nil || !strings.Contains(say(err), lineWith(t, "// that of another execution")+" uses a connection pool") {
		t.Errorf("%v", err)
	}
}

// TestUndialed: code that does not dial the lab gets a message that says how to.
func TestUndialed(t *testing.T) {
	redis.SetLogger(&logging.VoidLogger{})                               // nobody listens there
	p, err := newPlan(t, Bounds{Clients: 2, TTL: ttl}, func(c *Client) { // instead
		rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
		defer rdb.Close()
		if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err == nil && ok {
			c.Critical(work)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	settle(t)
	if err := p.alone(); err == nil || !strings.Contains(say(err), "from "+lineWith(t, "// instead")+" on, has made no connection by c.Dial") {
		t.Errorf("%v", err)
	}
}

// lineWith returns the line of this file that ends so.
func lineWith(t *testing.T, end string) string {
	t.Helper()
	text, err := os.ReadFile("outside_test.go")
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(strings.Split(string(text), "\n"), func(line string) bool { return strings.HasSuffix(line, end) })
	return fmt.Sprintf("outside_test.go:%d", n+1)
}
