package redisnode

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"locklab/reports/text"
)

// TestWatches has scripts for one server and its connections a, b and c: "connection:
// commands of one write -> replies", and "+d" for time that passes.
func TestWatches(t *testing.T) {
	for name, story := range map[string]string{
		"nobody has touched it": `
			a: SET k v -> OK
			a: WATCH k -> OK
			b: GET k -> "v"
			b: SET other w -> OK
			b: DEL none -> 0
			b: SETNX k w -> 0
			a: GET k -> "v"
			a: MULTI; DEL k; EXEC -> OK; QUEUED; [1]
			b: EXISTS k -> 0`,
		"another has written it": `
			a: SET k v -> OK
			a: WATCH k -> OK
			b: SET k w -> OK
			a: GET k -> "w"
			a: MULTI; DEL k; EXEC -> OK; QUEUED; (nil)
			a: GET k -> "w"
			a: MULTI; DEL k; EXEC -> OK; QUEUED; [1]`,
		"the same value is a write, too": `
			a: SET k v -> OK
			a: WATCH k -> OK
			b: SET k v -> OK
			a: MULTI; DEL k; EXEC -> OK; QUEUED; (nil)`,
		"what was undone is remembered": `
			a: WATCH k -> OK
			b: SETNX k v -> 1
			b: DEL k -> 1
			a: MULTI; SET k w; EXEC -> OK; QUEUED; (nil)`,
		"a lifetime is part of it": `
			a: SET k v PX 10000 -> OK
			a: WATCH k -> OK
			b: PEXPIRE k 10000 -> 1
			a: MULTI; DEL k; EXEC -> OK; QUEUED; (nil)`,
		"its time is over": `
			a: SET k v PX 10 -> OK
			a: WATCH k -> OK
			+11ms
			b: SET k w -> OK
			a: MULTI; DEL k; EXEC -> OK; QUEUED; (nil)
			a: GET k -> "w"`,
		"its time is over, and no more": `
			a: SET k v PX 10 -> OK
			a: WATCH k -> OK
			b: WATCH other -> OK
			+11ms
			a: MULTI; PING; EXEC -> OK; QUEUED; (nil)
			b: MULTI; PING; EXEC -> OK; QUEUED; [PONG]`,
		"all is flushed": `
			a: SET k v -> OK
			a: WATCH k none -> OK
			b: WATCH none -> OK
			c: FLUSHALL -> OK
			a: MULTI; PING; EXEC -> OK; QUEUED; (nil)
			b: MULTI; PING; EXEC -> OK; QUEUED; [PONG]`,
		"one's own write counts": `
			a: WATCH k -> OK
			a: SET k v -> OK
			a: MULTI; DEL k; EXEC -> OK; QUEUED; (nil)`,
		"a script's write counts": `
			a: WATCH k -> OK
			b: EVAL redis.call("set",KEYS[1],1) 1 k -> (nil)
			a: MULTI; DEL k; EXEC -> OK; QUEUED; (nil)`,
		"watches add up": `
			a: WATCH k -> OK
			a: WATCH l -> OK
			b: SET k v -> OK
			a: WATCH m -> OK
			a: MULTI; PING; EXEC -> OK; QUEUED; (nil)
			b: SET m v -> OK
			a: MULTI; PING; EXEC -> OK; QUEUED; [PONG]`,
		"UNWATCH, EXEC and DISCARD end them": `
			a: WATCH k; UNWATCH -> OK; OK
			b: SET k v -> OK
			a: MULTI; PING; EXEC -> OK; QUEUED; [PONG]
			a: WATCH k -> OK
			b: SET k w -> OK
			a: MULTI; PING; DISCARD -> OK; QUEUED; OK
			a: MULTI; PING; EXEC -> OK; QUEUED; [PONG]
			a: WATCH k -> OK
			a: UNWATCH; WATCH l -> OK; OK
			b: SET k x -> OK
			a: MULTI; PING; EXEC -> OK; QUEUED; [PONG]`,
		"each connection has its own": `
			a: WATCH k -> OK
			b: WATCH k -> OK
			a: MULTI; SET k a; EXEC -> OK; QUEUED; [OK]
			b: MULTI; SET k b; EXEC -> OK; QUEUED; (nil)
			c: GET k -> "a"`,
		"a command that is none spoils all": `
			a: WATCH k -> OK
			a: MULTI; SET k v; GET; EXEC -> OK; QUEUED; (error) ERR wrong number of arguments for 'get' command; (error) EXECABORT Transaction discarded because of previous errors.
			b: SET k w -> OK
			a: MULTI; GET k; EXEC -> OK; QUEUED; ["w"]`,
		"a command that fails spoils nothing": `
			a: SET k v -> OK
			a: MULTI; INCR k; SET k w; EXEC -> OK; QUEUED; QUEUED; [(error) ERR value is not an integer or out of range OK]
			a: GET k -> "w"`,
		"PTTL in a transaction": `
			a: SET k v PX 1000 -> OK
			+300ms
			a: WATCH k -> OK
			a: MULTI; PTTL k; PEXPIRE k 5000; EXEC -> OK; QUEUED; QUEUED; [700 1]
			+300ms
			a: PTTL k -> 4700`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.play(story, func(line string) {
				said, want, _ := strings.Cut(line, " -> ")
				conn, said, _ := strings.Cut(said, ": ")
				var commands [][]string
				for command := range strings.SplitSeq(said, "; ") {
					commands = append(commands, strings.Fields(command))
				}
				if got := ReplyText(s.batch(conn, commands...)); got != want {
					t.Errorf("at %v: %s: %s\ngot  %s\nwant %s", s.now, conn, said, got, want)
				}
			})
			if left := s.table.keyspaces.At(s.data.keyspace).conns; len(left) > 0 {
				t.Errorf("at the end there are still watches: %+v", left)
			}
		})
	}
}

