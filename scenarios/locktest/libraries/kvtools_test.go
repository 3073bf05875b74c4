package libraries

import (
	"strings"
	"testing"

	kvredis "github.com/kvtools/redis"
	"github.com/kvtools/valkeyrie/store"

	"locklab/scenarios/locktest"
)

// valkeyrieStore locks by valkeyrie's Redis store with the two operations of which its lock is
// made. That lock, NewLock, subscribes to key-space events by PSUBSCRIBE where it has to wait,
// which the lab does not carry.
func valkeyrieStore(codec kvredis.Codec) func(c *locktest.Client) {
	return func(c *locktest.Client) {
		kv, err := kvredis.NewWithCodec(c.Context(), []string{c.Addr(1)}, nil, codec)
		if err != nil {
			return
		}
		defer kv.Close()
		ok, pair, err := kv.AtomicPut(c.Context(), "k", []byte(c.Token()), nil, &store.WriteOptions{TTL: ttl})
		if err != nil || !ok {
			return
		}
		c.Critical(work)
		_, _ = kv.AtomicDelete(c.Context(), "k", pair)
	}
}

// TestValkeyrie samples: the store makes its connections itself, and takes no dialer. Its
// script reads what is stored as JSON: with RawCodec, which New takes, a release is an error
// and the key stays until its time to live is over.
func TestValkeyrie(t *testing.T) {
	for _, test := range []struct {
		name   string
		codec  kvredis.Codec
		budget string
		breaks string
	}{
		{"JSONCodec", kvredis.JSONCodec{}, "pause=1", "OVERLAP STALE-WRITE"},
		{"JSONCodec", kvredis.JSONCodec{}, "lose-reply=1", "ORPHAN"},
		{"RawCodec", kvredis.RawCodec{}, "", "ORPHAN@0"},
	} {
		t.Run(strings.TrimSpace(test.name+" "+test.budget), func(t *testing.T) {
			b := locktest.Bounds{Clients: 2, Budget: test.budget, TTL: ttl, Loopback: true, Schedules: 100}
			locktest.Sample(t, b, valkeyrieStore(test.codec), locktest.Finds(test.breaks))
		})
	}
}
