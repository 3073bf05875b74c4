// Package resp reads and writes RESP2, the protocol of Redis.
package resp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A Status is a reply that is one line, as OK.
type Status string

// An Error is an error that a server replies with.
type Error string

func (e Error) Error() string { return string(e) }

// A Source is what values are read from: a bufio.Reader or a bytes.Buffer.
type Source interface {
	io.Reader
	ReadString(delim byte) (string, error)
}

// Read reads one value: a string, Status, Error, int, nil, or []any of these. raw, if it is not nil, gets its bytes.
func Read(in Source, raw *strings.Builder) (any, error) { return read(in, raw, maxDepth) }

// maxDepth is the number of arrays in each other that a value may be.
const maxDepth = 8

func read(in Source, raw *strings.Builder, depth int) (any, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if raw != nil {
		raw.WriteString(line)
	}
	if len(line) < 3 || !strings.HasSuffix(line, "\r\n") || depth == 0 {
		return nil, fmt.Errorf("the server sent %q, which is no RESP", line)
	}
	head := line[1 : len(line)-2]
	switch line[0] {
	case '+':
		return Status(head), nil
	case '-':
		return Error(head), nil
	}
	n, err := strconv.Atoi(head)
	switch {
	case err != nil, !strings.ContainsRune(":$*", rune(line[0])),
		line[0] != ':' && (n < -1 || strconv.Itoa(n) != head):
		return nil, fmt.Errorf("the server sent %q, which is no RESP2", line)
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		return readBulk(in, raw, n)
	}
	list := []any{}
	for range n {
		v, err := read(in, raw, depth-1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// readBulk reads a text of n bytes and the end of its line.
func readBulk(in Source, raw *strings.Builder, n int) (any, error) {
	whole, err := readText(in, n+2)
	if err != nil {
		return nil, err
	}
	if raw != nil {
		raw.WriteString(whole)
	}
	text, ended := strings.CutSuffix(whole, "\r\n")
	if !ended {
		return nil, fmt.Errorf("the server sent %q, which is longer than it says", text)
	}
	return text, nil
}

// readText reads n bytes. A server may only say that there are very many.
func readText(in Source, n int) (string, error) {
	if n > 1<<12 {
		var b strings.Builder
		_, err := io.CopyN(&b, in, int64(n))
		return b.String(), err
	}
	b := make([]byte, n)
	_, err := io.ReadFull(in, b)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return string(b), err
}

// All reads the values that a text consists of, up to the first that is none.
func All(text string) (values []any, err error) {
	for in := bytes.NewBufferString(text); in.Len() > 0; {
		v, err := Read(in, nil)
		if err != nil {
			return values, err
		}
		values = append(values, v)
	}
	return values, nil
}

// Replace returns a text that consists of values, with f of each string in its place.
func Replace(text string, f func(string) string) string {
	var out strings.Builder
	for text != "" {
		line, rest, _ := strings.Cut(text, "\r\n")
		n, err := strconv.Atoi(strings.TrimPrefix(line, "$"))
		if !strings.HasPrefix(line, "$") || err != nil || n < 0 || n > len(rest) {
			fmt.Fprintf(&out, "%s\r\n", line)
			text = rest
			continue
		}
		word := f(rest[:n])
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(word), word)
		text = strings.TrimPrefix(rest[n:], "\r\n")
	}
	return out.String()
}

// Command reads one command, an array of at least one text, off s.
func Command(s string) (words []string, rest string, err error) {
	in := bytes.NewBufferString(s)
	v, err := Read(in, nil)
	if err != nil {
		return nil, s, err
	}
	list, _ := v.([]any)
	for _, w := range list {
		if word, ok := w.(string); ok {
			words = append(words, word)
		}
	}
	if len(words) == 0 || len(words) < len(list) {
		return nil, s, errors.New("a value that is no command")
	}
	return words, in.String(), nil
}

// Text writes a value as redis-cli shows it, on one line.
func Text(value any) string {
	switch v := value.(type) {
	case nil:
		return "(nil)"
	case Error:
		return "(error) " + string(v)
	case string:
		return strconv.Quote(v)
	case []any:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = Text(v[i])
		}
		return "[" + strings.Join(texts, " ") + "]"
	}
	return fmt.Sprint(value)
}
