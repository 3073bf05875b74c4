// Package page writes the HTML report on one page that needs no network: the grid, the
// charts, and every run that was played. The grid is read without a script; the script opens
// the runs, as timelines that move, and filters the grid.
package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/motion"
	"locklab/reports/text"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// MaxSize is the size in bytes that no page exceeds.
const MaxSize = 12 << 20

// ErrTooLarge says that charts, grid and runs exceed MaxSize.
var ErrTooLarge = errors.New("page: too large: leave out charts or locks")

// A Report is everything that a page shows. Fields that are empty are left out
// of the page.
type Report struct {
	Lang        string   // of all texts, as for text.Chosen
	Title       string   // "": locklab report
	Version     string   // of the program that played the runs
	Command     string   // the line that makes this page again
	Seeds       string   // as a reader would type them
	Assumptions []string // one sentence each
	Grid        chart.Grid
	First       *chart.Grid              // a part of Grid that is shown before it; nil: none
	Runs        map[string]*motion.Book  // by lock, its runs by race; a cell without a run has no link
	Open        string                   // the run that the page opens on, "LOCK.RACE"; "": none
	Question    func(lang string) string // about that run, asked before it is played; nil: none
	Board       string                   // where the page to play on is, relative to this one; "": nowhere
	Charts      []Chart                  // in the order of the page
}

// A Chart is a picture made beforehand. Texts says in each language what it has found, at length, and with
// which assumptions. Screen readers read the first two; they stand below the picture, and so does the rest, to be opened.
type Chart struct {
	Texts interface {
		Finding(lang string) string
		Notes(lang string) []string
	}
	SVG []byte // trusted: it becomes a part of the page
	CSV string // name of the file with the numbers
}

var (
	//go:embed head.html
	headText string // of all pages
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string

	pageTemplate = template.Must(template.New("page").Parse(headText + pageText))
)

// Write writes the page. It returns ErrTooLarge if that would have more than MaxSize bytes.
func Write(w io.Writer, r Report) error {
	p, err := newPage(&r)
	if err != nil {
		return err
	}
	return execute(w, pageTemplate, p)
}

