package servertest

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"locklab/simulator/internal/jute"
	"locklab/simulator/realserver"
)

// A Line is the network between a real ZooKeeper client and the server: its Dial is for zk.WithDialer. Give the client
// the address three times: it pauses for a second only when it has tried all, and an ended session takes two.
type Line struct {
	Pass    chan struct{} // one is taken for each connection that is made
	Rearmed chan struct{} // one comes when the client leaves its watches again, on a new connection

	dead chan struct{} // closed: no connection will be made any more

	mu    sync.Mutex
	conn  net.Conn
	hello []byte // the server's answer to the first request
	lose  opcode // the next answer to this kind of request is lost; or 0
	lost  bool   // it is the next to come
}

// opcode is a kind of request in the protocol.
type opcode uint32

const (
	opCreate     opcode = 1
	opSetWatches opcode = 101
)

// NewLine is a line on which nothing may pass yet.
func NewLine() *Line {
	return &Line{Pass: make(chan struct{}, 100), Rearmed: make(chan struct{}, 100), dead: make(chan struct{})}
}

var (
	errDead = errors.New("the session has ended")
	errLost = errors.New("the answer is lost")
)

// Dial makes a connection when one may pass. The client's time-out plays no part: it is a second, which is too short
// for the handshake with a server on a busy machine, and the next attempt would wait for another one to pass.
func (l *Line) Dial(network, addr string, _ time.Duration) (net.Conn, error) {
	select {
	case <-l.dead:
		return nil, errDead
	case <-l.Pass:
	}
	conn, err := realserver.ConnectZooKeeper(network, addr, time.Minute)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.hello = conn, nil
	return &tap{Conn: conn, line: l}, nil
}

// HangUp breaks the connection.
func (l *Line) HangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn.Close()
}

// LoseCreate breaks the connection when the answer to the next create is there, and keeps it from the client.
func (l *Line) LoseCreate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lose = opCreate
}

// Cut ends the real client, whose session has ended.
func (l *Line) Cut(conn *zk.Conn) {
	go conn.Close() // it waits a second for an answer that does not come
	close(l.dead)
}

// Expire ends the session from elsewhere: another connection takes it over and closes it. To the server's memory that
// is the same transaction as its end by silence.
func (l *Line) Expire(addr string) error {
	s, err := l.session()
	if err != nil {
		return err
	}
	return realserver.EndSession(addr, s)
}

// Silence lets the session end by silence: another connection takes it over, with that time-out, and says nothing more.
// Nothing has to happen in time before: until then the session has the time-out that its client asked for.
func (l *Line) Silence(addr string, timeout time.Duration) error {
	s, err := l.session()
	if err != nil {
		return err
	}
	w, err := realserver.DialZooKeeper(addr, s, timeout)
	if err != nil {
		return err
	}
	w.Close()
	return nil
}

// session is the one that the server has granted.
func (l *Line) session() (realserver.ZooKeeperSession, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.hello) < helloLen {
		return realserver.ZooKeeperSession{}, errors.New("there is no session yet")
	}
	var is jute.Connected
	r := jute.Reader{B: l.hello[4:]} // after the length
	r.Get(&is)
	return realserver.ZooKeeperSession{ID: is.Session, Password: is.Password}, nil
}

// A tap is a connection whose traffic the line sees.
type tap struct {
	net.Conn
	line *Line
}

// helloLen is the least length of the answer to a connect request: length,
// protocol, time-out, session, and the password with its length.
const helloLen = 4 + 4 + 4 + 8 + 4 + 16

func (c *tap) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	if c.line.lost {
		c.line.lost = false
		c.Conn.Close()
		return 0, errLost
	}
	if have := len(c.line.hello); have < helloLen {
		c.line.hello = append(c.line.hello, b[:min(n, helloLen-have)]...)
	}
	return n, err
}

func (c *tap) Write(b []byte) (int, error) {
	c.line.mu.Lock()
	defer c.line.mu.Unlock()
	if len(b) >= 4+4+4 { // length, number, kind
		switch kind := opcode(binary.BigEndian.Uint32(b[8:])); {
		case kind == opSetWatches:
			c.line.Rearmed <- struct{}{}
		case kind != 0 && kind == c.line.lose:
			c.line.lose, c.line.lost = 0, true
		}
	}
	return c.Conn.Write(b)
}
