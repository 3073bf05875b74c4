package redisnode

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestRealPubSub compares what each connection receives with a real server, byte for
// byte: two connections subscribe and unsubscribe, while a third publishes, also from
// scripts. Our server keeps messages until they are read, where a real one sends them at
// once; the order on a connection is the same.
func TestRealPubSub(t *testing.T) {
	real := startRedis(t)
	publisher := real.another()
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 0))
		redis := newServer(t).table
		var data Data
		var told [2]strings.Builder
		conns := [2]*realRedis{real.another(), real.another()}
		ask := func(on connRef, args ...string) string {
			id, err := redis.internBatch(on, wire(args))
			if err != nil {
				t.Fatal(err)
			}
			eff, err := redis.apply(&data, 0, id)
			if err != nil {
				t.Fatalf("%q: %v", args, err)
			}
			return redis.replies.At(eff.Reply).resp
		}
		known := func(i int) *connection { return redis.keyspaces.At(data.keyspace).conn(connectionName(1, i+1, 0)) }
		for range 60 {
			i := rng.IntN(2)
			args := []string{pick(rng, "SUBSCRIBE", "UNSUBSCRIBE"), pick(rng, "a", "b")}
			switch rng.IntN(6) {
			case 0:
				args = append(args, pick(rng, "a", "b", "c"))
			case 1, 2, 3:
				args = []string{"PUBLISH", pick(rng, "a", "b"), fmt.Sprint(rng.IntN(100))}
			case 4:
				args = []string{"EVAL",
					`redis.call("PUBLISH", "a", ARGV[1]); redis.call("SET", "k", 1); ` +
						`return redis.call("PUBLISH", KEYS[1], ARGV[1])`, "1", pick(rng, "a", "b"), "x"}
			}
			if !strings.HasSuffix(args[0], "SUBSCRIBE") {
				if got, want := ask(connRef{}, args...), publisher.raw(args...); got != want {
					t.Fatalf("seed %d: %q is answered %q, by Redis %q", seed, args, got, want)
				}
			} else {
				told[i].WriteString(ask(connRef{connectionName(1, i+1, 0), known(i) != nil}, args...))
				conns[i].send(args)
				conns[i].readUpTo(told[i].String())
			}
			for i := range conns {
				for s := known(i); s != nil && len(s.inbox) > maxInbox/2; s = known(i) {
					told[i].WriteString(ask(connRef{connectionName(1, i+1, 0), true}, takeCommand))
				}
			}
		}
		for i, c := range conns {
			for _, channel := range []string{"a", "b", "c"} {
				told[i].WriteString(ask(connRef{connectionName(1, i+1, 0), known(i) != nil}, "UNSUBSCRIBE", channel))
				c.send([]string{"UNSUBSCRIBE", channel})
			}
			c.readUpTo(told[i].String())
			if got := c.heard.String(); got != told[i].String() {
				t.Fatalf("seed %d, connection %d:\nhere  %q\nRedis %q", seed, i+1, told[i].String(), got)
			}
		}
	}
}

func (r *realRedis) send(args []string) {
	r.t.Helper()
	r.conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := r.conn.Write(wire(args)); err != nil {
		r.t.Fatal(err)
	}
}

// readUpTo reads until it has received as much as is wanted.
func (r *realRedis) readUpTo(want string) {
	r.t.Helper()
	if _, err := io.CopyN(&r.heard, r.in, int64(len(want)-r.heard.Len())); err != nil {
		r.t.Fatalf("after %q, want %q: %v", r.heard.String(), want, err)
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
		"MULTI; PUBLISH k v; EXEC":      "PUBLISH between MULTI and EXEC",
		"MULTI; SELECT 1; EXEC":         "the command SELECT",
		"SET k w; multi":                "MULTI without an EXEC in the same write",
	} {
		s.refused("cannot carry "+why+":", commandsOf(line)...)
	}
}
