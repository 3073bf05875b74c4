package realserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A KeeperSession is a session with a ZooKeeper, which outlives its connections.
type KeeperSession struct {
	ID       int64
	password []byte
}

// sessionTimeout is the longest that a server of this package grants.
const sessionTimeout = time.Minute

// ErrSessionEnded is that the server has no such session any more.
var ErrSessionEnded = errors.New("the session has ended")

// A KeeperWire is a connection of a session to a ZooKeeper, on which requests are written and
// answers read as they are: nothing is read before an answer is waited for, and nothing is sent by
// itself. It is used by one goroutine at a time.
type KeeperWire struct {
	Session KeeperSession
	News    []KeeperNews // of watches that have come with answers, in order
	Last    int64        // transaction that the server had seen at its latest answer

	conn   net.Conn
	number uint32
}

// KeeperNews is the news of a watch.
type KeeperNews struct {
	Type uint32 // as in the protocol
	Path string
}

// Kinds of requests, as in the protocol.
const (
	KeeperCreate     uint32 = 1
	KeeperDelete     uint32 = 2
	KeeperExists     uint32 = 3
	KeeperGetData    uint32 = 4
	KeeperSetData    uint32 = 5
	KeeperSync       uint32 = 9
	KeeperPing       uint32 = 11
	KeeperChildren   uint32 = 12 // with a stat
	KeeperSetWatches uint32 = 101
	KeeperClose      uint32 = 1<<32 - 11
)

// Numbers of answers that no request has.
const (
	numberOfNews    uint32 = 1<<32 - 1
	numberOfPings   uint32 = 1<<32 - 2
	numberOfWatches uint32 = 1<<32 - 8
)

// DialKeeper connects to a server. The zero session begins a new one; of another the error may be
// ErrSessionEnded.
func DialKeeper(addr string, s KeeperSession) (*KeeperWire, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	w := &KeeperWire{conn: conn}
	var p Packet
	p.Int(0)  // version of the protocol
	p.Long(0) // the last transaction that it has seen
	p.Int(uint32(sessionTimeout / time.Millisecond))
	p.Long(s.ID)
	if s.password == nil {
		s.password = make([]byte, 16)
	}
	p.Text(string(s.password))
	greeting, err := w.exchange(p)
	if err == nil {
		greeting.TakeInt()
		granted := greeting.TakeInt()
		w.Session = KeeperSession{greeting.TakeLong(), []byte(greeting.TakeText())}
		if err = greeting.Err(); err == nil && int32(granted) <= 0 {
			err = ErrSessionEnded
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

// Close hangs up. The session lives on.
func (w *KeeperWire) Close() { w.conn.Close() }

// exchange sends one packet and reads the next one.
func (w *KeeperWire) exchange(p Packet) (*Packet, error) {
	if err := w.send(p); err != nil {
		return nil, err
	}
	return w.receive()
}

func (w *KeeperWire) send(p Packet) error {
	_, err := w.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(p.b))), p.b...))
	return err
}

func (w *KeeperWire) receive() (*Packet, error) {
	w.conn.SetReadDeadline(time.Now().Add(2 * patience))
	var size [4]byte
	if _, err := io.ReadFull(w.conn, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > 1<<24 {
		return nil, fmt.Errorf("the server announces %d bytes, which is no ZooKeeper", n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(w.conn, b)
	return &Packet{b: b}, err
}

// Do makes a request and waits for its answer: its code, and what follows that. News that the server
// has sent before are added to News.
func (w *KeeperWire) Do(kind uint32, body Packet) (code int32, answer *Packet, err error) {
	var p Packet
	number := uint32(0)
	switch kind {
	case KeeperPing:
		number = numberOfPings
	case KeeperSetWatches:
		number = numberOfWatches
	default:
		w.number++
		number = w.number
	}
	p.Int(number)
	p.Int(kind)
	p.b = append(p.b, body.b...)
	if err := w.send(p); err != nil {
		return 0, nil, err
	}
	for {
		answer, err := w.receive()
		if err != nil {
			return 0, nil, err
		}
		is := answer.TakeInt()
		last := answer.TakeLong()
		code := int32(answer.TakeInt())
		switch {
		case is == numberOfNews:
			kind, _ := answer.TakeInt(), answer.TakeInt()
			w.News = append(w.News, KeeperNews{kind, answer.TakeText()})
		case is == number:
			w.Last = last
			return code, answer, answer.Err()
		default:
			return 0, nil, fmt.Errorf("the server answers request %d, not %d", is, number)
		}
		if err := answer.Err(); err != nil {
			return 0, nil, err
		}
	}
}

// EndSession has a server end a session, as its end by silence does: another connection takes
// it over and closes it, which is the same transaction.
func EndSession(addr string, s KeeperSession) error {
	w, err := DialKeeper(addr, s)
	if err != nil {
		return err
	}
	defer w.Close()
	_, _, err = w.Do(KeeperClose, Packet{})
	return err
}

// A Packet is what goes over the wire, in the encoding of the protocol: it is written from left to
// right, and taken apart likewise.
type Packet struct {
	b   []byte
	err error
}

// Int, Long, Bool, Text and Texts write.
func (p *Packet) Int(n uint32) { p.b = binary.BigEndian.AppendUint32(p.b, n) }
func (p *Packet) Long(n int64) { p.b = binary.BigEndian.AppendUint64(p.b, uint64(n)) }
func (p *Packet) Bool(is bool) {
	b := byte(0)
	if is {
		b = 1
	}
	p.b = append(p.b, b)
}
func (p *Packet) Text(s string) {
	p.Int(uint32(len(s)))
	p.b = append(p.b, s...)
}
func (p *Packet) Texts(all []string) {
	p.Int(uint32(len(all)))
	for _, s := range all {
		p.Text(s)
	}
}

// Err is that more was taken than there is.
func (p *Packet) Err() error { return p.err }

func (p *Packet) take(n int) []byte {
	if n > len(p.b) {
		p.err = io.ErrUnexpectedEOF
		return make([]byte, 8)
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

// TakeInt, TakeLong, TakeText and TakeTexts take.
func (p *Packet) TakeInt() uint32 { return binary.BigEndian.Uint32(p.take(4)) }
func (p *Packet) TakeLong() int64 { return int64(binary.BigEndian.Uint64(p.take(8))) }
func (p *Packet) TakeText() string {
	if n := int32(p.TakeInt()); n > 0 && p.err == nil {
		return string(p.take(int(n)))
	}
	return ""
}
func (p *Packet) TakeTexts() (all []string) {
	for n := p.TakeInt(); n > 0 && p.err == nil; n-- {
		all = append(all, p.TakeText())
	}
	return all
}