// execute writes a page that a template makes, within MaxSize.
func execute(w io.Writer, t *template.Template, data any) error {
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("page: filling the template: %w", err)
	}
	if b.Len() > MaxSize {
		return ErrTooLarge
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

// page is a Report in the shape of its template.
type page struct {
	*Report
	Langs        []string
	Tag          string // of the first language
	Takeaway     []spoken
	Style        template.CSS
	Tables       []table
	Bands        []band // of the whole grid, where there are many strategies
	Uncontracted bool   // no contract speaks of some cells
	NoContract   []spoken
	Drawings     []drawing
	Books        []book
	Script       template.JS
	Glossary     []term
}

// A table is a grid with a scenario a line.
type table struct {
	Heads []head
	Lines []line
}

// A book is the runs of one lock, as gzip in base64.
type book struct {
	ID      string
	Content template.HTML // base64
}

// inEach calls say for each language of the page, and leaves out empty and repeated texts.
func (p *page) inEach(say func(lang string) string) (all []spoken) {
	for _, lang := range p.Langs {
		s := spoken{text.Tag(lang), say(lang)}
		if s.Text != "" && !slices.ContainsFunc(all, func(o spoken) bool { return o.Text == s.Text }) {
			all = append(all, s)
		}
	}
	return all
}

// Say is a heading or a label.
func (p *page) Say(key string) string { return text.Say(p.Langs[0], "html."+key) }

// Method are the items about method and limits.
func (p *page) Method() (items []string) {
	for _, lang := range p.Langs {
		for _, key := range text.In(lang).Keys("html.method.") {
			items = append(items, text.Say(lang, key))
		}
	}
	return items
}

// A head is a row or a column of the grid.
type head struct {
	ID, Short, Article string
	Title              []spoken
}

func (p *page) strategyHead(r chart.Row) head {
	return head{ID: r.ID, Article: r.Article, Title: p.titles(r.ID, r.Title)}
}

func (p *page) scenarioHead(c chart.Column) head {
	return head{ID: c.ID, Short: c.Race, Title: p.titles(c.ID, c.Title)}
}

// titles are the titles of an id in each language; nil if it has none but itself.
func (p *page) titles(id string, title func(lang string) string) []spoken {
	return slices.DeleteFunc(p.inEach(title), func(s spoken) bool { return s.Text == id })
}

// Scenarios are the columns of the whole grid.
func (p *page) Scenarios() []head { return lists.Each(p.Grid.Scenarios, p.scenarioHead) }

type line struct {
	Head  head
	Cells []cell
}

// A band is a group of strategies, a line each.
type band struct {
	ID    string
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
	Texts []spoken   // in the languages of the page; the title only in those but the first, which the picture has
	Notes [][]spoken // paragraphs
}

type term struct {
	Class, Glyph, Word string
	Texts              []meaning
}

type meaning struct{ Lang, Meaning, Cure string }

func newPage(r *Report) (*page, error) {
	langs := text.Chosen(r.Lang)
	p := &page{
		Report: r, Langs: langs, Tag: text.Tag(langs[0]),
		Style:        template.CSS(pageStyle + chart.StyleSheet() + motion.Style),
		Script:       template.JS(motion.Script + pageScript),
		Uncontracted: r.Grid.Uncontracted() > 0,
	}
	p.Glossary = p.glossary()
	p.NoContract = p.inEach(func(lang string) string { return text.Say(lang, "grid.nocontract") })
	p.Title = cmp.Or(r.Title, p.Say("title"))
	if len(r.Grid.Cells) > 0 {
		p.Takeaway = p.inEach(r.Grid.Takeaway)
	}
	if r.Question != nil {
		p.Takeaway = p.inEach(r.Question)
	}
	for _, c := range r.Charts {
		p.Drawings = append(p.Drawings, p.newDrawing(c))
	}
	p.addGrids()
	for _, lock := range slices.Sorted(maps.Keys(r.Runs)) {
		content, err := packed(r.Runs[lock])
		if err != nil {
			return nil, err
		}
		p.Books = append(p.Books, book{lock, template.HTML(content)})
	}
	return p, nil
}

// packed is a book as the script reads it.
func packed(b *motion.Book) (string, error) {
	content, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("page: packing runs: %w", err)
	}
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression) // the level exists
	if _, err := w.Write(content); err != nil {
		return "", fmt.Errorf("page: packing runs: %w", err)
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("page: packing runs: %w", err)
	}
	return base64.StdEncoding.EncodeToString(z.Bytes()), nil
}

// Data returns the input of the script, as JSON.
func (p *page) Data() (template.JS, error) {
	type named struct {
		ID    string      `json:"id"`
		Short string      `json:"short,omitempty"`
		Title motion.Said `json:"title"`
	}
	data := struct {
		Lang  string            `json:"lang"`
		Texts map[string]string `json:"texts"`
		Locks []named           `json:"locks"`
		Races []named           `json:"races"`
		Open  string            `json:"open"`
		Board string            `json:"board"`
		Asked bool              `json:"asked"` // of the run that it opens on: its end is not shown at once
	}{Lang: p.Langs[0], Texts: text.Texts(p.Langs[0], "motion.", "html.run."), Open: p.Open, Board: p.Board, Asked: p.Question != nil}
	title := func(of func(lang string) string) motion.Said { return motion.Said{p.Langs[0]: of(p.Langs[0])} }
	for _, r := range p.Grid.Strategies {
		data.Locks = append(data.Locks, named{r.ID, "", title(r.Title)})
	}
	for _, c := range p.Grid.Scenarios {
		data.Races = append(data.Races, named{c.ID, c.Race, title(c.Title)})
	}
	out, err := json.Marshal(data)
	return template.JS(out), err
}

