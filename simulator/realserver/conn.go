package realserver

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/resp"
)

// A Conn is a connection to a redis-server on which RESP is written and read as it is. It
// is used by one goroutine at a time.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
}

// patience is the time that a server may take for an answer: far longer than any does.
const patience = 5 * time.Second

// Close hangs up.
func (w *Conn) Close() { w.conn.Close() }

// Name returns what the server calls the connection in CLIENT LIST: its address.
func (w *Conn) Name() string { return w.conn.LocalAddr().String() }

// Send writes commands in one write, each as an array of bulk strings.
func (w *Conn) Send(commands ...[]string) error {
	var raw string
	for _, c := range commands {
		raw += proto.Strings(c...)
	}
	_, err := w.conn.Write([]byte(raw))
	return err
}

// Receive reads n answers as they are.
func (w *Conn) Receive(n int) (raw string, err error) {
	var b strings.Builder
	_, err = w.read(n, &b)
	return b.String(), err
}

// Values reads n answers, as resp.Read returns them.
func (w *Conn) Values(n int) (values []any, err error) { return w.read(n, nil) }

func (w *Conn) read(n int, raw *strings.Builder) (values []any, err error) {
	w.conn.SetReadDeadline(time.Now().Add(patience))
	for range n {
		v, err := resp.Read(w.in, raw)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// Answered reports whether the next answer begins to arrive, for which it waits for d, above 0.
func (w *Conn) Answered(d time.Duration) (bool, error) {
	w.conn.SetReadDeadline(time.Now().Add(d))
	if _, err := w.in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return false, err
	}
	return w.in.Buffered() > 0, nil
}

// DoAll sends commands in one write and returns their answers. The error may be a resp.Error, the first.
func (w *Conn) DoAll(commands ...[]string) (values []any, err error) {
	if err := w.Send(commands...); err != nil {
		return nil, err
	}
	if values, err = w.Values(len(commands)); err != nil {
		return nil, err
	}
	for _, v := range values {
		if refusal, is := v.(resp.Error); is {
			return nil, refusal
		}
	}
	return values, nil
}

// Do sends one command and returns its answer. The error may be a resp.Error.
func (w *Conn) Do(args ...string) (any, error) {
	values, err := w.DoAll(args)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// Info returns the fields of INFO.
func (w *Conn) Info(sections ...string) (map[string]string, error) {
	said, err := w.Do(append([]string{"INFO"}, sections...)...)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(fmt.Sprint(said)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}
