package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"locklab/reports/game"
	"locklab/simulator/effort"
)

// typed runs the program with lines to read.
func typed(t *testing.T, lines string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(lines), &out, &errs, func(string) string { return "" })
	return code, out.String(), errs.String()
}

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
			code, out, errs := typed(t, c.lines, c.args...)
			if code != 0 || errs != "" {
				t.Errorf("exit status %d, standard error %q", code, errs)
			}
			golden(t, name+".txt", []byte(out))
		})
	}
}

// A link is the saved game: it opens the same position, as text and as JSON, and replay
// plays it.
func TestSavedGame(t *testing.T) {
	effort.Unwatched(t, "one goroutine plays")
	_, out, _ := typed(t, "1\n1\n2\nq\n", "play", "setnx", "--budget", "crash=1")
	link := strings.TrimSpace(out[strings.LastIndex(out, "locklab play ")+len("locklab play "):])
	_, shown, _ := strings.Cut(out[strings.LastIndex(out, "> 2\n"):], "\n")
	shown, _, _ = strings.Cut(shown, "pick>")
	if _, again, _ := typed(t, "", "play", link); !strings.Contains(again, shown) {
		t.Errorf("the link opens\n%s\nand was taken from\n%s", again, shown)
	}
	code, out, errs := typed(t, "", "play", link, "--json")
	var p game.PositionJSON
	if err := json.Unmarshal([]byte(out), &p); code != 0 || err != nil || p.Version != game.Format || p.Link != link || p.Steps != 3 || len(p.Moves) == 0 {
		t.Errorf("exit status %d, %v, %+v %s", code, err, p, errs)
	}
	if code, out, errs := call(t, "run", link); code != 0 || !strings.Contains(out, "setnx (003-A)") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}

func TestWrongGames(t *testing.T) {
	race := link(t)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"play"}, []string{"--level", "--levels"}},
		{[]string{"play", "tokn"}, []string{`"tokn"`, "did you mean token"}},
		{[]string{"play", "token", "setnx"}, []string{`"setnx"`}},
		{[]string{"play", "--level", "99"}, []string{"99", "1 to 32"}},
		{[]string{"play", "--level", "x"}, []string{`--level "x"`}},
		{[]string{"play", "token", "--level", "1"}, []string{"--level"}},
		{[]string{"play", "--levels", "token"}, []string{"--levels"}},
		{[]string{"play", "--level", "2", "--timing", "any"}, []string{"--level"}},
		{[]string{"play", "token", "--timing", "some"}, []string{"some", "any, lockstep"}},
		{[]string{"play", "token", "--nodes", "3"}, []string{"3", "token locks on one server"}},
		{[]string{"play", race, "--timing", "any"}, []string{"--timing"}},
		{[]string{"play", "token", "--budget", "pauze=1"}, []string{`"pauze"`, "did you mean pause"}},
		{[]string{"play", "token", "--clients", "9"}, []string{"9", "1 to 6"}},
		{[]string{"play", "token", "--harm", "holds"}, []string{`"holds"`, "OVERLAP"}},
		{[]string{"play", race}, []string{"gc-pause", "locklab play token"}},
		{[]string{"play", race[:len(race)-5]}, []string{"damaged"}},
		{[]string{"play", strings.Replace(race, "locklab2", "locklab0", 1)}, []string{"another version"}},
		{[]string{"play", race, "--budget", "crash=1"}, []string{"--budget"}},
		{[]string{"play", "quiz", "--count", "0"}, []string{"0", "1 to 40"}},
		{[]string{"play", "quiz", "--seed", "x"}, []string{`--seed "x"`}},
		{[]string{"play", "quiz", "token"}, []string{"token"}},
		{[]string{"play", "quiz", "--difficulty", "hrad"}, []string{"hrad", "easy, medium, hard"}},
		{[]string{"play", "quiz", "--strategies", "tokn"}, []string{"did you mean token"}},
		{[]string{"play", "quiz", "--lesson", "11"}, []string{"11", "1 to 10", "crash-before-expire"}},
		{[]string{"play", "quiz", "--strategies", "zk-recheck", "--difficulty", "easy"}, []string{"zk-recheck", "no such questions", "setnx-expire", "gc-pause"}},
		{[]string{"play", "quiz", "--lesson", "1", "--count", "20"}, []string{"--lesson 1", "not 20", "or less"}},
		{[]string{"serve", "--port", "99999"}, []string{"99999"}},
	} {
		code, out, errs := call(t, c.args...)
		if code != exitUsage || out != "" {
			t.Errorf("%v: exit status %d, standard output %q", c.args, code, out)
		}
		for _, w := range c.want {
			if !strings.Contains(errs, w) {
				t.Errorf("%v: %q does not say %q", c.args, strings.TrimSpace(errs), w)
			}
		}
	}
}
