package reports

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// MaxPage is the size in bytes that no page exceeds.
const MaxPage = 2 << 20

// ErrTooLarge says that charts and grid alone exceed MaxPage.
var ErrTooLarge = errors.New("reports: page too large: leave out charts")

// A Report is everything that a page shows. Fields that are empty are left out
// of the page.
type Report struct {
	Title       string   // "": locklab report
	Version     string   // of the program that played the runs
	Command     string   // the line that makes this page again
	Seeds       string   // as a reader would type them
	Assumptions []string // one sentence each
	Grid        Grid
	Runs        map[RunKey]Run // by cell; a cell without a run stands alone
	Charts      []Chart        // in the order of the page
}

// A RunKey names a cell of the grid.
type RunKey struct{ Strategy, Scenario string }

// A Run is the evidence behind a cell.
type Run struct {
	History   *history.History
	Judgement verdict.Judgement
	Replay    string // the command that plays this run again
}

// A Chart is a picture made beforehand, for example by Sensitivity.SVG.
type Chart struct {
	// What the chart asks and what it shows, in a sentence or some: the picture
	// says it in English, and readers who cannot see it hear it; the page adds
	// the Chinese below the picture.
	TitleEN, TakeawayEN string
	TitleZH, TakeawayZH string
	SVG                 []byte
	CSV                 string // name of the file with the numbers
}

