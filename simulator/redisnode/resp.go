package redisnode

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
)

var errFrame = errors.New("simulator: not a RESP value")

// ParseBatch splits what a client wrote into commands, each of at least one word.
func ParseBatch(wire string) (commands [][]string, err error) {
	for wire != "" {
		var args []string
		if args, wire, err = command(wire); err != nil {
			return nil, fmt.Errorf("simulator: what the client wrote is no command: %w", err)
		}
		commands = append(commands, args)
	}
	return commands, nil
}

// writeBatch returns the bytes that a client writes for these commands: ParseBatch undone.
func writeBatch(commands [][]string) (wire []byte) {
	for _, c := range commands {
		wire = append(wire, proto.Strings(c...)...)
	}
	return wire
}

// command reads one array of bulk strings off s.
func command(s string) (args []string, rest string, err error) {
	n, s, err := header(s, '*')
	if err != nil || n < 1 {
		return nil, "", errFrame
	}
	args = make([]string, n)
	for i := range args {
		if n, s, err = header(s, '$'); err != nil || n < 0 || n+2 > len(s) || s[n:n+2] != "\r\n" {
			return nil, "", errFrame
		}
		args[i], s = s[:n], s[n+2:]
	}
	return args, s, nil
}

// header reads the line that begins a value of the given kind, a string or an
// array, and tells its length; -1 is a missing value.
func header(s string, kind byte) (n int, rest string, err error) {
	line, rest, ok := strings.Cut(s, "\r\n")
	if !ok || line == "" || line[0] != kind {
		return 0, "", errFrame
	}
	n, err = strconv.Atoi(line[1:])
	if err != nil || n < -1 || n > len(rest) || strconv.Itoa(n) != line[1:] {
		return 0, "", errFrame
	}
	return n, rest, nil
}

// frame is the length of the first RESP2 value in s.
func frame(s string) (int, error) { return frameDepth(s, 8) }

func frameDepth(s string, depth int) (int, error) {
	eol := strings.Index(s, "\r\n")
	if eol < 1 || depth == 0 {
		return 0, errFrame
	}
	end := eol + 2
	switch s[0] {
	case '+', '-', ':':
		return end, nil
	case '$', '*':
	default:
		return 0, errFrame
	}
	n, _, err := header(s, s[0])
	switch {
	case err != nil:
		return 0, errFrame
	case n == -1:
		return end, nil
	case s[0] == '$':
		if end+n+2 > len(s) || s[end+n:end+n+2] != "\r\n" {
			return 0, errFrame
		}
		return end + n + 2, nil
	}
	for range n {
		m, err := frameDepth(s[end:], depth-1)
		if err != nil {
			return 0, err
		}
		end += m
	}
	return end, nil
}

// replyText writes RESP2 replies as redis-cli shows them, on one line.
func replyText(resp string) string {
	var out []string
	for resp != "" {
		n, err := frame(resp)
		if err != nil {
			return fmt.Sprintf("%q", resp)
		}
		out = append(out, valueText(resp[:n]))
		resp = resp[n:]
	}
	return strings.Join(out, "; ")
}

func valueText(v string) string {
	eol := strings.Index(v, "\r\n")
	head := v[1:eol]
	switch v[0] {
	case '+', ':':
		return head
	case '-':
		return "(error) " + head
	case '$':
		if head == "-1" {
			return "(nil)"
		}
		return strconv.Quote(v[eol+2 : len(v)-2])
	}
	if head == "-1" {
		return "(nil)"
	}
	var items []string
	for rest := v[eol+2:]; rest != ""; {
		n, _ := frame(rest)
		items = append(items, valueText(rest[:n]))
		rest = rest[n:]
	}
	return "[" + strings.Join(items, " ") + "]"
}
