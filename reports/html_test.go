package reports

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

func reportSample(t *testing.T) Report {
	t.Helper()
	chart := sensitivitySample()
	var svg bytes.Buffer
	if err := chart.SVG(&svg); err != nil {
		t.Fatal(err)
	}
	r := Report{
		Version: "0.1", Command: "locklab matrix --runs 1000 -o report", Seeds: "1 to 1000",
		Assumptions: []string{"Two clients & one server.", "A command takes 1 ms."},
		Grid:        gridSample(),
		Runs:        map[RunKey]Run{},
		Charts:      []Chart{{TitleEN: chart.Title("en"), TakeawayEN: chart.Takeaway("en"), TitleZH: chart.Title("zh"), TakeawayZH: chart.Takeaway("zh"), SVG: svg.Bytes(), CSV: "pause.csv"}},
	}
	for key, s := range map[RunKey]int{
		{"token", "gc-pause"}: 0, {"setnx-expire", "slow-owner"}: 1, {"redlock", "restart-empty"}: 2, {"token", "slow-owner"}: 0,
	} {
		h, j := samples[s].make()
		r.Runs[key] = Run{History: h, Judgement: j, Replay: "locklab replay traces/" + key.Strategy + "." + key.Scenario + ".json"}
	}
	return r
}

func pageOf(t *testing.T, r Report) string {
	t.Helper()
	var b strings.Builder
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every element is closed, every id stands once, and every link inside the page
// leads somewhere.
func TestHTMLIsWellFormed(t *testing.T) {
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
func TestHTMLIsSelfContained(t *testing.T) {
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
	if len(text) > MaxPage {
		t.Errorf("%d bytes", len(text))
	}
}

// A map has no order; the page has.
func TestHTMLIsDeterministic(t *testing.T) {
	first := pageOf(t, reportSample(t))
	for range 5 {
		if pageOf(t, reportSample(t)) != first {
			t.Fatal("two pages from the same report differ")
		}
	}
}

// What is too much is cut from runs that held as expected before it is cut from
// surprises.
func TestHTMLIsBounded(t *testing.T) {
	r := reportSample(t)
	padding := bytes.Repeat([]byte("<g></g>"), (MaxPage-240_000)/7)
	r.Charts[0].SVG = append(append([]byte("<svg>"), padding...), "</svg>"...)
	for i, s := range r.Grid.Strategies {
		for j, n := range r.Grid.Scenarios {
			h, judged := samples[(i+j)%len(samples)].make()
			r.Runs[RunKey{s.ID, n.ID}] = Run{History: h, Judgement: judged, Replay: "locklab replay x"}
		}
	}
	text := pageOf(t, r)
	if len(text) > MaxPage {
		t.Errorf("%d bytes", len(text))
	}
	runs := strings.Split(text, `<article id="run.`)[1:]
	if len(runs) != 90 {
		t.Fatalf("%d runs, want 90", len(runs))
	}
	short := 0
	for _, run := range runs {
		if cut := strings.Contains(run, "left out to keep the page small"); cut {
			short++
			if strings.HasPrefix(run, `token.slow-owner"`) || strings.HasPrefix(run, `redlock.clock-skew"`) {
				t.Error("a surprise was cut although runs as expected are left")
			}
		}
	}
	if short == 0 || short == 90 {
		t.Errorf("%d of 90 runs were cut", short)
	}
}

func TestHTMLTooLarge(t *testing.T) {
	r := Report{Charts: []Chart{{SVG: bytes.Repeat([]byte("<g></g>"), MaxPage/7+1)}}}
	if err := HTML(io.Discard, r); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// An empty report is a page with a glossary.
func TestHTMLEmpty(t *testing.T) {
	if text := pageOf(t, Report{}); !strings.Contains(text, "Glossary") || strings.Contains(text, `id="grid"`) {
		t.Error(text)
	}
}
