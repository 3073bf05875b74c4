package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// TestContract plays every lock in every race: the verdicts are those of the contract,
// no more and no less, and what the race is about has happened. Locks are played in
// parallel, so that the race detector sees the code of all of them at work.
func TestContract(t *testing.T) {
	t.Parallel()
	for i, e := range algorithms.All() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			if _, ok := contract.ProfileOf(e); !ok {
				t.Fatal("the contract says nothing of it: TestProfiles prints its line under [locks]")
			}
			for j, sc := range scenarios.All() {
				if effort.Watched && (i+j)%7 > 0 {
					continue
				}
				t.Run(sc.ID, func(t *testing.T) { testCell(t, e, sc) })
			}
		})
	}
}

func testCell(t *testing.T, e lock.Entry, sc race.Race) {
	o := play(t, e, sc)
	// else TestContractIsComplete says so, and what is no failure need not be written
	covered := contract.Expected(o) != nil
	if (covered || verdict.Fails(o.Verdicts)) && !sameWords(o.Verdicts, contract.Expected(o)) {
		words := strings.Trim(fmt.Sprint(o.Verdicts), "[]")
		t.Errorf("it is %v, the contract says %v. If that is as it should be, write under [%s] in contract.txt, "+
			"with the key of a reason:\n%s %s | …%s",
			o.Verdicts, contract.Expected(o), sc.ID, e.ID, words, evidence(o))
	}
	if covered && !contract.AsExpected(o) {
		t.Errorf("AsExpected is false%s", evidence(o))
	}
	if !o.Triggered {
		t.Errorf("the fault was not injected%s", evidence(o))
	}
	if o.NotInjected != nil {
		t.Errorf("faults that could not be injected: %v%s", o.NotInjected, evidence(o))
	}
	if o.NotApplicable == "" && !o.Judgement.Contended {
		t.Errorf("nobody wanted the lock while another stood in the way%s", evidence(o))
	}
}

// runner plays all cells of the contract's tests, and observes each profile once.
var runner race.Runner

func play(t testing.TB, e lock.Entry, sc race.Race) *race.Outcome {
	t.Helper()
	o := racetest.Must(runner.Play(e, sc, sc.Settings))(t)
	return o
}

// evidence is the line that plays the run again, and the run.
func evidence(o *race.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nlocklab run %s %s\n", o.Lock.ID, o.Race.ID)
	if o.History == nil {
		return b.String() + "N/A: " + string(o.NotApplicable)
	}
	if err := reports.Lanes(&b, o.History, o.Judgement, reports.Look{Width: 120}); err != nil {
		return b.String() + err.Error()
	}
	return b.String()
}

func sameWords(a, b []verdict.Word) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// The catalogue of races, for the six locks: which outcome each race must have. Its codes are
//
//	OK  safe and live          MX  two clients believe that they hold the lock
//	CR  the resource corrupted WR  a client removes a lock that is not its own
//	PH  held by nobody         BL  blocked for a time    DL  blocked for ever
//	ST  nobody wins            FE  the resource refused a late write
//	-CR not corrupted          ·   no meaning, or safe by construction
//
// A fact demands its outcomes, and allows others beside them.
var catalogued = [6]string{"setnx", "setnx-expire", "getset", "token", "watchdog", "redlock"}

