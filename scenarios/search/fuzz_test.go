package search_test

import (
	"testing"
	"time"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
)

// units are the lengths that choices of the fuzzer have.
var units = [8]time.Duration{0, time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, 10 * time.Second,
	-time.Second, 1<<63 - 1}

// choices packs choices as the fuzzer changes them, with the nearest of units.
func choices(list []simulator.Choice) (packed []byte) {
	for _, c := range list {
		unit := byte(0)
		for i, u := range units[:6] {
			if u <= c.D {
				unit = byte(i)
			}
		}
		packed = append(packed, byte(c.Verb), byte(c.Client), byte(c.Thread), byte(c.Node), unit)
	}
	return packed
}

// FuzzReplay plays any trace that can be read: it is played or refused, and never panics.
func FuzzReplay(f *testing.F) {
	token, gcPause := racetest.Cell(f, "token", "gc-pause")
	demo := racetest.PlayListed(f, token, gcPause, gcPause.Settings)
	f.Add(demo.Trace.Lock, demo.Trace.Race, demo.Trace.Settings, choices(demo.Trace.Choices))
	f.Add("token", search.SearchID, "clients=2,attempts=1,nodes=1,ttl=9s,retries=0,fenced=false,budget=pause=1",
		choices(demo.Trace.Choices))
	f.Add("redlock", "restart", "", []byte{})
	f.Add("zk-naive", "session-pause", "seed=3", []byte{9, 1, 0, 0, 0, 1, 0, 0, 0, 5})
	f.Fuzz(func(t *testing.T, lock, race, settings string, packed []byte) {
		if len(packed) > 2000 {
			return
		}
		trace := simulator.Trace{Lock: lock, Race: race, Settings: settings}
		for ; len(packed) >= 5; packed = packed[5:] {
			c := simulator.Choice{Verb: simulator.Verb(packed[0]), Client: int8(packed[1]), Thread: int8(packed[2]),
				Node: int8(packed[3]), D: units[packed[4]%8]}
			trace.Choices = append(trace.Choices, c)
		}
		if o, err := search.Replay(trace); err == nil && len(o.Verdicts) == 0 {
			t.Errorf("%+v: no verdict", trace)
		}
	})
}
