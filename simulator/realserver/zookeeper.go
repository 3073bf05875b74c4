package realserver

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"locklab/simulator/internal/jute"
)

// StartZooKeeper runs a standalone ZooKeeper on a free loopback port, with dir for its files; only
// ConnectZooKeeper is let in. Its tick is 100 ms, and a session may ask for a time-out from that to a minute.
func StartZooKeeper(ctx context.Context, dir string) (*Process, error) {
	paths, err := FindZooKeeper()
	if err != nil {
		return nil, err
	}
	id, err := identity()
	if err != nil {
		return nil, err
	}
	written, err := pemOf(id)
	if err != nil {
		return nil, err
	}
	identityFile, err := secret(dir, "identity.pem", written)
	if err != nil {
		return nil, err
	}
	// The container manager is what the server starts last, when it serves. Of its connections the first takes long.
	p, err := start(ctx, way{"ZooKeeper", "ContainerManager", kill, nil}, func(port string) []string {
		config := []string{
			"tickTime=100", "minSessionTimeout=100", "maxSessionTimeout=60000",
			"dataDir=" + dir, "secureClientPort=" + port, "secureClientPortAddress=127.0.0.1",
			"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory", "ssl.clientAuth=need",
			"ssl.hostnameVerification=false", // the certificate is the only one that is trusted
			"ssl.keyStore.location=" + identityFile, "ssl.keyStore.type=PEM",
			"ssl.trustStore.location=" + identityFile, "ssl.trustStore.type=PEM",
			"admin.enableServer=false", "maxClientCnxns=0", "",
		}
		// Without the file the server says so, and does not start.
		file, _ := secret(dir, "zoo.cfg", strings.Join(config, "\n"))
		// Java writes what it has to say of a crash into the folder that it runs in.
		return []string{"sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", dir, paths[0],
			"-Xmx128m", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no",
			"-cp", strings.Join(paths[1:], ":"),
			"org.apache.zookeeper.server.ZooKeeperServerMain", file}
	})
	if err != nil {
		return nil, err
	}
	first, err := ConnectZooKeeper("tcp", p.Addr, 4*patience)
	if err != nil {
		p.Kill()
		return nil, err
	}
	return p, first.Close()
}

// A ZooKeeperSession is a session with a ZooKeeper, which outlives its connections.
type ZooKeeperSession struct {
	ID       int64
	Password string
}

// sessionTimeout is the longest that a server of this package grants.
const sessionTimeout = time.Minute

// ErrSessionEnded is that the server has no such session any more.
var ErrSessionEnded = errors.New("the session has ended")

// A ZooKeeperConn is a connection of a session to a ZooKeeper, on which requests are written and answers read as they
// are: nothing is read before an answer is waited for, nor sent by itself. One goroutine at a time uses it.
type ZooKeeperConn struct {
	Session ZooKeeperSession
	Events  []WatchEvent // of watches that have come with answers, in order
	Last    int64        // transaction that the server had seen at its latest answer

	conn   net.Conn
	number int32
}

// WatchEvent is the news of a watch.
type WatchEvent struct {
	Type int32 // as in the protocol
	Path string
}

// Numbers of answers that no request has.
const (
	numberOfPings   int32 = -2
	numberOfWatches int32 = -8
)

// DialZooKeeper connects to a server. The zero session begins a new one; of another the error may be
// ErrSessionEnded. The session asks for a time-out, which 0 leaves at the longest that is granted.
func DialZooKeeper(addr string, s ZooKeeperSession, timeout time.Duration) (*ZooKeeperConn, error) {
	conn, err := ConnectZooKeeper("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	w := &ZooKeeperConn{conn: conn}
	if s.Password == "" {
		s.Password = string(make([]byte, 16))
	}
	timeout = cmp.Or(timeout, sessionTimeout)
	asks := jute.Connect{Timeout: int32(timeout / time.Millisecond), Session: s.ID, Password: s.Password}
	greeting, err := w.exchange(jute.Put(nil, asks))
	if err == nil {
		var granted jute.Connected
		greeting.Get(&granted)
		w.Session = ZooKeeperSession{granted.Session, granted.Password}
		switch {
		case greeting.Short:
			err = io.ErrUnexpectedEOF
		case granted.Timeout <= 0:
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
func (w *ZooKeeperConn) Close() { w.conn.Close() }

// exchange sends one packet and reads the next one.
func (w *ZooKeeperConn) exchange(message []byte) (*jute.Reader, error) {
	if _, err := w.conn.Write(jute.Framed(message)); err != nil {
		return nil, err
	}
	return w.receive()
}

func (w *ZooKeeperConn) receive() (*jute.Reader, error) {
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
	return &jute.Reader{B: b}, err
}

// Do makes a request and waits for its answer: its code, and what follows. Earlier news are added to News.
func (w *ZooKeeperConn) Do(kind int32, body []byte) (code int32, answer *jute.Reader, err error) {
	var number int32
	switch kind {
	case jute.Ping:
		number = numberOfPings
	case jute.SetWatches:
		number = numberOfWatches
	default:
		w.number++
		number = w.number
	}
	answer, err = w.exchange(append(jute.Put(nil, number, kind), body...))
	for ; err == nil; answer, err = w.receive() {
		var is jute.Header
		answer.Get(&is)
		switch {
		case is.XID == jute.News.XID:
			var news WatchEvent
			var state int32
			answer.Get(&news.Type, &state, &news.Path)
			w.Events = append(w.Events, news)
		case is.XID == number:
			w.Last = is.Zxid
		default:
			return 0, nil, fmt.Errorf("the server answers request %d, not %d", is.XID, number)
		}
		switch {
		case answer.Short:
			return 0, nil, io.ErrUnexpectedEOF
		case is.XID == number:
			return is.Code, answer, nil
		}
	}
	return 0, nil, err
}

// EndSession has a server end a session, as its end by silence does: another connection takes
// it over and closes it, which is the same transaction.
func EndSession(addr string, s ZooKeeperSession) error {
	w, err := DialZooKeeper(addr, s, 0)
	if err != nil {
		return err
	}
	defer w.Close()
	_, _, err = w.Do(jute.Close, nil)
	return err
}

// ZooKeeperVersion asks a server for its version; "?": it does not say.
func ZooKeeperVersion(addr string) (string, error) {
	conn, err := ConnectZooKeeper("tcp", addr, patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write([]byte("srvr")); err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	n, err := conn.Read(b) // the server hangs up at once: the end may come with the answer
	if n == 0 {
		return "", err
	}
	_, version, _ := strings.Cut(string(b[:n]), "Zookeeper version: ")
	version, _, _ = strings.Cut(version, "-")
	return cmp.Or(version, "?"), nil // it may be forbidden to ask
}
