package zookeeper_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/simulator/intern"
	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	"locklab/simulator/process"
	. "locklab/simulator/zookeeper"
)

// connection is one of a process that does nothing.
func connection() process.Wire {
	k := NewKind(Config{Session: time.Second, Wires: true}, memo.New(intern.NewRoom()))
	return k.Dial(process.New(1, func() {}, nil, intern.NewRoom()).Code())(1)
}

// message is a message of the protocol: numbers of 32 or 64 bits, texts and bytes.
func message(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(p))
		case bool:
			b = append(b, 0)
		case string:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
		}
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// talk is what a client writes in an ordinary session.
var talk = slices.Concat(
	message(0, int64(0), 1000, int64(0), string(make([]byte, 16))),
	message(1, 1, "/lock", "x", 1, 31, "world", "anyone", 3),
	message(-2, 11),
	message(2, 12, "/lock", false),
	message(3, 101, int64(7), 1, "/a", 0, 2, "/b", "/c"),
	message(4, 2, "/lock", -1),
	message(5, -11),
)

// Where the writes of a client end makes no difference; what is no message is an error, and never more than that.
func TestWirePieces(t *testing.T) {
	c := connection()
	if answers, err := c.Write(talk); err != nil || len(answers) == 0 {
		t.Fatalf("the answer %q, %v", answers, err)
	}
	if o, ok, err := c.Asks(); err != nil || !ok || o.Kind != process.Request {
		t.Fatalf("it asks %v, %t, %v", o, ok, err)
	}
	rng, refused := rand.New(rand.NewPCG(1, 2)), 0
	for range 2000 {
		c, mutant := connection(), bytes.Clone(talk)
		for range rng.IntN(4) {
			mutant[rng.IntN(len(mutant))] = byte(rng.UintN(256))
		}
		whole, err := c.Write(mutant)
		d, at := connection(), rng.IntN(len(mutant))
		pieces, err2 := d.Write(mutant[:at])
		if err2 == nil {
			var more []byte
			more, err2 = d.Write(mutant[at:])
			pieces = append(pieces, more...)
		}
		if !bytes.Equal(whole, pieces) || (err == nil) != (err2 == nil) {
			t.Fatalf("%q: %q, %v; in two pieces: %q, %v", mutant, whole, err, pieces, err2)
		}
		a, _, _ := c.Asks()
		b, _, _ := d.Asks()
		if err == nil && a.Kind != b.Kind {
			t.Fatalf("%q asks %v and %v", mutant, a, b)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 100 || refused > 1900 {
		t.Errorf("%d of 2000 are refused", refused)
	}
}

var allOps = [8]Op{Ping, Create, Delete, Exists, GetData, SetData, GetChildren, Sync}

// FuzzState sends any requests of three sessions to an ensemble, with any paths. None panics, no state changes
// afterwards, and each is a tree: a znode has a parent, which is no ephemeral, and an ephemeral a session.
func FuzzState(f *testing.F) {
	f.Add([]byte{1, 0, 1, 1, 1, 3, 3, 2, 1, 6, 4, 0, 2, 0, 255, 0, 200, 0, 210, 1}, "/lock", "/lock/n-", "x")
	f.Add([]byte{1, 0, 5, 0, 5, 0, 4, 0, 220, 2, 7, 0}, "/", "/a//b", "\x00")
	f.Add([]byte{1, 15, 1, 31, 230, 0, 3, 1, 240, 0}, "/q\xff", "/../q/", "")
	f.Fuzz(func(t *testing.T, script []byte, first, second, data string) {
		if len(script) > 400 {
			return
		}
		paths := []string{"/", first, second, first + second}
		s := New()
		for range 3 {
			s, _ = s.Connect()
		}
		for ; len(script) >= 2; script = script[2:] {
			before := s
			key := codec.Key(before)
			op, arg := script[0], script[1]
			id := SessionID(1 + op>>3%4) // one of them does not exist
			switch {
			case op >= 240:
				s, _ = s.Connect()
			case op >= 230:
				s = s.Disconnect(id)
			case op >= 220:
				s, _, _ = s.Close(id)
			case op >= 210:
				s, _, _ = s.Reconnect(id, int64(arg), []Watch{{Kind: WatchData, Path: paths[arg%4]}})
			default:
				r := Request{
					Op: allOps[op%8], Path: paths[arg%4], Data: data, Mode: Mode(arg >> 2 % 4),
					Version: int32(arg>>4) - 1, Watch: arg&128 != 0,
				}
				s, _, _ = s.Apply(id, r)
			}
			if key != codec.Key(before) {
				t.Fatal("a state has changed")
			}
			checkTree(t, s)
		}
	})
}

func checkTree(t *testing.T, s State) {
	t.Helper()
	s, reader := s.Connect()
	all := s.Paths()
	for _, path := range all {
		_, reply, _ := s.Apply(reader, Request{Op: Exists, Path: path})
		owner := reply.Stat.Owner
		if reply.Code != OK || owner != 0 && (!s.Alive(owner) || reply.Stat.NumChildren > 0) {
			t.Fatalf("%q: %+v", path, reply)
		}
		parent := path[:strings.LastIndexByte(path, '/')]
		if path != "/" && parent != "" && !slices.Contains(all, parent) {
			t.Fatalf("%q has no parent in %q", path, all)
		}
	}
}
