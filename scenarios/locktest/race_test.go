package locktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// raced is a race that is played.
func raced(t *testing.T, r *racer, sc race.Race) *race.Outcome {
	t.Helper()
	o, err := r.play(sc)
	if err != nil {
		t.Fatalf("%s: %s", sc.ID, explain(err))
	}
	return o
}

func TestRace(t *testing.T) {
	Race(t, setNX, "gc-pause", "OVERLAP STALE-WRITE WRONG-DEL")
}

// The lab's token lock comes to the same in the lab's races, whether it plays on
// coroutines or in bubbles. LIE needs a lock's own report, which a client of locktest does
// not make.
func TestRacesOnBothHosts(t *testing.T) {
	entry := racetest.Lock(t, "token")
	usual := 3 * time.Second
	timeout := usual // of the race
	code := labLock(entry, false, func(c *Client) (lock.Env, func()) { return envOf(race.Standard().TTL, timeout)(c) })
	r := newRacer(t, Bounds{}, code)
	var runner race.Runner
	played, left := 0, 0
	for _, sc := range scenarios.All() {
		own := racetest.Must(runner.Play(entry, sc, sc.Settings))(t)
		if timeout = usual; sc.Settings.Timeout > 0 {
			timeout = sc.Settings.Timeout
		}
		o := raced(t, r, sc)
		switch {
		case slices.Contains(race.CodeReasons(), o.NotApplicable):
			left++
			continue
		case o.NotApplicable == "":
			played++
		}
		want := slices.DeleteFunc(slices.Clone(own.Verdicts), func(w verdict.Word) bool { return w == verdict.Lie })
		if diff := cmp.Diff(want, o.Verdicts); diff != "" || own.Triggered != o.Triggered ||
			own.NotApplicable != o.NotApplicable {
			t.Errorf("%s: reached %t and %t, applies %q and %q, verdicts:\n%s", sc.ID, own.Triggered, o.Triggered,
				own.NotApplicable, o.NotApplicable, diff)
		}
	}
	if played < 25 || left > 35 {
		t.Errorf("%d races were played, and %d do not fit code of one attempt", played, left)
	}
}

// What a race says of a claim that is wrong, and how it is played again.
func TestRaceJudges(t *testing.T) {
	r := newRacer(t, Bounds{}, setNX)
	for _, test := range []struct {
		race  string
		finds string
		want  string // of the complaint; "": none
	}{
		{"gc-pause", "OVERLAP STALE-WRITE WRONG-DEL", ""},
		{"gc-pause", "OVERLAP",
			"R18 gc-pause comes to OVERLAP STALE-WRITE WRONG-DEL, and the test says something else"},
		{"gc-pause", "OVERLAP STALE-WRITE WRONG-DEL DEADLOCK", "the test says something else"},
		{"renew-held", "", "N/A: not played: a client of this race does more than lock"},
		{"same-token", "", "N/A: this race gives two clients the same token"},
		{"gc-pause-fenced", "", "N/A: the resource of this race checks fencing tokens"},
		{"clock-jump", "", "N/A: not played: this race steps the wall clock"},
		{"split-vote", "", "N/A: one server"},
	} {
		r.claims = racetest.Must(claimed([]string{test.finds}, raceWords))(t)
		o := raced(t, r, racetest.Race(test.race))
		got := r.complaint(o)
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s, %v: %q, want %q", test.race, test.finds, got, test.want)
		}
		if o.NotApplicable == "" && got != "" {
			for _, want := range []string{"PAUSE", "locktest/locktest_test.go:",
				" -run '^TestRaceJudges$' -v -locklab.replay=" + o.Trace.Link()} {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %q is missing in\n%s", test.race, want, got)
				}
			}
		}
	}
}

