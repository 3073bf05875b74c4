package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Report is everything that a page shows. Fields that are empty are left out of the page.
type Report struct {
	Lang        string   // of all texts, as for text.Chosen
	Title       string   // "": locklab report
	Version     string   // of the program that played the runs
	Command     string   // the line that makes this page again
	Seeds       string   // as a reader would type them
	Assumptions []string // one sentence each
	Grid        chart.Grid
	Needs       [][]string               // a table of which lock to use, its head first; nil: none
	Runs        map[string]*reports.Book // by lock, its runs by race; a cell without a run has no link
	Board       string                   // where the page to play on is, relative to this one; "": nowhere
	Charts      []Chart                  // in the order of the page
}

// A Chart is a picture made beforehand. Texts says in each language what it has found, at length, and with which
// assumptions. Screen readers read the first two; they stand below the picture, and so does the rest, to be opened.
type Chart struct {
	Texts interface {
		Finding(lang string) string
		Notes(lang string) []string
	}
	SVG []byte // trusted: it becomes a part of the page
	CSV string // name of the file with the numbers
}

// Write writes the page. It returns ErrTooLarge if that would have more than MaxSize bytes.
func Write(w io.Writer, r Report) error {
	p, err := newPage(&r)
	if err != nil {
		return err
	}
	return execute(w, "page.html", p, MaxSize)
}

// A spoken text is in one language.
type spoken struct {
	Lang string // as HTML names it
	Text string
}