var (
	//go:embed page/page.html
	pageText string
	//go:embed page/page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// HTML writes one page that needs nothing else: no network, no script, at most
// MaxPage bytes. Runs that would burst it are cut down to their findings and
// the command that plays them again, those that hold as expected first.
// It returns ErrTooLarge when even that is not enough.
func HTML(w io.Writer, r Report) error {
	p, err := newPage(&r)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := p.render(&b); err != nil {
		return err
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("reports: writing a page: %w", err)
	}
	return nil
}

// page is a Report in the shape of its template.
type page struct {
	Title, Version, Command, Seeds string
	Assumptions                    []string
	HeadlineEN, HeadlineZH         string
	Style                          template.CSS
	Strategies                     []Row
	Lines                          []pageLine
	Many                           []pageBand // in place of Lines, where there are many strategies
	Scenarios                      []Column
	Uncontracted                   bool // there are cells of which no contract speaks
	Charts                         []pageChart
	Runs                           []*pageRun
	Glossary                       []glossaryEntry
}

type pageLine struct {
	Scenario Column
	Cells    []pageCell
}

// A pageBand is a group of strategies, a line each.
type pageBand struct {
	Group Text
	Lines []pageLock
}

type pageLock struct {
	Strategy Row
	Cells    []pageCell
}

type pageCell struct {
	Class, Glyph, Label, Link string
	Why                       Text
	Surprise, Uncontracted    bool
	Expected                  string
}

type pageChart struct {
	CSV                 string
	SVG                 template.HTML
	TitleZH, TakeawayZH string
}

type pageRun struct {
	ID                string
	Cell              pageCell
	Strategy          Row
	Scenario          Column
	Trace, Replay     string
	Findings          []pageFinding
	Short             bool // the page had no room for what follows
	Lanes, Steps, CLI string
	StoryEN, StoryZH  []pageSentence

	rank int // what to keep when room is scarce, smallest first
}

type pageFinding struct{ Word, Clients, From, To, Lasts string }

type pageSentence struct{ When, Text string }

type glossaryEntry struct{ Class, Glyph, Word, MeaningEN, MeaningZH, CureEN, CureZH string }

func newPage(r *Report) (*page, error) {
	p := &page{
		Title: r.Title, Version: r.Version, Command: r.Command, Seeds: r.Seeds, Assumptions: r.Assumptions,
		Style:      template.CSS(pageStyle + classRules()),
		Strategies: r.Grid.Strategies,
		Glossary:   glossary(),
	}
	p.Uncontracted = r.Grid.uncontracted() > 0
	if p.Title == "" {
		p.Title = "locklab report"
	}
	if len(r.Grid.Cells) > 0 {
		p.HeadlineEN, p.HeadlineZH = r.Grid.Headline("en"), r.Grid.Headline("zh")
	}
	for _, c := range r.Charts {
		p.Charts = append(p.Charts, pageChart{c.CSV, inline(c.SVG, spoken(c.TitleEN, c.TakeawayEN)), c.TitleZH, c.TakeawayZH})
	}
	return p, p.addGrid(r)
}

// spoken is a title and what follows from it, as one hears them.
func spoken(title, takeaway string) string {
	if title != "" && !strings.HasSuffix(title, "?") {
		title += "."
	}
	return strings.TrimSpace(title + " " + takeaway)
}

// addGrid fills in the table, and the runs strategy by strategy.
func (p *page) addGrid(r *Report) error {
	for j, s := range r.Grid.Scenarios {
		line := pageLine{Scenario: s}
		for i := range r.Grid.Strategies {
			line.Cells = append(line.Cells, newPageCell(r, i, j))
		}
		p.Lines = append(p.Lines, line)
	}
	if r.Grid.many() {
		p.addMany(&r.Grid)
	}
	for i, strategy := range r.Grid.Strategies {
		for j, scenario := range r.Grid.Scenarios {
			run, ok := r.Runs[RunKey{strategy.ID, scenario.ID}]
			if !ok || run.History == nil {
				continue
			}
			one, err := newPageRun(run, p.Lines[j].Cells[i], r.Grid.cell(i, j))
			if err != nil {
				return err
			}
			one.Strategy, one.Scenario = strategy, scenario
			p.Runs = append(p.Runs, one)
		}
	}
	return nil
}

// addMany turns the table round.
func (p *page) addMany(g *Grid) {
	p.Scenarios = g.Scenarios
	for _, b := range g.bands() {
		one := pageBand{Group: b.group}
		for _, l := range b.lines {
			for _, i := range append([]int{l.first}, l.same...) {
				held := pageLock{Strategy: g.Strategies[i]}
				for j := range g.Scenarios {
					held.Cells = append(held.Cells, p.Lines[j].Cells[i])
				}
				one.Lines = append(one.Lines, held)
			}
		}
		p.Many = append(p.Many, one)
	}
}

func newPageCell(r *Report, i, j int) pageCell {
	c := r.Grid.cell(i, j)
	strategy, scenario := r.Grid.Strategies[i].ID, r.Grid.Scenarios[j].ID
	l := lookOf(c.word())
	out := pageCell{Class: string(l.class), Glyph: l.glyph, Why: c.Why, Surprise: c.surprising(), Uncontracted: c.Uncontracted, Expected: joinWords(c.Expected)}
	if c.word() != verdict.NA {
		out.Label = c.label()
	}
	if run, ok := r.Runs[RunKey{strategy, scenario}]; ok && run.History != nil {
		out.Link = "run." + strategy + "." + scenario
	}
	return out
}

func newPageRun(run Run, cell pageCell, c *Cell) (*pageRun, error) {
	h, j := run.History, run.Judgement
	one := &pageRun{ID: cell.Link, Cell: cell, Trace: c.Trace, Replay: run.Replay, rank: 2}
	switch {
	case c.surprising():
		one.rank = 0
	case c.falls():
		one.rank = 1
	}
	decimals := decimalsOf(h)
	for _, f := range j.Findings {
		one.Findings = append(one.Findings, newPageFinding(f, decimals))
	}
	for _, part := range []struct {
		to   *string
		text func(io.Writer, *history.History, verdict.Judgement, Options) error
	}{{&one.Lanes, Lanes}, {&one.Steps, Table}, {&one.CLI, RedisCLI}} {
		var b strings.Builder
		if err := part.text(&b, h, j, Options{}); err != nil {
			return nil, err
		}
		*part.to = b.String()
	}
	one.StoryEN = pageStory(story("en", h, j), decimals)
	one.StoryZH = pageStory(story("zh", h, j), decimals)
	return one, nil
}

func newPageFinding(f verdict.Finding, decimals int) pageFinding {
	out := pageFinding{Word: string(f.Verdict), Clients: clientNames(f.Clients, ", "), From: millis(f.From, decimals)}
	switch {
	case f.Forever:
		out.Lasts = "for ever"
	case f.To > f.From:
		out.To, out.Lasts = millis(f.To, decimals), span(f.To-f.From)
	}
	return out
}

func pageStory(told []sentence, decimals int) []pageSentence {
	out := make([]pageSentence, len(told))
	for i, s := range told {
		out[i] = pageSentence{s.when(decimals), s.text}
	}
	return out
}

// render writes the page. If it is too large, it cuts runs down, the least
// telling and last ones first, until it fits.
func (p *page) render(b *bytes.Buffer) error {
	order := slices.Clone(p.Runs)
	slices.SortStableFunc(order, func(x, y *pageRun) int { return x.rank - y.rank })
	for {
		b.Reset()
		if err := pageTemplate.Execute(b, p); err != nil {
			return fmt.Errorf("reports: filling a page: %w", err)
		}
		over := b.Len() - MaxPage
		if over <= 0 {
			return nil
		}
		if len(order) == 0 {
			return ErrTooLarge
		}
		for over > 0 && len(order) > 0 {
			last := order[len(order)-1]
			over -= last.size()
			last.Short = true
			order = order[:len(order)-1]
		}
	}
}

// size is at most what leaving the run's texts out saves.
func (r *pageRun) size() int {
	n := len(r.Lanes) + len(r.Steps) + len(r.CLI)
	for _, s := range slices.Concat(r.StoryEN, r.StoryZH) {
		n += len(s.When) + len(s.Text)
	}
	return n
}

func glossary() []glossaryEntry {
	out := make([]glossaryEntry, len(words))
	for i, w := range words {
		l := lookOf(w)
		out[i] = glossaryEntry{string(l.class), l.glyph, string(w),
			Meaning(w, "en"), Meaning(w, "zh"), Cure(w, "en"), Cure(w, "zh")}
	}
	return out
}

// classRules are the grounds of the classes that look the same by day and by
// night. The quiet ones are in the style sheet.
func classRules() string {
	var b strings.Builder
	for _, c := range []class{classBroken, classFenced, classTouched, classStuck, classSlow} {
		p := paints[c]
		fmt.Fprintf(&b, ".%s { background: %s; color: %s; }\n", c, hexColor(p.ground), hexColor(p.writing))
	}
	return b.String()
}

var (
	svgProlog = regexp.MustCompile(`(?s)^.*?<svg`)
	svgSpaces = regexp.MustCompile(`\s+xmlns(:xlink)?="[^"]*"`)
)

// inline makes an SVG file a part of a page. It trusts the file: it is one of
// ours.
func inline(svg []byte, title string) template.HTML {
	text := svgProlog.ReplaceAllString(string(svg), "<svg")
	text = svgSpaces.ReplaceAllString(text, "")
	label := ` role="img" aria-label="` + template.HTMLEscapeString(title) + `"`
	return template.HTML(strings.Replace(text, "<svg", "<svg"+label, 1))
}
