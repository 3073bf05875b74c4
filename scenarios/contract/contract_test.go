package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	"locklab/simulator/history"
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
			for j, sc := range scenarios.All() {
				if effort.Watched && (i+j)%7 > 0 {
					continue
				}
				t.Run(sc.ID, func(t *testing.T) { testCell(t, e, sc) })
			}
		})
	}
}

func testCell(t *testing.T, e lock.Entry, sc race.Scenario) {
	o := play(t, e, sc)
	if contract.Expected(o) == nil {
		t.Fatal("the contract says nothing")
	}
	if !sameWords(o.Verdicts, contract.Expected(o)) {
		t.Errorf("it is %v, the contract says %v%s", o.Verdicts, contract.Expected(o), evidence(o))
	}
	if !contract.AsExpected(o) {
		t.Errorf("AsExpected is false%s", evidence(o))
	}
	if !o.Reached {
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

func play(t testing.TB, e lock.Entry, sc race.Scenario) *race.Outcome {
	t.Helper()
	o, err := runner.Play(e, sc, sc.Settings)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// evidence is the line that plays the run again, and the run.
func evidence(o *race.Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nlocklab run %s %s\n", o.Strategy.ID, o.Scenario.ID)
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
	{"gc-pause-cas", [6]string{"OK", "-CR", "-CR", "-CR", "-CR", "-CR"}}, // no counter is needed: redlock can have it too
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
	{"R26", [6]string{"OK", "OK", "MX CR", "MX CR", "MX CR", "OK"}}, // without a time to live, nothing ends while SETNX is not answered
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

// disagreements are the cells in which the run is right and the catalogue is wrong, or
// means something else. The history of each run proves it.
var disagreements = []struct {
	lock, scenario string
	why            string
	proof          func(h *history.History) bool
}{
	{"getset", "double-del",
		"the catalogue asks here whether two get in, and one does; the other's stamp is in the key all the same, which it tells as R08",
		func(h *history.History) bool {
			return entries(h, 2) == 1 && entries(h, 3) == 1 && occurs(h, func(e *history.Event) bool {
				return e.Kind == history.Change && e.Client == 3 && e.Before != "" && e.After != "" && e.After != e.Before
			})
		}},
	{"setnx", "dead-business",
		"the catalogue asks this of locks with a lease only; without one, a business that never releases is a deadlock, renewal or not",
		func(h *history.History) bool { return leavesByException(h) && !removed(h, 1) && entries(h, 2) == 0 }},
	{"setnx-expire", "dead-business",
		"the catalogue asks this of locks with SET NX EX only; a lease given by EXPIRE ends as well, and the wait is the same",
		func(h *history.History) bool {
			return leavesByException(h) && occurs(h, func(e *history.Event) bool { return e.Kind == history.Expire && e.Key == h.Key }) && entries(h, 2) == 1
		}},
	{"watchdog", "failover",
		"the catalogue's version sends WAIT and has its acknowledgement; ours sends none, as the versions before did",
		func(h *history.History) bool {
			lost := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Failover })
			heard := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Replicate })
			return !occurs(h, func(e *history.Event) bool { return e.Kind == history.Apply && strings.EqualFold(e.Cmd[0], "WAIT") }) &&
				lost >= 0 && (heard < 0 || heard > lost) && entries(h, 2) == 1
		}},
	{"redlock", "lost-reply",
		"it releases on every server after a failed attempt, also where it heard nothing, so nothing stays behind",
		func(h *history.History) bool {
			lost := 0
			for i := range h.Events {
				if h.Events[i].Kind == history.LoseReply {
					lost++
				}
			}
			return lost > h.Nodes/2 && removed(h, 1) && entries(h, 2) == 1
		}},
}

