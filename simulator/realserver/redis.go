package realserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"os/exec"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/i18n"
)

// ErrNoRedis is that there is no redis-server on the path.
var ErrNoRedis = i18n.Errorf("error.live.redis")

// FindRedis returns the path of redis-server; without it the error is ErrNoRedis.
func FindRedis() (path string, err error) {
	if path, err = exec.LookPath("redis-server"); err != nil {
		return "", ErrNoRedis
	}
	return path, nil
}

// A Redis is a redis-server, with a connection for what no client sends.
type Redis struct {
	*Conn
	Address RedisAddress
	process *Process // nil: others run it
}

// Port stands for the server's port in options of StartRedis.
const Port = "PORT"

// StartRedis runs a redis-server on a free loopback port, with dir for its files and
// further options of its command line; with a clock, that is its time of day. It waits
// until the server answers.
func StartRedis(ctx context.Context, dir string, clock *Clock, options ...string) (*Process, error) {
	binary, err := FindRedis()
	if err != nil {
		return nil, err
	}
	return start(ctx, "redis-server", "Ready to accept connections", clock.env(), func(port string) []string {
		args := append([]string{binary,
			"--bind", "127.0.0.1", "--protected-mode", "yes", "--save", "", "--appendonly", "no", "--dir", dir, "--port", Port}, options...)
		for i, a := range args {
			if a == Port {
				args[i] = port
			}
		}
		return args
	})
}

// NewRedis is StartRedis with a connection to the server.
func NewRedis(ctx context.Context, dir string, clock *Clock, options ...string) (*Redis, error) {
	p, err := StartRedis(ctx, dir, clock, options...)
	if err != nil {
		return nil, err
	}
	r, err := AddressOf(p.Addr).Connect()
	if err != nil {
		p.Kill()
		return nil, err
	}
	r.process = p
	return r, nil
}

// Kill ends the server as a crash does, if this process has started it, and the connection.
func (r *Redis) Kill() {
	r.Close()
	if r.process != nil {
		r.process.Kill()
	}
}

// Version asks the server for its version.
func (r *Redis) Version() (string, error) {
	info, err := r.Info("server")
	return info["redis_version"], err
}

// A RedisAddress is that of one database of a redis-server.
type RedisAddress struct{ options *redis.Options }

// AddressOf returns the first database of the server at HOST:PORT.
func AddressOf(addr string) RedisAddress {
	return RedisAddress{&redis.Options{Network: "tcp", Addr: addr}}
}

// ParseRedis reads HOST:PORT, or a URL as go-redis has it: redis://, rediss:// (TLS) or unix://, with user,
// password and database. The error does not repeat the password.
func ParseRedis(addr string) (a RedisAddress, err error) {
	shown := addr
	if strings.Contains(addr, "://") {
		a.options, err = redis.ParseURL(addr)
		if scheme, rest, _ := strings.Cut(addr, "://"); strings.Contains(rest, "@") {
			shown = scheme + "://...@" + rest[strings.LastIndex(rest, "@")+1:]
		}
		if wrong := (*url.Error)(nil); errors.As(err, &wrong) { // it repeats all
			err = wrong.Err
		}
	} else if _, _, err = net.SplitHostPort(addr); err == nil {
		a = AddressOf(addr)
	}
	if err != nil {
		return a, i18n.Errorf("error.live.redis-address", "value", shown, "cause", err)
	}
	return a, nil
}

// String names the server and the database, without the password.
func (a RedisAddress) String() string {
	if a.options.DB > 0 {
		return a.options.Addr + "/" + strconv.Itoa(a.options.DB)
	}
	return a.options.Addr
}

// Connect connects to a server that runs.
func (a RedisAddress) Connect() (*Redis, error) {
	w, err := a.Dial()
	return &Redis{Conn: w, Address: a}, err
}

// Dial connects, and chooses the database. The error may be a resp.Error.
func (a RedisAddress) Dial() (w *Conn, err error) {
	dialer := &net.Dialer{Timeout: patience}
	var conn net.Conn
	if a.options.TLSConfig != nil {
		conn, err = tls.DialWithDialer(dialer, a.options.Network, a.options.Addr, a.options.TLSConfig)
	} else {
		conn, err = dialer.Dial(a.options.Network, a.options.Addr)
	}
	if err != nil {
		return nil, err
	}
	w = &Conn{conn, bufio.NewReader(conn)}
	var hello [][]string
	switch o := a.options; {
	case o.Username != "":
		hello = append(hello, []string{"AUTH", o.Username, o.Password})
	case o.Password != "":
		hello = append(hello, []string{"AUTH", o.Password})
	}
	if a.options.DB > 0 {
		hello = append(hello, []string{"SELECT", strconv.Itoa(a.options.DB)})
	}
	for _, command := range hello {
		if _, err := w.Do(command...); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
}
