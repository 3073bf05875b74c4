package reports

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/redis"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// clientName is how the articles call a client: c1.
func clientName(c int) string { return "c" + strconv.Itoa(c) }

func nodeName(n int) string { return "n" + strconv.Itoa(n) }

// serverName is what the one server of a run is called.
func serverName(h *history.History) string {
	if h.ZooKeeper {
		return "zookeeper"
	}
	return "redis"
}

func clientNames(cs []int, sep string) string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = clientName(c)
	}
	return strings.Join(names, sep)
}

// millis prints t in milliseconds, with a tenth only where decimals is 1.
func millis(t time.Duration, decimals int) string {
	return strconv.FormatFloat(float64(t)/float64(time.Millisecond), 'f', decimals, 64)
}

// decimalsOf says whether the events of a run lie on whole milliseconds.
func decimalsOf(h *history.History) int {
	for _, e := range h.Events {
		if e.At%time.Millisecond != 0 {
			return 1
		}
	}
	return 0
}

// span prints a length of time as people say it: 250ms, 28s, 1.5s, for ever.
func span(d time.Duration) string {
	switch {
	case d == history.Forever:
		return "for ever"
	case d < time.Second && d > -time.Second:
		return d.Round(time.Microsecond).String()
	}
	// one division: the sum that Seconds is can be off in the last digit, 3.8970000000000002
	return strconv.FormatFloat(float64(d.Round(time.Millisecond).Milliseconds())/1000, 'f', -1, 64) + "s"
}

func signed(d time.Duration) string {
	if d < 0 {
		return span(d)
	}
	return "+" + span(d)
}

// setFlags are the words of a SET that make it a lock.
var setFlags = []string{"NX", "XX", "GET", "EX", "PX", "EXAT", "PXAT", "KEEPTTL", "IFEQ"}

// shortCommand is a command's name and what matters of the rest: the flags of a
// SET, a script's name, a key that is not the lock's.
func shortCommand(cmd []string, key string) string {
	if len(cmd) == 0 {
		return "request"
	}
	words := []string{strings.ToUpper(cmd[0])}
	if sent := batch(cmd); len(sent) > 1 {
		between := "; "
		if words[0] == "MULTI" { // one thing, as far as the reader is concerned
			between = " "
		}
		words = nil
		for _, one := range sent {
			words = append(words, shortCommand(one, key))
		}
		return strings.Join(words, between)
	}
	switch {
	case loadsScript(cmd):
		return "SCRIPT LOAD " + nameOf(cmd[2])
	case isScript(cmd):
		words = append(words, scriptID(cmd))
	case words[0] == "SET" && len(cmd) > 3:
		for _, arg := range cmd[3:] {
			if flag := strings.ToUpper(arg); slices.Contains(setFlags, flag) {
				words = append(words, flag)
			}
		}
	}
	if k := commandKey(cmd); k != key && k != "" {
		words = append(words, clip(shortPath(k), 14))
	}
	return strings.Join(words, " ")
}

// A znode's sequence number has ten digits, most of them zeros.
var sequence = regexp.MustCompile(`[0-9]{10}$`)

// shortPath is the last name of a znode's path with a short number; any other text
// as it is.
func shortPath(s string) string {
	if !strings.HasPrefix(s, "/") {
		return s
	}
	return sequence.ReplaceAllStringFunc(s[strings.LastIndexByte(s, '/')+1:], shortNumber)
}

func shortNumber(digits string) string {
	if short := strings.TrimLeft(digits, "0"); short != "" {
		return short
	}
	return "0"
}