// TestContractAgreesWithCatalogue compares the contract with the articles and the
// literature. TestContract compares it with the runs.
func TestContractAgreesWithCatalogue(t *testing.T) {
	effort.Unwatched(t, "one goroutine compares")
	t.Parallel()
	var locks [len(catalogued)]lock.Entry
	for i, id := range catalogued {
		locks[i], _ = algorithms.ByName(id)
	}
	excused := map[[2]string]bool{}
	for _, d := range disagreements {
		excused[[2]string{d.lock, d.scenario}] = true
	}
	for _, row := range catalogue {
		sc, err := scenarios.ByName(row.race)
		if err != nil {
			t.Fatal(err)
		}
		for i, fact := range row.facts {
			o := play(t, locks[i], sc)
			missing := lacks(contract.Expected(o), fact)
			cell := [2]string{locks[i].ID, sc.ID}
			switch {
			case missing != "" && !excused[cell]:
				t.Errorf("%s in %s: the catalogue says %q, the contract %v lacks %s: mend one, or list the disagreement with its reason%s",
					locks[i].ID, sc.ID, fact, contract.Expected(o), missing, evidence(o))
			case missing == "" && excused[cell]:
				t.Errorf("%s in %s: contract and catalogue agree: remove it from the disagreements", locks[i].ID, sc.ID)
			}
		}
	}
}

func TestDisagreementsAreProven(t *testing.T) {
	for _, d := range disagreements {
		e := racetest.Lock(t, d.lock)
		sc, err := scenarios.ByName(d.scenario)
		if err != nil {
			t.Fatal(err)
		}
		if o := play(t, e, sc); !d.proof(o.History) {
			t.Errorf("the run does not show that %s%s", d.why, evidence(o))
		}
	}
}

// lacks returns the first code of the fact that the verdicts do not confirm.
func lacks(words []verdict.Word, fact string) string {
	needs := map[string]verdict.Word{
		"MX": verdict.Overlap, "CR": verdict.StaleWrite, "WR": verdict.WrongDel, "PH": verdict.Orphan,
		"BL": verdict.Blocked, "DL": verdict.Deadlock, "ST": verdict.Starved, "FE": verdict.Fenced, "OK": verdict.Holds, "·": verdict.NA,
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

func occurs(h *history.History, is func(e *history.Event) bool) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool { return is(&e) })
}

func leavesByException(h *history.History) bool {
	return occurs(h, func(e *history.Event) bool {
		return e.Kind == history.Leave && e.Client == 1 && e.Note == history.Exception
	})
}

// removed says whether a client has removed every key that it created.
func removed(h *history.History, client int) bool {
	left := 0
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Change && e.Client == client && e.Key == h.Key {
			if e.Before == "" {
				left++
			}
			if e.After == "" {
				left--
			}
		}
	}
	return left == 0
}

func entries(h *history.History, client int) (n int) {
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Enter && e.Client == client {
			n++
		}
	}
	return n
}