var catalogue = []struct {
	race  string
	facts [6]string // of catalogued, in this order
}{
	//        setnx  setnx-expire getset     token    watchdog redlock
	{"R01", [6]string{"DL", "BL", "BL", "BL", "BL", "BL"}},
	{"R02", [6]string{"·", "DL", "·", "·", "·", "·"}},
	{"R03", [6]string{"OK", "MX WR", "MX WR", "MX", "OK", "MX"}},
	{"R04", [6]string{"·", "·", "·", "OK", "OK", "OK"}},
	{"R05", [6]string{"·", "·", "OK", "·", "·", "·"}},
	{"R06", [6]string{"·", "·", "PH", "·", "·", "·"}},
	{"R07", [6]string{"·", "·", "OK", "·", "·", "·"}},
	{"R08", [6]string{"·", "·", "WR", "·", "·", "·"}},
	{"R09", [6]string{"OK", "OK", "MX", "OK", "OK", "OK"}},
	{"R09B", [6]string{"OK", "OK", "MX", "OK", "OK", "OK"}},
	{"R10", [6]string{"·", "·", "WR", "·", "·", "·"}},
	{"R11", [6]string{"·", "·", "·", "·", "·", "·"}},
	{"R12", [6]string{"·", "·", "·", "OK", "OK", "OK"}},
	{"R14", [6]string{"·", "·", "·", "·", "OK", "·"}},
	{"R15", [6]string{"·", "·", "·", "·", "MX", "·"}},
	{"R16", [6]string{"·", "·", "BL", "BL", "DL", "BL"}},
	{"R16B", [6]string{"·", "·", "·", "·", "BL", "·"}},
	{"R18", [6]string{"OK", "MX CR", "MX CR", "MX CR", "MX CR", "MX CR"}},
	{"gc-pause-fenced", [6]string{"OK", "-CR", "-CR", "-CR", "-CR", "·"}},
	// No counter is needed: redlock can have it too.
	{"gc-pause-cas", [6]string{"OK", "-CR", "-CR", "-CR", "-CR", "-CR"}},
	{"R20", [6]string{"CR", "CR", "CR", "CR", "CR", "CR"}},
	{"late-write-fenced", [6]string{"FE", "FE", "FE", "FE", "FE", "·"}},
	{"late-write-cas", [6]string{"FE", "FE", "FE", "FE", "FE", "FE"}},
	{"R21", [6]string{"MX", "MX", "MX", "MX", "OK", "OK"}},
	{"R22", [6]string{"MX", "MX", "MX", "MX", "MX", "OK"}},
	{"R22B", [6]string{"·", "·", "·", "·", "MX", "·"}},
	{"R22D", [6]string{"DL", "BL", "BL", "BL", "BL", "OK"}},
	{"R22C", [6]string{"OK", "OK", "OK", "OK", "OK", "·"}},
	{"R21B", [6]string{"MX", "MX", "MX", "MX", "MX", "OK"}},
	{"R21C", [6]string{"MX", "MX", "MX", "MX", "MX", "·"}},
	{"R21D", [6]string{"OK", "OK", "OK", "OK", "OK", "OK"}}, // safe as long as the master lives
	{"R23", [6]string{"MX", "MX", "MX", "MX", "MX", "MX"}},
	{"R23B", [6]string{"OK", "OK", "OK", "OK", "OK", "OK"}},
	{"R23C", [6]string{"BL", "BL", "BL", "BL", "BL", "OK"}},
	{"R24", [6]string{"MX", "MX", "MX", "MX", "MX", "MX"}},
	{"R24B", [6]string{"·", "·", "·", "·", "·", "MX"}},
	{"R25", [6]string{"OK", "MX", "MX", "MX", "MX", "MX"}},
	// without a time to live, nothing ends while SETNX is not answered
	{"R26", [6]string{"OK", "OK", "MX CR", "MX CR", "MX CR", "OK"}},
	{"R27", [6]string{"OK", "OK", "MX CR", "MX CR", "MX CR", "OK"}},
	{"R28", [6]string{"OK", "MX", "MX", "MX", "OK", "MX"}},
	{"R28B", [6]string{"·", "MX", "·", "MX", "OK", "MX"}},
	{"R29", [6]string{"·", "·", "·", "·", "·", "ST"}},
	{"R29B", [6]string{"·", "·", "·", "·", "·", "OK"}},
	{"R30", [6]string{"·", "·", "·", "·", "·", "BL"}}, // the key of a dead client is no orphan here: see R01
	{"R32", [6]string{"DL", "DL", "BL", "BL", "BL", "BL"}},
	{"R33", [6]string{"MX WR", "MX WR", "MX WR", "OK", "OK", "OK"}},
	{"R38", [6]string{"MX", "MX", "MX", "MX", "MX", "OK"}},
	{"R38B", [6]string{"·", "MX", "·", "MX", "MX", "OK"}},
	{"R38C", [6]string{"MX CR", "MX CR", "MX CR", "MX CR", "MX CR", "·"}},
	{"R48", [6]string{"·", "·", "·", "·", "·", "·"}},       // none of them calls a script by its digest
	{"R44", [6]string{"OK", "OK", "OK", "OK", "OK", "OK"}}, // it runs twice, and never at once
	{"R45", [6]string{"DL", "BL", "BL", "BL", "DL", "BL"}},
}

