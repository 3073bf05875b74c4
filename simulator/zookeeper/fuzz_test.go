package zookeeper_test

import (
	"slices"
	"strings"
	"testing"

	"locklab/simulator/internal/codec"
	. "locklab/simulator/zookeeper"
)

var allOps = [8]Op{Ping, Create, Delete, Exists, GetData, SetData, GetChildren, Sync}

// FuzzState sends any requests of three sessions to an ensemble, with any paths. None
// panics, no state changes afterwards, and each is a tree: a znode has a parent, which is
// no ephemeral, and an ephemeral a session.
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
				r := Request{Op: allOps[op%8], Path: paths[arg%4], Data: data, Mode: Mode(arg >> 2 % 4), Version: int32(arg>>4) - 1, Watch: arg&128 != 0}
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
		if owner := reply.Stat.Owner; reply.Code != OK || owner != 0 && (!s.Alive(owner) || reply.Stat.NumChildren > 0) {
			t.Fatalf("%q: %+v", path, reply)
		}
		parent := path[:strings.LastIndexByte(path, '/')]
		if path != "/" && parent != "" && !slices.Contains(all, parent) {
			t.Fatalf("%q has no parent in %q", path, all)
		}
	}
}
