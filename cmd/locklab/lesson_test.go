package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// A lesson is printed as a plan whose minutes add up, as JSON, and written as one file in the language of the
// command, which says how it is made again.
func TestLesson(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	dir := t.TempDir()
	file := filepath.Join(dir, "deck.html")
	code, out, errs := call(t, "lesson", "path", "3", "--minutes", "20", "--lang", "zh", "-o", file, "--open", "worksheet")
	if code != exitOK || !strings.Contains(out, "20 分钟") {
		t.Fatalf("exit status %d, %s\n%s", code, errs, out)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<html lang="zh-Hans">`, "locklab lesson path 3 --minutes 20", `"view":"worksheet"`, "setnx-expire"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want only the file", left, err)
	}
	code, out, errs = call(t, "lesson", "token", "gc-pause", "--json", "--questions", "0")
	var l struct {
		Version, Minutes int
		Steps            []struct {
			Kind, Heading, Question, Strategy, Scenario string
			Minutes                                     int
			Answer                                      []string
		}
	}
	if err := json.Unmarshal([]byte(out), &l); err != nil || code != exitOK || l.Version != schema {
		t.Fatalf("exit status %d, %s: %v\n%s", code, errs, err, out)
	}
	sum := 0
	for _, s := range l.Steps {
		sum += s.Minutes
		if s.Kind == "quiz" {
			t.Errorf("a question of a quiz without any: %v", s)
		}
	}
	if sum != l.Minutes || l.Steps[2].Strategy != "token" || l.Steps[2].Scenario != "gc-pause" || l.Steps[2].Answer == nil {
		t.Errorf("%d minutes, want %d; %+v", sum, l.Minutes, l.Steps[2])
	}
}

// What cannot be a lesson is refused before anything is played, with the nearest name, and an older file stays.
func TestLessonErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deck.html")
	if err := os.WriteFile(file, []byte("older"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"lesson":                                    "say what the lesson is about",
		"lesson tokn -o " + file:                    "did you mean token",
		"lesson gcpause -o " + file:                 "did you mean gc-pause",
		"lesson path 11 -o " + file:                 "1 to 10",
		"lesson token -o deck.pdf":                  ".html",
		"lesson token -o /dev/null/x.html":          "/dev/null",
		"lesson token --open slide":                 "did you mean slides",
		"lesson token --minutes 0":                  "5 to 240",
		"lesson token --questions 99":               "0 to 20",
		"lesson path path path path path path path": "60",
	} {
		if code, out, errs := call(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(errs, want) || out != "" {
			t.Errorf("%s: exit status %d, %q, want %q\n%s", args, code, errs, want, out)
		}
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "older" {
		t.Errorf("%q, %v: the older file is lost", content, err)
	}
}
