package deck

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// stage keeps what all tests play.
var stage = lessons.NewStage()

func makeLesson(t *testing.T, names string, o Options) *Lesson {
	t.Helper()
	s, err := Parse(strings.Fields(names))
	if err != nil {
		t.Fatal(err)
	}
	if o.Lang == "" {
		o.Lang = "en"
	}
	l, err := Make(stage, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// kinds are those of the steps of a lesson, one for all that follow each other.
func kinds(l *Lesson) string {
	var all []string
	for _, s := range l.Steps {
		all = append(all, string(s.Kind))
	}
	return strings.Join(slices.Compact(all), " ")
}

// A lesson tells how a lock works, in which races it fails, and what the next lock does about one of them. The debate
// belongs to Redlock.
func TestLessonIsInOrder(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	for names, want := range map[string]string{
		"setnx-expire redlock":              "plan how race next how race debate quiz end",
		"token":                             "plan how race next quiz end",
		"token gc-pause R24":                "plan how race next quiz end",
		"path 3":                            "plan race quiz end",
		"path":                              "plan race quiz end",
		"gc-pause failover":                 "plan race next race next quiz end",
		"debate":                            "plan debate quiz end",
		"path 3 R18":                        "plan race next quiz end",
		"stamps":                            "plan race quiz end",
		"mutex":                             "plan how race quiz end", // no lock follows it
		"setnx setnx-expire constant token": "plan how race next how race how race next how race next quiz end",
	} {
		if got := kinds(makeLesson(t, names, Options{Questions: 3, Seed: 1})); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
}

// The runs of a lesson fail, but for those that show a lock without faults, the next lock, or the debate. The race
// that is played with the next lock is one that it survives, if there is any.
func TestLessonShowsFailures(t *testing.T) {
	for _, s := range makeLesson(t, "setnx-expire redlock", Options{}).Steps {
		switch {
		case s.Kind == Race && !verdict.Fails(s.Run.Verdicts):
			t.Errorf("%s: %v", s.Heading, s.Run.Verdicts)
		case s.Kind == Next && s.Run.Verdicts[0] != verdict.Holds:
			t.Errorf("%s: %v", s.Heading, s.Run.Verdicts)
		}
		if s.Kind != Plan && s.Kind != End && (s.Question == "" || s.Answer == nil && s.Choices == nil) {
			t.Errorf("%s: no question, or no answer", s.Heading)
		}
	}
}

// The quiz asks about the runs of the lesson and about nothing else, each question once, and the same for the same
// seed. One answer is right.
func TestQuizIsAboutTheLesson(t *testing.T) {
	for _, names := range []string{"setnx-expire redlock", "path 3", "debate"} {
		l, again := makeLesson(t, names, Options{Questions: 6, Seed: 7}), makeLesson(t, names, Options{Questions: 6, Seed: 7})
		runs, asked := map[string]bool{}, map[string]bool{}
		for _, s := range l.Steps {
			if s.Run != nil && s.Kind != Quiz {
				runs[s.Run.Strategy.ID+" "+s.Run.Scenario.ID] = true
			}
			for _, line := range s.Answer {
				if run, ok := strings.CutPrefix(line, "locklab run "); ok {
					name, _, _ := strings.Cut(run, " = ")
					runs[name] = true
				}
			}
		}
		for i, s := range l.Steps {
			if s.Kind != Quiz {
				continue
			}
			name := s.Run.Strategy.ID + " " + s.Run.Scenario.ID
			right := 0
			for _, c := range s.Choices {
				if c.Right {
					right++
				}
			}
			key := fmt.Sprint(name, s.Question, len(s.Run.History.Events))
			if !runs[name] || right != 1 || asked[key] || again.Steps[i].Question != s.Question {
				t.Errorf("%s: %q about %s: %d right, asked before: %t", names, s.Question, name, right, asked[key])
			}
			asked[key] = true
		}
		if len(asked) < 2 {
			t.Errorf("%s: %d questions", names, len(asked))
		}
	}
}

// Names are those of locks, races, families and lessons. Another offers the nearest.
func TestParse(t *testing.T) {
	s, err := Parse([]string{"token", "002-E", "R18", "gc-pause", "stamps", "path", "3", "debate"})
	if err != nil || len(s.Locks) < 5 || s.Locks[1].ID != "redlock" || len(s.Races) != 2 || !slices.Equal(s.Screens, []int{3}) || !s.Debate {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := Parse([]string{"path"}); err != nil || len(s.Screens) != lessons.PathScreens {
		t.Errorf("%+v, %v", s, err)
	}
	for name, near := range map[string]string{"tokn": "token", "gcpause": "gc-pause", "path 11": "11", "path 0": "0", "path 99999999999999999999": "999", "nonsense-of-a-name": "nonsense"} {
		if _, err := Parse(strings.Fields(name)); err == nil || !strings.Contains(text.SayError("en", err), near) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := []string{}
	for _, name := range Names() {
		if _, err := Parse([]string{name}); err != nil && name != "" {
			t.Errorf("%s is offered: %v", name, err)
		}
		all = append(all, name)
	}
	tooMany, err := Parse(all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Make(stage, tooMany, Options{Lang: "en"}); err == nil || !strings.Contains(text.SayError("en", err), "60") {
		t.Errorf("all names at once: %v", err)
	}
}

// The file has every text of the lesson as HTML, so that nothing is lost if its script fails; it is well-formed, the
// same each time, names no other place, and is in one language.
func TestFileHasAllTexts(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	for _, lang := range text.Languages() {
		l := makeLesson(t, "setnx-expire redlock", Options{Lang: lang, Questions: 3, Seed: 1})
		var b, again bytes.Buffer
		page := Page{Lesson: l, Lang: lang, Command: "locklab lesson <&>"}
		if err := errors.Join(Write(&b, page), Write(&again, page)); err != nil {
			t.Fatal(err)
		}
		content := b.String()
		if content != again.String() || len(content) > 4<<20 {
			t.Errorf("%s: %d bytes, or another file for the same lesson", lang, len(content))
		}
		body, _, _ := strings.Cut(content, `<script type="application/json"`)
		said := strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, " "))), " ")
		for _, s := range l.Steps {
			texts := slices.Concat([]string{s.Heading, s.Question}, s.Points, s.Answer, s.Notes)
			for _, c := range s.Choices {
				texts = append(texts, c.Said[lang], c.Why[lang])
			}
			for _, want := range texts {
				if !strings.Contains(said, strings.Join(strings.Fields(want), " ")) {
					t.Errorf("%s: the file lacks %q", lang, want)
				}
			}
		}
		if pictures := strings.Count(body, "<svg"); pictures < 2*len(l.Steps)-10 {
			t.Errorf("%s: %d pictures", lang, pictures)
		}
		if found := regexp.MustCompile(`(src|href)="(?:[^d#]|d[^a])|url\(["']?h|@import`).FindString(content); found != "" {
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

// The picture of a question does not show how the run ends.
func TestQuestionsDoNotTell(t *testing.T) {
	for _, s := range makeLesson(t, "setnx-expire redlock", Options{}).Steps {
		if s.Run == nil || s.Kind != Race {
			continue
		}
		cut := before(s.Run)
		if cut.Verdicts != nil || len(cut.Judgement.Findings) != 0 || len(cut.History.Events) >= len(s.Run.History.Events) {
			t.Errorf("%s: %v, %d of %d events", s.Heading, cut.Verdicts, len(cut.History.Events), len(s.Run.History.Events))
		}
		for _, f := range s.Run.Judgement.Findings {
			if f.Event < len(cut.History.Events)-1 {
				t.Errorf("%s: the picture is after %s", s.Heading, f.Verdict)
			}
		}
		if strings.Contains(s.Question, string(s.Run.Verdicts[0])) || strings.Contains(s.Heading, string(s.Run.Verdicts[0])) {
			t.Errorf("%q tells how the run ends", s.Heading)
		}
	}
}
