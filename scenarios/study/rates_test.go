package study_test

import (
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

// The rate at which a lock falls is the one that its code says: a lease on a client's own
// clock bears none, Redlock's drift term of a hundredth bears that, and who renews after
// two thirds of a lease bears a third.
func TestFindRates(t *testing.T) {
	entries := locks(t, "token", "client-expiry", "redlock-drift", "daemon-20", "watchdog", "mutex")
	found, err := study.FindRates(t.Context(), entries, []race.Scenario{racetest.Scenario("clock-drift")})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []study.RateLimit{
		{Strategy: "token", Answer: study.Limited, Falls: 0.1},
		{Strategy: "client-expiry", Answer: study.Limited, Falls: 0.1},
		{Strategy: "redlock-drift", Answer: study.Limited, Holds: 1, Falls: 2},
		{Strategy: "daemon-20", Answer: study.Limited, Holds: 20, Falls: 50},
		{Strategy: "watchdog", Answer: study.NoLimit, Holds: 50},
		{Strategy: "mutex", Answer: study.NotAsked},
	} {
		got := found[i]
		if (got.Trace != "") != (want.Falls > 0) {
			t.Errorf("%s: the trace is %q", got.Strategy, got.Trace)
		}
		got.Trace, got.Scenario = "", ""
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
