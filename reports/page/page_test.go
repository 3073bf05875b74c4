package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/internal/samples"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// svgNames is the name space of SVG: a name, no request.
const svgNames = "http://www.w3.org/2000/svg"

func reportSample(t *testing.T) Report {
	t.Helper()
	drawn := &chart.Grid{}
	*drawn = gridSample()
	var svg bytes.Buffer
	if err := chart.SVG(&svg, chart.Of(drawn, ""), chart.Format{}); err != nil {
		t.Fatal(err)
	}
	r := Report{
		Version: "0.1", Command: "locklab matrix --all -o report", Seeds: "1 to 1000",
		Assumptions: []string{"Two clients & one server.", "A command takes 1 ms."},
		Grid:        gridSample(),
		Needs:       [][]string{{"if", "does not survive"}, {"rows < of one database", "late-write"}},
		Runs:        map[string]*reports.Book{},
		Charts: []Chart{
			{Texts: drawn, SVG: svg.Bytes(), CSV: "pause.csv"}, {Texts: drawn, SVG: svg.Bytes(), CSV: "again.csv"},
		},
	}
	for _, key := range [][2]string{{"token", "gc-pause"}, {"setnx-expire", "slow-work"}, {"redlock", "restart"},
		{"token", "slow-work"}} {
		o := samples.Played(t, key[0], key[1])
		if r.Runs[key[0]] == nil {
			r.Runs[key[0]] = &reports.Book{}
		}
		run, listings := reports.RunOf(o.History, o.Judgement, o.Verdicts, []string{"en"}, true)
		r.Runs[key[0]].Add(key[1], run, listings)
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
	text := pageOf(t, reportSample(t))
	d := xml.NewDecoder(strings.NewReader(regexp.MustCompile(`(?s)(<script[^>]*>).*?</script>`).ReplaceAllString(text,
		"$1</script>")))
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
		if !ids[link] && !strings.HasPrefix(link, "run.") { // those the script opens
			t.Errorf("nothing has the id %q", link)
		}
	}
	if !links["run.token.gc-pause"] {
		t.Error("the grid does not lead to its runs")
	}
}

