package servertest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/lib/pq"
	"github.com/redis/go-redis/v9"

	"locklab/simulator/effort"
	"locklab/simulator/internal/jute"
	"locklab/simulator/realserver"
)

// TestGivesMemoryBack: a PostgreSQL that is ended leaves no memory behind that the system has for it beside its
// processes.
func TestGivesMemoryBack(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	_, err := realserver.FindPostgreSQL()
	Need(t, err)
	dir := folder(t)
	p, err := realserver.StartPostgreSQL(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	written, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	const segment = 6 // the line with the key and the number of the segment
	number := strings.Fields(strings.Split(string(written), "\n")[segment])[1]
	if !hasSegment(t, number) {
		t.Fatalf("the system has no segment %s", number)
	}
	if p.Kill(); hasSegment(t, number) {
		t.Errorf("segment %s is left", number)
	}
}

// hasSegment reports whether the system has a segment of shared memory.
func hasSegment(t *testing.T, number string) bool {
	t.Helper()
	all, err := os.ReadFile("/proc/sysvipc/shm")
	effort.Need(t, err) // only Linux has /proc
	for line := range strings.Lines(string(all)) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == number {
			return true
		}
	}
	return false
}

// FuzzLine has any bytes pass a line, as from a ZooKeeper server and its client: they
// arrive unchanged, until an answer is to be lost.
func FuzzLine(f *testing.F) {
	create := []byte{0, 0, 0, 14, 0, 0, 0, 1, 0, 0, 0, 1, '/'}
	f.Add(create, bytes.Repeat([]byte{7}, 60), uint16(3), false)
	f.Add(create, []byte("short"), uint16(0), true)
	f.Add([]byte{0, 0, 0, 8, 255, 255, 255, 248, 0, 0, 0, 101}, []byte{}, uint16(9), true)
	f.Fuzz(func(t *testing.T, asked, answered []byte, cut uint16, lose bool) {
		l, wire := NewLine(), &pipe{in: answered}
		c := &tap{Conn: wire, line: l}
		if l.conn = wire; lose {
			l.LoseCreate()
		}
		for left := asked; len(left) > 0 && len(l.Rearmed) < cap(l.Rearmed); {
			var part []byte
			part, left = left[:min(len(left), 1+int(cut))], left[min(len(left), 1+int(cut)):]
			if n, err := c.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if len(l.Rearmed) == 0 && !bytes.Equal(wire.out, asked) {
			t.Errorf("%q came as %q", asked, wire.out)
		}
		lost := l.lost
		var got []byte
		for b := make([]byte, 1+int(cut)); ; {
			n, err := c.Read(b)
			if got = append(got, b[:n]...); err != nil || n == 0 {
				break
			}
		}
		if lost && (len(got) > 0 || !wire.closed) || !lost && !bytes.Equal(got, answered) {
			t.Errorf("%q was read as %q, to be lost: %v", answered, got, lost)
		}
		if want := answered[:min(len(answered), helloLen)]; !lost && !bytes.Equal(l.hello, want) {
			t.Errorf("of %q the line keeps %q", answered, l.hello)
		}
	})
}

// pipe is a connection over which in comes and out went.
type pipe struct {
	net.Conn
	in, out []byte
	closed  bool
}

func (p *pipe) Read(b []byte) (int, error) {
	n := copy(b, p.in)
	p.in = p.in[n:]
	return n, nil
}

func (p *pipe) Write(b []byte) (int, error) {
	p.out = append(p.out, b...)
	return len(b), nil
}

func (p *pipe) Close() error {
	p.closed = true
	return nil
}

// TestListening: a socket on every address of the machine is seen as such.
func TestListening(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:0": "127.0.0.1", "0.0.0.0:0": "0.0.0.0", "[::1]:0": "[::1]", "[::]:0": "[::]",
	} {
		network := "tcp4"
		if strings.HasPrefix(listen, "[") {
			network = "tcp6"
		}
		l, err := net.Listen(network, listen)
		if err != nil && network == "tcp6" {
			continue // a machine without IPv6
		}
		if err != nil {
			t.Fatal(err)
		}
		all, err := listening(os.Getpid())
		if addr := fmt.Sprintf("%s:%d", want, l.Addr().(*net.TCPAddr).Port); err != nil || !slices.Contains(all, addr) {
			t.Errorf("%s: %v, %v, want %s", listen, all, err, addr)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGateOnLoopback: other machines reach no gate, as they reach none of the servers of the other tests.
func TestGateOnLoopback(t *testing.T) {
	g, err := realserver.NewGate("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	OnlyLoopback(t, os.Getpid(), g.Addr())
}

// TestPasswords: other users of this machine reach the servers that this package starts, but none lets them in. No
// command line has the password.
func TestPasswords(t *testing.T) {
	effort.OnlyPushed(t, "it starts every kind of server")
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		t.Fatal(err)
	}
	connect := func(driver, name string) error {
		db, err := sql.Open(driver, name)
		if err != nil {
			return err
		}
		defer db.Close()
		return db.PingContext(t.Context())
	}
	for _, test := range []struct {
		name    string
		missing func() error
		start   func(dir string) (*realserver.Process, error)
		ping    func(addr, user, password string) error
		users   []string // the first is that of the lab
	}{
		{
			"redis", func() error { _, err := realserver.FindRedis(); return err },
			func(dir string) (*realserver.Process, error) { return realserver.StartRedis(t.Context(), dir, nil) },
			func(addr, user, password string) error {
				options := redis.Options{Addr: addr, Username: user, Password: password, MaxRetries: -1,
					DisableIdentity: true}
				rdb := redis.NewClient(&options)
				defer rdb.Close()
				return rdb.Ping(t.Context()).Err()
			},
			[]string{"", "default"},
		},
		{
			"mariadb", func() error { _, err := realserver.FindMariaDB(); return err },
			func(dir string) (*realserver.Process, error) { return realserver.StartMariaDB(t.Context(), dir, nil) },
			func(addr, user, password string) error {
				return connect("mysql", user+":"+password+"@tcp("+addr+")/test")
			},
			[]string{"root", "mysql", "test", ""},
		},
		{
			"postgresql", func() error { _, err := realserver.FindPostgreSQL(); return err },
			func(dir string) (*realserver.Process, error) {
				return realserver.StartPostgreSQL(t.Context(), dir, nil)
			},
			func(addr, user, password string) error {
				return connect("postgres", "postgres://"+user+":"+password+"@"+addr+"/postgres?sslmode=disable")
			},
			[]string{"postgres", "root"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			Need(t, test.missing())
			p, err := test.start(folder(t))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			OnlyLoopback(t, p.Pid(), p.Addr)
			namesNowhere(t, p.Pid(), realserver.Password)
			for i, user := range test.users {
				if err := test.ping(p.Addr, user, realserver.Password); i == 0 && err != nil {
					t.Error(err)
				}
				for _, password := range []string{"", "root", user} {
					if test.ping(p.Addr, user, password) == nil {
						t.Errorf("user %q gets in with the password %q", user, password)
					}
				}
			}
		})
	}
}

// TestCertificate: a ZooKeeper serves nobody who does not have the key of this process: neither one who speaks
// the protocol in the clear, nor one without a certificate or with one of his own.
func TestCertificate(t *testing.T) {
	effort.OnlyPushed(t, "it starts a server")
	NeedZooKeeper(t)
	p, err := realserver.StartZooKeeper(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	OnlyLoopback(t, p.Pid(), p.Addr)
	greet := func(conn net.Conn, err error) error {
		if err != nil {
			return err
		}
		defer conn.Close()
		hello := jute.Connect{Timeout: 10_000, Password: string(make([]byte, 16))}
		if _, err := conn.Write(jute.Framed(jute.Put(nil, hello))); err != nil {
			return err
		}
		_, err = conn.Read(make([]byte, 1))
		return err
	}
	if err := greet(realserver.ConnectZooKeeper("tcp", p.Addr, time.Minute)); err != nil {
		t.Error(err)
	}
	if greet(net.Dial("tcp", p.Addr)) == nil {
		t.Error("a client without TLS is served")
	}
	stranger := tls.Config{InsecureSkipVerify: true}
	dial := func() (net.Conn, error) { return tls.Dial("tcp", p.Addr, &stranger) }
	if greet(dial()) == nil {
		t.Error("a client without a certificate is served")
	}
	stranger.Certificates = []tls.Certificate{ownCertificate(t)}
	if greet(dial()) == nil {
		t.Error("a client with a certificate of its own is served")
	}
}

// ownCertificate is one like that of this process, with another key.
func ownCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	is := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "locklab"}, NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, is, is, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// namesNowhere checks that no command line of a process or its descendants has a text: all users of the machine read
// them.
func namesNowhere(t testing.TB, pid int, text string) {
	t.Helper()
	family, err := descendants(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range family {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p)) // it may have ended
		if strings.Contains(string(line), text) {
			t.Errorf("%s is in a command line: %q", text, line)
		}
	}
}
