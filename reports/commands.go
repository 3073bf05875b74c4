package reports

import (
	"crypto/sha1"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"locklab/algorithms/redis"
	"locklab/reports/layout"
)

// setFlags are the words of a SET that make it a lock.
var setFlags = []string{"NX", "XX", "GET", "EX", "PX", "EXAT", "PXAT", "KEEPTTL", "IFEQ"}

// Command is a command as lanes write it: its name, the flags of a SET, a script's name, a key that is not the lock's.
func Command(cmd []string, key string) string {
	if len(cmd) == 0 {
		return ""
	}
	if statement := filled(cmd); len(statement) < len(cmd) {
		return statement[0]
	}
	words := []string{strings.ToUpper(cmd[0])}
	if sent := batch(cmd); len(sent) > 1 {
		between := "; "
		if words[0] == "MULTI" { // one thing, as far as the reader is concerned
			between = " "
		}
		words = nil
		for _, one := range sent {
			words = append(words, Command(one, key))
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
		words = append(words, shortName(shortPath(k), 14))
	}
	return strings.Join(words, " ")
}

// A znode's sequence number has ten digits, most of them zeros.
var sequence = regexp.MustCompile(`[0-9]{10}$`)

// shortPath is the last name of a znode's path with a short number; any other text as it is.
func shortPath(s string) string {
	if !strings.HasPrefix(s, "/") {
		return s
	}
	return sequence.ReplaceAllStringFunc(s[strings.LastIndexByte(s, '/')+1:], shortNumber)
}

// shortName is a name of some width at most: what is left out is within it, so that it keeps its number.
func shortName(name string, width int) string {
	if last := strings.LastIndexByte(name, '-'); last >= 0 && len(name) > width && len(name)-last < width/2 {
		return layout.Clip(name[:last], width-len(name)+last) + name[last:]
	}
	return layout.Clip(name, width)
}

func shortNumber(digits string) string {
	if short := strings.TrimLeft(digits, "0"); short != "" {
		return short
	}
	return "0"
}

// shortChildren is a list of znodes by their numbers alone: [1, 0]; any other text as it is.
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

// batch returns the commands of one write.
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

// scriptID names a script: one of the locks' by what it does, any other the way EVALSHA does, shortened.
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

// loadsScript reports whether a command is SCRIPT LOAD.
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

// filled is a short statement of SQL with its arguments in their places; any other command as it is.
func filled(cmd []string) []string {
	if len(cmd) < 3 || strings.Count(cmd[1], "?") != len(cmd)-2 {
		return cmd
	}
	statement := cmd[0] + " " + cmd[1]
	for _, arg := range cmd[2:] {
		statement = strings.Replace(statement, "?", "'"+arg+"'", 1)
	}
	if len(statement) > longArgument {
		return cmd
	}
	return []string{statement}
}

// fullCommand is the command as sent, but for scripts and long values, which are cut to what tells them apart.
func fullCommand(cmd []string) string { return commandText(cmd, 20) }

// commandText is fullCommand with arguments of at most so many cells.
func commandText(cmd []string, longest int) string {
	if loadsScript(cmd) {
		return "SCRIPT LOAD " + nameOf(cmd[2])
	}
	if statement := filled(cmd); len(statement) < len(cmd) {
		return statement[0]
	}
	words := make([]string, len(cmd))
	for i, arg := range cmd {
		if len(arg) > longest {
			arg = shortPath(arg)
		}
		words[i] = layout.Clip(arg, longest)
	}
	if len(words) > 0 {
		words[0] = strings.ToUpper(words[0])
	}
	if len(cmd) > 0 && isScript(cmd) {
		words[1] = scriptID(cmd)
	}
	for i := 3; i < len(words) && words[0] == "SET"; i++ {
		if flag := strings.ToUpper(words[i]); slices.Contains(setFlags, flag) {
			words[i] = flag
		}
	}
	return strings.Join(words, " ")
}

// Reply is a server's answer as lanes write it: without redis-cli's decoration.
func Reply(reply string) string { return replyText(shortChildren(shortPath(reply)), 16) }

// replyText is Reply of at most so many cells.
func replyText(reply string, longest int) string {
	if text, isError := strings.CutPrefix(reply, "(error) "); isError {
		code, _, _ := strings.Cut(text, " ")
		return "-" + layout.Clip(code, 14)
	}
	// of a transaction, what its EXEC was answered
	const queued = "QUEUED; "
	if i := strings.LastIndex(reply, queued); i >= 0 {
		reply = reply[i+len(queued):]
	}
	if reply == "(nil)" {
		return "nil"
	}
	return layout.Clip(reply, longest)
}

func isError(reply string) bool { return strings.HasPrefix(reply, "(error)") }
