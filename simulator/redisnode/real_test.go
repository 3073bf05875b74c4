package redisnode

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/simulator/realserver"
	"locklab/simulator/realserver/servertest"
)

// realRedis is a connection to a redis-server that lives as long as the test.
type realRedis struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	// heard is what a connection that listens has been told; see readUpTo.
	heard bytes.Buffer
}

// startRedis starts a redis-server without any memory on disk.
func startRedis(t *testing.T) *realRedis {
	t.Helper()
	return connectTo(t, servertest.Redis(t))
}

func connectTo(t *testing.T, addr string) *realRedis {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r := &realRedis{t: t, conn: conn, in: bufio.NewReader(conn)}
	r.raw("AUTH", realserver.Password)
	return r
}

// another opens one more connection to the same server.
func (r *realRedis) another() *realRedis { return connectTo(r.t, r.conn.RemoteAddr().String()) }

// raw is the answer to a command, as it goes over the wire.
func (r *realRedis) raw(args ...string) string {
	r.t.Helper()
	return r.batch(args)
}

// batch is the answers to commands that are sent in one write.
func (r *realRedis) batch(commands ...[]string) (replies string) {
	r.t.Helper()
	r.conn.SetDeadline(time.Now().Add(20 * time.Second))
	var out []byte
	for _, args := range commands {
		out = append(out, wire(args)...)
	}
	if _, err := r.conn.Write(out); err != nil {
		r.t.Fatal(err)
	}
	for range commands {
		replies += r.reply(commands)
	}
	return replies
}

func (r *realRedis) reply(commands [][]string) string {
	r.t.Helper()
	var resp strings.Builder
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			r.t.Fatalf("%q: %v", commands, err)
		}
		resp.WriteByte(b)
		if b != '\n' {
			continue
		}
		if n, err := frame(resp.String()); err == nil && n == resp.Len() {
			return resp.String()
		}
	}
}

func pick(rng *rand.Rand, words ...string) string { return words[rng.IntN(len(words))] }

// ttlClass is all that can be compared of a TTL while time passes on one side only.
func ttlClass(pttl string) string {
	switch {
	case pttl == ":-2\r\n":
		return "missing"
	case pttl == ":-1\r\n":
		return "none"
	case strings.HasPrefix(pttl, ":-"):
		return "negative"
	}
	return "some"
}

// sameReply compares replies; of an error only the code by which clients recognise it.
func sameReply(got, want string) bool {
	if isError(got) && isError(want) {
		got, _, _ = strings.Cut(got, " ")
		want, _, _ = strings.Cut(want, " ")
	}
	return got == want
}

// TestScriptErrors: a script that fails answers word for word as in Redis, and is cached.
func TestScriptErrors(t *testing.T) {
	real, sim := startRedis(t), newServer(t)
	for _, script := range []string{
		`return redis.call("incr", KEYS[1])`, "local a = 1\nreturn redis.call('pexpire', KEYS[1], 'x')", `error("x y")`,
		`return {err="MY thing"}`,
		`return redis.error_reply("MY thing")`,
		`if redis.call("get", "none") then return 1 end redis.call("get", KEYS[1])`,
	} {
		for _, cmd := range [][]string{{"HSET", "k", "f", "v"}, {"EVAL", script, "1", "k"},
			{"EVALSHA", scriptSHA(script), "1", "k"}, {"SCRIPT", "EXISTS", scriptSHA(script)}} {
			if got, want := sim.raw(cmd...), real.raw(cmd...); got != want {
				t.Errorf("%q: the lab says %q, Redis %q", cmd, got, want)
			}
		}
	}
}

// TestRealIfEqual compares the comparing commands, which the real server does not have,
// with scripts that do the same.
func TestRealIfEqual(t *testing.T) {
	const (
		get    = `local was = redis.call("get", KEYS[1]); `
		del    = get + `if was == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
		delNot = get + `if was and was ~= ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
		set    = get + `if was == ARGV[1] then return redis.call("set", KEYS[1], unpack(ARGV, 2)) end return nil`
		setGet = get + `if was == ARGV[1] then redis.call("set", KEYS[1], unpack(ARGV, 2)) end return was`
		nested = `return redis.call("set", KEYS[1], ARGV[2], "IFEQ", ARGV[1]) and ` +
			`redis.call("delifeq", KEYS[1], ARGV[2])`
		both = get + `if was ~= ARGV[1] then return false end redis.call("del", KEYS[1]); return 1`
	)
	real, sim := startRedis(t), newServer(t)
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 12))
		sim.data = Data{}
		real.raw("FLUSHALL")
		for i := range 60 {
			key, value, is := pick(rng, "lock", "other"), pick(rng, "c1.1", "c2.1", ""), pick(rng, "c1.1", "c2.1", "")
			ms := strconv.Itoa(10_000_000 * (1 + rng.IntN(3)))
			same := func(cmd ...string) [2][]string { return [2][]string{cmd, cmd} }
			eval := func(script string, args ...string) []string {
				return append([]string{"EVAL", script, "1", key, is}, args...)
			}
			all := [][2][]string{
				same("SET", key, value, "NX", "PX", ms), same("SET", key, value), same("GET", key), same("DEL", key),
				same("HSET", key, "f", "v"),
				{{"DELIFEQ", key, is}, eval(del)}, {{"DELEX", key, "IFEQ", is}, eval(del)},
				{{"DELEX", key, "IFNE", is}, eval(delNot)},
				{{"SET", key, value, "IFEQ", is}, eval(set, value)},
				{{"SET", key, value, "IFEQ", is, "PX", ms}, eval(set, value, "PX", ms)},
				{{"SET", key, value, "KEEPTTL", "IFEQ", is}, eval(set, value, "KEEPTTL")},
				{{"SET", key, value, "PX", ms, "GET", "IFEQ", is}, eval(setGet, value, "PX", ms)},
				{eval(nested, value), eval(both)},
			}
			cmd := all[rng.IntN(len(all))]
			got, want := sim.raw(cmd[0]...), real.raw(cmd[1]...)
			if got != want && !(isError(got) && isError(want)) {
				t.Fatalf("seed %d, command %d, %q:\nthe lab says  %s\nRedis says    %s to %q",
					seed, i, cmd[0], ReplyText(got), ReplyText(want), cmd[1])
			}
			for _, key := range []string{"lock", "other"} {
				if got, want := ttlClass(sim.raw("PTTL", key)), ttlClass(real.raw("PTTL", key)); got != want {
					t.Fatalf("seed %d, command %d, after %q the lifetime of %s is %q, in Redis %q",
						seed, i, cmd[0], key, got, want)
				}
			}
		}
	}
}

