package lessons

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"

	"locklab/reports/text"
)

// A Block is a part of an explanation, in an order that any format can keep.
type Block struct {
	Kind  BlockKind
	Lines []string   // of a listing; of all others one
	Rows  [][]string // of a table
}

// A BlockKind says how a block is set.
type BlockKind int

// The kinds of blocks.
const (
	Title     BlockKind = iota
	Heading             // of what follows
	Paragraph           // running text
	Item                // of a list; several in a row are one list
	Listing             // lines in columns: a run, code, a session
	Table               // a command or a lock, and what becomes of it
)

var (
	inColumns  = regexp.MustCompile(`\S {2,}\S|^\s*(\d+ )?[|>]|[{};]$|^\s*//|^\t| := `)
	session    = regexp.MustCompile(`^  (# |[\d.]+:\d+> )`)
	commandRow = regexp.MustCompile(`^ {2}(locklab run \S+ \S+) +(\S+) +(\S.*)$`)
	lockRow    = regexp.MustCompile(`^ {2}([a-z][a-z0-9-]*) {1,}((?:[A-Z/-]{3,} ?)+.*)$`)
	screenHead = regexp.MustCompile(`^\d+/\d+  `)
	ruler      = regexp.MustCompile(`^-{10,}$`)
)

// Blocks reads an explanation that is not folded. Text is indented by two columns or four, and what is set in
// columns is recognized by its blanks.
func Blocks(said string) (blocks []Block) {
	lines := strings.Split(strings.TrimRight(said, "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		row := rowOf(line)
		switch {
		case strings.TrimSpace(line) == "" || ruler.MatchString(line):
			i++
		case i == 0 && !screenHead.MatchString(line):
			blocks = append(blocks, Block{Kind: Title, Lines: []string{strings.TrimSpace(line)}})
			i++
		case screenHead.MatchString(line):
			blocks = append(blocks, Block{Kind: Heading, Lines: []string{line}})
			i++
		case row != nil:
			b := Block{Kind: Table}
			for ; i < len(lines) && len(rowOf(lines[i])) == len(row); i++ {
				b.Rows = append(b.Rows, rowOf(lines[i]))
			}
			blocks = append(blocks, b)
		case session.MatchString(line):
			b := Block{Kind: Listing}
			for ; i < len(lines) && lines[i] != ""; i++ {
				b.Lines = append(b.Lines, lines[i])
			}
			blocks = append(blocks, b)
		case inColumns.MatchString(line):
			b := Block{Kind: Listing}
			for i < len(lines) && (inColumns.MatchString(lines[i]) || listed(lines, i)) {
				b.Lines = append(b.Lines, lines[i])
				i++
			}
			blocks = append(blocks, b)
		default:
			blocks = append(blocks, Block{Kind: kindOf(lines, i), Lines: []string{strings.TrimSpace(line)}})
			i++
		}
	}
	return blocks
}

// rowOf returns the cells of a line of a table; nil: it is none.
func rowOf(line string) []string {
	if m := commandRow.FindStringSubmatch(line); m != nil {
		return m[1:]
	}
	if m := lockRow.FindStringSubmatch(line); m != nil {
		return m[1:]
	}
	return nil
}

// listed reports whether a line continues a listing that has begun: it is deeper than text, or an empty line before
// such a one.
func listed(lines []string, i int) bool {
	if strings.TrimSpace(lines[i]) == "" {
		return i+1 < len(lines) && strings.HasPrefix(lines[i+1], "      ")
	}
	return strings.HasPrefix(lines[i], "    ")
}

// kindOf returns the kind of a line of text.
func kindOf(lines []string, i int) BlockKind {
	line, indented := lines[i], strings.HasPrefix(lines[i], "  ")
	text := strings.TrimSpace(line)
	next := ""
	if i+1 < len(lines) {
		next = lines[i+1]
	}
	switch {
	case strings.HasPrefix(line, "? "):
		return Heading
	case !indented && (strings.HasPrefix(next, "  ") || inColumns.MatchString(next)) && len([]rune(text)) < 120:
		return Heading
	case strings.HasPrefix(text, "locklab ") || strings.HasPrefix(line, "    "):
		return Item
	}
	return Paragraph
}

// Markdown returns blocks as Markdown.
func Markdown(blocks []Block) string {
	var b strings.Builder
	for i, x := range blocks {
		if i > 0 && !(x.Kind == Item && blocks[i-1].Kind == Item) {
			b.WriteString("\n")
		}
		switch x.Kind {
		case Listing:
			fence := "```"
			for strings.Contains(strings.Join(x.Lines, "\n"), fence) {
				fence += "`"
			}
			fmt.Fprintf(&b, "%s\n%s\n%s\n", fence, strings.Join(x.Lines, "\n"), fence)
		case Table:
			for n, row := range x.Rows {
				if n == 0 {
					fmt.Fprintf(&b, "%s|\n%s|\n", strings.Repeat("| ", len(row)), strings.Repeat("|---", len(row)))
				}
				for _, cell := range row {
					fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(escaped(cell), "|", `\|`))
				}
				b.WriteString("|\n")
			}
		default:
			mark := map[BlockKind]string{Title: "# ", Heading: "## ", Item: "- "}[x.Kind]
			fmt.Fprintf(&b, "%s%s\n", mark, escaped(x.Lines[0]))
		}
	}
	return b.String()
}

