package realserver

import (
	"bufio"
	"context"
	"io"
	"net"
	"os/exec"
	"sync"

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

// A Gate stands between a replica and its master: the replica gets the gate's address.
// What the replica says always passes; what the master says passes while the gate is open,
// and waits in order while it is shut.
type Gate struct {
	listener net.Listener
	master   string

	mu    sync.Mutex
	moved *sync.Cond
	open  bool
	cut   bool // nothing passes either way
	done  bool
	conns []net.Conn
}

// NewGate is an open gate in front of a master.
func NewGate(master string) (*Gate, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gate{listener: l, master: master, open: true}
	g.moved = sync.NewCond(&g.mu)
	go g.accept()
	return g, nil
}

// Addr returns the address at which the replica finds its master.
func (g *Gate) Addr() string { return g.listener.Addr().String() }

// Open lets pass what the master says, and what the replica says.
func (g *Gate) Open() { g.set(true, false) }

// Shut lets wait what the master says.
func (g *Gate) Shut() { g.set(false, false) }

// Cut lets wait what either says.
func (g *Gate) Cut() { g.set(false, true) }

func (g *Gate) set(open, cut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open, g.cut = open, cut
	g.moved.Broadcast()
}

// Close breaks the connection for good.
func (g *Gate) Close() {
	g.listener.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done = true
	g.moved.Broadcast()
	for _, c := range g.conns {
		c.Close()
	}
}

func (g *Gate) accept() {
	for {
		replica, err := g.listener.Accept()
		if err != nil {
			return
		}
		master, err := net.Dial("tcp", g.master)
		if err != nil {
			replica.Close()
			continue
		}
		g.mu.Lock()
		g.conns = append(g.conns, replica, master)
		if g.done {
			replica.Close()
			master.Close()
		}
		g.mu.Unlock()
		go g.carry(replica, master, func() bool { return g.open })
		go g.carry(master, replica, func() bool { return !g.cut })
	}
}

// carry copies what one side says, while it may pass.
func (g *Gate) carry(to, from net.Conn, may func() bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if n > 0 && !g.pass(may) {
			return
		}
		if _, failed := to.Write(b[:n]); failed != nil || err == io.EOF || err != nil {
			return
		}
	}
}

// pass waits until something may pass; false: nothing will any more.
func (g *Gate) pass(may func() bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !may() && !g.done {
		g.moved.Wait()
	}
	return !g.done
}
