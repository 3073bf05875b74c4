package redisnode

import (
	"regexp"
	"strings"
)

// failedScript matches the answer of a miniredis to a script that fails while it runs: in which line,
// and why.
var failedScript = regexp.MustCompile(`^-ERR Error compiling script \(new function\): :(\d+): (.*?) +stack traceback:`)

// addressOf matches the text that Lua writes for an error that is no text.
var addressOf = regexp.MustCompile(`\b(table|function|userdata|thread): 0x`)

// ofCommand is the error of a command, with its code, and not one of the script itself.
var ofCommand = regexp.MustCompile(`^[A-Z]{3,} `)

// redisScript has a script that fails do what it does in Redis: the answer begins with the code
// of the command that has failed, and the script is cached. reply is the answer to the
// command args.
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