// page is a Report as its template reads it.
type page struct {
	*Report
	Langs    []string
	Tag      string // of the first language
	Takeaway []spoken
	Policy   template.HTML
	Style    template.CSS
	Script   template.JS
	Drawings []drawing
	Books    map[string]template.HTML // by lock, its runs: gzip in base64
	letters  chart.Letters            // of all drawings
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

// Say is a heading or a label: of pages like this one, or of others too.
func (p *page) Say(key string) string {
	if own := "html." + key; text.In(p.Langs[0]).Has(own) {
		key = own
	}
	return text.Say(p.Langs[0], key)
}

// Method are the items about method and limits.
func (p *page) Method() (items []string) {
	for _, lang := range p.Langs {
		for _, key := range text.In(lang).Keys("html.method.") {
			items = append(items, text.Say(lang, key))
		}
	}
	return items
}

// Titles are the titles of a lock or a race in each language; nil if it has none but its id.
func (p *page) Titles(id string, of interface{ Title(lang string) string }) []spoken {
	return lists.Pick(p.inEach(of.Title), func(s spoken) bool { return s.Text != id })
}

// Named is a text with the names of pictures in place of ids.
func (p *page) Named(said string) string { return text.Named(said, p.Langs[0]) }

// Family is the title of a family of locks.
func (p *page) Family(id string) []spoken {
	return p.inEach(func(lang string) string { return text.FamilyTitle(id, lang) })
}

// Rows are the locks of a band, by their places in the grid.
func (p *page) Rows(b chart.Band) (rows []int) {
	for _, l := range b.Lines {
		rows = append(append(rows, l.First), l.Same...)
	}
	return rows
}

// A cell is one of the grid as the template shows it.
type cell struct {
	*chart.Cell
	chart.Look
	Label string
	Link  string // to its run; "": there is none
	Whys  []spoken
}

// Expects returns the contract's verdicts.
func (c cell) Expects() string { return reports.Words(c.Expected) }

// Words returns the verdicts of a cell.
func (p *page) Words(c cell) string { return reports.SaidWords(p.Langs[0], c.Verdicts) }

// Cell is that of a lock and a race, by their places in the grid.
func (p *page) Cell(lock, race int) cell {
	c := &p.Grid.Cells[lock][race]
	kind, reason, link := "why", c.Why, ""
	if c.Word() == verdict.NA {
		kind, reason = "na", c.NotApplicable
	}
	if book := p.Runs[p.Grid.Locks[lock].ID]; book != nil && book.Runs[p.Grid.Races[race].ID] != nil {
		link = "run." + p.Grid.Locks[lock].ID + "." + p.Grid.Races[race].ID
	}
	whys := p.inEach(func(lang string) string { return text.Reason(lang, kind, reason) })
	return cell{c, chart.LookOf(c.Word()), c.Label(p.Langs[0]), link, whys}
}

// Asks reports whether a race is asked of any lock: else its row would be empty.
func (p *page) Asks(race int) bool {
	return slices.ContainsFunc(p.Grid.Cells, func(of []chart.Cell) bool { return of[race].Word() != verdict.NA })
}

// Falls are the races in which a lock fails, by their places, the gravest first.
func (p *page) Falls(lock int) []int {
	cells := p.Grid.Cells[lock]
	falls := lists.Pick(lists.Indices(cells), func(j int) bool { return cells[j].Fails() })
	slices.SortStableFunc(falls, func(a, b int) int {
		return slices.Index(chart.Verdicts(), cells[a].Word()) - slices.Index(chart.Verdicts(), cells[b].Word())
	})
	return falls
}

// Counted says in how many of the races that are answered for a lock it fails.
func (p *page) Counted(lock int) []spoken {
	asked := lists.Pick(p.Grid.Cells[lock], func(c chart.Cell) bool { return c.Asked() })
	n, all := fmt.Sprint(len(p.Falls(lock))), fmt.Sprint(len(asked))
	return p.inEach(func(lang string) string { return text.Say(lang, "html.breaks.count", "n", n, "all", all) })
}

type drawing struct {
	CSV   string
	SVG   template.HTML
	Texts []spoken   // in the languages of the page; the first is in the picture, and shown where that is too wide
	Notes [][]spoken // paragraphs
}

func newPage(r *Report) (*page, error) {
	langs := text.Chosen(r.Lang)
	p := &page{
		Report: r, Langs: langs, Tag: text.Tag(langs[0]),
		Policy: policy(inline), Style: template.CSS(chart.StyleSheet()) + style("page.css"), Script: script("page.js"),
		Books: map[string]template.HTML{}, letters: chart.Letters{},
	}
	p.Title = cmp.Or(r.Title, p.Say("title"))
	if len(r.Grid.Cells) > 0 {
		p.Takeaway = p.inEach(func(lang string) string { // readers expect nothing; the legend has the rest
			said := strings.Replace(r.Grid.Takeaway(lang), text.Say(lang, "grid.counted"), "", 1)
			return strings.Join(strings.Fields(strings.TrimSuffix(said, text.Say(lang, "grid.expected"))), " ")
		})
	}
	p.Drawings = lists.Each(r.Charts, p.newDrawing)
	for lock, book := range r.Runs {
		c, err := columnsOf(book)
		if err == nil {
			p.Books[lock], err = packed(c)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// columns are a book with a list for each field of its runs, in the order of their races: what is alike is near, and a
// third smaller as gzip. A run without the field has null.
type columns struct {
	Listings []reports.Listing            `json:"listings"`
	Races    []string                     `json:"races"`
	Fields   map[string][]json.RawMessage `json:"fields"`
}

// columnsOf returns the columns of a book.
func columnsOf(b *reports.Book) (*columns, error) {
	c := &columns{b.Listings, slices.Sorted(maps.Keys(b.Runs)), map[string][]json.RawMessage{}}
	for i, race := range c.Races {
		fields := map[string]json.RawMessage{}
		run, err := json.Marshal(b.Runs[race])
		if err := cmp.Or(err, json.Unmarshal(run, &fields)); err != nil {
			return nil, err
		}
		for name, value := range fields {
			if c.Fields[name] == nil {
				c.Fields[name] = make([]json.RawMessage, len(c.Races)) // nil is null
			}
			c.Fields[name][i] = value
		}
	}
	return c, nil
}

// packed is a value as scripts read it: JSON as gzip as base64.
func packed(v any) (template.HTML, error) {
	content, err := json.Marshal(v)
	return template.HTML(base64.StdEncoding.EncodeToString(Gzip(content))), err
}

// Gzip is a content as gzip.
func Gzip(content []byte) []byte {
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression) // the level exists
	w.Write(content)                                      // into memory, which does not fail
	w.Close()
	return z.Bytes()
}

// Data returns the input of the script, as JSON.
func (p *page) Data() (template.JS, error) {
	type named struct {
		ID    string       `json:"id"`
		Short string       `json:"short,omitempty"`
		Title reports.Said `json:"title"`
	}
	data := struct {
		Lang  string            `json:"lang"`
		Texts map[string]string `json:"texts"`
		Locks []named           `json:"locks"`
		Races []named           `json:"races"`
		Board string            `json:"board"`
	}{p.Langs[0], text.Texts(p.Langs[0], "motion.", "html.run."), nil, nil, p.Board}
	title := func(of func(lang string) string) reports.Said { return reports.Said{p.Langs[0]: of(p.Langs[0])} }
	data.Locks = lists.Each(p.Grid.Locks, func(l chart.Row) named { return named{l.ID, "", title(l.Title)} })
	data.Races = lists.Each(p.Grid.Races, func(r chart.Column) named { return named{r.ID, r.Code, title(r.Title)} })
	out, err := json.Marshal(data)
	return template.JS(out), err
}

func (p *page) newDrawing(c Chart) drawing {
	found := func(lang string) string { return sentence(lang, c.Texts.Finding(lang)) }
	d := drawing{CSV: c.CSV, SVG: template.HTML(p.letters.Inline(string(c.SVG), found(p.Langs[0]))),
		Texts: p.inEach(found)}
	for i, note := range c.Texts.Notes(p.Langs[0]) {
		if note != "" {
			d.Notes = append(d.Notes, p.inEach(func(lang string) string { return c.Texts.Notes(lang)[i] }))
		}
	}
	return d
}

// sentence ends a title with a full stop, unless it is a question.
func sentence(lang, title string) string {
	if title == "" || strings.HasSuffix(title, "?") || strings.HasSuffix(title, "？") {
		return title
	}
	return text.Say(lang, "grid.stop", "text", title)
}

// A term is a verdict of the glossary.
type term struct {
	chart.Look
	Word  verdict.Word
	Said  string // with its meaning in a word
	Texts []meaning
}

type meaning struct{ Lang, Meaning, Cure string }

// Glossary are the verdicts, with what they mean in each language and what mends them.
func (p *page) Glossary() (terms []term) {
	for _, w := range chart.Verdicts() {
		t := term{Look: chart.LookOf(w), Word: w, Said: reports.SaidWords(p.Langs[0], []verdict.Word{w})}
		for _, lang := range p.Langs {
			t.Texts = append(t.Texts, meaning{text.Tag(lang), reports.Meaning(w, lang), reports.Cure(w, lang)})
		}
		terms = append(terms, t)
	}
	return terms
}
