package algorithms_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	onredis "locklab/algorithms/redis"
)

// The list is complete, no name occurs twice, and the locks on Redis are in the order
// of their years.
func TestAll(t *testing.T) {
	var ids []string
	for _, e := range algorithms.All() {
		for _, name := range e.Names() {
			ids = append(ids, strings.ToLower(name))
		}
		if e.Family == "" || e.New == nil {
			t.Errorf("%s is incomplete: %+v", e.ID, e)
		}
		if (e.Family == lock.Unlocked) != (e.Guard != "") {
			t.Errorf("%s is of the family %s, and its guard is %q", e.ID, e.Family, e.Guard)
		}
		if (e.Nodes == 0) != (e.Expiry == lock.ExpirySession && e.Database == "") {
			t.Errorf("%s: %d servers and expiry %v disagree", e.ID, e.Nodes, e.Expiry)
		}
	}
	year := 0
	for _, e := range onredis.All() {
		if e.Year < year {
			t.Errorf("%s of %d is listed after one of %d", e.ID, e.Year, year)
		}
		year = e.Year
		if (e.Unit == 0) != (e.Expiry == lock.ExpiryNone) || (e.Unit == 0) != (e.TTL == 0) {
			t.Errorf("%s: TTL %v, unit %v and expiry %v disagree", e.ID, e.TTL, e.Unit, e.Expiry)
		}
	}
	slices.Sort(ids)
	if unique := slices.Compact(slices.Clone(ids)); len(unique) != len(ids) {
		t.Errorf("a name occurs twice in %v", ids)
	}
}

// Every lock of the articles is found by each of its ids there.
func TestByName(t *testing.T) {
	for name, id := range map[string]string{
		"Redlock": "redlock", "002-e": "redlock",
		"000-A": "takeover-del", "000-B": "getset-retry", "000-B1": "getset-timeout", "000-B2": "getset-retry",
		"000-Bnil": "getset-nil", "000-C": "getset", "000-D": "getset-check",
		"001-A": "setnx", "001-B": "constant", "001-C": "daemon-20", "001-D": "threadlocal", "001-E": "reentrant",
		"001-F": "spin",
		"002-A": "setnx", "002-B": "constant", "002-C": "token", "002-D": "token", "002-E": "redlock",
		"003-0": "mutex", "003-A": "setnx", "003-B": "setnx-expire", "003-C": "watchdog", "003-D": "redlock",
		"004-A": "setnx-expire", "004-B": "constant", "004-C": "thread-id", "004-D": "thread-id-lua",
		"004-E": "daemon-29",
		"003-E": "zk-naive", "003-F": "zk-reentrant", "004-F": "cron-v2", "004-G": "cron-v3",
	} {
		if e, ok := algorithms.ByName(name); !ok || e.ID != id {
			t.Errorf("%s: %s, %v, want %s", name, e.ID, ok, id)
		}
	}
	if e, ok := algorithms.ByName(""); ok {
		t.Errorf("the empty name finds %s", e.ID)
	}
}

func TestEntryCheck(t *testing.T) {
	node := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) // never dialled
	defer node.Close()
	env := func(ttl time.Duration, nodes int) lock.Env {
		return lock.Production(ttl, slices.Repeat([]redis.UniversalClient{node}, nodes)...)
	}
	noClock, noTokens, nilNode := env(time.Second, 1), env(time.Second, 1), env(time.Second, 1)
	noClock.Clock, noTokens.Tokens, nilNode.Nodes[0] = nil, nil, nil

	tests := []struct {
		id   string
		env  lock.Env
		want string // part of the error; empty: no error
	}{
		{"setnx", env(0, 1), ""},
		{"setnx-expire", env(30*time.Second, 1), ""},
		{"setnx-expire", env(1500*time.Millisecond, 1),
			"TTL 1.5s is not a whole multiple of 1s, which setnx-expire sends: try 2s"},
		{"token", env(1500*time.Millisecond, 1), ""},
		{"token", env(time.Microsecond, 1), "try 1ms"},
		{"token", env(0, 1), "TTL 0s is not above 0"},
		{"getset", env(-time.Second, 1), "TTL -1s is not above 0"},
		{"watchdog", env(time.Second, 0), "one server, got 0"},
		{"watchdog", env(time.Second, 5), "one server, got 5"},
		{"redlock", env(time.Second, 5), ""},
		{"redlock", env(time.Second, 3), ""},
		{"redlock", env(time.Second, 2), "at least 3 servers, got 2"},
		{"token", noClock, "Clock is nil"},
		{"token", noTokens, "Tokens is nil"},
		{"token", nilNode, "node 1 is nil"},
	}
	for _, tt := range tests {
		e, _ := algorithms.ByName(tt.id)
		err := e.Check(tt.env)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.id, err)
		case tt.want != "" && err == nil:
			t.Errorf("%s: no error, want one with %q", tt.id, tt.want)
		case tt.want != "" && !strings.Contains(err.Error(), tt.want):
			t.Errorf("%s: %v, want %q", tt.id, err, tt.want)
		}
	}
}

func TestRandomTokens(t *testing.T) {
	a, b := lock.RandomTokens{}.Token(), lock.RandomTokens{}.Token()
	if a == b {
		t.Errorf("%s twice", a)
	}
	if raw, err := hex.DecodeString(a); err != nil || len(raw) != 20 {
		t.Errorf("%q is not 20 bytes in hex: %v", a, err)
	}
}