// shortChildren is a list of znodes by their numbers alone: [1, 0]; any other text as
// it is.
func shortChildren(s string) string {
	inner, isList := strings.CutPrefix(s, "[")
	if !isList || !strings.HasSuffix(inner, "]") {
		return s
	}
	names := strings.Split(strings.TrimSuffix(inner, "]"), ", ")
	for i, name := range names {
		if number := sequence.FindString(name); number != "" {
			names[i] = shortNumber(number)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// batch is what came in one write, command by command.
func batch(cmd []string) (commands [][]string) {
	for {
		end := slices.Index(cmd, ";")
		if end < 0 {
			return append(commands, cmd)
		}
		commands, cmd = append(commands, cmd[:end]), cmd[end+1:]
	}
}

func isScript(cmd []string) bool {
	name := strings.ToUpper(cmd[0])
	return len(cmd) > 1 && (strings.HasPrefix(name, "EVAL") || strings.HasPrefix(name, "FCALL"))
}

// scriptID names a script: one of the locks' by what it does, any other the way
// EVALSHA does, shortened.
func scriptID(cmd []string) string {
	if strings.EqualFold(cmd[0], "EVAL") || strings.EqualFold(cmd[0], "EVAL_RO") {
		return nameOf(cmd[1])
	}
	return digestName(cmd[1])
}

// nameOf names a script by its source.
func nameOf(source string) string {
	sum := sha1.Sum([]byte(source))
	return digestName(hex.EncodeToString(sum[:]))
}

func digestName(sha string) string {
	if name := redis.ScriptName(sha); name != "" {
		return name
	}
	return sha[:min(8, len(sha))]
}

// loadsScript says whether a command is SCRIPT LOAD.
func loadsScript(cmd []string) bool {
	return len(cmd) == 3 && strings.EqualFold(cmd[0], "SCRIPT") && strings.EqualFold(cmd[1], "LOAD")
}

// commandKey is the first key that a command names, or "".
func commandKey(cmd []string) string {
	switch {
	case isScript(cmd):
		if len(cmd) > 3 && cmd[2] != "0" {
			return cmd[3]
		}
		return ""
	case len(cmd) > 1:
		return cmd[1]
	}
	return ""
}

// fullCommand is the command as sent, but for scripts and long values, which
// are cut to what a reader needs to tell them apart.
func fullCommand(cmd []string) string { return commandText(cmd, 20) }

// commandText is fullCommand with arguments of at most so many cells.
func commandText(cmd []string, longest int) string {
	if loadsScript(cmd) {
		return "SCRIPT LOAD " + nameOf(cmd[2])
	}
	words := make([]string, len(cmd))
	for i, arg := range cmd {
		if len(arg) > longest {
			arg = shortPath(arg)
		}
		words[i] = clip(arg, longest)
	}
	if len(words) > 0 {
		words[0] = strings.ToUpper(words[0])
	}
	if len(cmd) > 0 && isScript(cmd) {
		words[1] = scriptID(cmd)
	}
	if len(words) == 0 {
		return "its request"
	}
	for i := 3; i < len(words) && words[0] == "SET"; i++ {
		if flag := strings.ToUpper(words[i]); slices.Contains(setFlags, flag) {
			words[i] = flag
		}
	}
	return strings.Join(words, " ")
}

// shortReply is a reply without redis-cli's decoration.
func shortReply(reply string) string { return replyText(shortChildren(shortPath(reply)), 16) }

// replyText is shortReply of at most so many cells.
func replyText(reply string, longest int) string {
	if text, isError := strings.CutPrefix(reply, "(error) "); isError {
		code, _, _ := strings.Cut(text, " ")
		return "-" + clip(code, 14)
	}
	// of a transaction, what its EXEC was answered
	const queued = "QUEUED; "
	if i := strings.LastIndex(reply, queued); i >= 0 {
		reply = reply[i+len(queued):]
	}
	if reply == "(nil)" {
		return "nil"
	}
	return clip(reply, longest)
}

func isError(reply string) bool { return strings.HasPrefix(reply, "(error)") }

// mark is a finding as it stands in a margin: "!! OVERLAP c1+c2".
func mark(f verdict.Finding) string {
	who := ""
	switch {
	case len(f.Clients) == 0:
	case f.Verdict == verdict.Overlap || f.Verdict == verdict.Fenced:
		who = " " + clientNames(f.Clients, "+")
	case f.Verdict == verdict.StaleWrite || f.Verdict == verdict.WrongDel:
		who = " by " + clientName(f.Clients[0])
	case f.Verdict == verdict.Lie:
		who = " to " + clientName(f.Clients[0])
	default:
		who = " " + clientNames(f.Clients, ",")
	}
	return "!! " + string(f.Verdict) + who + lasting(f)
}

// lasting is the length of a finding whose length is the point of it.
func lasting(f verdict.Finding) string {
	switch f.Verdict {
	case verdict.Orphan, verdict.Deadlock, verdict.Blocked, verdict.Starved:
	default:
		return ""
	}
	switch {
	case f.Forever:
		return " for ever"
	case f.To > f.From:
		return " " + span(f.To-f.From)
	}
	return ""
}

// bound writes a share that was never seen as the upper bound that it is.
func bound(hi float64) string { return fmt.Sprintf("< %.1f %%", 100*ceilTo(hi, 0.001)) }
