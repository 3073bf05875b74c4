//go:build !js

package lessons

import (
	"embed"
	"html"
	"html/template"
	"regexp"
	"slices"
	"strings"
	texttemplate "text/template"

	"locklab/reports"
	"locklab/reports/text"
)

//go:embed page.md page.html
var pages embed.FS

var (
	functions = map[string]any{"escaped": escaped, "inline": inline, "undashed": undashed, "fence": fence, "cell": cell}
	markdown  = texttemplate.Must(texttemplate.New("page.md").Funcs(functions).ParseFS(pages, "page.md"))
	htmlPage  = template.Must(template.New("page.html").Funcs(functions).ParseFS(pages, "page.html"))
)

// Markdown writes blocks as Markdown.
func Markdown(p *text.Printer, _ reports.Look, blocks []Block) {
	p.Keep(markdown.Execute(p.Out, drawn(p, blocks)))
}

// HTML writes blocks as a page of its own, which asks no server for anything.
func HTML(p *text.Printer, _ reports.Look, blocks []Block) {
	title := "locklab"
	if i := slices.IndexFunc(blocks, func(b Block) bool { return b.Kind == Heading }); i >= 0 {
		title = blocks[i].Led()
	}
	lang := text.Tag(p.Langs()[0])
	p.Keep(htmlPage.Execute(p.Out, map[string]any{"Lang": lang, "Title": title, "Blocks": drawn(p, blocks)}))
}

// Elements returns blocks as elements of a page in HTML.
func Elements(lang string, blocks []Block) (template.HTML, error) {
	var b strings.Builder
	p := &text.Printer{Lang: lang}
	p.Keep(htmlPage.ExecuteTemplate(&b, "elements", drawn(p, blocks)))
	return template.HTML(b.String()), p.Err
}

// undashed returns an item of a list without the dash that it has in a terminal.
func undashed(item string) string { return strings.TrimPrefix(item, "- ") }

// fence returns what stands around a listing in Markdown.
func fence(listing string) string {
	mark := "```"
	for strings.Contains(listing, mark) {
		mark += "`"
	}
	return mark
}

// cell returns a cell of a table in Markdown.
func cell(s string) string { return strings.ReplaceAll(escaped(s), "|", `\|`) }

// command finds the commands in a text: a word without a letter, a digit or a sign of an option ends one.
var command = regexp.MustCompile(`locklab(?: [\w-][\w.+=@-]*)+`)

// special finds commands, and what Markdown would not print as it is.
var special = regexp.MustCompile(command.String() + "|[\\\\`*_<>\\[\\]#]")

// escaped returns a text in Markdown, its commands as code.
func escaped(s string) string {
	return special.ReplaceAllStringFunc(s, func(found string) string {
		if len(found) == 1 {
			return `\` + found
		}
		return "`" + found + "`"
	})
}

// inline returns a text in HTML, its commands as code: they have nothing to escape.
func inline(s string) template.HTML {
	return template.HTML(command.ReplaceAllString(html.EscapeString(s), "<code>$0</code>"))
}