var (
	marks    = regexp.MustCompile("[\\\\`*_<>\\[\\]#]")
	commands = regexp.MustCompile(
		`^locklab(?: [^ =]\S*)+$|locklab (?:run [\w-]+ [\w-]+|explain (?:(?:path|interview) )?[\w+-]+|[a-z]+)(?: --[a-z]+)*`)
)

// escaped is text in Markdown, its commands as code.
func escaped(s string) string {
	return byCommand(s, func(text string) string { return marks.ReplaceAllString(text, `\$0`) },
		func(command string) string { return "`" + command + "`" })
}

// byCommand writes the commands in a text in one way, and the rest in another.
func byCommand(s string, text, command func(string) string) string {
	var b strings.Builder
	end := 0
	for _, m := range commands.FindAllStringIndex(s, -1) {
		b.WriteString(text(s[end:m[0]]) + command(s[m[0]:m[1]]))
		end = m[1]
	}
	return b.String() + text(s[end:])
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// HTML returns blocks as a page of its own, in a language.
func HTML(lang string, blocks []Block) string {
	title := "locklab"
	if len(blocks) > 0 && len(blocks[0].Lines) > 0 {
		title = blocks[0].Lines[0]
	}
	var b strings.Builder
	err := pageTemplate.Execute(&b, map[string]any{"Lang": text.Tag(lang), "Title": title, "Body": template.HTML(HTMLBody(blocks))})
	if err != nil {
		panic(err) // the template is part of the program
	}
	return b.String()
}

// HTMLBody returns blocks as elements of a page.
func HTMLBody(blocks []Block) string {
	var b strings.Builder
	code := func(command string) string { return "<code>" + html.EscapeString(command) + "</code>" }
	inline := func(s string) string { return byCommand(s, html.EscapeString, code) }
	tags := map[BlockKind]string{Title: "h1", Heading: "h2", Paragraph: "p", Item: "li"}
	for i, x := range blocks {
		begins := x.Kind == Item && (i == 0 || blocks[i-1].Kind != Item)
		ends := x.Kind == Item && (i+1 == len(blocks) || blocks[i+1].Kind != Item)
		if begins {
			b.WriteString("<ul>\n")
		}
		switch x.Kind {
		case Listing:
			fmt.Fprintf(&b, "<pre>%s</pre>\n", html.EscapeString(strings.Join(x.Lines, "\n")))
		case Table:
			b.WriteString("<table>\n")
			for _, row := range x.Rows {
				b.WriteString("<tr>")
				for _, cell := range row {
					fmt.Fprintf(&b, "<td>%s</td>", inline(cell))
				}
				b.WriteString("</tr>\n")
			}
			b.WriteString("</table>\n")
		default:
			fmt.Fprintf(&b, "<%s>%s</%[1]s>\n", tags[x.Kind], inline(x.Lines[0]))
		}
		if ends {
			b.WriteString("</ul>\n")
		}
	}
	return b.String()
}
