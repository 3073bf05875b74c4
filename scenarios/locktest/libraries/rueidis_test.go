package libraries

import (
	"context"
	"crypto/tls"
	"net"
	"testing"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"locklab/scenarios/locktest"
)

// rueidisOf has rueidis ask the lab's server.
func rueidisOf(c *locktest.Client) rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress: []string{c.Addr(1)}, DisableCache: true, AlwaysRESP2: true, DisableRetry: true,
		ForceSingleClient: true, ConnWriteTimeout: ttl,
		DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return c.Dial(ctx, "tcp", addr)
		},
	}
}

// TestRueidislock: the lock of rueidis on one server. Its tokens are drawn by chance.
func TestRueidislock(t *testing.T) {
	for budget, finds := range map[string]string{
		"crash=1":        "",
		"lose-reply=1":   "ORPHAN",
		"lose-request=1": "ORPHAN", // its key stays until its time to live is over
	} {
		t.Run(budget, func(t *testing.T) {
			b := locktest.Bounds{Clients: 2, Budget: budget, TTL: ttl}
			locktest.Check(t, b, func(c *locktest.Client) {
				l, err := rueidislock.NewLocker(rueidislock.LockerOption{ClientOption: rueidisOf(c), KeyMajority: 1,
					KeyValidity: ttl, NoLoopTracking: true})
				if err != nil {
					return
				}
				defer l.Close()
				_, unlock, err := l.TryWithContext(c.Context(), "k")
				if err != nil {
					return
				}
				c.Critical(work)
				unlock()
			}, finds)
		})
	}
}

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
	}, "OVERLAP STALE-WRITE WRONG-DEL")
}
