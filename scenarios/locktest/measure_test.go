package locktest

import (
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// valid takes the lock as redsync does, which enters only if enough of the lease is left; refused is what it does
// without it.
func valid(refused func(c *Client, rdb *redis.Client)) func(c *Client) {
	return func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		token, began := rand.Text(), time.Now()
		if !take(c, rdb, token) {
			refused(c, rdb)
			return
		}
		if until := began.Add(ttl); time.Until(until) > ttl/2 {
			c.Critical(work)
		}
		compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
	}
}

// TestMeasures: code that uses its clock only to measure is searched to the end at any timing, without the time of day.
func TestMeasures(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	_, s := searched(t, Bounds{Clients: 2, Attempts: 1, Budget: "crash=1", TTL: ttl, AnyTiming: true},
		valid(func(*Client, *redis.Client) {}))
	if !s.Complete || !s.Measures || !s.Symmetry || s.ReadsClock || s.Bounds.Idle || len(s.Witnesses) > 0 {
		t.Errorf("complete %t, measures %t, symmetry %t, %v", s.Complete, s.Measures, s.Symmetry, s.AllPars())
	}
}

// TestMeasuredBreaks: what breaks such code is found, and the witness can be played.
func TestMeasuredBreaks(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	b := Bounds{Clients: 2, Attempts: 1, TTL: ttl, Key: "k", AnyTiming: true}
	p, s := searched(t, b, valid(func(c *Client, rdb *redis.Client) { rdb.Del(c.Context(), "k") }))
	if !s.Complete || !s.Measures || !slices.Contains(s.AllPars(), "WRONG-DEL@0") {
		t.Errorf("complete %t, measures %t, %v", s.Complete, s.Measures, s.AllPars())
	}
	for _, w := range s.Witnesses {
		if o, err := p.play(w.Trace); err != nil || !slices.Contains(o.Verdicts, w.Verdict) {
			t.Errorf("%s: %v, %v", w.Verdict, o, err)
		}
	}
}

// enteringFrom enters without the lock from some year on.
func enteringFrom(year int) func(c *Client) {
	return func(c *Client) {
		rdb := dial(c)
		defer rdb.Close()
		ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result()
		if err != nil || !ok && time.Now().Year() < year {
			return
		}
		c.Critical(work)
		rdb.Del(c.Context(), "k")
	}
}

// Code that enters without the lock from some year on is not taken for code that does not depend
// on its clock: its certificate names the only date at which it was executed. Clocks begin at a recent date.
func TestDate(t *testing.T) {
	for year, overlaps := range map[int]bool{2020: true, 2040: false} {
		p, s := searched(t, Bounds{Clients: 2, Budget: "crash=1", TTL: ttl}, enteringFrom(year))
		out := p.certificate(s, "en")
		if found := len(s.Witnesses) > 0; found != overlaps || !found &&
			(!p.Timed || !strings.Contains(out, "clocks that begin at 2026-05-28 20:26:40 UTC")) {
			t.Errorf("from %d on: timed: %v\n%s", year, p.Timed, out)
		}
	}
}

// TestReplayAtItsDate: a run that was found when clocks began at another date is played at that one.
func TestReplayAtItsDate(t *testing.T) {
	year := 0
	b := Bounds{Clients: 1, Attempts: 1, Budget: "crash=1", TTL: ttl}
	p, _ := prepare(t, b, func(c *Client) {
		began := time.Now()
		rdb := dial(c)
		defer rdb.Close()
		if take(c, rdb, "1") && time.Since(began) < ttl/2 {
			year = began.Year()
			c.Critical(work)
		}
	})
	p.Timed = true
	start := []simulator.Choice{{Verb: simulator.Start, Client: 1}, {Verb: simulator.Arrive, Client: 1},
		{Verb: simulator.Answer, Client: 1}, {Verb: simulator.Arrive, Client: 1}}
	for settings, want := range map[string]int{p.study.String(): 2026,
		p.study.String() + ",epoch=1000000000000": 2001} {
		trace := simulator.Trace{Lock: p.entry.ID, Race: search.SearchID, Settings: settings, Choices: start}
		o, err := p.play(trace)
		if err != nil {
			t.Fatal(explain(err))
		}
		if again, err := simulator.ParseLink(o.Trace.Link()); err != nil || again.Settings != settings {
			t.Errorf("%s: the link of the run has %s, %v", settings, again.Settings, err)
		}
		if year != want {
			t.Errorf("%s: the code reads the year %d, want %d", settings, year, want)
		}
	}
}