// TestReadsAgainstRedis: the commands that a server with too few replicas still executes
// are those that Redis does not list as writes.
func TestReadsAgainstRedis(t *testing.T) {
	real := startRedis(t)
	for name := range commandTraits {
		if !is(name, reads|blind|looks) || name == "DELIFEQ" || name == "DELEX" { // of later servers
			continue
		}
		info := real.raw("COMMAND", "INFO", name)
		if strings.Contains(info, "$-1") || info == "*1\r\n*-1\r\n" {
			t.Errorf("Redis does not know %s", name)
		} else if is(name, reads) == strings.Contains(info, "+write\r\n") {
			t.Errorf("%s is a read: %v, and Redis says %q", name, is(name, reads), info)
		}
	}
	real.raw("CONFIG", "SET", "min-replicas-to-write", "1")
	want := real.raw("SET", "k", "v")
	sim := newServer(t)
	id, err := sim.table.internBatch(connRef{}, wire([]string{"SET", "k", "v"}))
	if err != nil {
		t.Fatal(err)
	}
	eff, err := sim.table.apply(&sim.data, 0, id|refuseWrites)
	if err != nil || sim.table.replies.At(eff.Reply).resp != want {
		t.Errorf("the lab says %q, %v, Redis %q", sim.table.replies.At(eff.Reply).resp, err, want)
	}
}

// TestKnownDifferences pins where a miniredis, and so the simulator, replies differently
// from a Redis, apart from the texts of errors. The package doc lists them. If one of
// these fails, miniredis or Redis has changed: remove it in both places.
func TestKnownDifferences(t *testing.T) {
	real, sim := startRedis(t), newServer(t)
	for _, test := range []struct {
		what      string
		before    []string
		cmd       string // of one write
		sim, real string // how the replies begin
	}{
		{"TTL is rounded down", []string{"SET k v PX 10999"}, "TTL k", ":10\r\n", ":11\r\n"},
		{"a lifetime of more than 292 years is none", []string{"SET k v", "PEXPIRE k 9223372036855"},
			"EXISTS k", ":0\r\n", ":1\r\n"},
		{"a transaction executes in spite of a command that nobody knows", nil, "MULTI; NOSUCH; EXEC",
			"+OK\r\n-ERR unknown command `NOSUCH`, with args beginning with: \r\n*0\r\n",
			"+OK\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n-EXECABORT"},
		{"a number that is none fails when it is queued, not when it is executed", nil, "MULTI; PEXPIRE k x; EXEC",
			"+OK\r\n-ERR value is not an integer or out of range\r\n-EXECABORT",
			"+OK\r\n+QUEUED\r\n*1\r\n-ERR value is not an integer"},
		{"LREM and SREM that find nothing count as writes", []string{"SADD k a"}, "WATCH k; SREM k b; MULTI; EXEC",
			"+OK\r\n:0\r\n+OK\r\n*-1\r\n", "+OK\r\n:0\r\n+OK\r\n*0\r\n"},
	} {
		sim.data = Data{}
		for _, line := range append([]string{"FLUSHALL", "SCRIPT FLUSH"}, test.before...) {
			cmd := strings.Fields(line)
			sim.raw(cmd...)
			real.raw(cmd...)
		}
		batch := commandsOf(test.cmd)
		if got := sim.batch("c1.1", batch...); !strings.HasPrefix(got, test.sim) {
			t.Errorf("%s: the lab says %q, want %q", test.what, got, test.sim)
		}
		if got := real.batch(batch...); !strings.HasPrefix(got, test.real) {
			t.Errorf("%s: Redis says %q, want %q", test.what, got, test.real)
		}
	}
}
