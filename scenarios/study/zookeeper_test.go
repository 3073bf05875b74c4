package study_test

import (
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// The races of the queues, as a search finds them.
func TestZooKeeperRaces(t *testing.T) {
	wait := 20 * time.Second
	checked, protected := patient(racetest.Lock(t, "zk-recheck"), wait), patient(racetest.Lock(t, "zk-protected"), wait)
	hasty := func(id string) lock.Entry { return patient(racetest.Lock(t, id), 2*time.Second) } // less than the work takes
	for _, test := range []struct {
		race    string
		entry   lock.Entry
		clients int
		budget  string
		want    string // words with their par
	}{
		{"R41: one who waits leaves, and the next takes that for its turn", hasty("zk-naive"), 3, "", "OVERLAP@0 STALE-WRITE@0"},
		{"R41, looking again", hasty("zk-recheck"), 3, "", ""},
		{"R41, everybody looking", hasty("zk-herd"), 3, "", ""},
		{"R01: the holder dies", checked, 3, "crash=1", ""},
		{"R39: the answer to create is lost", checked, 2, "lose-reply=1", "ORPHAN@1 DEADLOCK@1"},
		{"R39, with a GUID", protected, 2, "lose-reply=1", ""},
		{"R40: the session ends, at any step", checked, 2, "expire-session=1", "OVERLAP@1 STALE-WRITE@1"},
		{"R40, with a GUID", protected, 2, "expire-session=1", "OVERLAP@1 STALE-WRITE@1"},
		{"R18: the process stands still, at any step", protected, 2, "pause=1", "OVERLAP@1 STALE-WRITE@1"},
	} {
		t.Run(test.race, func(t *testing.T) {
			b := small(test.entry, test.clients, 1, test.budget)
			r := searched(t, test.entry, b, nil)
			t.Logf("%d states", r.States)
			if text := strings.Join(r.Pars(), " "); text != test.want {
				t.Errorf("the search finds %q, want %q", text, test.want)
			}
			if test.budget != "" && len(r.Triggered) == 0 {
				t.Error("nothing has struck")
			}
		})
	}
}

// TestCountedTransactions: a search in which an ensemble numbers creations only finds what
// one finds in which it numbers every transaction, as a real one does, in fewer states.
func TestCountedTransactions(t *testing.T) {
	t.Parallel()
	locks := algorithms.OnZooKeeper()
	if !effort.Exhaustive() {
		locks = []lock.Entry{racetest.Lock(t, "zk-recheck")}
	}
	for _, e := range locks {
		for _, budget := range []string{"", "crash=1", "expire-session=1", "lose-reply=1", "pause=1"} {
			b := small(e, 2, 1, budget)
			b.Timing = study.Lockstep
			counted := searched(t, e, b, nil)
			all := searched(t, e, b, func(o *explore.Options) { o.Plain.Transactions = true })
			if got, want := listed(prices(counted)), listed(prices(all)); got != want {
				t.Errorf("%s, %s: found are\n%s\nwith all transactions\n%s", e.ID, b.Faults(), got, want)
			}
			if counted.States > all.States || budget == "pause=1" && counted.States == all.States {
				t.Errorf("%s, %s: %d states, with all transactions %d", e.ID, b.Faults(), counted.States, all.States)
			}
		}
	}
}
