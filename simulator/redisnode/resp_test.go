package redisnode

import (
	"bufio"
	"bytes"
	"reflect"
	"strings"
	"testing"
	"testing/quick"

	"github.com/alicebob/miniredis/v2/server"

	"locklab/reports/text"
	"locklab/simulator/intern"
	"locklab/simulator/memo"
	"locklab/simulator/process"
	"locklab/simulator/resp"
)

// frame is the length of the first RESP2 value in s.
func frame(s string) (int, error) {
	in := bytes.NewBufferString(s)
	_, err := resp.Read(in, nil)
	return len(s) - in.Len(), err
}

// TestFrameRefuses: what is no value has no length, and no length is believed
// that has no value behind it.
func TestFrameRefuses(t *testing.T) {
	for _, s := range []string{
		"", "\r\n", "+", "+OK", "+OK\r", "OK\r\n", "$\r\n", "$x\r\n", "$-2\r\n", "$+1\r\nx\r\n",
		"$01\r\nx\r\n", "$-01\r\n", "$2\r\nx\r\n", "$1\r\nxy\r\n", "$99999999999999999999\r\n", "*1\r\n",
		"*2\r\n:1\r\n", "*1000000000\r\n", strings.Repeat("*1\r\n", 100) + ":1\r\n", // deeper than any reply
	} {
		if n, err := frame(s); err == nil {
			t.Errorf("frame(%q) = %d", s, n)
		}
	}
}

func TestParseBatch(t *testing.T) {
	// whatever words are written are read again, many commands in a row
	back := func(commands [][]string) bool {
		var written []byte
		var want [][]string
		for _, c := range commands {
			if len(c) > 0 {
				written, want = append(written, wire(c)...), append(want, c)
			}
		}
		got, err := ParseBatch(string(written))
		return err == nil && reflect.DeepEqual(got, want)
	}
	if err := quick.Check(back, nil); err != nil {
		t.Error(err)
	}
	for _, s := range []string{
		"PING\r\n", "+PING\r\n", "*0\r\n", "*-1\r\n", "*1\r\n$-1\r\n", "*1\r\n:1\r\n", "*2\r\n$4\r\nPING\r\n",
		"*1\r\n$4\r\nPING\r\n*", "*1\r\n$4\r\nPINGG\r\n", "*1\r\n*1\r\n$4\r\nPING\r\n",
	} {
		if got, err := ParseBatch(s); err == nil || !strings.Contains(text.SayError("en", err), "no command") {
			t.Errorf("ParseBatch(%q) = %q, %v", s, got, err)
		}
	}
}

// FuzzFrame holds the length of a value against miniredis's reader.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{"+OK\r\n", ":1\r\n:2\r\n", "$1\r\nx\r\n", "*2\r\n$-1\r\n*0\r\n", "*2\r\n:1\r\n$-01\r\n",
		"*1\r\n$4\r\nPING\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = ParseBatch(s) // must not panic
		n, err := frame(s)
		if err != nil {
			return
		}
		if m, err := frame(s[:n]); err != nil || m != n {
			t.Errorf("frame(%q) = %d, and of that much %d, %v", s, n, m, err)
		}
		if _, err := frame(s[:n-1]); err == nil {
			t.Errorf("frame(%q) = %d, and one byte less is a value, too", s, n)
		}
		if strings.ContainsAny(s[:n], ":+-") {
			return // miniredis asks more of those (numbers), or less (a line may end in \n)
		}
		r := strings.NewReader(s)
		b := bufio.NewReaderSize(r, 16)
		if _, err := server.ParseReply(b); err == nil {
			if read := len(s) - r.Len() - b.Buffered(); read != n {
				t.Errorf("frame(%q) = %d, miniredis reads %d", s, n, read)
			}
		}
	})
}

// FuzzReplyText: every text is one line and none is nothing, whatever comes.
func FuzzReplyText(f *testing.F) {
	for _, s := range []string{"$-01\r\n", "*1\r\n$-1\r\n", "$1\r\nx\r\n", "+a\nb\r\n", "*1\r\n*1\r\n*1\r\n:1\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := ReplyText(s)
		if n, err := frame(s); err != nil && s != "" || n > len(s) {
			if !strings.HasPrefix(text, `"`) {
				t.Errorf("ReplyText(%q) = %s: no value, and not quoted", s, text)
			}
		}
		if strings.Contains(text, "\r\n") {
			t.Errorf("ReplyText(%q) = %q has more than one line", s, text)
		}
	})
}

// FuzzWire has a client write any bytes: what goes to the server and what is answered at
// once do not depend on how they are cut into writes.
func FuzzWire(f *testing.F) {
	f.Add([]byte("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), uint16(7))
	f.Add([]byte("*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n*1\r\n$5\r\nMULTI\r\n*1\r\n$4\r\nEXEC\r\n"), uint16(20))
	f.Add([]byte("*1\r\n$-1\r\nPING\r\n"), uint16(1))
	k, err := New(make([]Config, 1), memo.New(intern.NewRoom()))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(k.Close)
	write := func(parts ...[]byte) (*Wire, string, error) {
		w, all := k.Dial(process.New(1, func() {}, nil, intern.NewRoom()).Code())(1).(*Wire), ""
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
			t.Errorf("%q: %q, %q, %v; cut at %d: %q, %q, %v",
				b, whole.out, answers, err, at, parts.out, again, errAgain)
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
		"MULTI; SET k 1; EXEC", "WATCH k; MULTI; GET k; EXEC", "ZADD z 1 a; ZRANGE z 0 -1; ZREM z a",
		"RPUSH l a b; LREM l 0 a; LRANGE l 0 -1",
		"COPY k j REPLACE; RENAME k j; SET k v PXAT 1", "DELIFEQ k v; SET k w IFEQ v",
		"SADD s a b; SMEMBERS s; PUBLISH c m", "GETEX k PERSIST; FLUSHALL; DBSIZE; TIME",
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