// disagreements are the cells in which the run is right and the catalogue is wrong, or means something else. What each
// run shows, as sees reads it, proves it.
var disagreements = []struct{ lock, raceID, why, proof string }{
	{"getset", "double-del",
		"the catalogue asks here whether two get in, and one does; the other's stamp is in the key all the same, " +
			"which it tells as R08",
		"in=0,1,1 c3.replaces"},
	{"setnx", "dead-business",
		"the catalogue asks this of locks with a lease only; without one, a business that never releases is a " +
			"deadlock, renewal or not",
		"c1.leave/exception keeps=1 in=1,0"},
	{"setnx-expire", "dead-business",
		"the catalogue asks this of locks with SET NX EX only; a lease given by EXPIRE ends as well, " +
			"and the wait is the same",
		"c1.leave/exception c0.expire in=1,1"},
	{"watchdog", "failover",
		"the catalogue's version sends WAIT and has its acknowledgement; ours sends none, as the versions before did",
		"!c1.WAIT c*.failover !c*.replicate;c*.failover in=1,1"},
	{"redlock", "lost-reply",
		"it releases on every server after a failed attempt, also where it heard nothing, so nothing stays behind",
		"c1.lose-reply;c1.lose-reply;c1.lose-reply !keeps=1 in=1,1"},
}

// TestContractAgreesWithCatalogue compares the contract with the articles and the
// literature. TestContract compares it with the runs.
func TestContractAgreesWithCatalogue(t *testing.T) {
	t.Parallel()
	var locks [len(catalogued)]lock.Entry
	for i, id := range catalogued {
		locks[i], _ = algorithms.ByName(id)
	}
	excused := map[[2]string]bool{}
	for _, d := range disagreements {
		excused[[2]string{d.lock, d.raceID}] = true
	}
	for _, row := range catalogue {
		sc := racetest.Must(scenarios.ByName(row.race))(t)
		for i, fact := range row.facts {
			o := play(t, locks[i], sc)
			missing := lacks(contract.Expected(o), fact)
			cell := [2]string{locks[i].ID, sc.ID}
			switch {
			case missing != "" && !excused[cell]:
				t.Errorf("%s in %s: the catalogue says %q, the contract %v lacks %s: mend one, "+
					"or list the disagreement with its reason%s",
					locks[i].ID, sc.ID, fact, contract.Expected(o), missing, evidence(o))
			case missing == "" && excused[cell]:
				t.Errorf("%s in %s: contract and catalogue agree: remove it from the disagreements", locks[i].ID, sc.ID)
			}
		}
	}
}

func TestDisagreementsAreProven(t *testing.T) {
	for _, d := range disagreements {
		e, sc := racetest.Cell(t, d.lock, d.raceID)
		see(t, play(t, e, sc), strings.Fields(d.proof)...)
	}
}

// lacks returns the first code of the fact that the verdicts do not confirm.
func lacks(words []verdict.Word, fact string) string {
	needs := map[string]verdict.Word{
		"MX": verdict.Overlap, "CR": verdict.StaleWrite, "WR": verdict.WrongDel, "PH": verdict.Orphan,
		"BL": verdict.Blocked, "DL": verdict.Deadlock, "ST": verdict.Starved, "FE": verdict.Fenced, "OK": verdict.Holds,
		"·": verdict.NA,
	}
	for _, code := range strings.Fields(fact) {
		if code, not := strings.CutPrefix(code, "-"); not {
			// "not corrupted" presumes an overlap
			if slices.Contains(words, needs[code]) || !slices.Contains(words, verdict.Overlap) {
				return "-" + code
			}
		} else if !slices.Contains(words, needs[code]) {
			return code
		}
	}
	return ""
}