// The page needs no network, and says what it is made of.
func TestPageIsSelfContained(t *testing.T) {
	text := pageOf(t, reportSample(t))
	if m := regexp.MustCompile(`https?://|//[a-z]+\.|<link|@import|url\("|\bsrc=`).FindString(strings.ReplaceAll(text,
		svgNames, "")); m != "" {
		t.Errorf("the page asks for %q", m)
	}
	for _, want := range []string{
		"locklab matrix --all -o report", "1 to 1000", "Two clients &amp; one server.", `<html lang="en">`,
		`href="#run.token.gc-pause"`, "expected HOLDS", "pause.csv", `id="book.token"`, "WRONG-DEL", "<svg role=",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if len(text) > MaxSize {
		t.Errorf("%d bytes", len(text))
	}
}

// The page begins with its two questions and ends with how it was made. Of a lock it has the races in which it fails,
// the gravest first, each with its run, a command and an address to play at; a cell of what cannot happen is empty.
func TestPageAnswersFirst(t *testing.T) {
	r := reportSample(t)
	r.Grid.Cells[2][0].Verdicts, r.Grid.Cells[2][0].NotApplicable = []verdict.Word{verdict.NA}, "one-client"
	r.Grid.Cells[2][4].Verdicts = []verdict.Word{verdict.Starved}
	r.Board = "board.html"
	text := pageOf(t, r)
	last := 0
	for _, part := range []string{
		`id="need"`, `id="breaks"`, `id="grid"`, `id="charts"`, `id="method"`, "<footer>", r.Command, r.Version,
	} {
		at := strings.Index(text[last:], part)
		if at < 0 {
			t.Errorf("%s does not come after what should come first", part)
			continue
		}
		last += at
	}
	_, of, _ := strings.Cut(text, "<summary><b>token</b>")
	of, _, _ = strings.Cut(of, "</details>")
	if !strings.Contains(of, "fails in 7 of 9 races") || !strings.Contains(of, `href="#run.token.gc-pause"`) {
		t.Error(of)
	}
	var races []string
	played := regexp.MustCompile(`<code>locklab run token (\S+)</code> <a href="board.html#race.token.(\S+)"`)
	for _, m := range played.FindAllStringSubmatch(of, -1) {
		if m[1] != m[2] {
			t.Errorf("%s is played as %s", m[1], m[2])
		}
		races = append(races, m[1])
	}
	want := "slow-work crash-holding client-skew gc-pause-fenced restart two-keys gc-pause"
	if strings.Join(races, " ") != want {
		t.Errorf("%s, want %s", races, want)
	}
	empty, other := regexp.MustCompile(`<td class="notasked" title="N/A: [^>]*></td>`), strings.Count(text, "N/A</b>")
	if n := len(empty.FindAllString(text, -1)); n != 1 || other > 0 {
		t.Errorf("%d empty cells, %d others", n, other)
	}
}

// What the script unpacks is what was packed.
func TestPageBooks(t *testing.T) {
	r := reportSample(t)
	m := regexp.MustCompile(`id="book.token">([^<]*)<`).FindStringSubmatch(pageOf(t, r))
	if m == nil {
		t.Fatal("no book")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[1])))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var c columns
	if err := json.Unmarshal(got, &c); err != nil || len(c.Races) != 2 {
		t.Fatalf("%q, %v", c.Races, err)
	}
	for i, race := range c.Races {
		fields := map[string]json.RawMessage{}
		for name, all := range c.Fields {
			if string(all[i]) != "null" {
				fields[name] = all[i]
			}
		}
		got, err := json.Marshal(fields)
		var run, want reports.Run
		if err := cmp.Or(err, json.Unmarshal(got, &run)); err != nil {
			t.Fatal(err)
		}
		whole, _ := json.Marshal(r.Runs["token"].Runs[race]) // which was packed
		if err := json.Unmarshal(whole, &want); err != nil || !reflect.DeepEqual(run, want) {
			t.Errorf("%s: %v: %.300s, want %.300s", race, err, got, whole)
		}
	}
}

func TestPageTooLarge(t *testing.T) {
	effort.OnlyPushed(t, "it takes seconds")
	r := Report{Charts: []Chart{{Texts: &chart.Grid{}, SVG: bytes.Repeat([]byte("<g></g>"), MaxSize/7+1)}}}
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

// gridSample has four locks in ten races, and two surprises.
func gridSample() (g chart.Grid) {
	for _, id := range []string{"calm", "crash-holding", "slow-work", "client-skew", "gc-pause", "gc-pause-fenced",
		"failover", "restart", "lost-reply", "two-keys"} {
		g.Races = append(g.Races, chart.Column{ID: id, Code: "R18"})
	}
	for _, id := range []string{"setnx", "setnx-expire", "token", "redlock"} {
		g.Locks = append(g.Locks, chart.Row{ID: id, Article: "003-A"})
		row := make([]chart.Cell, len(g.Races))
		for j, s := range g.Races {
			words := []verdict.Word{verdict.Holds}
			if j%2 > 0 {
				words = []verdict.Word{verdict.WrongDel, verdict.StaleWrite}
			}
			row[j] = chart.Cell{Lock: id, Race: s.ID, Verdicts: words, Expected: words, AsExpected: true,
				Triggered: true, Trace: "traces/" + id + "." + s.ID + ".json"}
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
		Locks: []chart.Row{{ID: "known"}, {ID: "unknown"}},
		Races: []chart.Column{{ID: "pause", Code: "R18"}},
		Cells: [][]chart.Cell{
			{{Verdicts: []verdict.Word{verdict.Overlap}, Expected: []verdict.Word{verdict.Overlap}, AsExpected: true,
				Triggered: true}},
			{{Verdicts: []verdict.Word{verdict.Overlap}, Uncontracted: true, Triggered: true}},
		},
	}
	page := pageOf(t, Report{Grid: g})
	if strings.Count(page, `<td class="broken uncontracted"`) != 1 ||
		!strings.Contains(page, "not in the contract</em>") || !strings.Contains(page, "A dashed border") ||
		strings.Contains(page, "<em>expected") {
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
