package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"locklab/reports/chart"
	"locklab/reports/internal/samples"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

func reportSample(t *testing.T) Report {
	t.Helper()
	drawn := &chart.Sensitivity{Sensitivity: study.Sensitivity{Runs: 1000, Series: []study.Series{{Strategy: "token", Points: []study.Point{{X: 0.5, K: 0, N: 1000}, {X: 1, K: 9, N: 1000}}}}}}
	var svg bytes.Buffer
	if err := drawn.SVG(&svg); err != nil {
		t.Fatal(err)
	}
	r := Report{
		Version: "0.1", Command: "locklab matrix --runs 1000 -o report", Seeds: "1 to 1000",
		Assumptions: []string{"Two clients & one server.", "A command takes 1 ms."},
		Grid:        gridSample(),
		Runs:        map[RunKey]Run{},
		Charts:      []Chart{{Texts: drawn, SVG: svg.Bytes(), CSV: "pause.csv"}},
	}
	for key, s := range map[RunKey]int{
		{"token", "gc-pause"}: 0, {"setnx-expire", "slow-work"}: 1, {"redlock", "restart"}: 2, {"token", "slow-work"}: 0,
	} {
		h, j := samples.All[s].Make()
		r.Runs[key] = Run{History: h, Judgement: j, Replay: "locklab replay traces/" + key.Strategy + "." + key.Scenario + ".json"}
	}
	return r
}

func pageOf(t *testing.T, r Report) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every element is closed, every id stands once, and every link inside the page
// leads somewhere.
func TestPageIsWellFormed(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(pageOf(t, reportSample(t))))
	ids, links := map[string]bool{}, map[string]bool{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			switch {
			case a.Name.Local == "id" && ids[a.Value]:
				t.Errorf("id %q stands twice", a.Value)
			case a.Name.Local == "id":
				ids[a.Value] = true
			case a.Name.Local == "href" && strings.HasPrefix(a.Value, "#"):
				links[a.Value[1:]] = true
			}
		}
	}
	for link := range links {
		if !ids[link] {
			t.Errorf("nothing has the id %q", link)
		}
	}
	if !links["run.token.gc-pause"] {
		t.Error("the grid does not lead to its runs")
	}
}

