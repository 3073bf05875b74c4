package record_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/scenarios"
	"locklab/scenarios/race"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// judged reads and judges logs.
func judged(t testing.TB, logs ...string) *Result {
	t.Helper()
	r, err := tried(logs...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tried judges logs. The error is about the first wrong line.
func tried(logs ...string) (*Result, error) { return triedBy(NewJudge(1<<20), 0, logs...) }

// triedBy is tried by a judge, of lines that may be off by within if they do not say it.
func triedBy(j *Judge, within time.Duration, logs ...string) (*Result, error) {
	var sources []Source
	for i, l := range logs {
		sources = append(sources, Source{Name: fmt.Sprint(i + 1), From: strings.NewReader(l)})
	}
	if err := observe(NewReader(within, sources...), j, func() {}); err != nil {
		return nil, err
	}
	return j.Finish(), nil
}

// observe gives a judge the lines of a reader, up to the first wrong one, and calls after after each of them.
func observe(r *Reader, j *Judge, after func()) error {
	for {
		l, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = j.Observe(l)
		}
		if err != nil {
			return err
		}
		after()
	}
}

// logOf is lines as a log.
func logOf(t testing.TB, lines []Line) string {
	t.Helper()
	var b bytes.Buffer
	for _, l := range lines {
		text, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.String()
}

// unseen are the verdicts of runs that their logs do not show, of all locks, with the reason: only a server knows.
var unseen = map[string]string{
	"gc-pause-cas FENCED": "compare-and-set refuses an old base: the log does not show whose lease had ended, " +
		"that of the writer or the other",
	"split-vote STARVED": "all are refused and nobody has the lock: a key may have been left",
}

// TestRaces: the log of each run of the lab gives the verdicts of the run that a log can show, and no other.
func TestRaces(t *testing.T) {
	t.Parallel()
	var runner race.Runner
	claimed, used := map[verdict.Word]int{}, map[string]bool{}
	for _, sc := range scenarios.All() {
		for _, e := range algorithms.Milestones() {
			o, err := runner.Play(e, sc, sc.Settings)
			if err != nil {
				t.Fatal(err)
			}
			if o.History == nil {
				continue
			}
			r := judged(t, logOf(t, Of(o.History)))
			for _, w := range Claimed() {
				want, got := slices.Contains(o.Judgement.Verdicts, w), slices.Contains(r.Verdicts, w)
				if want && !got && unseen[sc.ID+" "+string(w)] != "" {
					used[sc.ID+" "+string(w)] = true
					got = true
				}
				if got {
					claimed[w]++
				}
				if want != got {
					t.Errorf("%s in %s: the run is %v, and its log %v", e.ID, sc.ID, o.Judgement.Verdicts, r.Verdicts)
				}
			}
			for _, f := range r.Findings {
				if slices.Contains(NotClaimed(), f.Verdict) || len(f.Around) == 0 {
					t.Errorf("%s in %s: %+v", e.ID, sc.ID, f)
				}
			}
		}
	}
	for _, w := range Claimed() {
		if claimed[w] == 0 {
			t.Errorf("no run is %s: agreement says nothing", w)
		}
	}
	for what := range unseen {
		if !used[what] {
			t.Errorf("%s is in the list and every log shows it", what)
		}
	}
	t.Log(claimed)
}
