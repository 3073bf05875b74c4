package study_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
)

// atStep injects a fault into c2 some time after it has sent its n-th request: c1 is
// inside, c2 waits behind it, and c3 behind c2.
func atStep(n int, after time.Duration, fault string, c simulator.Choice) race.Scenario {
	return race.Scenario{
		ID:       "step",
		Settings: racetest.Scenario("waiter-dies").Settings,
		Budget:   race.FixedBudget(fault),
		Clients:  racetest.Scenario("waiter-dies").Clients,
		Script: func(race.Settings, int) []race.Trigger {
			sent := 0
			return []race.Trigger{{Each: true, On: func(e *history.Event) bool {
				if race.Event(history.Send, 2)(e) {
					sent++
					return sent == n
				}
				return false
			}, Do: race.Inject(after, c)}}
		},
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// TestEveryStep ends the session of a waiter at each of its steps, and loses the answer
// to each of its requests, for each lock. It compares the outcome with
// testdata/steps.golden.
func TestEveryStep(t *testing.T) {
	t.Parallel()
	half := racetest.Scenario("waiter-dies").Settings.Latency / 2
	ends, loses := faults.ExpireSessionOf(2), faults.LoseReplyTo(2, 0)
	var b bytes.Buffer
	for _, line := range []string{
		"c1 is inside, c2 stands in line behind it, and c3 behind c2. A line is a request of c2's.",
		"Its session ends while the request is on the way; while the answer is; a fifth of a",
		"second later; or that answer is lost. A dot is HOLDS.",
	} {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	for _, e := range algorithms.OnZooKeeper() {
		fmt.Fprintf(&b, "\n%-62s | %-23s | %-23s | %-23s | %s\n", e.ID, "on the way", "answer on the way", "later", "answer lost")
		play := func(sc race.Scenario) *race.Outcome {
			o := racetest.PlayAnyway(t, e, sc, sc.Settings)
			if o.NotInjected != nil {
				t.Fatal(e.ID, o.NotInjected)
			}
			return o
		}
		n := 0
		for _, r := range play(atStep(0, 0, "", ends)).History.Events {
			if !race.Event(history.Send, 2)(&r) {
				continue
			}
			n++
			cells := []string{strings.Join(r.Cmd, " ")}
			for _, after := range []time.Duration{0, 3 * half, 200 * time.Millisecond} {
				cells = append(cells, brief(play(atStep(n, after, "expire-session=1", ends))))
			}
			if r.Node == history.Resource {
				cells[0] = "(the resource)"
				cells = append(cells, "-")
			} else {
				cells = append(cells, brief(play(atStep(n, 3*half, "lose-reply=1", loses))))
			}
			fmt.Fprintf(&b, "%-62s | %-23s | %-23s | %-23s | %s\n", cells[0], cells[1], cells[2], cells[3], cells[4])
		}
	}
	const file = "testdata/steps.golden"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := racetest.Must(os.ReadFile(file))(t)
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is no longer what the program says; if it should not be, write it anew with: go test ./scenarios/study -run EveryStep -update\n%s", file, b.Bytes())
	}
}

// brief writes the verdicts of a cell.
func brief(o *race.Outcome) string {
	var words []string
	for _, w := range o.Verdicts {
		words = append(words, strings.ReplaceAll(string(w), "HOLDS", "."))
	}
	return strings.Join(words, " ")
}
