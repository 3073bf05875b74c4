package redisnode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/simulator/intern"
)

// refused checks that commands of one write are refused with words, that nothing has changed, and that the server works
// on.
func (s *bareServer) refused(words string, commands ...[]string) error {
	s.t.Helper()
	before := s.data
	_, err := s.tryBatch("", commands...)
	if err == nil || !strings.Contains(text.SayError("en", err), words) {
		s.t.Errorf("%q: %v, want a refusal with %q", commands, err, words)
	}
	if s.data != before {
		s.t.Errorf("%q was refused and changed the data", commands)
	}
	if got := s.do("GET k"); got != `"v"` {
		s.t.Errorf("after %q, GET k is %s", commands, got)
	}
	return err
}

// limited is refused by a limit, which names what.
func (s *bareServer) limited(what string, commands ...[]string) {
	s.t.Helper()
	if err := s.refused(what+" ", commands...); !errors.As(err, new(*intern.LimitError)) {
		s.t.Errorf("%q: %v is no limit", commands, err)
	}
}

// TestOrderIsRefused: an answer whose elements a Redis gives in no determined order is refused
// by the name of the command, also in a script; an answer with one element is not.
func TestOrderIsRefused(t *testing.T) {
	for _, line := range []string{
		"KEYS one -> [\"one\"]", "KEYS *", "SCAN 0 MATCH one -> [\"0\" [\"one\"]]", "SCAN 0",
		"HKEYS one -> [\"f\"]", "HKEYS two", "HVALS one -> [\"1\"]", "HVALS two", "HGETALL one -> [\"f\" \"1\"]",
		"HGETALL two",
		"HSCAN one 0 -> [\"0\" [\"f\" \"1\"]]", "HSCAN two 0",
		"SMEMBERS set1 -> [\"a\"]", "SMEMBERS set2", "SSCAN set1 0 -> [\"0\" [\"a\"]]", "SSCAN set2 0",
		"SUNION set1 set1 -> [\"a\"]", "SUNION set1 set2", "SINTER set1 set2 -> [\"a\"]", "SINTER set2 set2",
		"SDIFF set2 set1 -> [\"b\"]", "SDIFF set2 none",
		"ZSCAN zset1 0 -> [\"0\" [\"a\" \"1\"]]", "ZSCAN zset2 0", "HGETALL none -> []",
	} {
		s := newServer(t)
		for _, args := range []string{"SET k v", "HSET one f 1", "HSET two f 1 g 2", "SADD set1 a", "SADD set2 a b",
			"ZADD zset1 1 a", "ZADD zset2 1 a 2 b"} {
			s.do(args)
		}
		call, want, answered := strings.Cut(line, " -> ")
		args := strings.Fields(call)
		inScript := slices.Concat([]string{"EVAL", "local m = redis.pcall(unpack(ARGV)) return m", "0"}, args)
		if !answered {
			s.limited(args[0], args)
			s.limited(args[0], inScript)
			s.limited(args[0], []string{"SET", "other", "x"}, inScript)
			continue
		}
		for _, args := range [][]string{args, inScript} {
			if got := ReplyText(s.raw(args...)); got != want {
				t.Errorf("%q: %s, want %s", args, got, want)
			}
		}
		s.limited(args[0], []string{"MULTI"}, args, []string{"EXEC"}) // it is not known how many there will be
	}
}

