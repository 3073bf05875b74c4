// Package lessons explains locks, races, runs and terms. A page is a list of blocks, which are written as text for a
// terminal, as Markdown, as HTML and, with breaks, as slides.
//
// Its texts stand in the catalogues of package text; they have places for what a run says, as in
//
//	calm comes to {verdict mutex calm}
//
// A place is filled by playing the run that it names: no figure and no verdict is typed, and none can become wrong.
//
// Playing needs the races, so this package stands above races, unlike the rest of reports.
package lessons

import (
	"context"
	"io"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Page is an explanation.
type Page struct {
	Prefix string           // of the keys of its texts
	Lock   lock.Entry       // that it is about; without an ID: none
	Race   race.Race        // likewise; with Lock it is about the run
	Fault  *simulator.Fault // likewise; nil: none
	Number string           // of the article that it is about; "": none
	Runs   bool             // it has the runs behind what is said in an interview
	make   func(m *maker)
	parts  int                             // that it has, by number; 0: none
	part   func(m *maker, first, last int) // makes some of them alone
}

// Blocks plays what a page is about, in a language as for text.Chosen. Its searches end with ctx.
func (p Page) Blocks(ctx context.Context, stage *Stage, lang string) ([]Block, error) {
	m := &maker{ctx: ctx, stage: stage, runs: p.Runs, p: &text.Printer{Lang: lang}}
	p.make(m)
	for _, lang := range m.p.Langs() {
		for _, word := range verdict.Answers {
			if named := reports.SaidWords(lang, []verdict.Word{word}); named != string(word) {
				callOnce(m.blocks, named, text.Say(lang, "word."+string(word)))
			}
		}
	}
	return m.blocks, m.err
}

// callOnce leaves a verdict both of its names where blocks say it first; then the one in their language will do.
func callOnce(blocks []Block, named, word string) {
	known := false
	say := func(s *string) {
		first, rest, found := strings.Cut(*s, named)
		if found && !known {
			first, known = first+named, true
		} else if found {
			first += word
		}
		*s = text.Tight(first + strings.ReplaceAll(rest, named, word))
	}
	for i := range blocks {
		say(&blocks[i].Text)
		for j := range blocks[i].Items {
			say(&blocks[i].Items[j])
		}
	}
}

var (
	gap       = Block{Kind: Gap}
	paragraph = Block{Kind: Paragraph, Lead: "  "}
)

// A maker makes a page, part by part. The first error is that of the page.
type maker struct {
	ctx    context.Context
	stage  *Stage
	runs   bool          // Page.Runs
	about  lock.Entry    // whose sentences texts have; without an ID: all
	p      *text.Printer // puts into words; prints nothing
	blocks []Block
	err    error
}

// failed keeps the first error, and reports whether there is one.
func (m *maker) failed(err error) bool {
	if m.err == nil {
		m.err = err
	}
	return m.err != nil
}

func (m *maker) add(blocks ...Block) { m.blocks = append(m.blocks, blocks...) }

// head adds a heading of a name and its title.
func (m *maker) head(name string, title func(lang string) string) {
	m.add(Block{Kind: Heading, Text: text.Label(m.p.First("explain.head", "text", name)) + m.p.Each(title)})
}

// part begins a part of a page, under a label.
func (m *maker) part(label string) { m.begin(m.p.Say(label)) }

// begin begins a part of a page.
func (m *maker) begin(heading string) { m.add(gap, Block{Kind: Heading, Text: heading}) }

// texts adds texts whose keys begin alike, each under its label if it exists: that of lock.token.how is label.lock.how.
func (m *maker) texts(prefix string, names ...string) {
	kind, _, _ := strings.Cut(prefix, ".")
	for _, name := range names {
		for _, lang := range m.p.Langs() {
			if lines := m.lines(lang, prefix+"."+name); lines != nil {
				m.begin(text.Say(lang, "label."+kind+"."+name))
				m.paragraphs("  ", lines...)
			}
		}
	}
}

// lines returns a text with its places filled in; nil: there is none.
func (m *maker) lines(lang, key string) []string {
	lines, err := m.stage.linesAbout(m.about, lang, key)
	m.failed(err)
	return lines
}

// told adds a text in each language, behind a label of its own or without one.
func (m *maker) told(key string, label func(lang string) string) {
	for _, lang := range m.p.Langs() {
		lines := m.lines(lang, key)
		if label != nil && lines != nil {
			lines[0] = text.Label(label(lang)) + lines[0]
		}
		m.paragraphs("  ", lines...)
	}
}

// paragraphs adds lines, each after a lead. Those that begin with a dash are a list.
func (m *maker) paragraphs(lead string, lines ...string) {
	for _, line := range lines {
		last := len(m.blocks) - 1
		switch item := strings.HasPrefix(line, "- "); {
		case item && last >= 0 && m.blocks[last].Kind == List:
			m.blocks[last].Items = append(m.blocks[last].Items, line)
		case item:
			m.add(Block{Kind: List, Lead: lead, Items: []string{line}})
		default:
			m.add(Block{Kind: Paragraph, Lead: lead, Text: line})
		}
	}
}

// each adds a block with what say returns for each language, as far as it says something.
func (m *maker) each(b Block, say func(lang string) string) {
	for _, lang := range m.p.Langs() {
		if b.Text = say(lang); b.Text != "" {
			m.add(b)
		}
	}
}

// under is each for a paragraph, below a label.
func (m *maker) under(label string, say func(lang string) string) {
	for _, lang := range m.p.Langs() {
		if s := say(lang); s != "" {
			m.begin(text.Say(lang, "label."+label))
			m.paragraphs("  ", s)
		}
	}
}

// next ends a page with at most three commands to try.
func (m *maker) next(commands ...string) {
	m.part("command.next")
	m.add(Block{Kind: Commands, Lead: "  ", Items: commands[:min(3, len(commands))]})
}

// notation adds a run in the notation of the articles.
func (m *maker) notation(o *race.Outcome) {
	m.add(Block{Kind: Listing, Lead: "  ", Draw: func(w io.Writer, look reports.Look) error {
		return reports.Notation(w, o.History, o.Judgement, look)
	}})
}

// ending returns the command that plays a run, and how it ends.
func (m *maker) ending(o *race.Outcome) string { return commandOf("run", o) + " = " + results(m.p, o) }

// backing adds the run that backs an answer, and those behind it, and returns the first.
func (m *maker) backing(key string) (o *race.Outcome) {
	runs, err := m.stage.Backing(key + ".trace")
	if !m.failed(err) {
		o = runs[0]
		m.paragraphs("  "+m.p.Label("label.trace"), m.ending(o))
	}
	m.behind(key + ".runs")
	return o
}

// behind adds the runs that a text lists, if there is one: an answer is spoken and names none of them.
func (m *maker) behind(key string) {
	runs, err := m.stage.Backing(key)
	if !m.failed(err) && runs != nil {
		m.paragraphs("  ", m.p.Say("label.runs"))
		m.add(Block{Kind: List, Lead: "    ", Items: lists.Each(runs, m.ending)})
	}
}
