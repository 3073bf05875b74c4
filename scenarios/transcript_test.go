package scenarios_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

var update = flag.Bool("update", false, "write the transcripts in testdata anew; read the diff before you commit it")

// TestTranscripts compares every race with testdata/<race>.txt: the story, the numbers, the run of the lock for which
// the story is told, and a line for the run of each other lock. A transcript can be read without this program.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, sc := range scenarios.All() {
		file := filepath.Join("testdata", sc.ID+".txt")
		known[file] = true
		t.Run(sc.ID, func(t *testing.T) {
			got := transcript(t, sc)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v: write it with: go test ./scenarios -run Transcripts -update", err)
			}
			if line, ok := firstDifference(want, got); ok {
				t.Errorf("%s is no longer what the program says; if it should not be, write it anew with: "+
					"go test ./scenarios -run Transcripts -update\n%s", file, line)
			}
		})
	}
	files := racetest.Must(filepath.Glob("testdata/*.txt"))(t)
	for _, f := range files {
		if !known[f] {
			t.Errorf("%s belongs to no race: delete it", f)
		}
	}
}

func firstDifference(want, got []byte) (string, bool) {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(w), len(g)) {
		a, b := at(w, i), at(g, i)
		if a != b {
			return fmt.Sprintf("line %d\nfile: %s\nhere: %s", i+1, a, b), true
		}
	}
	return "", false
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

// mostLines is the largest number of lines that are drawn of a run.
const mostLines = 64

func transcript(t *testing.T, sc race.Race) []byte {
	var b bytes.Buffer
	paragraph := func(text string) {
		for _, line := range wrap(text, 118) {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		fmt.Fprintln(&b, "#")
	}
	story := func(part string) string { return text.In("en").Get(part + ".race." + sc.ID) }
	paragraph(fmt.Sprintf("%s (%s): %s", sc.ID, sc.Code, story("title")))
	paragraph(story("story"))
	paragraph("Why these numbers: " + story("numbers"))
	fmt.Fprintf(&b, "# Settings: %s\n", settings(sc.Settings))
	fmt.Fprintf(&b, "# Time runs downwards, in milliseconds. What a request does stands where its answer arrives.\n")

	e := racetest.Lock(t, cmp.Or(storyLocks[sc.ID], "token"))
	o := racetest.PlayListed(t, e, sc, sc.Settings)
	if o.NotApplicable != "" || !o.Triggered {
		t.Fatalf("%s does not happen to %s: name the lock of its story in storyLocks", sc.ID, e.ID)
	}
	var lanes bytes.Buffer
	if err := reports.Lanes(&lanes, o.History, o.Judgement, reports.Look{Width: 120}); err != nil {
		t.Fatal(err)
	}
	from := strings.TrimPrefix(fmt.Sprintf("%s, %d", e.Article, e.Year), ", ")
	fmt.Fprintf(&b, "\n== %s (%s): %s\n\n%s", e.ID, from, words(o), bounded(lanes.String(), o))

	fmt.Fprint(&b, "\n# A run a line: lock, hash of its events and findings, verdicts. ")
	fmt.Fprintf(&b, "It is drawn by: locklab run LOCK %s\n", sc.ID)
	fmt.Fprintln(&b, line(t, o))
	var reasons []string
	spared := map[string][]string{} // by the reason
	for _, other := range representatives(t, sc) {
		switch o := racetest.PlayListed(t, other, sc, sc.Settings); {
		case other.ID == e.ID:
		case o.NotApplicable == "":
			fmt.Fprintln(&b, line(t, o))
		default:
			why := text.Reason("en", "na", string(o.NotApplicable))
			if spared[why] == nil {
				reasons = append(reasons, why)
			}
			spared[why] = append(spared[why], other.ID)
		}
	}
	for _, why := range reasons {
		fmt.Fprintf(&b, "# %v, %s: %s\n", verdict.NA, why, strings.Join(spared[why], " "))
	}
	return b.Bytes()
}

// line describes one run. It differs for any other event, and for any other finding.
func line(t *testing.T, o *race.Outcome) string {
	return fmt.Sprintf("%-20s %s %s", o.Lock.ID, hash(t, o.History, o.Judgement), words(o))
}

// hash returns 48 bits of a hash of the JSON of a run and of what the judges say of it.
func hash(t *testing.T, h *history.History, j verdict.Judgement) string {
	t.Helper()
	text, err := json.Marshal(struct {
		*history.History
		verdict.Judgement
	}{h, j})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:12]
}

// settings leaves out settings that are zero: unused or default.
func settings(s race.Settings) string {
	var items []string
	for _, item := range strings.Split(s.String(), ",") {
		if name, value, _ := strings.Cut(item, "="); value != "0s" && name != "seed" {
			items = append(items, item)
		}
	}
	return strings.Join(items, " ")
}

func words(o *race.Outcome) string {
	var s []string
	for _, w := range o.Verdicts {
		s = append(s, string(w))
	}
	return strings.Join(s, " ")
}

// bounded shortens long lanes.
func bounded(lanes string, o *race.Outcome) string {
	lines := strings.SplitAfter(lanes, "\n")
	if len(lines) <= mostLines {
		return lanes
	}
	return strings.Join(lines[:mostLines], "") +
		fmt.Sprintf("(%d more lines: locklab run %s %s)\n", len(lines)-mostLines, o.Lock.ID, o.Race.ID)
}

func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}
