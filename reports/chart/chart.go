// Package chart draws what many runs and searches found: as a picture, as text in columns, as CSV and as JSON.
//
// A [Result] is what was found, with what is said of it. [Of] makes a [Chart] of it: a [Table], words in each
// language, and where they are from. All that is written but the cells of a grid in a terminal is written from that
// alone, so that a chart in JSON is drawn again, in any language, without computing anything.
//
// A chart has a spec, two functions in the file of its result: one selects what a terminal shows of the table, the
// other turns it into panels of gonum/plot with four marks (marks.go): curve, spans, cells and dots. The rest is done
// here, once for all: a frame with title and source in a size (frame.go), colours (palette.go), letters (lettering.go),
// files (picture.go, svg.go).
//
// A chart of the list is a file here with its result and its spec, chart_NAME.go in cmd/locklab with its command and
// what a report has of it, NAME.txt in each language of reports/text, a sample in NAME_test.go, and a line each in
// specs, in figures of cmd/locklab, and in the tables charts and TestCharts of the tests.
//
// The same results give the same bytes.
package chart

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/simulator/lists"
)

// A Result is what was found, with its sentences in a language.
type Result interface {
	Name() string                   // of its spec
	Finding(lang string) string     // what it shows, in a sentence: the title of its picture
	Assumptions(lang string) string // under which that is so
	Notes(lang string) []string     // bounds and signs; empty ones say nothing
	Table() *Table
}

// Words describe a chart in one language; see Result.
type Words struct {
	Title       string   `json:"title"`
	Subtitle    string   `json:"subtitle,omitempty"` // how its picture is read
	Assumptions string   `json:"assumptions"`
	Notes       []string `json:"notes,omitempty"`
}

// A Chart is a result as it is kept. Its JSON is all that a picture needs.
type Chart struct {
	Incomplete bool             `json:"incomplete,omitempty"` // the user has stopped what computes it
	Name       string           `json:"chart"`
	Said       map[string]Words `json:"said"`             // by language
	Source     string           `json:"source,omitempty"` // the version and the command that made it; "": not known
	Table      *Table           `json:"table"`
	More       map[string]any   `json:"more,omitempty"` // what belongs to no row of the table

	narrow bool // it is drawn in a column of text
}

// Of returns the chart of a result.
func Of(r Result, source string) *Chart {
	c := &Chart{Name: r.Name(), Said: map[string]Words{}, Source: source, Table: r.Table()}
	if r, ok := r.(interface{ more() map[string]any }); ok {
		c.More = r.more()
	}
	locks := values("lock", c.Table.records())
	for _, lang := range text.Languages() {
		assumed := []string{r.Assumptions(lang)}
		if few := c.Table.fewServers(); few != "" {
			assumed = append(assumed, say(lang, "chart.few", "lock", few))
		}
		if slices.Contains([]string{"grid", "sweep", "tolerance"}, c.Name) {
			assumed = append(assumed, ofLocks(lang, locks)...)
		}
		if slices.ContainsFunc(locks, onZooKeeper) {
			assumed = append(assumed, say(lang, "chart.session"))
		}
		said := Words{Title: text.Tight(strings.TrimRight(r.Finding(lang), ".。?？")),
			Assumptions: text.Join(lang, "part.sentences", assumed), Notes: r.Notes(lang)}
		if len(c.Table.Rows) > 0 {
			said.Subtitle = text.Join(lang, "part.sentences", specs[c.Name].draw(c, lang).below)
		}
		c.Said[lang] = said
	}
	return c
}

// ofLocks are sentences on locks of which the catalogues have one: what a reader of a chart may take for another lock.
func ofLocks(lang string, locks []string) []string {
	some := lists.Pick(locks, func(l string) bool { return text.In(lang).Has("chart.lock." + l) })
	return lists.Each(some, func(l string) string {
		return say(lang, "chart.of", "of", l, "is", say(lang, "chart.lock."+l))
	})
}

func onZooKeeper(lock string) bool { e, _ := algorithms.ByName(lock); return e.OnZooKeeper() }

// Stop says in place of what the chart has found how much of it was computed when the user stopped it.
func (c *Chart) Stop(done, all int) {
	c.Incomplete = true
	for lang, said := range c.Said {
		said.Title = say(lang, "chart.stopped", "done", strconv.Itoa(done), "all", strconv.Itoa(all))
		c.Said[lang] = said
	}
}

// Kind is the kind of a document with a chart.
const Kind = "chart"

// Read reads a chart from a document. The error says what is wrong with it.
func Read(content []byte) (*Chart, error) {
	c := &Chart{}
	if err := reports.ReadJSON(content, c, Kind); err != nil {
		return nil, err
	}
	if !c.drawable() {
		return nil, text.Errorf("error.chart.file")
	}
	return c, nil
}

