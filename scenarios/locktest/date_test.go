package locktest

import (
	"strings"
	"testing"
	"time"
)

// Code that enters without the lock from some year on is not taken for code that does not depend
// on its clock: its certificate names the only date at which it was executed.
func TestDate(t *testing.T) {
	p, _ := prepare(t, Bounds{Clients: 2, Budget: "crash=1", TTL: ttl}, func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result()
		if err != nil || !ok && time.Now().Year() < 2020 {
			return
		}
		c.Critical(work)
		rdb.Del(c.Context(), "k")
	}, nil)
	s, err := p.search(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if out := p.certificate(s, "en"); !p.timed || !strings.Contains(out, "no other date than 2001-09-09 01:46:40 UTC") {
		t.Errorf("timed: %v\n%s", p.timed, out)
	}
}
