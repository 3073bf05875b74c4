package redisnode

import (
	"regexp"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/intern"
	"locklab/simulator/resp"
)

// What a server answers must be determined by its data and the command. Two things are not: the order of what has none
// (fields, members, keys), which a Redis takes from how it stores them, and a miniredis from their names; and what
// scripts find in Lua beside the data: dice, processor time, addresses, the order of a table. Where the first matters,
// and where a script uses the second, the run ends with a LimitError that names it.

// unordered are the commands whose answer is a set or a map: the number of words of an
// element of it. An answer with one element has an order, a longer one has not.
var unordered = map[string]int{
	"KEYS": 1, "SCAN": 1, "SMEMBERS": 1, "SSCAN": 1, "SINTER": 1, "SUNION": 1, "SDIFF": 1,
	"HKEYS": 1, "HVALS": 1, "HGETALL": 2, "HSCAN": 2, "ZSCAN": 2,
	"GEORADIUS": 1, "GEORADIUS_RO": 1, "GEORADIUSBYMEMBER": 1, "GEORADIUSBYMEMBER_RO": 1, "GEOSEARCH": 1,
}

// answerUnordered executes such a command for c, and refuses an answer that has no order.
func (e *engine) answerUnordered(c *server.Peer, cmd string, args []string) {
	e.ordering = true
	reply := e.within(c, append([]string{cmd}, args...)...)
	e.ordering = false
	if reply == queued {
		e.limit("limit.order.multi", "command", cmd)
		return
	}
	if words := elements(reply); words > unordered[cmd] {
		e.limit("limit.order", "command", cmd, "elements", words/unordered[cmd])
		return
	}
	c.WriteRaw(reply)
}

// elements returns the number of words of the array in an answer; in that of a SCAN it comes after the cursor.
func elements(reply string) int {
	values, _ := resp.All(reply)
	list, _ := only(values) // none: an error
	if len(list) == 2 {
		if scanned, ok := list[1].([]any); ok {
			return len(scanned)
		}
	}
	return len(list)
}

// queued is the answer to a command between MULTI and EXEC.
var queued = proto.Inline("QUEUED")

// byChance is the command by which confinement reports what a script uses.
const byChance = "\x00CHANCE"

// confinement stands before every script, on its first line, so that the lines of errors stay right. It takes from the
// script's environment what is not determined by the data and the arguments, whatever name the script has for it, and
// what a Redis does not have. Tables of which at most one key is no index from 1 have an order.
var confinement = strings.Join(strings.Fields(`
do
	local call, kind, text, form, find, each, after =
		redis.call, type, tostring, string.format, string.find, pairs, next
	local function refused(what) return function() call("\0CHANCE", what) end end
	math.random, math.randomseed = refused("math.random"), refused("math.randomseed")
	os.clock, collectgarbage = refused("os.clock"), refused("collectgarbage")
	local function address(v) return kind(v) ~= "string" and find(text(v), "^%a+: 0x") end
	tostring = function(v) if address(v) then call("\0CHANCE", "tostring") end return text(v) end
	string.format = function(...)
		for i = 1, select("#", ...) do if address((select(i, ...))) then call("\0CHANCE", "string.format") end end
		return form(...)
	end
	local function order(t, name)
		if kind(t) ~= "table" then return end
		local n, others = #t, 0
		for k in each(t) do
			if kind(k) ~= "number" or k < 1 or k > n or k % 1 ~= 0 then others = others + 1 end
			if others > 1 then call("\0CHANCE", name) end
		end
	end
	pairs = function(t) order(t, "pairs") return each(t) end
	next = function(t, k) order(t, "next") return after(t, k) end
	print, dofile, loadfile, require, module, package, newproxy, _printregs = nil
end`), " ") + " "

// confined is the same script with less in its environment.
func confined(source string) string { return confinement + source }

// confine has a command execute scripts confined, those as well that it names by the digest of one that has been seen.
func (e *engine) confine(args []string) []string {
	cmd := strings.ToUpper(args[0])
	if cmd != "SCRIPT" && !strings.HasPrefix(cmd, "EVAL") {
		return args
	}
	args = slices.Clone(args)
	switch scripts := args[1:]; {
	case len(scripts) == 0:
	case cmd == "EVAL" || cmd == "EVAL_RO":
		scripts[0] = confined(scripts[0])
	case cmd == "EVALSHA" || cmd == "EVALSHA_RO":
		scripts[0] = e.confinedSHA(scripts[0])
	case strings.EqualFold(scripts[0], "LOAD") && len(scripts) > 1:
		scripts[1] = confined(scripts[1])
	default:
		for i := range scripts {
			scripts[i] = e.confinedSHA(scripts[i])
		}
	}
	return args
}

// source is the script that has been seen with the given digest.
func (e *engine) source(sha string) (source string, known bool) {
	i := slices.IndexFunc(e.sources, func(source string) bool { return strings.EqualFold(sha, scriptSHA(source)) })
	if i < 0 {
		return "", false
	}
	return e.sources[i], true
}

// confinedSHA is the digest under which the engine caches the script with the given one.
func (e *engine) confinedSHA(sha string) string {
	if source, known := e.source(sha); known {
		return scriptSHA(confined(source))
	}
	return sha
}

// unconfined is an answer with the digests that a client knows.
func (e *engine) unconfined(reply string) string {
	for _, source := range e.sources {
		reply = strings.ReplaceAll(reply, scriptSHA(confined(source)), scriptSHA(source))
	}
	return reply
}

// limit keeps the first reason for which the run must end.
func (e *engine) limit(key string, pairs ...any) {
	if e.exceeded == nil {
		e.exceeded = intern.Limit(key, pairs...)
	}
}

// failedScript matches the answer of a miniredis to a script that fails while it runs: in which line, and why.
var failedScript = regexp.MustCompile(`^-ERR Error compiling script \(new function\): :(\d+): (.*?) +stack traceback:`)

// addressOf matches the text that Lua writes for an error that is no text.
var addressOf = regexp.MustCompile(`\b(table|function|userdata|thread): 0x`)

// ofCommand is the error of a command, with its code, and not one of the script itself.
var ofCommand = regexp.MustCompile(`^[A-Z]{3,} `)

// redisScript has a script that fails do what it does in Redis: the answer begins with the code of the command that has
// failed, and the script is cached. reply is the answer to the command args.
func (e *engine) redisScript(args []string, reply string) string {
	cmd := strings.ToUpper(args[0])
	if cmd == "SCRIPT" {
		return e.unconfined(reply)
	}
	if !strings.HasPrefix(cmd, "EVAL") || !strings.HasPrefix(reply, "-") || len(args) < 2 {
		return reply
	}
	if reply = e.unconfined(reply); addressOf.MatchString(reply) {
		e.limit("limit.chance", "what", "error")
	}
	why := failedScript.FindStringSubmatch(reply)
	if why == nil {
		return reply
	}
	sha := strings.ToLower(args[1])
	if !strings.HasPrefix(cmd, "EVALSHA") {
		sha = scriptSHA(args[1])
		e.dispatch([]string{"SCRIPT", "LOAD", confined(args[1])})
	}
	message := why[2]
	if !ofCommand.MatchString(message) {
		message = "ERR user_script:" + why[1] + ": " + message
	}
	return "-" + message + " script: " + sha + ", on @user_script:" + why[1] + ".\r\n"
}
