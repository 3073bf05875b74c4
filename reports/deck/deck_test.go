package deck

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"locklab/reports/chart"
	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/motion"
	"locklab/reports/text"
	"locklab/simulator/effort"
	"locklab/simulator/history"
)

// stage keeps what all tests play.
var stage = lessons.NewStage()

func deckOf(t *testing.T, names string, o lessons.DeckOptions) []*lessons.Slide {
	t.Helper()
	s, err := lessons.ParseSubject(strings.Fields(names))
	if err != nil {
		t.Fatal(err)
	}
	deck, err := s.Deck(stage, o)
	if err != nil {
		t.Fatal(err)
	}
	return deck
}

// The file has every text of the lesson as HTML, so that nothing is lost if its script fails; it is well-formed, the
// same each time, names no other place, and is in one language.
func TestFileHasAllTexts(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	for _, lang := range text.Languages() {
		slides := deckOf(t, "setnx-expire redlock", lessons.DeckOptions{Lang: lang, Questions: 3, Seed: 1})
		var b, again bytes.Buffer
		page := Page{Slides: slides, Lang: lang, Command: "locklab lesson <&>"}
		if err := errors.Join(Write(&b, page), Write(&again, page)); err != nil {
			t.Fatal(err)
		}
		content := b.String()
		if content != again.String() || len(content) > 4<<20 {
			t.Errorf("%s: %d bytes, or another file for the same lesson", lang, len(content))
		}
		body, _, _ := strings.Cut(content, `<script type="application/json"`)
		body = regexp.MustCompile(`</?code>`).ReplaceAllString(body, "")
		bare := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " "))
		said := strings.Join(strings.Fields(bare), " ")
		for _, s := range slides {
			texts := []string{s.Heading}
			for _, part := range []string{"", lessons.Asked, lessons.Answer, lessons.Notes} {
				texts = append(texts, s.Lines(part)...)
			}
			for _, c := range s.Choices {
				texts = append(texts, c.Said[lang], c.Why[lang])
			}
			for _, want := range texts {
				if !strings.Contains(said, strings.TrimPrefix(strings.Join(strings.Fields(want), " "), "- ")) {
					t.Errorf("%s: the file lacks %q", lang, want)
				}
			}
		}
		if pictures := strings.Count(body, "<svg"); pictures < 2*len(slides)-10 {
			t.Errorf("%s: %d pictures", lang, pictures)
		}
		found := regexp.MustCompile(`(src|href)="(?:[^d#]|d[^a])|url\(["']?h|@import`).FindString(content)
		if found != "" {
			t.Errorf("%s: the file names another place: %s", lang, found)
		}
		wellFormed(t, body)
	}
}

// wellFormed reads a page as XML until its scripts.
func wellFormed(t *testing.T, body string) {
	t.Helper()
	body = regexp.MustCompile(`(?s)<style>.*?</style>|^<!DOCTYPE html>`).ReplaceAllString(body, "") + "</body></html>"
	d := xml.NewDecoder(strings.NewReader(body))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("line %d: %v", strings.Count(body[:d.InputOffset()], "\n")+1, err)
		}
	}
}

// The mark of a question stands in the picture of the whole run inside what the last client to enter does there, and
// not where that still asks. A question about the whole run has none.
func TestMarkIsInsideWhatIsAsked(t *testing.T) {
	seen := regexp.MustCompile(`--seen: ([\d.]+)%`)
	dashes := regexp.MustCompile(`stroke-dasharray:4\S*,3\S*`)
	wide := regexp.MustCompile(`viewBox="0 0 ([\d.]+) `)
	asked, about := 0, 0
	all := deckOf(t, "setnx-expire redlock", lessons.DeckOptions{Lang: "en", Questions: 12, Seed: 1})
	more := deckOf(t, "setnx token", lessons.DeckOptions{Lang: "en", Questions: 12, Seed: 2})
	for _, s := range append(all, more...) {
		if s.Kind != lessons.Quiz {
			continue
		}
		one := slide{Slide: s, lang: "en", letters: chart.Letters{}}
		if err := one.draw(); err != nil {
			t.Fatal(err)
		}
		events, drawn := s.Asks.History.Events, string(one.Whole)
		mark, whole := seen.FindStringSubmatch(drawn), len(events) == len(s.Run.History.Events)
		if marked := dashes.MatchString(drawn); whole == marked {
			t.Errorf("%s: marked: %t, of the whole: %t", s.Heading, marked, whole)
		}
		if last := events[len(events)-1]; whole || last.Kind != history.Enter {
			about++
		} else {
			asked++
			paint := motion.ClientColors[last.Client-1]
			box := fmt.Sprintf(`d="M([\d.]+),[\d.]+L([\d.]+),[^"]*" style="fill:(?i:%s)"`, paint)
			inside := regexp.MustCompile(box).FindStringSubmatch(drawn)
			at := number(mark[1]) / 100 * number(wide.FindStringSubmatch(drawn)[1])
			if inside == nil || at < number(inside[1])+1 || at > number(inside[2]) {
				t.Errorf("%s: the mark is at %.1f, the client inside %v", s.Heading, at, inside)
			}
		}
	}
	if asked < 2 || about < 2 {
		t.Errorf("only %d questions after a client has entered, and %d others", asked, about)
	}
}

func number(s string) float64 {
	n, _ := strconv.ParseFloat(s, 64)
	return n
}

// The picture of a question does not show how the run ends: it has no verdict, and after the last fault one client is
// refused once at most. That of a quiz has the whole run for its answer, with what its question hides.
func TestQuestionsDoNotTell(t *testing.T) {
	for _, s := range deckOf(t, "setnx setnx-expire token watchdog redlock",
		lessons.DeckOptions{Lang: "en", Questions: 3}) {
		o := s.Run
		if s.Kind == lessons.Quiz {
			one := slide{Slide: s, lang: "en", letters: chart.Letters{}}
			err := one.draw()
			if err != nil || len(one.Whole) == 0 || len(s.Asks.History.Events) > len(o.History.Events) ||
				s.Asks.History.Veiled && one.Whole == one.Open || o.History.Veiled {
				t.Errorf("%s: %v, %d of %d events", s.Heading, err, len(s.Asks.History.Events), len(o.History.Events))
			}
		}
		if o == nil || s.Kind != lessons.Race {
			continue
		}
		cut := game.Until(o, question(o))
		if cut.Verdicts != nil || len(cut.Judgement.Findings) != 0 || len(cut.History.Events) >= len(o.History.Events) {
			t.Errorf("%s: %v, %d of %d events", s.Heading, cut.Verdicts, len(cut.History.Events), len(o.History.Events))
		}
		refused := 0
		for _, e := range cut.History.Events {
			if e.Kind.Fault() {
				refused = 0
			} else if e.Kind == history.Refuse {
				refused++
			}
		}
		if refused > 1 {
			t.Errorf("%s: %d attempts fail in the picture", s.Heading, refused)
		}
		for _, f := range o.Judgement.Findings {
			if f.Event < len(cut.History.Events)-1 {
				t.Errorf("%s: the picture is after %s", s.Heading, f.Verdict)
			}
		}
	}
}