// TestCatalogueDetails tests which client and how long, where the catalogue says so.
func TestCatalogueDetails(t *testing.T) {
	for _, f := range []struct {
		lock, scenario, claim string
		holds                 func(o *race.Outcome) bool
	}{
		{"setnx-expire", "slow-work", "the first two overlap, the first deletes the second's lock, the second and the third overlap",
			func(o *race.Outcome) bool {
				return findsWord(o, verdict.Overlap, 1, 2) && findsWord(o, verdict.WrongDel, 1, 2) && findsWord(o, verdict.Overlap, 2, 3)
			}},
		{"getset", "slow-work", "the first two overlap, the first deletes the second's lock, the second and the third overlap",
			func(o *race.Outcome) bool {
				return findsWord(o, verdict.Overlap, 1, 2) && findsWord(o, verdict.WrongDel, 1, 2) && findsWord(o, verdict.Overlap, 2, 3)
			}},
		{"token", "slow-work", "the first two overlap, and that is all: the third waits its turn",
			func(o *race.Outcome) bool {
				return findsWord(o, verdict.Overlap, 1, 2) && !findsWord(o, verdict.Overlap, 2, 3)
			}},
		{"getset-check", "overwritten-stamp", "the winner does not write, and all wait until the loser's stamp has lapsed",
			func(o *race.Outcome) bool {
				return lasts(o, verdict.Blocked, 0.85) && !occurs(o.History, func(e *history.Event) bool { return e.Kind == history.Write && e.Client == 2 })
			}},
		{"watchdog", "same-token", "it takes the second for its owner, and lets it in beside the first",
			func(o *race.Outcome) bool { return findsWord(o, verdict.Overlap, 1, 2) }},
		{"redlock", "same-token", "the second is refused, cleans up, and deletes the first one's lock",
			func(o *race.Outcome) bool { return findsWord(o, verdict.WrongDel, 2, 1) }},
		{"cron-v2", "double-run", "the job of one minute is done twice, and never by two at once",
			func(o *race.Outcome) bool {
				return entries(o.History, 1) == 1 && entries(o.History, 2) == 1 && entries(o.History, 3) == 0
			}},
		{"watchdog", "no-finally", "its owner enters again, and one release of two leaves a count of one behind",
			func(o *race.Outcome) bool {
				return entries(o.History, 1) == 2 && entries(o.History, 2) == 0 && !removed(o.History, 1)
			}},
		{"cron-v2", "no-finally", "its owner waits for the rest of the lease like everybody",
			func(o *race.Outcome) bool { return lasts(o, verdict.Blocked, 0.9) }},
		{"getset", "getset-nil", "the orphan stands for one lease, as it does for the blocked",
			func(o *race.Outcome) bool { return lasts(o, verdict.Orphan, 1) && lasts(o, verdict.Blocked, 1) }},
		{"token", "crash-holding", "blocked for the rest of the lease, at most one lease",
			func(o *race.Outcome) bool { return lasts(o, verdict.Blocked, 0.9) }},
		{"getset", "crash-holding", "blocked until the stamp has lapsed, then taken over by replacing it",
			func(o *race.Outcome) bool {
				return lasts(o, verdict.Blocked, 0.95) && occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Change && e.Client == 2 && e.Before != "" && e.After != "" && e.After != e.Before && e.At > o.History.TTL
				})
			}},
		{"redlock", "restart", "c1 holds {1,2,3} and c2 {3,4,5}: both have three of five, and they share only the one that forgot",
			func(o *race.Outcome) bool { return holders(o.History) == "c1:1,2,3 c2:3,4,5" }},
		{"redlock", "clock-jump", "c1 holds {1,2,3} and c2 {3,4,5}: both have three of five, and they share only the one whose clock jumped",
			func(o *race.Outcome) bool { return holders(o.History) == "c1:1,2,3 c2:3,4,5" }},
		{"redlock", "quorum-restart", "c1 holds {1,2,3} and c2 {3,4,5}, and no message was lost",
			func(o *race.Outcome) bool {
				return holders(o.History) == "c1:1,2,3 c2:3,4,5" && !occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.LoseRequest || e.Kind == history.LoseReply || e.Kind == history.Timeout
				})
			}},
		{"redlock-topup", "quorum-restart", "the two that came back were asked again, so that three would have to forget",
			func(o *race.Outcome) bool { return strings.HasPrefix(holders(o.History), "c1:1,2,3,4,5") }},
		{"token-wait", "failover-other", "a replica had acknowledged before c1 entered, and the other was promoted",
			func(o *race.Outcome) bool {
				heard := slices.IndexFunc(o.History.Events, func(e history.Event) bool { return e.Kind == history.Replicate && e.Replica == 0 })
				entered := slices.IndexFunc(o.History.Events, func(e history.Event) bool { return e.Kind == history.Enter })
				return heard >= 0 && heard < entered && findsWord(o, verdict.Overlap, 1, 2)
			}},
		{"token-wait", "replica-gone", "nobody ever enters", func(o *race.Outcome) bool { return entries(o.History, 1)+entries(o.History, 2) == 0 }},
		{"token", "restart-delayed", "blocked from when c1 is done until the server is back, seven tenths of a lease",
			func(o *race.Outcome) bool { return lasts(o, verdict.Blocked, 0.7) }},
		{"redlock", "slow-acquire", "all servers said yes, and it took too long: refused", refusedLate},
		{"redlock", "pause-in-flight", "all servers said yes, and it took too long: refused", refusedLate},
		{"redlock", "clock-drift", "the overlap is no longer than the drift of a lease, 50 ms of 10 s",
			func(o *race.Outcome) bool {
				return slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
					return f.Verdict == verdict.Overlap && f.To-f.From <= o.History.TTL/200+o.History.TTL/1000
				})
			}},
		{"redlock", "split-vote", "nobody ever enters", func(o *race.Outcome) bool {
			return entries(o.History, 1)+entries(o.History, 2)+entries(o.History, 3) == 0
		}},
		{"redlock", "split-vote-spread", "everybody enters once", func(o *race.Outcome) bool {
			return entries(o.History, 1) == 1 && entries(o.History, 2) == 1 && entries(o.History, 3) == 1
		}},
		{"redlock", "partial-acquire", "blocked for the whole lease", func(o *race.Outcome) bool { return lasts(o, verdict.Blocked, 1) }},
		{"watchdog", "lost-reply", "it re-enters its own lock, and one release of two leaves a count of one behind",
			func(o *race.Outcome) bool {
				return entries(o.History, 1) == 1 && occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Change && e.Client == 1 && strings.HasSuffix(e.After, "=2}")
				}) && occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Expire && strings.HasSuffix(e.Before, "=1}")
				})
			}},
		{"watchdog", "split-renewed", "two are inside for as long as the network is parted and the first one works",
			func(o *race.Outcome) bool { return lasts(o, verdict.Overlap, 1.45) }},
		{"token", "split-bounded", "the old master refuses until the network heals, and no longer",
			func(o *race.Outcome) bool {
				healed := slices.IndexFunc(o.History.Events, func(e history.Event) bool { return e.Kind == history.Heal })
				enters := slices.IndexFunc(o.History.Events, func(e history.Event) bool { return e.Kind == history.Enter && e.Client == 3 })
				return healed >= 0 && enters > healed && entries(o.History, 3) == 1
			}},
		{"watch-multi", "late-release", "its EXEC is answered nil, and a second look finds the lock to be another's",
			func(o *race.Outcome) bool {
				return occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Apply && e.Client == 1 && e.Cmd[0] == "MULTI" && strings.HasSuffix(e.Reply, "(nil)")
				}) && occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Released && e.Client == 1 && !e.OK && e.Note == lock.ErrNotHeld.Error()
				})
			}},
		{"watch-del", "late-release", "without a transaction WATCH hinders nobody: its DEL hits the second's lock, and the third walks in",
			func(o *race.Outcome) bool {
				return findsWord(o, verdict.WrongDel, 1, 2) && findsWord(o, verdict.Overlap, 2, 3)
			}},
		{"token", "double-run", "the job is done twice in one minute",
			func(o *race.Outcome) bool { return entries(o.History, 1)+entries(o.History, 2) == 2 }},
		{"at-least-for", "double-run", "the lock is kept for longer than the clocks differ, and the job is done once",
			func(o *race.Outcome) bool {
				return entries(o.History, 1)+entries(o.History, 2)+entries(o.History, 3) == 1
			}},
		{"redlock-failfast", "split-vote", "who lost first has asked the fewest servers, and is back before the others",
			func(o *race.Outcome) bool {
				return entries(o.History, 1)+entries(o.History, 2)+entries(o.History, 3) == 3
			}},
		{"evalsha", "script-cache-lost", "blocked for the rest of the lease, seven tenths of it, and the release is told an error",
			func(o *race.Outcome) bool {
				return lasts(o, verdict.Blocked, 0.7) && occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Released && e.Client == 1 && strings.Contains(e.Note, "NOSCRIPT")
				})
			}},
		{"token", "release-again", "the second release is told that the lock is not held, a false alarm",
			func(o *race.Outcome) bool {
				return removed(o.History, 1) && occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Released && e.Client == 1 && !e.OK && e.Note == lock.ErrNotHeld.Error()
				})
			}},
		{"redlock-parallel", "slow-acquire", "it waits for the slowest answer, 2.2 s, and not for five of them",
			func(o *race.Outcome) bool {
				return occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Enter && e.Client == 1 && e.At < 2300*time.Millisecond && e.At > 2200*time.Millisecond
				})
			}},
		{"naive-wake", "missed-wake", "no message reaches it, and it never asks again",
			func(o *race.Outcome) bool {
				return messages(o.History) == 0 && entries(o.History, 2) == 0 && lasts(o, verdict.Deadlock, 5.8)
			}},
		{"redisson-lock", "missed-wake", "no message reaches it, and it asks again when it has subscribed",
			func(o *race.Outcome) bool { return messages(o.History) == 0 && entries(o.History, 2) == 1 }},
		{"redisson-lock", "silent-crash", "it enters within 10 ms of the end of the lease, without a message",
			func(o *race.Outcome) bool {
				return messages(o.History) == 0 && occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Enter && e.Client == 2 && e.At > o.History.TTL && e.At < o.History.TTL+10*time.Millisecond
				})
			}},
		{"redisson-lock", "herd", "three hand-overs wake three, two and one", func(o *race.Outcome) bool {
			return messages(o.History) == 6 && entries(o.History, 2)+entries(o.History, 3)+entries(o.History, 4) == 3
		}},
		{"naive-wake", "herd", "three hand-overs take six tries, of which three are in vain", func(o *race.Outcome) bool {
			tries, vain := 0, 0
			woken := map[int]bool{}
			for i := range o.History.Events {
				switch e := &o.History.Events[i]; {
				case e.Kind == history.Push:
					woken[e.Client] = true
				case e.Kind == history.Apply && woken[e.Client] && len(e.Cmd) > 0 && e.Cmd[0] == "SET":
					woken[e.Client] = false
					tries++
					if e.Reply == "(nil)" {
						vain++
					}
				}
			}
			return tries == 6 && vain == 3
		}},
		{"token", "overtaken", "it is refused as long as the other goes on, fifteen times nine tenths of a second",
			func(o *race.Outcome) bool {
				return findsWord(o, verdict.Starved, 1) && lasts(o, verdict.Starved, 1.35)
			}},
		{"queue", "overtaken", "c1 waits for one turn and no more",
			func(o *race.Outcome) bool {
				turns := 0
				for i := range o.History.Events {
					if e := &o.History.Events[i]; e.Kind == history.Enter && e.Client == 1 {
						return turns == 1
					} else if e.Kind == history.Enter {
						turns++
					}
				}
				return false
			}},
		{"client-expiry", "client-behind", "the server answers OK and keeps no key",
			func(o *race.Outcome) bool {
				return entries(o.History, 1) == 1 && !occurs(o.History, func(e *history.Event) bool {
					return e.Kind == history.Change && e.Client == 1 && e.After != ""
				})
			}},
		{"token", "late-write", "no two are inside, and the update of the second is lost",
			func(o *race.Outcome) bool {
				return findsWord(o, verdict.StaleWrite, 1, 2) && !slices.Contains(o.Verdicts, verdict.Overlap)
			}},
		{"token", "late-write-fenced", "the resource refuses the write that comes too late",
			func(o *race.Outcome) bool {
				return occurs(o.History, func(e *history.Event) bool { return e.Kind == history.Write && e.Client == 1 && !e.OK })
			}},
		{"daemon-29", "zombie-daemon", "the first one's daemon shortens the second's lease, and the third gets in beside it",
			func(o *race.Outcome) bool {
				return findsWord(o, verdict.WrongDel, 1, 2) && findsWord(o, verdict.Overlap, 2, 3) && !findsWord(o, verdict.Overlap, 1, 2)
			}},
		{"daemon-20", "zombie-keeps", "the first one's daemon keeps the dead second's key, and the third never gets in",
			func(o *race.Outcome) bool { return entries(o.History, 3) == 0 }},
		{"daemon-20-owned", "zombie-keeps", "the dead second's key ends with its lease, and the third gets in",
			func(o *race.Outcome) bool { return lasts(o, verdict.Blocked, 0.9) && entries(o.History, 3) == 1 }},
		{"getset-check", "check-then-pause", "it has looked, and overwrites what the other has written since",
			func(o *race.Outcome) bool { return findsWord(o, verdict.StaleWrite, 1, 2) }},
		{"setnx", "opposite-order", "neither ever gets in",
			func(o *race.Outcome) bool { return entries(o.History, 1)+entries(o.History, 2) == 0 }},
		{"token", "opposite-order", "the leases end the deadlock, and both are in at once",
			func(o *race.Outcome) bool {
				return lasts(o, verdict.Blocked, 0.9) && findsWord(o, verdict.Overlap, 2, 1)
			}},
		{"threadlocal", "two-keys", "its release finds a token that it does not know, and the key stays for its lease",
			func(o *race.Outcome) bool { return lasts(o, verdict.Orphan, 0.8) && !removed(o.History, 1) }},
	} {
		e := racetest.Lock(t, f.lock)
		sc, err := scenarios.ByName(f.scenario)
		if err != nil {
			t.Fatal(err)
		}
		if o := play(t, e, sc); !f.holds(o) {
			t.Errorf("not so: %s%s", f.claim, evidence(o))
		}
	}
}