// TestChanceIsRefused: commands that choose by chance are refused by name; so is what a script
// finds in its environment that neither data nor arguments determine, by whatever name the
// script has for it, and although it catches errors.
func TestChanceIsRefused(t *testing.T) {
	s := newServer(t)
	s.do("SET k v")
	for cmd := range commandTraits {
		if !is(cmd, random) {
			continue
		}
		s.limited(cmd, []string{strings.ToLower(cmd), "k"})
		s.limited(cmd, []string{"EVAL", `return redis.pcall(ARGV[1], "k")`, "0", cmd})
	}
	for what, scripts := range map[string][]string{
		"math.random": {
			"return math.random(6)", "local m = math; return m.random()",
			`local r = _G["math"]["ran" .. "dom"] return r(2)`,
			"local ok = pcall(math.random) return 1", `return loadstring("return math." .. "random(6)")()`,
			"return coroutine.wrap(function() return math.random(9) end)()", "return getfenv(1).math.random(6)",
		},
		"math.randomseed": {"math.randomseed(1) return 1"},
		"os.clock":        {"return os.clock()", "local o = os return o.clock()"},
		"collectgarbage":  {`return collectgarbage("count")`},
		"tostring": {"return tostring({})", "return tostring(redis.call)",
			`return redis.call("SET", "k", tostring(KEYS))`},
		"string.format": {`return string.format("%s", {})`, `return ("%s"):format({})`},
		"error":         {"error({})"},
		"pairs": {
			`for f in pairs({a = 1, b = 2}) do return f end`,
			`for f, v in pairs(cjson.decode('{"a": 1, "b": 2}')) do return f end`,
		},
		"next": {"return (next({a = 1, b = 2}))"},
	} {
		for _, script := range scripts {
			s.limited(what, []string{"EVAL", script, "0"})
			s.limited(what, []string{"EVAL_RO", script, "0"})
			if got := s.do("SCRIPT EXISTS " + scriptSHA(script)); got != "[0]" {
				t.Errorf("%s was refused and is cached: %s", script, got)
			}
			s.raw("SCRIPT", "LOAD", script) // loading executes nothing
			s.limited(what, []string{"EVALSHA", scriptSHA(script), "0"})
			s.do("SCRIPT FLUSH")
		}
	}
}

// TestConfinedScripts: what is left to a script answers as ever. Digests are those of the
// script that the client has sent, and an error names the line of that one.
func TestConfinedScripts(t *testing.T) {
	s := newServer(t)
	for script, want := range map[string]string{
		"return redis.sha1hex('')": `"da39a3ee5e6b4b0d3255bfef95601890afd80709"`,

		"return math.max(1, 2) + math.floor(2.5)":                                                 "4",
		`return "math.random"`:                                                                    `"math.random"`,
		"return tostring(12) .. tostring(nil) .. tostring(true)":                                  `"12niltrue"`,
		`return string.format("%s", "table: 0x1")`:                                                `"table: 0x1"`,
		"local s = '' for i, k in pairs(KEYS) do s = s .. i .. k end return s":                    `"1a2b"`,
		"local s = '' for f, v in pairs({1, 2, x = 3}) do s = s .. v end return s":                `"123"`,
		"local t = {'a'} local i, v = next(t) return {i, v, tostring(next(t, i))}":                `[1 "a" "nil"]`,
		"return redis.call('TIME')":                                                               `["1780000000" "0"]`,
		"return require == nil":                                                                   "(error) ",
		"return print('x')":                                                                       "(error) ",
		"\n\nreturn 1 + nil":                                                                      "user_script:3: ",
		"local t = setmetatable({}, {__tostring = function() return 'x' end}) return tostring(t)": `"x"`,
	} {
		if got := ReplyText(s.raw("EVAL", script, "2", "a", "b")); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
		if got := s.do("SCRIPT EXISTS " + scriptSHA(script)); got != "[1]" {
			t.Errorf("%s is not cached under its digest: %s", script, got)
		}
		if got := ReplyText(s.raw("SCRIPT", "LOAD", script)); got != `"`+scriptSHA(script)+`"` {
			t.Errorf("SCRIPT LOAD %s: %s", script, got)
		}
		if got := ReplyText(s.raw("EVALSHA", strings.ToUpper(scriptSHA(script)), "2", "a", "b")); !strings.Contains(got,
			want) {
			t.Errorf("%s by its digest: %s, want %s", script, got, want)
		}
	}
}
