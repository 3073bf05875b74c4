package lessons

import (
	"context"
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

// everyPage is the names of all explanations, but for most locks: all locks have pages of the same shape.
func everyPage() []string {
	names := []string{"path", "path 10", "interview", "debate", "glossary", "lease", "token gc-pause", "redlock restart", "zk-recheck gc-pause", "mutex failover"}
	for _, topic := range Topics() {
		names = append(names, "interview "+topic)
	}
	for _, e := range append(algorithms.Milestones(), algorithms.All()[:3]...) {
		names = append(names, e.ID)
	}
	for _, sc := range scenarios.All() {
		names = append(names, sc.ID)
	}
	return names
}

// plain is the words of Markdown without its marks.
func plain(markdown string) []string {
	markdown = regexp.MustCompile("(?m)^[|-]+$|^#+ |^- ").ReplaceAllString(markdown, "")
	return bare(regexp.MustCompile(`\\([\\*_<>\[\]#|])`).ReplaceAllString(markdown, "$1"))
}

// bare is the words of a text without bars and backquotes, which are marks of Markdown and in code.
func bare(s string) []string {
	return strings.Fields(strings.NewReplacer("`", "", "|", " ").Replace(s))
}

var element = regexp.MustCompile(`</?[a-z0-9]+>`)

// Markdown and HTML lose no word of any explanation, in any language, and the HTML is well-formed.
func TestBlocksLoseNothing(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine explains")
	stage := NewStage()
	for _, lang := range text.Languages() {
		for _, name := range everyPage() {
			var said strings.Builder
			p := &text.Printer{Out: &said, Lang: lang, Width: 100_000}
			words := append(strings.Fields(name), "")
			page, ok, err := Find(words[0], words[1])
			if !ok || err != nil || page.Print(NewTeacher(context.Background(), p, reports.Look{}, stage)) != nil {
				t.Fatal(name, ok, err)
			}
			want := bare(regexp.MustCompile(`(?m)^-{10,}$`).ReplaceAllString(said.String(), ""))
			blocks := Blocks(said.String())
			compare(t, name+" as Markdown", plain(Markdown(blocks)), want)
			body := HTMLBody(blocks)
			spaced := regexp.MustCompile(`</(td|li|p|h1|h2|pre)>`).ReplaceAllString(body, " ")
			compare(t, name+" as HTML", bare(html.UnescapeString(element.ReplaceAllString(spaced, ""))), want)
			for d := xml.NewDecoder(strings.NewReader("<body>" + strings.ReplaceAll(body, "&#34;", "") + "</body>")); ; {
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
			t.Fatalf("%s: word %d differs: %q, want %q", name, i, got[i:min(i+8, len(got))], want[i:min(i+8, len(want))])
		}
	}
}

// The parts of a page are what they look like.
func TestBlocks(t *testing.T) {
	said := "token (2013): a title\n\nOrigin:\n  Text_ with locklab run token calm and <b>.\n\nHow it fails\n  locklab run token slow-work     R03  OVERLAP: the lease\n" +
		"  locklab run token gc-pause      R18  OVERLAP: a pause\n\nSession\n  # c1\n  127.0.0.1:6379> SET a b\n  OK\n\nNext:\n  locklab explain token\n    locklab run token calm = HOLDS\n"
	got := Markdown(Blocks(said))
	want := "# token (2013): a title\n\n## Origin:\n\nText\\_ with `locklab run token calm` and \\<b\\>.\n\n## How it fails\n\n| | | |\n|---|---|---|\n" +
		"| `locklab run token slow-work` | R03 | OVERLAP: the lease |\n| `locklab run token gc-pause` | R18 | OVERLAP: a pause |\n\n## Session\n\n```\n  # c1\n  127.0.0.1:6379> SET a b\n  OK\n```\n\n" +
		"## Next:\n\n- `locklab explain token`\n- `locklab run token calm` = HOLDS\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
