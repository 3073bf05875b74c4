package lessons

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/simulator/effort"
)

// everyPage is the names of all explanations.
func everyPage() []string {
	names := []string{"path", "path 10", "interview", "debate", "glossary", "lease", "token gc-pause",
		"redlock restart", "zk-recheck gc-pause", "mutex failover"}
	for _, topic := range Topics() {
		names = append(names, "interview "+topic)
	}
	for _, e := range algorithms.All() {
		names = append(names, e.ID)
	}
	for _, sc := range scenarios.All() {
		names = append(names, sc.ID)
	}
	return names
}

// plain is the words of Markdown without its marks.
func plain(markdown string) []string {
	markdown = regexp.MustCompile("(?m)^[|-]+$|^#+ |^- |^---$").ReplaceAllString(markdown, "")
	return bare(regexp.MustCompile(`\\([\\*_<>\[\]#|])`).ReplaceAllString(markdown, "$1"))
}

// bare is the words of a text without bars and backquotes, which are marks of Markdown and in code.
func bare(s string) []string {
	return strings.Fields(strings.NewReplacer("`", "", "|", " ").Replace(s))
}

// written returns what a writer makes of blocks.
func written(t *testing.T, write func(*text.Printer, reports.Look, []Block), lang string, blocks []Block) string {
	t.Helper()
	var b strings.Builder
	p := &text.Printer{Out: &b, Lang: lang, Width: unfolded}
	if write(p, reports.Look{}, blocks); p.Err != nil {
		t.Fatal(p.Err)
	}
	return b.String()
}

var element = regexp.MustCompile(`</?[a-z0-9]+/?>`)

// Markdown and HTML lose no word of any explanation, in any language, and the HTML is well-formed.
func TestBlocksLoseNothing(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine explains")
	stage := NewStage()
	for _, lang := range text.Languages() {
		for _, name := range everyPage() {
			words := append(strings.Fields(name), "")
			page, ok, err := Find(words[0], words[1])
			if !ok || err != nil {
				t.Fatal(name, ok, err)
			}
			blocks, err := page.Blocks(t.Context(), stage, lang)
			if err != nil {
				t.Fatal(name, err)
			}
			want := bare(regexp.MustCompile(`(?m)^-{10,}$`).ReplaceAllString(written(t, Text, lang, blocks), ""))
			compare(t, name+" as Markdown", plain(written(t, Markdown, lang, blocks)), want)
			_, body, _ := strings.Cut(written(t, HTML, lang, blocks), "<body>")
			body, _, _ = strings.Cut(body, "</body>")
			spaced := regexp.MustCompile(`</(td|li|p|h1|h2|h3|pre)>`).ReplaceAllString(body, " ")
			compare(t, name+" as HTML", bare(html.UnescapeString(element.ReplaceAllString(spaced, ""))), want)
			body = "<body>" + strings.ReplaceAll(body, "&#34;", "") + "</body>"
			for d := xml.NewDecoder(strings.NewReader(body)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s as HTML: %v", name, err)
				}
			}
		}
	}
}

func compare(t *testing.T, name string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s: word %d differs: %q, want %q",
				name, i, got[i:min(i+8, len(got))], want[i:min(i+8, len(want))])
		}
	}
}

// Each kind of block is written in each format.
func TestBlocks(t *testing.T) {
	blocks := []Block{
		{Kind: Heading, Text: "token (2013): a title"}, {Kind: Gap}, {Kind: Heading, Lead: "1/6  ", Text: "Origin:"},
		{Kind: Paragraph, Lead: "  ", Text: "Text_ with locklab run token calm --set ttl=1s, and <b>."},
		{Kind: Table, Lead: "  ", Columns: []int{30, 4}, Rows: [][]string{{"locklab run token slow-work", "R03", "a|b"},
			{"locklab run token x", "", "c"}}},
		{Kind: Break}, {Kind: Subheading, Lead: "  ", Text: "Session"},
		{Kind: List, Lead: "  ", Items: []string{"- one", "- two"}},
		{Kind: Listing, Lead: "  ", Draw: func(w io.Writer, _ reports.Look) error {
			_, err := io.WriteString(w, "> SET a b\nOK\n")
			return err
		}},
		{Kind: Listing, Text: "```\n"}, {Kind: Commands, Lead: "  ", Items: []string{"locklab explain token"}},
	}
	for name, c := range map[string]struct {
		write func(*text.Printer, reports.Look, []Block)
		want  string
	}{
		"text": {Text,
			"token (2013): a title\n\n1/6  Origin:\n  Text_ with locklab run token calm --set ttl=1s, and <b>.\n" +
				"  locklab run token slow-work    R03  a|b\n  locklab run token x                 c\n\n" +
				strings.Repeat("-", 60) + "\n\n  Session\n" +
				"  - one\n  - two\n  > SET a b\n  OK\n```\n  locklab explain token\n"},
		"Markdown": {Markdown,
			"# token (2013): a title\n\n## 1/6  Origin:\n\n" +
				"Text\\_ with `locklab run token calm --set ttl=1s`, and \\<b\\>.\n\n" +
				"| | | |\n|---|---|---|\n| `locklab run token slow-work` | R03 | a\\|b |\n" +
				"| `locklab run token x` |  | c |\n\n---\n\n### Session\n\n" +
				"- one\n- two\n\n```\n  > SET a b\n  OK\n```\n\n````\n```\n````\n\n- `locklab explain token`\n"},
		"HTML": {HTML,
			"<h1>token (2013): a title</h1>\n<h2>1/6  Origin:</h2>\n" +
				"<p>Text_ with <code>locklab run token calm --set ttl=1s</code>, and &lt;b&gt;.</p>\n" +
				"<table><tr><td><code>locklab run token slow-work</code></td><td>R03</td><td>a|b</td></tr>" +
				"<tr><td><code>locklab run token x</code></td><td></td><td>c</td></tr></table>\n" +
				"<hr/>\n<h3>Session</h3>\n<ul><li>one</li><li>two</li></ul>\n" +
				"<pre>  &gt; SET a b\n  OK</pre>\n<pre>```</pre>\n" +
				"<ul><li><code>locklab explain token</code></li></ul>\n"},
	} {
		got := written(t, c.write, "en", blocks)
		if _, body, ok := strings.Cut(got, "<body>\n"); ok {
			got, _, _ = strings.Cut(body, "</body>")
		}
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
