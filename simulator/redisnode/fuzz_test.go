package redisnode

import (
	"bytes"
	"strings"
	"testing"

	"locklab/simulator/internal/table"
	"locklab/simulator/memo"
	"locklab/simulator/process"
)

// FuzzWire has a client write any bytes: what goes to the server and what is answered at
// once do not depend on how they are cut into writes.
func FuzzWire(f *testing.F) {
	f.Add([]byte("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), uint16(7))
	f.Add([]byte("*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n*1\r\n$5\r\nMULTI\r\n*1\r\n$4\r\nEXEC\r\n"), uint16(20))
	f.Add([]byte("*1\r\n$-1\r\nPING\r\n"), uint16(1))
	k, err := New(make([]Config, 1), memo.New(table.NewRoom()))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(k.Close)
	write := func(parts ...[]byte) (*Wire, string, error) {
		w, all := k.Dial(process.New(1, func() {}, nil, table.NewRoom()).Code())(1).(*Wire), ""
		for _, part := range parts {
			answers, err := w.Write(part)
			all += string(answers)
			if err != nil {
				return w, all, err
			}
		}
		return w, all, nil
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		at := min(int(cut), len(b))
		whole, answers, err := write(b)
		parts, again, errAgain := write(b[:at], b[at:])
		if answers != again || (err == nil) != (errAgain == nil) || !bytes.Equal(whole.out, parts.out) {
			t.Errorf("%q: %q, %q, %v; cut at %d: %q, %q, %v", b, whole.out, answers, err, at, parts.out, again, errAgain)
		}
		if _, err := ParseBatch(string(whole.out)); err != nil {
			t.Errorf("%q: sent as commands: %q, %v", b, whole.out, err)
		}
	})
}

// FuzzCommands sends any commands to two servers, one of which remembers nothing: they
// answer the same, and none panics.
func FuzzCommands(f *testing.F) {
	for _, line := range []string{
		"SET k v NX PX 100; GET k; PEXPIRE k 5; PTTL k; DEL k", "HSET h a 1; HINCRBY h a 2; HGETALL h; EXPIRE h 1 NX",
		"MULTI; SET k 1; EXEC", "WATCH k; MULTI; GET k; EXEC", "ZADD z 1 a; ZRANGE z 0 -1; ZREM z a", "RPUSH l a b; LREM l 0 a; LRANGE l 0 -1",
		"COPY k j REPLACE; RENAME k j; SET k v PXAT 1", "DELIFEQ k v; SET k w IFEQ v", "SADD s a b; SMEMBERS s; PUBLISH c m", "GETEX k PERSIST; FLUSHALL; DBSIZE; TIME",
	} {
		var b []byte
		for _, command := range commandsOf(line) {
			b = append(b, wire(command)...)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		commands, err := ParseBatch(string(b))
		if err != nil || len(commands) > 50 {
			return
		}
		s, twin := newServer(t), newServer(t)
		twin.table.memo.Plain = true
		for _, c := range commands {
			if name := strings.ToUpper(c[0]); strings.HasPrefix(name, "EVAL") || name == "SCRIPT" {
				return // a script may run without end, on a Redis too
			}
			one, err := s.try(c...)
			other, errOther := twin.try(c...)
			if err != nil || errOther != nil {
				if (err == nil) != (errOther == nil) {
					t.Fatalf("%q: %v; without memory: %v", c, err, errOther)
				}
				return
			}
			if a, b := s.table.replies.At(one.Reply).resp, twin.table.replies.At(other.Reply).resp; a != b {
				t.Fatalf("%q in %q: %q; without memory: %q", c, commands, a, b)
			}
			s.now, twin.now = s.now+1e6, twin.now+1e6
		}
	})
}
