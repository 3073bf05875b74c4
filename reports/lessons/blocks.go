package lessons

import (
	"io"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
)

// A Block is a part of a page. Text, Markdown and HTML write a page in their own way.
type Block struct {
	Kind    Kind
	Lead    string     // what a terminal prints before a text, and indents its further lines by
	Text    string     // not folded; of a listing its lines
	Items   []string   // of a list
	Rows    [][]string // of a table
	Columns []int      // widths of a table's columns in a terminal, but for the last
	Draw    View       // of a listing: draws it at a width, and in a language; nil: it is Text
}

// A View draws a run, or the code of a lock.
type View func(w io.Writer, look reports.Look) error

// A Kind says how a block is set.
type Kind string

// The kinds of blocks.
const (
	Heading    Kind = "heading" // the first of a page is its title
	Subheading Kind = "subheading"
	Paragraph  Kind = "paragraph"
	List       Kind = "list"
	Commands   Kind = "commands" // a list of commands, which are not folded
	Table      Kind = "table"
	Listing    Kind = "listing" // a run, a session, code
	Gap        Kind = "gap"     // an empty line in a terminal; elsewhere blocks are apart by themselves
	Break      Kind = "break"   // the next screen begins
	Hidden     Kind = "hidden"  // what follows answers what stands before: it is shown when it is asked for
)

// Text writes blocks to a terminal, folded at p's width. look says how runs are drawn; its width and language are p's.
func Text(p *text.Printer, look reports.Look, blocks []Block) {
	for _, b := range blocks {
		switch b.Kind {
		case Hidden: // nobody is there to ask
		case Gap:
			p.Printf("\n")
		case Break:
			p.Printf("\n%s\n\n", strings.Repeat("-", min(p.Width, 60)))
		case Listing:
			p.Printf("%s", b.listing(p, look, p.Width))
		case Commands:
			p.Printf("%s%s\n", b.Lead, strings.Join(b.Items, "\n"+b.Lead))
		case List:
			for _, item := range b.Items {
				p.Wrap(b.Lead, item)
			}
		case Table:
			for _, row := range b.Rows {
				b.row(p, row)
			}
		default:
			p.Wrap(b.Lead, b.Text)
		}
	}
}

// row writes a row: its last cell is folded beside the others, or below where these are wide and the terminal is not.
func (b Block) row(p *text.Printer, row []string) {
	lead, last := b.Lead, len(b.Columns)
	for i, width := range b.Columns {
		lead += text.Pad(row[i], width) + " "
	}
	if len(lead) > 40 && p.Width < reports.NarrowWidth {
		p.Printf("%s\n", strings.TrimRight(lead, " "))
		lead = "      "
	}
	p.Wrap(lead, row[last])
}

// listing returns the lines of a listing, indented. An error of its view is the printer's.
func (b Block) listing(p *text.Printer, look reports.Look, width int) string {
	if b.Draw == nil {
		return b.Text
	}
	var drawn, out strings.Builder
	look.Width, look.Lang = width-len(b.Lead), p.Lang
	p.Keep(b.Draw(&drawn, look))
	for line := range strings.Lines(drawn.String()) {
		out.WriteString(strings.TrimRight(b.Lead+line, " \n") + "\n")
	}
	return out.String()
}

// unfolded is a width in which runs are drawn in columns and nothing is folded.
const unfolded = 100_000

// drawn returns blocks without what only a terminal has, their listings drawn.
func drawn(p *text.Printer, blocks []Block) (all []Block) {
	for _, b := range blocks {
		if b.Kind == Listing {
			b.Text = strings.Trim(b.listing(p, reports.Look{}, unfolded), "\n")
		}
		if b.Kind != Gap && b.Kind != Hidden {
			all = append(all, b)
		}
	}
	return all
}

// Led returns a text behind its lead, not indented.
func (b Block) Led() string { return strings.TrimLeft(b.Lead, " ") + b.Text }
