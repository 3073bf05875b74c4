package realserver

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/simulator/resp"
)

// StartRedis runs a redis-server on a free loopback port, with dir for its files and
// further options of its command line; with a clock, that is its time of day. It asks for the Password, and
// gives it to a master. StartRedis waits until the server answers.
func StartRedis(ctx context.Context, dir string, clock *Clock, options ...string) (*Process, error) {
	paths, err := FindRedis()
	if err != nil {
		return nil, err
	}
	config, err := secret(dir, "password.conf", "requirepass "+Password+"\nmasterauth "+Password+"\n")
	if err != nil {
		return nil, err
	}
	ready := "Ready to accept connections"
	return start(ctx, way{"redis-server", ready, kill, clock.env()}, func(port string) []string {
		return append([]string{
			paths[0], config, "--bind", "127.0.0.1", "--protected-mode", "yes", "--port", port, "--dir", dir,
			"--save", "", "--appendonly", "no",
		}, options...)
	})
}

// A Redis is a redis-server, with a client that has one connection, for what no client of the lab sends.
type Redis struct {
	*redis.Client
	*Process
}

// NewRedis is StartRedis with a client.
func NewRedis(ctx context.Context, dir string, clock *Clock, options ...string) (*Redis, error) {
	p, err := StartRedis(ctx, dir, clock, options...)
	if err != nil {
		return nil, err
	}
	return &Redis{redis.NewClient(&redis.Options{
		Addr: p.Addr, Password: Password, Protocol: 2, DisableIdentity: true, MaxRetries: -1,
		PoolSize: 1, ConnMaxIdleTime: -1, ReadTimeout: patience,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}), p}, nil
}

// Kill ends the server as a crash does, and the client.
func (r *Redis) Kill() {
	r.Close()
	r.Process.Kill()
}

// A Conn is a connection to a redis-server that carries RESP as it is. It is used by one goroutine at a time.
type Conn struct {
	net.Conn
	in *bufio.Reader
}

// patience is the time that a server may take for an answer: far longer than any does.
const patience = 5 * time.Second

// Dial connects to a redis-server of this process.
func Dial(addr string) (*Conn, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	c, answer := &Conn{conn, bufio.NewReader(conn)}, ""
	if err = c.Send([]string{"AUTH", Password}); err == nil {
		answer, err = c.Receive(1)
	}
	if err == nil && answer != "+OK\r\n" {
		err = errors.New(answer)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Send writes commands in one write, each as an array of bulk strings.
func (c *Conn) Send(commands ...[]string) error {
	var raw string
	for _, words := range commands {
		raw += proto.Strings(words...)
	}
	_, err := c.Write([]byte(raw))
	return err
}

// Receive reads n answers as they are.
func (c *Conn) Receive(n int) (string, error) {
	c.SetReadDeadline(time.Now().Add(patience))
	var raw strings.Builder
	for range n {
		if _, err := resp.Read(c.in, &raw); err != nil {
			return "", err
		}
	}
	return raw.String(), nil
}

// Answered reports whether the next answer begins to arrive, for which it waits for d, above 0.
func (c *Conn) Answered(d time.Duration) (bool, error) {
	c.SetReadDeadline(time.Now().Add(d))
	if _, err := c.in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return false, err
	}
	return c.in.Buffered() > 0, nil
}