// TestUnfitTransactions: a transaction that would outlast its write, or differ from
// Redis, is refused with the reason; it is not executed, and later commands work.
func TestUnfitTransactions(t *testing.T) {
	s := newServer(t)
	s.do("SET k v")
	for line, why := range map[string]string{
		"MULTI":                         "MULTI without an EXEC in the same write",
		"MULTI; SET k w":                "MULTI without an EXEC in the same write",
		"EXEC":                          "EXEC without a MULTI in the same write",
		"DISCARD":                       "DISCARD without a MULTI in the same write",
		"MULTI; MULTI; EXEC":            "MULTI between MULTI and EXEC",
		"MULTI; WATCH k; EXEC":          "WATCH between MULTI and EXEC",
		"MULTI; SET k w; UNWATCH; EXEC": "UNWATCH between MULTI and EXEC",
		"MULTI; SET k w IFEQ v; EXEC":   "a comparison with IFEQ between MULTI and EXEC",
		"MULTI; DELIFEQ k v; EXEC":      "a comparison with IFEQ between MULTI and EXEC",
		"MULTI; SELECT 1; EXEC":         "the command SELECT",
		"SET k w; multi":                "MULTI without an EXEC in the same write",
	} {
		var commands [][]string
		for command := range strings.SplitSeq(line, "; ") {
			commands = append(commands, strings.Fields(command))
		}
		before := s.data
		_, err := s.tryBatch("", commands...)
		if err == nil || !strings.Contains(text.SayError("en", err), "cannot carry "+why+":") {
			t.Errorf("%s: %v, want the reason %q", line, err, why)
		}
		if s.data != before {
			t.Errorf("%s was refused and changed the data", line)
		}
		if got := s.do("GET k"); got != `"v"` {
			t.Errorf("after %s, GET k is %s", line, got)
		}
	}
}

// TestRealWatches: two connections watch, write and transact at random, on our server and
// on a real one.
func TestRealWatches(t *testing.T) {
	sim := newServer(t)
	first := startRedis(t)
	real := map[string]*realRedis{"a": first, "b": first.another()}
	failed, done := 0, 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 13))
		sim.data = Data{}
		for _, r := range real {
			r.raw("UNWATCH")
			r.raw("FLUSHALL")
		}
		first.raw("SCRIPT", "FLUSH")
		v := vocabulary{rng}
		for i := range 60 {
			conn, write := pick(rng, "a", "b"), [][]string{lockCommand(rng)}
			switch rng.IntN(7) {
			case 0, 1:
				write = [][]string{{"WATCH", pick(rng, "lock", "other", "a"), pick(rng, "lock", "b", "c")}}
			case 2:
				if slices.ContainsFunc(write[0], func(arg string) bool { return arg == "0" || arg == "-1" || arg == "x" || arg == "NOSUCH" }) {
					break // see TestKnownDifferences
				}
				write = [][]string{{"MULTI"}, write[0], {"DEL", "lock"}, {"EXEC"}}
			case 3:
				write = [][]string{{"MULTI"}, {"PING"}, {"EXEC"}}
			case 4:
				write = [][]string{keyCommand(v)}
			}
			if rng.IntN(30) == 0 {
				write = [][]string{{"UNWATCH"}}
			}
			got, want := sim.batch(conn, write...), real[conn].batch(write...)
			if !sameReplies(write, got, want) {
				t.Fatalf("seed %d, write %d on %s, %q:\nthe lab says  %s\nRedis says    %s", seed, i, conn, write, ReplyText(got), ReplyText(want))
			}
			if len(write) > 1 && strings.HasSuffix(got, "*-1\r\n") {
				failed++
			} else if len(write) > 1 {
				done++
			}
			for _, cmd := range write {
				if cmd[0] == "EVAL" { // see TestKnownDifferences
					sim.raw("SCRIPT", "LOAD", cmd[1])
					first.raw("SCRIPT", "LOAD", cmd[1])
				}
			}
		}
	}
	if failed < 100 || done < 100 {
		t.Errorf("%d transactions failed, %d did not: the draw shows nothing", failed, done)
	}
}

// keyCommand is a command on keys of every type on which a miniredis and a Redis
// agree, and which no real time ends.
func keyCommand(v vocabulary) []string {
	for {
		c := v.command()
		switch c[0] {
		case "TTL", "PTTL", "SMEMBERS", "HGETALL", "ZSCORE", "ZRANGE", "ZADD", "EVAL", "EVALSHA", "SCRIPT", "DELIFEQ", "COPY", "GETEX", "DBSIZE", "LREM", "SREM", "EXPIRE", "PEXPIRE":
		default:
			if c[0] != "SET" || len(c) == 3 {
				return c
			}
		}
	}
}

// sameReplies is sameReply for the last reply of a write, and for one that is
// the replies of a transaction.
func sameReplies(write [][]string, got, want string) bool {
	if len(write) == 1 {
		return sameReply(got, want)
	}
	if strings.HasSuffix(got, "*-1\r\n") != strings.HasSuffix(want, "*-1\r\n") {
		return false
	}
	return strings.Count(got, "\n-") == strings.Count(want, "\n-")
}
