package redisnode

import "testing"

// TestInsight: what a script looks into is found however it comes there, and it is no look to compare a value, to pass
// it on, or to look into what is neither a token nor a counter.
func TestInsight(t *testing.T) {
	const token = firstArg
	for _, test := range []struct {
		source string
		want   origins
	}{
		{`return redis.call("INCR", "n") % 13 == 0`, counts},
		{`local function late(n) return n > 5000 end return late(redis.call("INCR", "n"))`, counts},
		{`local call = redis.call if call("INCR", "n") >= 5000 then return 1 end`, contents | counts},
		{`local t = {} t.n = redis.call("INCR", "n") for _, v in pairs(t) do if v - 5 == 0 then end end`, counts},
		{`local t = {} table.insert(t, redis.call("HGET", "h", "f")) return -t[1]`, contents | counts},
		{`for i = 1, redis.call("INCR", "n") do end`, counts},
		{`local t = ARGV[1] return t:sub(-2) == "17"`, token},
		{`return string.sub(redis.sha1hex("x" .. ARGV[1]), 1, 3)`, contents | counts | token},
		{`return ARGV[1] > "c9"`, token},
		{`return #ARGV[1]`, token},
		{`return #KEYS[2]`, firstKey << 1},
		{`for _, v in ipairs(ARGV) do if string.find(v, "17$") then end end`, allArgs},
		{`local i = 1 return ARGV[i] + 1`, allArgs},
		{`return redis.call("STRLEN", KEYS[1])`, contents | counts | firstKey},
		{`return cjson.decode(redis.call("LINDEX", KEYS[1], 0))`, contents | counts},
		{`local f = "GET" if redis.call(f, KEYS[1]) > 5 then return 1 end`, contents | counts},
		{`local sub = string.sub return sub(ARGV[1], -2) == "17"`, token},
		{`local r = redis return r.call("INCR", "n") % 13 == 0`, contents | counts},
		{`return pcall(function(n) return n > 5 end, redis.call("INCR", "n"))`, counts},
		{`local t = {redis.call("INCR", "n"), 5} table.sort(t, function(a, b) return a < b end)`, counts},
		{`local f = function(n) return 1 end f = math.floor return f(ARGV[1])`, token},
		{`return redis.call("INCR", "n") == 2 ^ 12`, counts},
		{`return loadstring("return " .. ARGV[1])()`, contents | counts | token},

		{`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end`, 0},
		{`local function own(t) return redis.call("GET", KEYS[1]) == t end if own(ARGV[1]) then end`, 0},
		{`return redis.call("INCR", "n") == 4096`, 0},
		{`return redis.call("SET", "p:" .. ARGV[1], redis.call("INCR", "n"), "PX", ARGV[2])`, 0},
		{`if redis.call("EXISTS", KEYS[1]) > 0 or redis.call("PTTL", KEYS[1]) < 5 then end`, 0},
		{`if redis.call("HINCRBY", KEYS[1], ARGV[1], -1) > 0 then return #ARGV + #KEYS end`, 0},
		{`local ms = tonumber(ARGV[2]) / 1000 return ms`, token << 1},
		{`this is no script`, 0},
	} {
		source, want := test.source, test.want
		if got := insightOf(source).into; got != want {
			t.Errorf("%s: looks into %b, want %b", source, got, want)
		}
	}
}

// FuzzInsight: whatever a script is, it can be read, and what is added to it takes no look away.
func FuzzInsight(f *testing.F) {
	f.Add(`local t = {} table.insert(t, redis.call("GET", KEYS[1])) return t[1] % 2`)
	f.Add(`local function f(...) return select(2, ...) end table.concat() redis.call() return f(ARGV[1], #ARGV)`)
	f.Fuzz(func(t *testing.T, source string) {
		into := insightOf(source).into
		if more := insightOf(source + "\n").into; more != into {
			t.Errorf("%q looks into %b, and with a line more into %b", source, into, more)
		}
	})
}
