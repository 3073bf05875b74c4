package dense

import (
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios/contract"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// judged are the words that the runner's judge knows.
var judged = []string{"OVERLAP", "STALE-WRITE", "WRONG-DEL", "LIE", "ORPHAN", "DEADLOCK"}

// unmet are what the contract says of searches that runs can bear out, and that they do not meet in twenty thousand
// acquisitions, by the reason.
var unmet = map[string]string{
	"rare: several lengths have to be near their bounds at once; it is met in three hundred thousand": `
		reentrant/clients=2,attempts=2,timing=any,budget=pause=1@3s WRONG-DEL
		token/clients=2,attempts=2,timing=any,budget=crash=1,pause=1@5s OVERLAP
		token/clients=2,attempts=2,timing=any,budget=crash=1,pause=1@5s STALE-WRITE
		watchdog/clients=2,attempts=2,timing=any,budget=crash=1,pause=1@5s OVERLAP
		watchdog/clients=2,attempts=2,timing=any,budget=crash=1,pause=1@5s STALE-WRITE
		watchdog/clients=2,attempts=2,timing=any,budget=crash=1,pause=1 ORPHAN
		token/clients=2,attempts=2,timing=any,budget=pause-thread=1@5s STALE-WRITE
		getset/clients=3,attempts=1,timing=any,budget=crash=1 ORPHAN
		watch-del/clients=2,attempts=2,budget=pause=1 ORPHAN
		token/clients=any,attempts=any,budget=pause=1@2s ORPHAN
		redisson-lease/clients=any,attempts=once,budget=pause=1@2s ORPHAN`,
	"at the boundary only: lengths of runs keep a little away from their bounds": `
		daemon-10-owned/clients=2,attempts=1,timing=any,work=9s,budget=pause-thread=1@3s OVERLAP
		daemon-10-owned/clients=2,attempts=1,timing=any,work=9s,budget=pause-thread=1@3s STALE-WRITE`,
	"to this judge a value that two attempts of a client have made, without a gap, belongs to both": `
		redisson-lease/clients=2,attempts=2,timing=any,budget=hang=1@10s LIE
		watchdog/clients=2,attempts=2,timing=any,budget=hang=1@10s LIE`,
	"an attempt of these runs waits for requests of a thread that stands still before it sends them": `
		watchdog/clients=2,attempts=2,timing=any,budget=pause-thread=1@5s WRONG-DEL`,
	"to this judge what a failover brings back belongs to nobody": `
		watchdog/clients=2,attempts=2,timing=any,budget=failover=1 WRONG-DEL`,
}

// whyUnmet is the reason of a name in unmet; "": it is not listed.
func whyUnmet(name string) string {
	for why, names := range unmet {
		if slices.Contains(strings.Split(strings.ReplaceAll(names, "\t", ""), "\n"), name) {
			return why
		}
	}
	return ""
}

// TestRunnerMeets: runs within the bounds of a row of the contract come to nine in ten of what it says can happen, and
// the rest is listed.
func TestRunnerMeets(t *testing.T) {
	effort.OnlyExhaustive(t, "it makes thousands of runs")
	defer func(seed uint64) { *seedFlag = seed }(*seedFlag)
	const few = 400
	b := newBed(t, 20, 6)
	met, all := 0, 0
	for _, r := range contract.Own() {
		if r.IsRace() || !strings.Contains(r.Name(), *onlyFlag) {
			continue
		}
		e, _ := algorithms.ByName(r.Lock.ID)
		q, ok := within(e, r)
		if !ok {
			continue
		}
		wanted := slices.DeleteFunc(written(r.Words()), func(w string) bool { return w == string(verdict.Holds) })
		sought := slices.DeleteFunc(slices.Clone(wanted), func(w string) bool { return !slices.Contains(judged, w) })
		all += len(sought)
		for n := 0; n < few*50 && len(sought) > 0; n += few {
			found := b.find(e, q, few)
			for word := range found {
				if i := slices.Index(sought, word); i >= 0 {
					sought = slices.Delete(sought, i, i+1)
					met++
				} else if !slices.Contains(wanted, word) {
					t.Errorf("%s: %s in run %d, which the row does not have", r.Name(), word, found[word].number)
				}
			}
			*seedFlag++
		}
		for _, word := range sought {
			name := r.Name() + " " + word
			why := whyUnmet(name)
			t.Logf("not met: %s: %s", name, why)
			if why == "" {
				t.Errorf("%s is not met, and not listed", name)
			}
		}
	}
	t.Logf("%d of %d met", met, all)
	if met*10 < all*9 {
		t.Errorf("the runner meets %d of %d of what the contract says", met, all)
	}
}
