package redisnode

import (
	"strings"
	"testing"

	"locklab/reports/text"
)

// TestWatches has scripts of what TestDifferential cannot play, for one server and its connections a, b
// and c: "connection: commands of one write -> replies", and "+d" for time that passes.
func TestWatches(t *testing.T) {
	for name, story := range map[string]string{
		"its time is over, and no more": `
			a: SET k v PX 10 -> OK
			a: WATCH k -> OK
			b: WATCH other -> OK
			+11ms
			a: MULTI; PING; EXEC -> OK; QUEUED; (nil)
			b: MULTI; PING; EXEC -> OK; QUEUED; [PONG]`,
		"all is flushed": `
			a: SET k v -> OK
			a: WATCH k none -> OK
			b: WATCH none -> OK
			c: FLUSHALL -> OK
			a: MULTI; PING; EXEC -> OK; QUEUED; (nil)
			b: MULTI; PING; EXEC -> OK; QUEUED; [PONG]`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.play(story, func(line string) {
				said, want, _ := strings.Cut(line, " -> ")
				conn, said, _ := strings.Cut(said, ": ")
				if got := ReplyText(s.batch(conn, commandsOf(said)...)); got != want {
					t.Errorf("at %v: %s: %s\ngot  %s\nwant %s", s.now, conn, said, got, want)
				}
			})
			if left := s.table.keyspaces.At(s.data.keyspace).conns; len(left) > 0 {
				t.Errorf("at the end there are still watches: %+v", left)
			}
		})
	}
}

// TestUnfitTransactions: a transaction that would outlast its write, or differ from
// Redis, is refused with the reason; it is not executed, and later commands work.
func TestUnfitTransactions(t *testing.T) {
	s := newServer(t)
	s.do("SET k v")
	for line, why := range map[string]string{
		"MULTI":                         "MULTI without an EXEC in the same write",
		"MULTI; SET k w":                "MULTI without an EXEC in the same write",
		"EXEC":                          "EXEC without a MULTI in the same write",
		"DISCARD":                       "DISCARD without a MULTI in the same write",
		"MULTI; MULTI; EXEC":            "MULTI between MULTI and EXEC",
		"MULTI; WATCH k; EXEC":          "WATCH between MULTI and EXEC",
		"MULTI; SET k w; UNWATCH; EXEC": "UNWATCH between MULTI and EXEC",
		"MULTI; SET k w IFEQ v; EXEC":   "a comparison with IFEQ between MULTI and EXEC",
		"MULTI; DELIFEQ k v; EXEC":      "a comparison with IFEQ between MULTI and EXEC",
		"MULTI; SELECT 1; EXEC":         "the command SELECT",
		"SET k w; multi":                "MULTI without an EXEC in the same write",
	} {
		before := s.data
		_, err := s.tryBatch("", commandsOf(line)...)
		if err == nil || !strings.Contains(text.SayError("en", err), "cannot carry "+why+":") {
			t.Errorf("%s: %v, want the reason %q", line, err, why)
		}
		if s.data != before {
			t.Errorf("%s was refused and changed the data", line)
		}
		if got := s.do("GET k"); got != `"v"` {
			t.Errorf("after %s, GET k is %s", line, got)
		}
	}
}
