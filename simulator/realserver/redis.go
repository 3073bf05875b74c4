package realserver

import (
	"bufio"
	"context"
	"net"
	"os/exec"

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
	*Process
}

// Port stands for the server's port in options of StartRedis.
const Port = "PORT"

// StartRedis runs a redis-server on a free loopback port, with dir for its files and
// further options of its command line; with a clock, that is its time of day. It asks for the Password, and
// gives it to a master. StartRedis waits until the server answers.
func StartRedis(ctx context.Context, dir string, clock *Clock, options ...string) (*Process, error) {
	binary, err := FindRedis()
	if err != nil {
		return nil, err
	}
	config, err := secret(dir, "password.conf", "requirepass "+Password+"\nmasterauth "+Password+"\n")
	if err != nil {
		return nil, err
	}
	return start(ctx, way{"redis-server", "Ready to accept connections", kill, clock.env()}, func(port string) []string {
		args := append([]string{binary, config,
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
	w, err := Dial(p.Addr)
	if err != nil {
		p.Kill()
		return nil, err
	}
	return &Redis{w, p}, nil
}

// Kill ends the server as a crash does, and the connection.
func (r *Redis) Kill() {
	r.Close()
	r.Process.Kill()
}

// Version asks the server for its version.
func (r *Redis) Version() (string, error) {
	info, err := r.Info("server")
	return info["redis_version"], err
}

// Dial connects to a redis-server of this process.
func Dial(addr string) (*Conn, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	c := &Conn{conn, bufio.NewReader(conn)}
	if _, err := c.Do("AUTH", Password); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}
