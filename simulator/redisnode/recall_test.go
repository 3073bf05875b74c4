package redisnode

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRecall: the effect of a script is computed on one server and remembered for all others, and it is the one on a
// server without any memory: also where it looks at lifetimes or the clock, fails, or changes what the server caches.
func TestRecall(t *testing.T) {
	scripts := map[string][]string{
		"sets": {`return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])`, "1", "k", "c1.1", "5000"},
		"counts": {`redis.call("HINCRBY", KEYS[1], ARGV[1], 1) return redis.call("PEXPIRE", KEYS[1], 3000)`,
			"1", "h", "c1"},
		"left":  {`return redis.call("PTTL", KEYS[1])`, "1", "k"},
		"clock": {`return redis.call("TIME")`, "0"},
		"line":  {`redis.call("ZADD", KEYS[1], 2, "b", 1, "a") return redis.call("ZRANGE", KEYS[1], 0, -1)`, "1", "z"},
		"fails": {`redis.call("SET", "k", "x") return redis.call("INCR", KEYS[1])`, "1", "h"},
		"deletes": {`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`, "1",
			"k", "c1.1"},
	}
	play := func(s *bareServer) (said string, ran int) {
		for range 3 {
			for _, name := range []string{"left", "sets", "left", "clock", "counts", "line", "fails", "deletes", "sets",
				"deletes"} {
				said += fmt.Sprintf("%s: %q\n", name, s.raw(append([]string{"EVAL"}, scripts[name]...)...))
				if s.table.engine.ran {
					ran++
				}
				for _, line := range []string{"GET k", "PTTL h", "HGETALL h", "ZRANGE z 0 -1", "EVALSHA " +
					scriptSHA(scripts[name][0]) + " 0"} {
					said += s.do(line) + "\n"
				}
				s.pass(700 * time.Millisecond)
			}
			said += s.do("SCRIPT FLUSH")
		}
		return said, ran
	}
	twin := newServer(t)
	twin.table.memo.Plain = true
	want, _ := play(twin)
	first, _ := play(newServer(t))
	again, ran := play(newServer(t))
	if first != want || again != want {
		t.Errorf("without memory:\n%s\nat first:\n%s\nand again:\n%s", want, first, again)
	}
	if ran > 0 || !strings.Contains(want, "fails: \"-") {
		t.Errorf("%d scripts ran again: %s", ran, want)
	}
}
