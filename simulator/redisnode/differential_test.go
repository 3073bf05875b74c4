package redisnode

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
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
	for _, c := range []string{"pttl lock", "persist lock", "exists lock", "del lock:queue", "hget lock c1:1", "set lock <value>", "hset lock c1:1 1", "rpush lock:queue c1.1", "script flush", "flushall",
		"pexpire lock 0", "expire lock -1", "set lock <value> PX 0", "incr lock", "publish redisson_lock__channel:{lock} 0", "get lock extra", "nosuch lock"} {
		forms = append(forms, [][]string{strings.Fields(c)})
	}
	for _, line := range []string{"watch lock lock:queue", "multi; incr lock:fence; set lock <value>; exec", "multi; set lock <value>; discard", "unwatch; watch other"} {
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
				case c[i] == "<value>" && before == "LOCK:QUEUE": // two waiters: a server of the lab has room for four keys that expire
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
	name string
	ask  func(conn int, batch ...[]string) string
}

// miniContestant is a miniredis as it comes, on whose connections commands are dispatched.
func miniContestant(t *testing.T) contestant {
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil { // on loopback, as it comes; nobody dials it
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	var out bytes.Buffer
	var peers [3]*server.Peer
	for i := range peers {
		peers[i] = server.NewPeer(bufio.NewWriter(&out))
	}
	return contestant{"miniredis", func(conn int, batch ...[]string) string {
		out.Reset()
		for _, args := range batch {
			m.Server().Dispatch(peers[conn], args)
		}
		peers[conn].Flush()
		return out.String()
	}}
}

// show is all that a contestant holds: the keys, their types, values and classes of lifetimes.
func (c contestant) show() string {
	var b strings.Builder
	for _, key := range differentialKeys {
		kind := strings.Trim(c.ask(0, []string{"TYPE", key}), "+\r\n")
		if kind == "none" {
			continue
		}
		read := map[string][]string{"string": {"GET", key}, "hash": append([]string{"HMGET", key}, differentialValues...), "list": {"LRANGE", key, "0", "-1"}}[kind]
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

// TestDifferential plays random programs of the requests that locks send on the lab's server, on
// a miniredis as it comes, and on a redis-server: replies (of errors the code), keys, values and
// classes of lifetimes agree after every step. A program that shows a difference is shrunk.
// What differs is in TestKnownDifferences; no program here meets it.
func TestDifferential(t *testing.T) {
	effort.Unwatched(t, "one goroutine compares")
	effort.Cases(t, 100, 600)
	first := startRedis(t)
	conns := []*realRedis{first, first.another(), first.another()}
	sim := newServer(t)
	lab := contestant{"the lab", func(conn int, batch ...[]string) string { return sim.batch(connectionName(conn+1, 1), batch...) }}
	real := contestant{"redis-server", func(conn int, batch ...[]string) string { return conns[conn].batch(batch...) }}
	mini := miniContestant(t)
	met := map[string]int{} // so that tame programs fail
	rapid.Check(t, func(t *rapid.T) {
		p := programs(sim.t.(*testing.T)).Draw(t, "program")
		// Only SET with PXAT reads the clock; all three go by the machine's.
		began := time.Now()
		sim.data, sim.now = Data{}, began.Sub(clock.Epoch)
		real.reset()
		mini.reset()
		apart := false
		for i, s := range p {
			for _, c := range s.batch {
				if at := slices.Index(c, inFourHours); at >= 0 {
					c[at] = strconv.FormatInt(began.Add(4*time.Hour).UnixMilli(), 10)
				}
			}
			want, state := real.ask(s.conn, s.batch...), real.show()
			for what, is := range map[string]bool{
				"WRONGTYPE": strings.HasPrefix(want, "-WRONGTYPE"), "NOSCRIPT": strings.HasPrefix(want, "-NOSCRIPT"),
				"EXEC that fails": len(s.batch) > 1 && strings.HasSuffix(want, "*-1\r\n"), "EXEC": len(s.batch) > 1 && strings.HasSuffix(want, "*1\r\n:1\r\n"),
				"a script that does it": strings.HasPrefix(strings.ToLower(s.batch[0][0]), "eval") && want == ":1\r\n",
				"a queue":               strings.Contains(state, "lock:queue list"), "a fencing token": strings.Contains(state, "lock:fence string"), "a hash that expires": strings.Contains(state, "lock hash") && strings.Contains(state, "hours"),
			} {
				if is {
					met[what]++
				}
			}
			for _, c := range []contestant{lab, mini} {
				if c.name == mini.name && apart {
					continue
				}
				got := c.ask(s.conn, s.batch...)
				if c.name == mini.name && len(s.batch) > 1 && strings.HasSuffix(want, "*-1\r\n") && got != want {
					apart = true // see TestKnownOfMiniredis; from here on it holds something else
					continue
				}
				if !sameAnswers(got, want) && (c.name != mini.name || !knownOfMiniredis(got, want)) {
					t.Fatalf("step %d, %v:\n%s says %q\nRedis says %q", i+1, s, c.name, got, want)
				}
				if script := s.batch[0]; c.name == mini.name && strings.EqualFold(script[0], "eval") {
					c.ask(0, []string{"SCRIPT", "LOAD", script[1]}) // see TestKnownOfMiniredis
				}
				if got := c.show(); got != state {
					t.Fatalf("after step %d, %v:\n%s holds\n%sRedis holds\n%s", i+1, s, c.name, got, state)
				}
			}
		}
	})
	for _, what := range []string{"WRONGTYPE", "NOSCRIPT", "EXEC that fails", "EXEC", "a script that does it", "a queue", "a fencing token", "a hash that expires"} {
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

// knownOfMiniredis says whether a miniredis as it comes differs as TestKnownDifferences pins it: the
// lab's server mends that.
func knownOfMiniredis(got, want string) bool {
	return strings.HasPrefix(got, scriptErrorOfMiniredis) && isError(want)
}

var aLifetime = regexp.MustCompile(`:\d{7,8}\r\n`)

// hours has lifetimes in whole hours: while the programs play, none loses one.
func hours(reply string) string {
	return aLifetime.ReplaceAllStringFunc(reply, func(n string) string {
		ms, _ := strconv.Atoi(n[1 : len(n)-2])
		return fmt.Sprintf(":%d hours\r\n", (ms+3_599_999)/3_600_000)
	})
}

// scriptErrorOfMiniredis begins its answer where a command in a script fails.
const scriptErrorOfMiniredis = "-ERR Error compiling script (new function): "

// TestKnownOfMiniredis pins where a miniredis as it comes answers otherwise than a Redis to what locks
// send, and that the lab's server does not. What is left of it in the lab is in TestKnownDifferences.
func TestKnownOfMiniredis(t *testing.T) {
	first := startRedis(t)
	sim := newServer(t)
	real := contestant{"redis-server", func(_ int, batch ...[]string) string { return first.batch(batch...) }}
	lab := contestant{"the lab", func(conn int, batch ...[]string) string { return sim.batch(connectionName(conn+1, 1), batch...) }}
	mini := miniContestant(t)
	const script = `return redis.call("HEXISTS", KEYS[1], "f")`
	for _, test := range []struct {
		what, why  string
		before     [][]string
		cmd        [][]string
		mini, real string // how the answers begin
	}{
		{"the code of an error in a script", "miniredis passes it on in the words of its Lua; a lock that looks for WRONGTYPE would not find it",
			[][]string{{"SET", "k", "v"}}, [][]string{{"EVAL", script, "1", "k"}}, scriptErrorOfMiniredis, "-WRONGTYPE "},
		{"a script that fails is not cached", "miniredis caches what has run to its end; a lock that sends EVALSHA next would send EVAL again",
			[][]string{{"SET", "k", "v"}, {"EVAL", script, "1", "k"}, {"DEL", "k"}}, [][]string{{"EVALSHA", scriptSHA(script), "1", "k"}}, "-NOSCRIPT ", ":0\r\n"},
		{"a second WATCH forgets what has changed since the first", "miniredis keeps the version of the latest; a lock that watches twice would delete the lock of another",
			[][]string{{"WATCH", "k"}, {"SET", "k", "v"}, {"WATCH", "k"}}, [][]string{{"MULTI"}, {"DEL", "k"}, {"EXEC"}}, "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n", "+OK\r\n+QUEUED\r\n*-1\r\n"},
	} {
		sim.data = Data{}
		for _, c := range []contestant{real, mini, lab} {
			if c.name != lab.name {
				c.reset()
			}
			for _, cmd := range test.before {
				c.ask(0, cmd)
			}
			want := test.real
			if c.name == mini.name {
				want = test.mini
			}
			if got := c.ask(0, test.cmd...); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s says %q, want %q (%s)", test.what, c.name, got, want, test.why)
			}
		}
	}
}