func (p *page) newDrawing(c Chart) drawing {
	whole := func(lang string) string { return sentence(c.Texts.Finding(lang)) }
	d := drawing{CSV: c.CSV, SVG: inline(c.SVG, whole(p.Langs[0]))}
	d.Texts = p.inEach(whole)[1:]
	for i, note := range c.Texts.Notes(p.Langs[0]) {
		if note != "" {
			d.Notes = append(d.Notes, p.inEach(func(lang string) string { return c.Texts.Notes(lang)[i] }))
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

// addGrids fills in the first grid, and the whole one.
func (p *page) addGrids() {
	if p.First != nil {
		p.Tables = append(p.Tables, p.newTable(p.First))
	}
	switch {
	case len(p.Grid.Scenarios) == 0:
	case p.Grid.Many():
		p.addBands()
	default:
		p.Tables = append(p.Tables, p.newTable(&p.Grid))
	}
}

func (p *page) newTable(g *chart.Grid) (t table) {
	for _, s := range g.Strategies {
		t.Heads = append(t.Heads, p.strategyHead(s))
	}
	for j, s := range g.Scenarios {
		l := line{Head: p.scenarioHead(s)}
		for i := range g.Strategies {
			l.Cells = append(l.Cells, p.newCell(g, i, j))
		}
		t.Lines = append(t.Lines, l)
	}
	return t
}

// addBands turns the table round.
func (p *page) addBands() {
	for _, b := range p.Grid.Bands() {
		one := band{ID: b.Group, Group: p.inEach(func(lang string) string { return text.FamilyTitle(b.Group, lang) })}
		for _, l := range b.Lines {
			for _, i := range append([]int{l.First}, l.Same...) {
				row := line{Head: p.strategyHead(p.Grid.Strategies[i])}
				for j := range p.Grid.Scenarios {
					row.Cells = append(row.Cells, p.newCell(&p.Grid, i, j))
				}
				one.Lines = append(one.Lines, row)
			}
		}
		p.Bands = append(p.Bands, one)
	}
}

func (p *page) newCell(g *chart.Grid, i, j int) cell {
	c := &g.Cells[i][j]
	strategy, scenario := g.Strategies[i].ID, g.Scenarios[j].ID
	look := chart.LookOf(c.Word())
	out := cell{
		Class: string(look.Class), Glyph: look.Glyph, Surprise: c.Surprising(), Uncontracted: c.Uncontracted,
		Expected: reports.Words(c.Expected), Label: c.Label(),
		Why: p.inEach(func(lang string) string { return text.Reason(lang, "why", c.Why) }),
	}
	if c.Word() == verdict.NA {
		out.Why = p.inEach(func(lang string) string { return text.Reason(lang, "na", c.NotApplicable) })
	}
	if book := p.Runs[strategy]; book != nil && book.Runs[scenario] != nil {
		out.Link = "run." + strategy + "." + scenario
	}
	return out
}

func (p *page) glossary() (terms []term) {
	for _, w := range chart.Verdicts() {
		l := chart.LookOf(w)
		t := term{Class: string(l.Class), Glyph: l.Glyph, Word: string(w)}
		for _, lang := range p.Langs {
			t.Texts = append(t.Texts, meaning{text.Tag(lang), reports.Meaning(w, lang), reports.Cure(w, lang)})
		}
		terms = append(terms, t)
	}
	return terms
}

// inline makes an SVG file a part of a page.
func inline(svg []byte, title string) template.HTML {
	label := ` role="img" aria-label="` + template.HTMLEscapeString(title) + `"`
	return template.HTML(strings.Replace(chart.Inline(string(svg)), "<svg", "<svg"+label, 1))
}

// A Log is the page about a log that was judged: some of its moments, as timelines that move.
type Log struct {
	Lang    string // as for text.Chosen; the page is in the first language
	Title   string
	Command string // the line that makes this page again
	Parts   []Part
	Notes   []string
}

// A Part is one moment of a log.
type Part struct {
	Title, Text string
	Run         *motion.Timeline
}

var (
	//go:embed log.html
	logText string

	logTemplate = template.Must(template.New("log").Parse(headText + logText))
)

// WriteLog writes the page. It returns ErrTooLarge if that would have more than MaxSize bytes.
func WriteLog(w io.Writer, l Log) error {
	lang := text.Chosen(l.Lang)[0]
	data := struct {
		Lang  string             `json:"lang"`
		Texts map[string]string  `json:"texts"`
		Runs  []*motion.Timeline `json:"runs"`
	}{lang, text.Texts(lang, "motion."), []*motion.Timeline{}}
	for _, p := range l.Parts {
		data.Runs = append(data.Runs, p.Run)
	}
	return execute(w, logTemplate, map[string]any{
		"Tag": text.Tag(lang), "Title": l.Title, "Command": l.Command, "Parts": l.Parts, "Notes": l.Notes, "Data": data,
		"Again": text.Say(lang, "html.again"), "NoScript": text.Say(lang, "html.run.noscript"),
		"Style": template.CSS(pageStyle + motion.Style), "Script": template.JS(motion.Script),
	})
}
