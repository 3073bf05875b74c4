package redisnode

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"locklab/simulator/effort"
	"locklab/simulator/internal/clock"
)

// commandForms are the forms of all requests that a lock of the list sends to a Redis; a test of
// package reality compares them with what the locks send.
//
//go:embed testdata/commands.json
var commandForms []byte

// A program is requests, each on one of three connections.
type program []programStep

type programStep struct {
	conn  int
	batch [][]string
}

func (p programStep) String() string { return fmt.Sprintf("connection %d: %q", p.conn+1, p.batch) }

// differentialKeys are those of the locks, so that the keys of each are in the way of others.
var differentialKeys = []string{"lock", "other", "lock:fence", "lock:queue", "lock:queue:c1.1", "lock:queue:c2.1"}

// differentialValues are those that programs give to keys, and the fields of hashes.
var differentialValues = []string{"c1.1", "c2.1", "c1:1", "c2:1", "1", "1400241600000"}

// programs makes programs of the forms. Lifetimes are hours, so that a slow machine ends none; or
// they are over at once.
func programs(t *testing.T) *rapid.Generator[program] {
	t.Helper()
	var forms [][][]string
	if err := json.Unmarshal(commandForms, &forms); err != nil {
		t.Fatal(err)
	}
	forms = slices.DeleteFunc(forms, func(f [][]string) bool {
		switch strings.ToUpper(f[0][0]) {
		case "WAIT", "SUBSCRIBE", "UNSUBSCRIBE", "DELEX", "DELIFEQ": // TestRealWait, TestRealPubSub, TestRealIfEqual
			return true
		}
		return slices.Contains(f[0], "IFEQ")
	})
	// What they are on makes more of the same: another client's cleaning up, and looking.
	for _, c := range []string{"pttl lock", "persist lock", "exists lock", "del lock:queue", "hget lock c1:1",
		"set lock <value>", "hset lock c1:1 1", "rpush lock:queue c1.1", "script flush", "flushall",
		"pexpire lock 0", "expire lock -1", "set lock <value> PX 0", "incr lock",
		"publish redisson_lock__channel:{lock} 0", "get lock extra", "nosuch lock"} {
		forms = append(forms, [][]string{strings.Fields(c)})
	}
	for _, line := range []string{"watch lock lock:queue", "multi; incr lock:fence; set lock <value>; exec",
		"multi; set lock <value>; discard", "unwatch; watch other"} {
		forms = append(forms, commandsOf(line))
	}
	for _, f := range slices.Clone(forms) { // rare otherwise: all of it on one connection, with a write between
		if f[0][0] == "watch" || f[0][0] == "multi" {
			forms = append(forms, f, f, f, f)
		}
	}
	values := rapid.SampledFrom(differentialValues)
	waiters := rapid.SampledFrom([]string{"c1.1", "c2.1"})
	hours := rapid.Custom(func(t *rapid.T) int { return 3600 * rapid.IntRange(3, 5).Draw(t, "hours") })
	step := rapid.Custom(func(t *rapid.T) programStep {
		s := programStep{conn: rapid.IntRange(0, 2).Draw(t, "connection")}
		otherKey := rapid.IntRange(0, 5).Draw(t, "key") == 0
		for _, c := range rapid.SampledFrom(forms).Draw(t, "form") {
			c = slices.Clone(c)
			for i := 1; i < len(c); i++ {
				before := strings.ToUpper(c[i-1])
				switch {
				case before == "EX" || strings.EqualFold(c[0], "expire") && i == 2 && c[i] != "-1":
					c[i] = strconv.Itoa(hours.Draw(t, "seconds"))
				case before == "PXAT":
					c[i] = inFourHours
				case c[i] == "<ms>":
					c[i] = strconv.Itoa(1000 * hours.Draw(t, "milliseconds"))
				// two waiters: a server of the lab has room for four keys that expire
				case c[i] == "<value>" && before == "LOCK:QUEUE":
					c[i] = waiters.Draw(t, "waiter")
				case c[i] == "<value>":
					c[i] = values.Draw(t, "value")
				case c[i] == "lock" && otherKey:
					c[i] = "other"
				}
			}
			// The last argument of a script that leases is a length of time.
			if n := len(c) - 1; strings.EqualFold(c[0], "eval") && strings.Contains(c[1], "PEXPIRE") {
				for i := 3 + must(strconv.Atoi(c[2])); i <= n; i++ {
					if _, err := strconv.Atoi(c[i]); err == nil {
						c[i] = strconv.Itoa(1000 * hours.Draw(t, "lease"))
					}
				}
			}
			s.batch = append(s.batch, c)
		}
		return s
	})
	// In two levels it is long, and can be shrunk to one step.
	parts := rapid.SliceOfN(rapid.SliceOfN(step, 1, 20), 1, 20)
	return rapid.Custom(func(t *rapid.T) program { return slices.Concat(parts.Draw(t, "program")...) })
}

// inFourHours is in the place of a point in time, until the program is played.
const inFourHours = "<in four hours>"

func must(n int, err error) int {
	if err != nil {
		panic(err)
	}
	return n
}

// A contestant executes requests on three connections.
type contestant struct {
	ask func(conn int, batch ...[]string) string
}

