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
		"", "\r\n", "+", "+OK", "+OK\r", "OK\r\n", "$\r\n", "$x\r\n", "$-2\r\n", "$+1\r\nx\r\n", "$01\r\nx\r\n", "$-01\r\n",
		"$2\r\nx\r\n", "$1\r\nxy\r\n", "$99999999999999999999\r\n", "*1\r\n", "*2\r\n:1\r\n", "*1000000000\r\n",
		strings.Repeat("*1\r\n", 100) + ":1\r\n", // deeper than any reply
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
	for _, s := range []string{"+OK\r\n", ":1\r\n:2\r\n", "$1\r\nx\r\n", "*2\r\n$-1\r\n*0\r\n", "*2\r\n:1\r\n$-01\r\n", "*1\r\n$4\r\nPING\r\n"} {
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