// refusedLate says whether c1 created the key on all servers and was refused
// nevertheless.
func refusedLate(o *race.Outcome) bool {
	made := 0
	for i := range o.History.Events {
		switch e := &o.History.Events[i]; {
		case e.Client == 1 && e.Kind == history.Change && e.Before == "":
			made++
		case e.Client == 1 && e.Kind == history.Refuse:
			return made == o.History.Nodes && e.At > o.History.TTL
		}
	}
	return false
}

func findsWord(o *race.Outcome, w verdict.Word, clients ...int) bool {
	return slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
		return f.Verdict == w && slices.Equal(f.Clients, clients)
	})
}

// lasts says whether a finding of this verdict lasts so many leases, within one retry.
func lasts(o *race.Outcome, w verdict.Word, leases float64) bool {
	want := leases * float64(o.History.TTL)
	return slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
		d := float64(f.To-f.From) - want
		return f.Verdict == w && d > -float64(o.Settings.Retry) && d < float64(o.Settings.Retry)
	})
}

// holders returns, for each client, the servers that had its key when it first entered.
func holders(h *history.History) string {
	on := make([]int, h.Nodes+1)
	var said []string
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Change && e.Key == h.Key && e.After != "":
			on[e.Node] = e.Client
		case e.Kind == history.Change && e.Key == h.Key, e.Kind == history.Expire:
			on[e.Node] = 0
		case e.Kind == history.Enter:
			var nodes []string
			for n := range on {
				if on[n] == e.Client {
					nodes = append(nodes, fmt.Sprint(n))
				}
			}
			said = append(said, fmt.Sprintf("c%d:%s", e.Client, strings.Join(nodes, ",")))
		}
	}
	return strings.Join(said, " ")
}

// messages is how many messages leave for somebody.
func messages(h *history.History) (n int) {
	for i := range h.Events {
		if h.Events[i].Kind == history.Push {
			n++
		}
	}
	return n
}
