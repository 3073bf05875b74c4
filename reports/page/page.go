// Package page writes the HTML report: grid, charts and runs on one page that needs
// neither network nor script.
package page

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// MaxSize is the size in bytes that no page exceeds.
const MaxSize = 6 << 20

// ErrTooLarge says that charts and grid alone exceed MaxSize.
var ErrTooLarge = errors.New("page: too large: leave out charts")

// A Report is everything that a page shows. Fields that are empty are left out
// of the page.
type Report struct {
	Lang        string   // of headings and labels: "zh", or else English. Texts are in every language
	Title       string   // "": locklab report
	Version     string   // of the program that played the runs
	Command     string   // the line that makes this page again
	Seeds       string   // as a reader would type them
	Assumptions []string // one sentence each
	Grid        chart.Grid
	Runs        map[RunKey]Run // by cell; a cell without a run has no link
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

// A Chart is a picture made beforehand. Texts says in each language what it asks and
// what it shows: the picture has the English ones, screen readers read them, and the
// page adds the other languages below the picture.
type Chart struct {
	Texts interface {
		Title(lang string) string
		Takeaway(lang string) string
	}
	SVG []byte // trusted: it becomes a part of the page
	CSV string // name of the file with the numbers
}

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// Write writes the page, with at most MaxSize bytes. If it would be larger, runs are cut
// down to their findings and the command that plays them again, those that hold as
// expected first. It returns ErrTooLarge if even that is not enough.
func Write(w io.Writer, r Report) error {
	p, err := newPage(&r)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := p.render(&b); err != nil {
		return err
	}
	if _, err := io.WriteString(w, text.InMarkup(b.String())); err != nil {
		return fmt.Errorf("page: writing: %w", err)
	}
	return nil
}

// A spoken text is in one language.
type spoken struct {
	Lang string // as HTML names it
	Text string
}

// tags are the names of the languages in HTML, where they differ.
var tags = map[string]string{"zh": "zh-Hans"}

// inEach is what say returns in each language, without empty and repeated texts.
func inEach(say func(lang string) string) (all []spoken) {
	for _, lang := range text.Languages() {
		s := spoken{cmp.Or(tags[lang], lang), say(lang)}
		if s.Text != "" && !slices.ContainsFunc(all, func(o spoken) bool { return o.Text == s.Text }) {
			all = append(all, s)
		}
	}
	return all
}

func sayInEach(key string) []spoken {
	return inEach(func(lang string) string { return text.Say(lang, key) })
}

// page is a Report in the shape of its template.
type page struct {
	*Report
	Tag          string // of Lang
	Headline     []spoken
	Style        template.CSS
	Lines        []line
	Bands        []band // in place of Lines, where there are many strategies
	Uncontracted bool   // no contract speaks of some cells
	NoContract   []spoken
	Drawings     []drawing
	Articles     []*article
	Glossary     []term
}

// Say is a heading or a label.
func (p *page) Say(key string) string { return text.Say(p.Lang, "html."+key) }

// Method are the items about method and limits.
func (p *page) Method() (items []string) {
	for _, key := range text.In(p.Lang).Keys("html.method.") {
		items = append(items, text.Say(p.Lang, key))
	}
	return items
}

// A head is a row or a column of the grid.
type head struct {
	ID, Short, Article string
	Title              []spoken
}

func strategyHead(r chart.Row) head {
	return head{ID: r.ID, Article: r.Article, Title: titles(r.ID, r.Title)}
}

func scenarioHead(c chart.Column) head {
	return head{ID: c.ID, Short: c.Race, Title: titles(c.ID, c.Title)}
}

// titles are the titles of an id in each language; nil if it has none but itself.
func titles(id string, title func(lang string) string) []spoken {
	return slices.DeleteFunc(inEach(title), func(s spoken) bool { return s.Text == id })
}

// Strategies are the columns of the grid, Scenarios those of an overview.
func (p *page) Strategies() (heads []head) {
	for _, r := range p.Grid.Strategies {
		heads = append(heads, strategyHead(r))
	}
	return heads
}

func (p *page) Scenarios() (heads []head) {
	for _, c := range p.Grid.Scenarios {
		heads = append(heads, scenarioHead(c))
	}
	return heads
}

type line struct {
	Head  head
	Cells []cell
}

// A band is a group of strategies, a line each.
type band struct {
	Group []spoken
	Lines []line
}

type cell struct {
	Class, Glyph, Label, Link string
	Why                       []spoken
	Surprise, Uncontracted    bool
	Expected                  string
}

type drawing struct {
	CSV   string
	SVG   template.HTML
	Title string   // in English
	Texts []spoken // in the other languages
}

// An article is what the page shows of a run.
type article struct {
	ID                 string
	Cell               cell
	Strategy, Scenario head
	Trace, Replay      string
	Findings           []finding
	Short              bool // the page had no room for what follows
	Lanes, Steps, CLI  string
	Stories            []story

	rank int // the larger, the earlier it is cut down
}

type finding struct{ Word, Clients, From, To, Lasts string }

type story struct {
	Lang      string
	Sentences []reports.Sentence
}

type term struct {
	Class, Glyph, Word string
	Texts              []meaning
}

type meaning struct{ Lang, Meaning, Cure string }

func newPage(r *Report) (*page, error) {
	p := &page{
		Report: r, Tag: cmp.Or(tags[r.Lang], "en"),
		Style:        template.CSS(pageStyle + chart.StyleSheet()),
		Glossary:     glossary(),
		NoContract:   sayInEach("grid.nocontract"),
		Uncontracted: r.Grid.Uncontracted() > 0,
	}
	p.Title = cmp.Or(r.Title, p.Say("title"))
	if len(r.Grid.Cells) > 0 {
		p.Headline = inEach(r.Grid.Headline)
	}
	for _, c := range r.Charts {
		p.Drawings = append(p.Drawings, newDrawing(c))
	}
	return p, p.addGrid()
}

func newDrawing(c Chart) drawing {
	whole := func(lang string) string { return sentence(c.Texts.Title(lang)) + " " + c.Texts.Takeaway(lang) }
	d := drawing{CSV: c.CSV, SVG: inline(c.SVG, whole("en"))}
	for _, s := range inEach(whole) {
		if s.Lang != "en" {
			d.Texts = append(d.Texts, s)
		}
	}
	return d
}

// sentence ends a title with a full stop, unless it is a question.
func sentence(title string) string {
	if title == "" || strings.HasSuffix(title, "?") || strings.HasSuffix(title, "？") {
		return title
	}
	return title + "."
}

// addGrid fills in the table, and the runs strategy by strategy.
func (p *page) addGrid() error {
	g := &p.Grid
	for j, s := range g.Scenarios {
		l := line{Head: scenarioHead(s)}
		for i := range g.Strategies {
			l.Cells = append(l.Cells, p.newCell(i, j))
		}
		p.Lines = append(p.Lines, l)
	}
	if g.Many() {
		p.addBands()
	}
	for i, strategy := range g.Strategies {
		for j, scenario := range g.Scenarios {
			run, ok := p.Runs[RunKey{strategy.ID, scenario.ID}]
			if !ok || run.History == nil {
				continue
			}
			a, err := newArticle(run, p.Lines[j].Cells[i], &g.Cells[i][j], p.Lang)
			if err != nil {
				return err
			}
			a.Strategy, a.Scenario = strategyHead(strategy), scenarioHead(scenario)
			p.Articles = append(p.Articles, a)
		}
	}
	return nil
}

// addBands turns the table round.
func (p *page) addBands() {
	for _, b := range p.Grid.Bands() {
		one := band{Group: inEach(func(lang string) string { return text.FamilyTitle(b.Group, lang) })}
		for _, l := range b.Lines {
			for _, i := range append([]int{l.First}, l.Same...) {
				row := line{Head: strategyHead(p.Grid.Strategies[i])}
				for j := range p.Grid.Scenarios {
					row.Cells = append(row.Cells, p.Lines[j].Cells[i])
				}
				one.Lines = append(one.Lines, row)
			}
		}
		p.Bands = append(p.Bands, one)
	}
}

func (p *page) newCell(i, j int) cell {
	c := &p.Grid.Cells[i][j]
	strategy, scenario := p.Grid.Strategies[i].ID, p.Grid.Scenarios[j].ID
	look := chart.LookOf(c.Word())
	out := cell{
		Class: string(look.Class), Glyph: look.Glyph, Surprise: c.Surprising(), Uncontracted: c.Uncontracted,
		Expected: chart.JoinWords(c.Expected),
		Why:      inEach(func(lang string) string { return text.Reason(lang, "why", c.Why) }),
	}
	if c.Word() != verdict.NA {
		out.Label = c.Label()
	}
	if run, ok := p.Runs[RunKey{strategy, scenario}]; ok && run.History != nil {
		out.Link = "run." + strategy + "." + scenario
	}
	return out
}

func newArticle(run Run, shown cell, c *chart.Cell, lang string) (*article, error) {
	h, j := run.History, run.Judgement
	a := &article{ID: shown.Link, Cell: shown, Trace: c.Trace, Replay: run.Replay, rank: 2}
	switch {
	case c.Surprising():
		a.rank = 0
	case c.Falls():
		a.rank = 1
	}
	for _, f := range j.Findings {
		a.Findings = append(a.Findings, newFinding(f, reports.Decimals(h), lang))
	}
	for _, part := range []struct {
		to   *string
		text func(io.Writer, *history.History, verdict.Judgement, reports.Options) error
	}{{&a.Lanes, reports.Lanes}, {&a.Steps, reports.Table}, {&a.CLI, reports.RedisCLI}} {
		var b strings.Builder
		if err := part.text(&b, h, j, reports.Options{Lang: lang}); err != nil {
			return nil, err
		}
		*part.to = b.String()
	}
	for _, lang := range text.Languages() {
		a.Stories = append(a.Stories, story{cmp.Or(tags[lang], lang), reports.Sentences(lang, h, j)})
	}
	return a, nil
}

func newFinding(f verdict.Finding, decimals int, lang string) finding {
	out := finding{Word: string(f.Verdict), Clients: reports.ClientNames(f.Clients, ", "), From: reports.Millis(f.From, decimals)}
	switch {
	case f.Forever:
		out.Lasts = text.Say(lang, "part.ever")
	case f.To > f.From:
		out.To, out.Lasts = reports.Millis(f.To, decimals), reports.Span(f.To-f.From)
	}
	return out
}

// render writes the page. If it is too large, it cuts runs down, the least
// telling and last ones first, until it fits.
func (p *page) render(b *bytes.Buffer) error {
	order := slices.Clone(p.Articles)
	slices.SortStableFunc(order, func(x, y *article) int { return x.rank - y.rank })
	for {
		b.Reset()
		if err := pageTemplate.Execute(b, p); err != nil {
			return fmt.Errorf("page: filling the template: %w", err)
		}
		over := b.Len() - MaxSize
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

// size is at most what leaving the article's texts out saves, in bytes.
func (a *article) size() int {
	n := len(a.Lanes) + len(a.Steps) + len(a.CLI)
	for _, s := range a.Stories {
		for _, told := range s.Sentences {
			n += len(told.When) + len(told.Text)
		}
	}
	return n
}

func glossary() (terms []term) {
	for _, w := range chart.Verdicts() {
		l := chart.LookOf(w)
		t := term{Class: string(l.Class), Glyph: l.Glyph, Word: string(w)}
		for _, lang := range text.Languages() {
			t.Texts = append(t.Texts, meaning{cmp.Or(tags[lang], lang), reports.Meaning(w, lang), reports.Cure(w, lang)})
		}
		terms = append(terms, t)
	}
	return terms
}

var (
	svgProlog = regexp.MustCompile(`(?s)^.*?<svg`)
	svgSpaces = regexp.MustCompile(`\s+xmlns(:xlink)?="[^"]*"`)
)

// inline makes an SVG file a part of a page.
func inline(svg []byte, title string) template.HTML {
	text := svgProlog.ReplaceAllString(string(svg), "<svg")
	text = svgSpaces.ReplaceAllString(text, "")
	label := ` role="img" aria-label="` + template.HTMLEscapeString(title) + `"`
	return template.HTML(strings.Replace(text, "<svg", "<svg"+label, 1))
}
