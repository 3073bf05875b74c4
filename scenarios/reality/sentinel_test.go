package reality_test

import (
	"slices"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/scenarios/reality"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/verdict"
)

// TestSentinel: a master that is cut off goes on giving the lock away when another has been elected, until Sentinel has
// reached it; nobody else has the lock before Sentinel takes the master for down. All is as by default but shorter.
func TestSentinel(t *testing.T) {
	t.Parallel()
	e, _ := algorithms.ByName("token")
	d := reality.SentinelDemo{Lock: e, Fault: reality.Partitioned, DownAfter: 500 * time.Millisecond, TTL: time.Second, Periods: 100 * time.Millisecond}
	run, err := d.Play(t.Context(), nil)
	servertest.Need(t, err)
	at := func(who, what string) int {
		return slices.IndexFunc(run.Moments, func(m reality.Moment) bool { return m.Who == who && m.What == what })
	}
	for i, m := range [][2]string{{"master", "partition"}, {"sentinel", "+sdown"}, {"c2", "enters"}, {"master", "healed"}, {"master", "demoted"}} {
		if k := at(m[0], m[1]); k < i || i == 0 && k > 0 || i > 0 && run.Moments[k].At < run.Moments[0].At {
			t.Errorf("%v is moment %d", m, k)
		}
	}
	if a, b, c := at("sentinel", "+sdown"), at("c2", "enters"), at("master", "demoted"); a > b || b > c {
		t.Errorf("down at %d, in again at %d, demoted at %d: %+v", a, b, c, run.Moments)
	}
	if run.Waited < d.DownAfter/2 || run.Two <= 0 || run.Demoted <= run.Waited || !slices.Contains(run.Verdicts, verdict.Overlap) || run.Version == "" {
		t.Errorf("%+v", run)
	}
}
