package realserver

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Wire is a connection to a redis-server on which RESP is written and read as it is. It
// is used by one goroutine at a time.
type Wire struct {
	conn net.Conn
	in   *bufio.Reader
}

// patience is how long a server may take for an answer: far longer than any does.
const patience = 5 * time.Second

// DialRedis connects.
func DialRedis(addr string) (*Wire, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return &Wire{conn, bufio.NewReader(conn)}, nil
}

// Close hangs up.
func (w *Wire) Close() { w.conn.Close() }

// Send writes what a client wrote.
func (w *Wire) Send(raw []byte) error {
	_, err := w.conn.Write(raw)
	return err
}

// Receive reads n answers.
func (w *Wire) Receive(n int) (raw string, err error) {
	w.conn.SetReadDeadline(time.Now().Add(patience))
	var b strings.Builder
	for range n {
		if _, err := w.value(&b); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// Answered says whether the next answer begins to arrive, for which it waits for d, above 0.
func (w *Wire) Answered(d time.Duration) (bool, error) {
	w.conn.SetReadDeadline(time.Now().Add(d))
	if _, err := w.in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return false, err
	}
	return w.in.Buffered() > 0, nil
}

// Name is what the server calls the connection in CLIENT LIST: its address.
func (w *Wire) Name() string { return w.conn.LocalAddr().String() }

// Version asks a redis-server for its version.
func (w *Wire) Version() (string, error) {
	info, err := w.Do("INFO", "server")
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(fmt.Sprint(info), "redis_version:")
	version, _, _ = strings.Cut(version, "\r\n")
	return version, nil
}

// Do sends one command and returns its answer: a string, an int64, nil, an error or a []any of
// these.
func (w *Wire) Do(args ...string) (any, error) {
	all, err := w.DoAll(args)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// DoAll sends commands in one write and returns their answers.
func (w *Wire) DoAll(commands ...[]string) (answers []any, err error) {
	var raw []byte
	for _, args := range commands {
		raw = AppendCommand(raw, args...)
	}
	if err := w.Send(raw); err != nil {
		return nil, err
	}
	return w.ReceiveAll(len(commands))
}

// ReceiveAll reads n answers, as DoAll returns them.
func (w *Wire) ReceiveAll(n int) (answers []any, err error) {
	w.conn.SetReadDeadline(time.Now().Add(patience))
	for range n {
		v, err := w.value(nil)
		if err != nil {
			return nil, err
		}
		answers = append(answers, v)
	}
	return answers, nil
}

// AppendCommand writes a command as an array of bulk strings.
func AppendCommand(b []byte, args ...string) []byte {
	b = append(strconv.AppendInt(append(b, '*'), int64(len(args)), 10), "\r\n"...)
	for _, a := range args {
		b = append(strconv.AppendInt(append(b, '$'), int64(len(a)), 10), "\r\n"...)
		b = append(append(b, a...), "\r\n"...)
	}
	return b
}

// A Refusal is an error that a server answers with.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// value reads one RESP2 value; raw, if it is not nil, gets its bytes.
func (w *Wire) value(raw *strings.Builder) (any, error) {
	line, err := w.in.ReadString('\n')
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
		return head, nil
	case '-':
		return Refusal(head), nil
	}
	n, err := strconv.ParseInt(head, 10, 64)
	switch {
	case err != nil || !strings.ContainsRune(":$*", rune(line[0])):
		return nil, fmt.Errorf("the server sent %q, which is no RESP2", line)
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		b := make([]byte, n+2)
		for at := 0; at < len(b); {
			k, err := w.in.Read(b[at:])
			if err != nil {
				return nil, err
			}
			at += k
		}
		if raw != nil {
			raw.Write(b)
		}
		return string(b[:n]), nil
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = w.value(raw); err != nil {
			return nil, err
		}
	}
	return list, nil
}
