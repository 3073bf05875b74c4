package resp_test

import (
	"strings"
	"testing"

	"locklab/simulator/resp"
)

// FuzzReplace: what consists of values keeps everything but its strings, and these are replaced wherever they stand.
func FuzzReplace(f *testing.F) {
	for _, text := range []string{"", "+OK\r\n", "$-1\r\n", ":5\r\n", "-ERR $3 x\r\n", "$3\r\nc1.\r\n",
		"*2\r\n$2\r\nab\r\n*1\r\n$0\r\n\r\n", "$6\r\na\r\nb$1\r\n+x\r\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, err := resp.All(text)
		if err != nil {
			return
		}
		if same := resp.Replace(text, func(s string) string { return s }); same != text {
			t.Fatalf("%q became %q", text, same)
		}
		after, err := resp.All(resp.Replace(text, func(s string) string { return s + s }))
		if err != nil {
			t.Fatal(err)
		}
		for i := range before {
			compare(t, before[i], after[i])
		}
	})
}

func compare(t *testing.T, before, after any) {
	switch b := before.(type) {
	case string:
		if after != b+b {
			t.Fatalf("%q became %q", b, after)
		}
	case []any:
		for i, one := range b {
			compare(t, one, after.([]any)[i])
		}
	default:
		if after != before {
			t.Fatalf("%q became %q", before, after)
		}
	}
}

// TestReplaceNames: a name of another length is written with its own.
func TestReplaceNames(t *testing.T) {
	got := resp.Replace("*2\r\n$7\r\nc1.1001\r\n:1\r\n", func(s string) string { return strings.TrimPrefix(s, "c1.") })
	if want := "*2\r\n$4\r\n1001\r\n:1\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
