// Package resp reads and writes RESP2, the protocol of Redis.
package resp

import (
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

// Read reads one value: a string, a Status, an Error, an int, nil, or an []any of these. raw, if it is not nil, gets its
// bytes.
func Read(in Source, raw *strings.Builder) (any, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if raw != nil {
		raw.WriteString(line)
	}
	if len(line) < 3 || !strings.HasSuffix(line, "\r\n") {
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
	case err != nil || !strings.ContainsRune(":$*", rune(line[0])):
		return nil, fmt.Errorf("the server sent %q, which is no RESP2", line)
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		b := make([]byte, n+2)
		if _, err := io.ReadFull(in, b); err != nil {
			return nil, err
		}
		if raw != nil {
			raw.Write(b)
		}
		return string(b[:n]), nil
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = Read(in, raw); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// AppendCommand appends a command, as an array of bulk strings.
func AppendCommand(b []byte, args ...string) []byte {
	b = append(strconv.AppendInt(append(b, '*'), int64(len(args)), 10), "\r\n"...)
	for _, a := range args {
		b = append(strconv.AppendInt(append(b, '$'), int64(len(a)), 10), "\r\n"...)
		b = append(append(b, a...), "\r\n"...)
	}
	return b
}
