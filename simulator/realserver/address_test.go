package realserver

import (
	"strings"
	"testing"

	"locklab/reports/text"
)

// TestParseRedis: an address is shown without the password, and so is one that is refused.
func TestParseRedis(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:6379":                  "127.0.0.1:6379",
		"redis://u:secret@127.0.0.1:7/9":  "127.0.0.1:7/9",
		"rediss://:secret@example.org":    "example.org:6379",
		"unix://u:secret@/tmp/redis.sock": "/tmp/redis.sock",
	} {
		g, err := ParseRedis(addr)
		if err != nil || g.String() != want {
			t.Errorf("%s: %v, %v", addr, g, err)
		}
	}
	for _, addr := range []string{"", "here", "http://u:secret@h", "redis://u:secret@h:1/x", "redis://u:se%zzcret@h:1", "redis://u:sec ret@h:1 2", "redis://u:secret@h:1?nonsense=1"} {
		if _, err := ParseRedis(addr); err == nil || strings.Contains(text.SayError("en", err), "cret") {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if g, _ := ParseRedis("rediss://h:1"); g.options.TLSConfig == nil {
		t.Error("rediss is no TLS")
	}
}
