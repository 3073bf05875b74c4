package libraries

import (
	"testing"

	"github.com/redis/rueidis"

	"locklab/scenarios/locktest"
)

// TestRueidis: SET NX and DEL on rueidis, which asks from goroutines of its own.
func TestRueidis(t *testing.T) {
	b := locktest.Bounds{Clients: 2, Budget: "pause=1", TTL: ttl}
	locktest.Check(t, b, func(c *locktest.Client) {
		rdb, err := rueidis.NewClient(rueidisOf(c))
		if err != nil {
			return
		}
		defer rdb.Close()
		err = rdb.Do(c.Context(), rdb.B().Set().Key("k").Value("1").Nx().Px(ttl).Build()).Error()
		if err != nil {
			return
		}
		c.Critical(work)
		rdb.Do(c.Context(), rdb.B().Del().Key("k").Build())
	}, locktest.Finds("OVERLAP STALE-WRITE WRONG-DEL"))
}
