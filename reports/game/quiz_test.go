package game_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"locklab/reports/game"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
)

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Each question has one right answer and others that differ from it, every answer is
// explained, the whole run can be played, and the same seed asks the same.
func TestQuiz(t *testing.T) {
	seeds, count := uint64(1), 8
	if effort.Exhaustive() {
		seeds, count = 5, 20
	}
	for seed := range seeds {
		quiz, again, kinds := game.NewQuiz(seed, game.Scope{}), game.NewQuiz(seed, game.Scope{}), map[string]int{}
		for n := range count {
			q, err := quiz.Next()
			if err != nil {
				t.Fatal(err)
			}
			same, err := again.Next()
			if err != nil || !bytes.Equal(jsonOf(t, q), jsonOf(t, same)) {
				t.Fatalf("seed %d, question %d differs the second time: %v", seed, n, err)
			}
			kinds[q.Kind]++
			if len(q.Answers) < 2 || len(q.Answers) > 4 {
				t.Errorf("%s: %d answers", q.Kind, len(q.Answers))
			}
			right, said := 0, map[string]bool{}
			for _, a := range q.Answers {
				if a.Right {
					right++
				}
				said[a.Said["en"]] = true
				for _, lang := range text.Languages() {
					if a.Said[lang] == "" || a.Why[lang] == "" || strings.ContainsAny(a.Why[lang], "{}") {
						t.Errorf("%s: %+v", q.Kind, a)
					}
				}
			}
			if right != 1 || len(said) != len(q.Answers) {
				t.Errorf("%s: %d right, %v", q.Kind, right, said)
			}
			trace, err := simulator.ParseLink(q.Link)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := search.Replay(trace); err != nil {
				t.Error(err)
			}
		}
		if len(kinds) != 5 {
			t.Errorf("kinds of questions: %v", kinds)
		}
	}
}

// What a page is told when it asks for something that does not exist.
func TestWrongRequests(t *testing.T) {
	var table game.Table
	defer table.Close()
	var at game.Position
	answer := table.Answer(context.Background(), []byte(`{"do":"level","number":2}`))
	if err := json.Unmarshal(answer, &at); err != nil || at.Lock != "setnx" {
		t.Fatal(at, err)
	}
	for request, want := range map[string]string{
		`{`:                            "cannot read",
		`{"do":"level","number":99}`:   fmt.Sprint("1 to ", len(play.Levels())),
		`{"do":"start","lock":"tokn"}`: "did you mean token",
		`{"do":"start","lock":"token","budget":"pauze=1"}`:                                   "did you mean pause",
		`{"do":"at","link":"x"}`:                                                             "trace",
		`{"do":"at","link":"` + at.Link[:len(at.Link)-4] + `"}`:                              "damaged",
		`{"do":"move","link":"` + at.Link + `","number":77}`:                                 "1 to 2",
		`{"do":"hint","link":"` + at.Link + `","harm":"HOLDS"}`:                              "OVERLAP",
		`{"do":"mend","link":"` + at.Link + `","harm":"DEADLOCK","lock":"nobody"}`:           "nobody",
		`{"do":"sing","link":"` + at.Link + `","harm":"DEADLOCK"}`:                           "sing",
		`{"do":"hint","link":"` + strings.Replace(at.Link, "locklab2", "locklab0", 1) + `"}`: "another version",
	} {
		answer := table.Answer(context.Background(), []byte(request))
		var e struct{ Error map[string]string }
		err := json.Unmarshal(answer, &e)
		if err != nil || !strings.Contains(e.Error["en"], want) || e.Error["zh"] == "" {
			t.Errorf("%s: %s", request, answer)
		}
	}
	again := table.Answer(context.Background(), []byte(`{"do":"at","link":"`+at.Link+`"}`))
	if first, _ := json.Marshal(at); !bytes.Equal(again, first) {
		t.Errorf("after errors the table answers\n%s\nand before\n%s", again, first)
	}
}

// TestQuestionNumbers: a number below the first is refused, and so is one beyond the last, again
// and again, whatever was asked for before.
func TestQuestionNumbers(t *testing.T) {
	var table game.Table
	defer table.Close()
	for range 2 {
		for number, want := range map[int]string{-1: `question -1`, 0: `"answers":[`, 1 << 40: `no more questions`} {
			request := fmt.Sprintf(`{"do":"question","seed":1,"locks":["token"],"number":%d}`, number)
			if answer := string(table.Answer(t.Context(), []byte(request))); !strings.Contains(answer, want) {
				t.Errorf("%s: %.300s", request, answer)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if answer := string(table.Answer(ctx,
		[]byte(`{"do":"question","seed":2,"number":1000000}`))); !strings.Contains(answer, "canceled") {
		t.Errorf("a request that nobody waits for is answered: %.300s", answer)
	}
}

// Every level has its texts in every language, and no text belongs to no level.
func TestLevelTexts(t *testing.T) {
	wanted := map[string]bool{}
	for _, l := range play.Levels() {
		for _, part := range []string{"title", "learn", "question"} {
			key := "level." + l.ID + "." + part
			wanted[key] = true
			for _, lang := range text.Languages() {
				if !text.In(lang).Has(key) {
					t.Errorf("%s: there is no %s", lang, key)
				}
			}
		}
		if l.Topic != "" && !text.In("en").Has("interview."+l.Topic+".question") {
			t.Errorf("level %s: there is no interview topic %s", l.ID, l.Topic)
		}
	}
	for _, key := range text.In("en").Keys("level.") {
		if !wanted[key] {
			t.Errorf("%s belongs to no level", key)
		}
	}
}
