package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
)

// TestRuns guards the views of runs while they are drawn anew, and goes with that: a line has a lock, and for each view a
// sum of what it says of all races in each language.
func TestRuns(t *testing.T) {
	effort.OnlyExhaustive(t, "it plays every lock in every race, and prints each in six views and two languages")
	var all strings.Builder
	runner := race.Runner{Lines: true}
	for _, e := range algorithms.All() {
		sums := make([]io.Writer, 6)
		hashes := make([]interface{ Sum([]byte) []byte }, len(sums))
		for i := range sums {
			h := sha256.New()
			sums[i], hashes[i] = h, h
		}
		for _, sc := range scenarios.All() {
			o, err := runner.Play(e, sc, sc.Settings)
			must(t, err)
			if o.History == nil {
				continue
			}
			for _, lang := range text.Languages() {
				for _, width := range []int{0, 100} {
					look := reports.Look{Lang: lang, Width: width}
					must(t, reports.Lanes(sums[0], o.History, o.Judgement, look))
					must(t, reports.Story(sums[1], o.History, o.Judgement, look))
					must(t, reports.RedisCLI(sums[2], o.History, o.Judgement, look))
					must(t, reports.Notation(sums[3], o.History, o.Judgement, look))
					must(t, reports.Code(sums[4], o.History, look))
				}
			}
			run, _ := reports.RunOf(o.History, o.Judgement, o.Verdicts, text.Languages(), false)
			must(t, json.NewEncoder(sums[5]).Encode([]any{run.At, run.States, run.Messages, run.Faults, run.Marks, run.Skews}))
		}
		all.WriteString(e.ID)
		for _, h := range hashes {
			fmt.Fprintf(&all, " %x", h.Sum(nil)[:6])
		}
		all.WriteString("\n")
	}
	golden(t, "runs.txt", all.String())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
