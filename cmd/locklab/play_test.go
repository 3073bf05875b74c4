package main

import (
	"encoding/json"
	"strings"
	"testing"

	"locklab/reports/game"
	"locklab/simulator/effort"
)

// What a game looks like. The lines that were typed stand after the prompts.
func TestGames(t *testing.T) {
	effort.Unwatched(t, "one goroutine plays")
	for name, c := range map[string]struct {
		lines string
		args  []string
	}{
		"play":         {"1\n1\n1\nu\nh\n99\nno\nm redlok\ng\nm\n?\nq\n", []string{"play", "token", "--budget", "pause=1"}},
		"play.level":   {"2\n1\n", []string{"play", "--level", "1"}},                                              // ends with the input
		"play.zh":      {"g\nm setnx\nl\nq\n", []string{"play", "--level", "4", "--lang", "zh"}},                  // what another lock cannot come to
		"play.holds":   {"1\nh\nno\nh\nq\n", []string{"play", "token", "--budget", "crash=1", "--attempts", "1"}}, // nothing goes wrong
		"play.any":     {"1\nh\nq\n", []string{"play", "token", "--timing", "any", "--fenced", "--budget", "pause=1", "--attempts", "1"}},
		"play.cannot":  {"1\nh\nno\nq\n", []string{"play", "--level", "11"}},
		"play.forced":  {"1\n1\n3\nu\nu\nq\n", []string{"play", "--level", "2"}},
		"play.given":   {"g\nq\n", []string{"play", "--level", "20", "--lang", "both"}}, // up
		"play.servers": {"g\nq\n", []string{"play", "--level", "23", "--width", "100"}},
		"play.levels":  {"", []string{"play", "--levels"}},
		"quiz":         {"a\n2\nx\nl\nc\n1\nq\n", []string{"play", "quiz", "--seed", "7"}},
		"quiz.lesson":  {"a\nb\n", []string{"play", "quiz", "--seed", "1", "--lesson", "6", "--difficulty", "easy", "--count", "2"}},
		"quiz.zh":      {"a\n", []string{"play", "quiz", "--seed", "3", "--count", "2", "--lang", "zh"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := callWith(t.Context(), c.lines, c.args...)
			if code != 0 || errs != "" {
				t.Errorf("exit status %d, standard error %q", code, errs)
			}
			golden(t, name+".txt", out)
		})
	}
}

// A link is the saved game: it opens the same position, as text and as JSON, and replay
// plays it.
func TestSavedGame(t *testing.T) {
	_, out, _ := callWith(t.Context(), "1\n1\n2\nq\n", "play", "setnx", "--budget", "crash=1")
	link := strings.TrimSpace(out[strings.LastIndex(out, "locklab play ")+len("locklab play "):])
	_, shown, _ := strings.Cut(out[strings.LastIndex(out, "> 2\n"):], "\n")
	shown, _, _ = strings.Cut(shown, "pick>")
	if _, again, _ := callWith(t.Context(), "", "play", link); !strings.Contains(again, shown) {
		t.Errorf("the link opens\n%s\nand was taken from\n%s", again, shown)
	}
	code, out, errs := callWith(t.Context(), "", "play", link, "--json")
	var p game.PositionJSON
	if err := json.Unmarshal([]byte(out), &p); code != 0 || err != nil || p.Version != game.Format || p.Link != link || p.Steps != 3 || len(p.Moves) == 0 {
		t.Errorf("exit status %d, %v, %+v %s", code, err, p, errs)
	}
	if code, out, errs := call(t, "run", link); code != 0 || !strings.Contains(out, "setnx (003-A)") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}
