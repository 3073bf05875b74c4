package servertest

import (
	"bytes"
	"net"
	"testing"
)

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
