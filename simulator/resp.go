package simulator

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var errFrame = errors.New("simulator: not a RESP value")

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
	n, err := strconv.Atoi(s[1:eol])
	switch {
	case err != nil || n < -1 || n > len(s):
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
