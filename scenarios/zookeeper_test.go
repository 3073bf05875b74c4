package scenarios

import (
	"context"
	"fmt"
	"testing"
	"time"

	"locklab/algorithms"
)

func zooLock(t testing.TB, id string) algorithms.Entry {
	for _, e := range algorithms.OnZooKeeper() {
		if e.ID == id {
			return e
		}
	}
	t.Fatalf("there is no lock %s on a ZooKeeper", id)
	return algorithms.Entry{}
}

// patient is a lock whose every attempt waits in line.
func patient(e algorithms.Entry, patience time.Duration) algorithms.Entry {
	e.ID += "-patient"
	inner := e.New
	e.New = func(env algorithms.Env) algorithms.Strategy {
		lock := inner(env).(algorithms.Queuer)
		return acquiring(func(ctx context.Context, key string) (algorithms.Lease, error) { return lock.Await(ctx, key, patience) })
	}
	return e
}

// The search on an ensemble is held against its twin, too, and the twin against
// a lab without tables.
func TestDumbTwinOnZooKeeper(t *testing.T) {
	naive, checked, protected := zooLock(t, "zk-naive"), zooLock(t, "zk-recheck"), zooLock(t, "zk-protected")
	all := []string{"", "crash=1", "pause=1", "lose-reply=1", "lose-request=1"}
	for _, test := range []struct {
		entry   algorithms.Entry
		budgets []string
	}{
		{checked, all},
		{patient(naive, 3*time.Second), all},
		{patient(checked, 3*time.Second), all},
		{patient(protected, 3*time.Second), []string{"lose-reply=1", "expire-session=1"}},
	} {
		for _, budget := range test.budgets {
			b := small(test.entry, 2, 1, budget)
			t.Run(fmt.Sprintf("%s/%s", test.entry.ID, b.faults()), func(t *testing.T) {
				start := time.Now()
				compare(t, test.entry, b)
				t.Log(time.Since(start))
			})
		}
	}
}

func TestZooProbe(t *testing.T) {
	for _, sc := range All() {
		line := fmt.Sprintf("%-22s", sc.ID)
		for _, e := range algorithms.OnZooKeeper() {
			o, err := Play(e, sc, sc.Settings)
			switch {
			case err != nil:
				t.Errorf("%s %s: %v", e.ID, sc.ID, err)
				line += " ERROR"
			case o.NotApplicable != (Text{}):
				line += " N/A"
			default:
				line += fmt.Sprint(" ", o.Verdicts)
				if len(o.Missed) > 0 {
					line += fmt.Sprint("!", o.Missed)
				}
			}
		}
		t.Log(line)
	}
}