// A test that claims nothing yet fails where the race shows a failure, as that of a search does.
func TestRaceUnclaimed(t *testing.T) {
	r := newRacer(t, Bounds{}, setNX)
	for name, want := range map[string]string{"gc-pause": "STALE-WRITE WRONG-DEL. The test claims", "calm": ""} {
		got := r.complaint(raced(t, r, racetest.Race(name)))
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A link of a race plays the race, and no other one.
func TestRaceReplay(t *testing.T) {
	r := newRacer(t, Bounds{}, setNX)
	sc := racetest.Race("gc-pause")
	o := raced(t, r, sc)
	*replayFlag = o.Trace.Link()
	defer func() { *replayFlag = "" }()
	again := raced(t, r, sc)
	if diff := cmp.Diff(fmt.Sprint(o.History.Events), fmt.Sprint(again.History.Events)); diff != "" {
		t.Errorf("the link plays another run:\n%s", diff)
	}
	if other, err := scenarios.ByName("R01"); err != nil {
		t.Error(err)
	} else if _, err := r.play(other); err == nil ||
		!strings.Contains(text.SayError("en", err), "the link is of the race gc-pause") {
		t.Errorf("%v", err)
	}
}

// The number of servers, the key and the lease are observed, and the numbers of a race
// are in parts of that lease.
func TestObserved(t *testing.T) {
	r := newRacer(t, Bounds{}, func(c *Client) {
		got := 0
		for n := range 3 {
			rdb := redisOn(c, n+1)
			defer rdb.Close()
			rdb.Incr(c.Context(), "fence")
			if ok, err := rdb.SetNX(c.Context(), "mine", c.Token(), ttl/3).Result(); err == nil && ok {
				got++
			}
			defer rdb.Del(c.Context(), "mine")
		}
		if got > 1 {
			c.CriticalWithToken(7, work)
		}
	})
	if r.plan.bounds.Servers != 3 || r.plan.bounds.Key != "mine" || r.plan.lease != ttl/3 || !r.plan.fences {
		t.Errorf("%d servers, key %q for %v, tokens %t", r.plan.bounds.Servers, r.plan.bounds.Key, r.plan.lease,
			r.plan.fences)
	}
	sc := racetest.Race("gc-pause")
	if s := r.runner.Code.Settings(sc); s.TTL != ttl/3 || s.Pause*10 != sc.Settings.Pause*3 ||
		s.Latency != sc.Settings.Latency {
		t.Errorf("of %+v became %+v", sc.Settings, s)
	}
}

// An exception in the section goes through the code, which may release the lock on its
// way out.
func TestException(t *testing.T) {
	sc := racetest.Race("dead-business")
	for name, test := range map[string]struct {
		deferred bool
		want     verdict.Word
	}{
		"released at the end":  {false, verdict.Orphan},
		"released by deferral": {true, verdict.Holds},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRacer(t, Bounds{}, onRedis(func(c *Client, rdb *redis.Client) {
				if ok, err := rdb.SetNX(c.Context(), "k", "1", ttl).Result(); err != nil || !ok {
					return
				}
				if test.deferred {
					defer rdb.Del(c.Context(), "k")
				}
				c.Critical(work)
				if !test.deferred {
					rdb.Del(c.Context(), "k")
				}
			}))
			o := raced(t, r, sc)
			if o.Verdicts[0] != test.want || !o.Triggered && test.want != verdict.Holds {
				t.Errorf("%v, reached %t, want %s", o.Verdicts, o.Triggered, test.want)
			}
		})
	}
}

// Races of code that is not deterministic are single runs, and are played all the same.
func TestRaceOfRandomCode(t *testing.T) {
	r := newRacer(t, Bounds{}, setNX)
	n := 0
	r.plan.run.code = func(c *Client) {
		n++
		rdb := dial(c)
		defer rdb.Close()
		if ok, err := rdb.SetNX(c.Context(), "k", n, ttl).Result(); err != nil || !ok {
			return
		}
		c.Critical(work)
	}
	sc := racetest.Race("gc-pause")
	o := raced(t, r, sc)
	if !slices.ContainsFunc(o.History.Events, func(e history.Event) bool { return e.Kind == history.Pause }) {
		t.Error("nobody was paused")
	}
}
