package realserver

import (
	"io"
	"net"
	"sync"
)

// A Gate stands between a replica and its master: the replica gets the gate's address. What the replica says always
// passes; what the master says passes while the gate is open, and waits in order while it is shut.
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
