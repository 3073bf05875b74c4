package libraries

import (
	"testing"

	"github.com/redis/rueidis"

	"locklab/scenarios/locktest"
)

func TestRueidis(t *testing.T) {
	b := locktest.Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl, Schedules: 300}
	locktest.Sample(t, b, func(c *locktest.Client) {
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
	}, locktest.Holds("DEADLOCK"), locktest.Breaks("OVERLAP", 1), locktest.Breaks("WRONG-DEL", 1))
}