// show is all that a contestant holds: the keys, their types, values and classes of lifetimes.
func (c contestant) show() string {
	var b strings.Builder
	for _, key := range differentialKeys {
		kind := strings.Trim(c.ask(0, []string{"TYPE", key}), "+\r\n")
		if kind == "none" {
			continue
		}
		read := map[string][]string{"string": {"GET", key},
			"hash": append([]string{"HMGET", key}, differentialValues...), "list": {"LRANGE", key, "0", "-1"}}[kind]
		if read == nil {
			return "a key of type " + kind
		}
		value := c.ask(0, read)
		if kind == "hash" { // whose fields have no order, so that the lab lists no more than one
			value += c.ask(0, []string{"HLEN", key})
		}
		fmt.Fprintf(&b, "%s %s %q, lifetime %q\n", key, kind, value, hours(c.ask(0, []string{"PTTL", key})))
	}
	return b.String()
}

// reset brings a contestant back to its beginning. DISCARD ends what a program has left between
// MULTI and EXEC, if anything.
func (c contestant) reset() {
	for i := range 3 {
		c.ask(i, []string{"UNWATCH"})
	}
	c.ask(0, []string{"FLUSHALL"})
	c.ask(0, []string{"SCRIPT", "FLUSH"})
}

// TestDifferential plays random programs of the requests that locks send on the lab's server and
// on a redis-server: replies (of errors the code), keys, values and classes of lifetimes agree after
// every step. A program that shows a difference is shrunk.
// What differs is in TestKnownDifferences; no program here meets it.
func TestDifferential(t *testing.T) {
	effort.Cases(t, 100, 600)
	first := startRedis(t)
	conns := []*realRedis{first, first.another(), first.another()}
	sim := newServer(t)
	lab := contestant{func(conn int, batch ...[]string) string {
		return sim.batch(connectionName(conn+1, 1, 0),
			batch...)
	}}
	real := contestant{func(conn int, batch ...[]string) string { return conns[conn].batch(batch...) }}
	met := map[string]int{} // so that tame programs fail
	rapid.Check(t, func(t *rapid.T) {
		p := programs(sim.t.(*testing.T)).Draw(t, "program")
		// Only SET with PXAT reads the clock; both go by the machine's.
		began := time.Now()
		sim.data, sim.now = Data{}, began.Sub(clock.Epoch)
		real.reset()
		for i, s := range p {
			for _, c := range s.batch {
				if at := slices.Index(c, inFourHours); at >= 0 {
					c[at] = strconv.FormatInt(began.Add(4*time.Hour).UnixMilli(), 10)
				}
			}
			want, state := real.ask(s.conn, s.batch...), real.show()
			for what, is := range map[string]bool{
				"WRONGTYPE": strings.HasPrefix(want, "-WRONGTYPE"), "NOSCRIPT": strings.HasPrefix(want, "-NOSCRIPT"),
				"EXEC that fails": len(s.batch) > 1 && strings.HasSuffix(want, "*-1\r\n"), "EXEC": len(s.batch) > 1 &&
					strings.HasSuffix(want, "*1\r\n:1\r\n"),
				"a script that does it": strings.HasPrefix(strings.ToLower(s.batch[0][0]), "eval") && want == ":1\r\n",
				"a queue":               strings.Contains(state, "lock:queue list"),
				"a fencing token":       strings.Contains(state, "lock:fence string"),
				"a hash that expires":   strings.Contains(state, "lock hash") && strings.Contains(state, "hours"),
			} {
				if is {
					met[what]++
				}
			}
			if got := lab.ask(s.conn, s.batch...); !sameAnswers(got, want) {
				t.Fatalf("step %d, %v:\nthe lab says %q\nRedis says %q", i+1, s, got, want)
			}
			if got := lab.show(); got != state {
				t.Fatalf("after step %d, %v:\nthe lab holds\n%sRedis holds\n%s", i+1, s, got, state)
			}
		}
	})
	for _, what := range []string{"WRONGTYPE", "NOSCRIPT", "EXEC that fails", "EXEC",
		"a script that does it", "a queue", "a fencing token", "a hash that expires"} {
		if met[what] < 3 && !t.Failed() {
			t.Errorf("%q was met %d times: the programs are too tame", what, met[what])
		}
	}
}

// sameAnswers compares the answers to a batch one by one, and lifetimes in hours.
func sameAnswers(got, want string) bool {
	for got != "" && want != "" {
		n, err := frame(got)
		m, err2 := frame(want)
		if err != nil || err2 != nil || !sameReply(hours(got[:n]), hours(want[:m])) {
			return false
		}
		got, want = got[n:], want[m:]
	}
	return got == want
}

var aLifetime = regexp.MustCompile(`:\d{7,8}\r\n`)

// hours has lifetimes in whole hours: while the programs play, none loses one.
func hours(reply string) string {
	return aLifetime.ReplaceAllStringFunc(reply, func(n string) string {
		ms, _ := strconv.Atoi(n[1 : len(n)-2])
		return fmt.Sprintf(":%d hours\r\n", (ms+3_599_999)/3_600_000)
	})
}