// JSON writes a chart for Read.
func (c *Chart) JSON(w io.Writer) error { return reports.WriteJSON(w, Kind, c) }

// Text writes a result for a terminal: a grid as its cells, all others as Chart.Text does.
func Text(w io.Writer, r Result, o reports.Look) error {
	g, is := r.(*Grid)
	if !is {
		return Of(r, "").Text(w, o)
	}
	out := o.Lines(w)
	g.text(out)
	return out.Err()
}

// Text writes what a chart has found, the table that its spec makes for a terminal, and below it what it assumes.
func (c *Chart) Text(w io.Writer, o reports.Look) error {
	out := o.Lines(w)
	table := specs[c.Name].view(c, out.Lang())
	putEach(out, func(lang string) []string { return []string{say(lang, "grid.stop", "text", c.Said[lang].Title)} })
	out.Put("", 0)
	if len(table.Rows) > 0 {
		table.Text(out)
		out.Put("", 0)
	}
	said := func(lang string) []string { return append([]string{c.Said[lang].Assumptions}, c.Said[lang].Notes...) }
	putEach(out, said)
	if c.Source != "" {
		out.Put(c.Source, 0)
	}
	return out.Err()
}

// Drawn reports whether a chart can be written to files with an ending.
func Drawn(ending string) bool {
	return ending == ".csv" || ending == ".json" || Pictures[ending] != nil
}

// Write writes a chart in the format of an ending.
func (c *Chart) Write(w io.Writer, ending string, f Format) error {
	switch ending {
	case ".csv":
		return c.Table.CSV(w)
	case ".json":
		return c.JSON(w)
	}
	return Pictures[ending](w, c, f)
}

// A spec draws a chart from its table, which has at least some columns, and selects what a terminal shows of it.
type spec struct {
	columns string
	draw    func(c *Chart, lang string) frame
	view    func(c *Chart, lang string) *Table
}

var specs = map[string]spec{
	"grid":      {"lock race code verdicts expected as_expected triggered blocked_ms", drawGrid, viewGrid},
	"par":       {"lock budget verdict found complete par", drawPar, viewPar},
	"tolerance": {"lock fault result fails_at largest_searched", drawTolerance, viewTolerance},
	"sweep":     {"lock k n share wilson_lo wilson_hi", drawSweep, viewSweep},
	"recovery":  {"lock ttl_ns work_ns blocked_mean_ns blocked_longest_ns", drawRecovery, viewRecovery},
	"waiting": {"policy clients runs handover_mean_ns handover_least_run_ns handover_largest_run_ns handover_p5_ns " +
		"handover_p95_ns commands_per_entry share_served", drawWaiting, viewWaiting},
	"rate":     {"lock source ttl_ns overlaps_a_year_at_most", drawRate, viewRate},
	"theorems": {"lock budget verdict extent", drawTheorems, viewTheorems},
}

// drawable reports whether a chart that was read has a spec, and the columns for it.
func (c *Chart) drawable() bool {
	of, known := specs[c.Name]
	missing := func(name string) bool { return !slices.Contains(c.Table.names(), name) }
	return known && c.Table != nil && !slices.ContainsFunc(strings.Fields(of.columns), missing)
}

// named is a chart with the names that locks have in a language in place of their ids, where they are few.
func (c *Chart) named(lang string) *Chart {
	n, lock, said := *c, slices.Index(c.Table.names(), "lock"), c.Said[lang]
	if lock < 0 || len(values("lock", c.Table.records())) >= overviewFrom {
		return &n
	}
	n.Table = &Table{Columns: c.Table.Columns, Rows: lists.Each(c.Table.Rows, slices.Clone)}
	for _, row := range n.Table.Rows {
		row[lock] = text.Named(textOf(row[lock]), lang)
	}
	said.Title = text.Named(said.Title, lang)
	n.Said = map[string]Words{lang: said}
	return &n
}

func (c *Chart) picture(f Format) picture {
	c = c.named(f.Lang)
	c.narrow = f.Size.width > 0 && f.Size.width < narrow*leastScale
	p := c.frame(f).picture()
	if p.err != nil && !c.narrow { // as little as in a column may fit
		c.narrow = true
		p = c.frame(f).picture()
	}
	return p
}

func (c *Chart) frame(f Format) frame {
	said := c.Said[f.Lang]
	drawn := frame{body: func(draw.Canvas) {}}
	if len(c.Table.Rows) > 0 {
		drawn = specs[c.Name].draw(c, f.Lang)
	}
	all := lists.Pick(append(drawn.foot, said.Assumptions), func(said string) bool { return said != "" })
	drawn.title, drawn.foot = cmp.Or(f.Title, said.Title), []string{text.Join(f.Lang, "part.sentences", all)}
	drawn.from, drawn.bare, drawn.size = source(c.Source, f.Lang), f.Bare, f.Size
	if f.Notes {
		drawn.notes = said.Notes
	}
	return drawn
}