// The page needs no network, no script, and says what it is made of.
func TestPageIsSelfContained(t *testing.T) {
	text := pageOf(t, reportSample(t))
	if m := regexp.MustCompile(`https?://|//[a-z]+\.|<script|<link|@import|url\(|\bsrc=`).FindString(text); m != "" {
		t.Errorf("the page asks for %q", m)
	}
	for _, want := range []string{
		"locklab matrix --runs 1000 -o report", "1 to 1000", "Two clients &amp; one server.", `lang="zh-Hans"`,
		"!! OVERLAP c1", "expected HOLDS", "pause.csv", "traces/token.gc-pause.json", "locklab replay", "WRONG-DEL", "<svg role=",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if len(text) > MaxSize {
		t.Errorf("%d bytes", len(text))
	}
}

// A map has no order; the page has.
func TestPageIsDeterministic(t *testing.T) {
	first := pageOf(t, reportSample(t))
	for range 5 {
		if pageOf(t, reportSample(t)) != first {
			t.Fatal("two pages from the same report differ")
		}
	}
}

// What is too much is cut from runs that held as expected before it is cut from
// surprises.
func TestPageIsBounded(t *testing.T) {
	r := reportSample(t)
	padding := bytes.Repeat([]byte("<g></g>"), (MaxSize-240_000)/7)
	r.Charts[0].SVG = append(append([]byte("<svg>"), padding...), "</svg>"...)
	for i, s := range r.Grid.Strategies {
		for j, n := range r.Grid.Scenarios {
			h, judged := samples.All[(i+j)%len(samples.All)].Make()
			r.Runs[RunKey{s.ID, n.ID}] = Run{History: h, Judgement: judged, Replay: "locklab replay x"}
		}
	}
	text := pageOf(t, r)
	if len(text) > MaxSize {
		t.Errorf("%d bytes", len(text))
	}
	runs := strings.Split(text, `<article id="run.`)[1:]
	if len(runs) != 40 {
		t.Fatalf("%d runs, want 40", len(runs))
	}
	short := 0
	for _, run := range runs {
		if cut := strings.Contains(run, "left out to keep the page small"); cut {
			short++
			if strings.HasPrefix(run, `token.slow-work"`) || strings.HasPrefix(run, `redlock.client-skew"`) {
				t.Error("a surprise was cut although runs as expected are left")
			}
		}
	}
	if short == 0 || short == 40 {
		t.Errorf("%d of 40 runs were cut", short)
	}
}

func TestPageTooLarge(t *testing.T) {
	r := Report{Charts: []Chart{{Texts: &chart.Sensitivity{}, SVG: bytes.Repeat([]byte("<g></g>"), MaxSize/7+1)}}}
	if err := Write(io.Discard, r); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// An empty report is a page with a glossary.
func TestPageEmpty(t *testing.T) {
	if text := pageOf(t, Report{}); !strings.Contains(text, "Glossary") || strings.Contains(text, `id="grid"`) {
		t.Error(text)
	}
}

// gridSample has four locks in ten scenarios, and two surprises.
func gridSample() (g chart.Grid) {
	for _, id := range []string{"calm", "crash-holding", "slow-work", "client-skew", "gc-pause", "gc-pause-fenced", "failover", "restart", "lost-reply", "two-keys"} {
		g.Scenarios = append(g.Scenarios, chart.Column{ID: id, Race: "R18"})
	}
	for _, id := range []string{"setnx", "setnx-expire", "token", "redlock"} {
		g.Strategies = append(g.Strategies, chart.Row{ID: id, Article: "003-A"})
		row := make([]chart.Cell, len(g.Scenarios))
		for j, s := range g.Scenarios {
			words := []verdict.Word{verdict.Holds}
			if j%2 > 0 {
				words = []verdict.Word{verdict.WrongDel, verdict.StaleWrite}
			}
			row[j] = chart.Cell{Strategy: id, Scenario: s.ID, Verdicts: words, Expected: words, AsExpected: true, Reached: true,
				Trace: "traces/" + id + "." + s.ID + ".json"}
		}
		g.Cells = append(g.Cells, row)
	}
	for _, c := range []*chart.Cell{&g.Cells[2][2], &g.Cells[3][3]} {
		c.Verdicts, c.Expected, c.AsExpected = []verdict.Word{verdict.Overlap}, []verdict.Word{verdict.Holds}, false
	}
	return g
}

// A cell of which no contract speaks says so, and is no surprise.
func TestPageUncontracted(t *testing.T) {
	g := chart.Grid{
		Strategies: []chart.Row{{ID: "known"}, {ID: "unknown"}},
		Scenarios:  []chart.Column{{ID: "pause", Race: "R18"}},
		Cells: [][]chart.Cell{
			{{Verdicts: []verdict.Word{verdict.Overlap}, Expected: []verdict.Word{verdict.Overlap}, AsExpected: true, Reached: true}},
			{{Verdicts: []verdict.Word{verdict.Overlap}, Uncontracted: true, Reached: true}},
		},
	}
	page := pageOf(t, Report{Grid: g})
	if strings.Count(page, `<td class="broken uncontracted">`) != 1 || !strings.Contains(page, "no contract</span> / ") || !strings.Contains(page, "A dashed border") || strings.Contains(page, "<em>expected") {
		t.Error("the page does not say it")
	}
}

// Headings and labels are in the language of the report.
func TestPageLanguage(t *testing.T) {
	text := pageOf(t, Report{Lang: "zh", Grid: gridSample()})
	for _, want := range []string{`<html lang="zh-Hans">`, "<h2>术语</h2>", "预期 HOLDS"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
