package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func init() {
	documents["lesson"] = []string{"lesson setnx-expire redlock"}
	completions = append(completions, completion{"lesson ", "path debate token R18 stamps", "LINK"},
		completion{"lesson token ", "redlock gc-pause", "LINK"},
		completion{"lesson token --open ", "worksheet", "lanes"})
	misuses = append(misuses, misuse{`lesson`, `say what the lesson is about`},
		misuse{`lesson token -o deck.pdf`, `.html`},
		misuse{`lesson token --open slide`, `did you mean slides`},
		misuse{`lesson token --questions 99`, `0 to 20`},
		misuse{`lesson path path path path path path path`, `60`})
}

// A lesson is printed as a plan, as JSON, and written as one file in the language of the
// command, which says how it is made again. What cannot be a lesson is refused, and an older file stays.
func TestLesson(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "deck.html")
	code, out, errs := call(t, "lesson", "path", "3", "--questions", "2", "--lang", "zh", "-o", file, "--open",
		"worksheet")
	if code != exitOK || !strings.Contains(out, "5 张幻灯片") {
		t.Fatalf("exit status %d, %s\n%s", code, errs, out)
	}
	content := contentOf(t, file)
	for _, want := range []string{`<html lang="zh-Hans">`, "locklab lesson path 3 --questions 2", `"view":"worksheet"`,
		"setnx-expire"} {
		if !strings.Contains(content, want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want only the file", left, err)
	}
	// The line that makes it again has its language.
	for _, page := range []string{"run token gc-pause", "lesson path 3"} {
		inChina := func(name string) string { return map[string]string{"LANG": "zh_CN.UTF-8"}[name] }
		args := append(strings.Fields(page), "-o", filepath.Join(dir, "page.html"))
		again := map[bool]string{false: dir + "/"}[page == "lesson path 3"] + "page.html --lang zh<" // for students
		again = "locklab " + page + " -o " + again
		if code := run(t.Context(), args, strings.NewReader(""), io.Discard, io.Discard, inChina); code != exitOK ||
			!strings.Contains(contentOf(t, dir, "page.html"), again) {
			t.Errorf("%s: exit status %d, or not made again by %q", page, code, again)
		}
		if err := os.Remove(filepath.Join(dir, "page.html")); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range []string{"tokn", "gcpause"} {
		code, _, errs := call(t, "lesson", wrong, "-o", file)
		if code != exitUsage || !strings.Contains(errs, "did you mean") || contentOf(t, file) != content {
			t.Errorf("%s: exit status %d, %s", wrong, code, errs)
		}
	}
	if code, _, errs := call(t, "lesson", "path", "3", "--course", "CS 425, Ms Li", "-o", file); code != exitOK ||
		!strings.Contains(contentOf(t, file), "--course &#39;CS 425, Ms Li&#39;") {
		t.Errorf("exit status %d, %s: the command that makes the file again is not quoted", code, errs)
	}
	code, out, errs = call(t, "lesson", "token", "gc-pause", "--json", "--questions", "0")
	l := dataOf[struct{ Steps []lessonStep }](t, out, "lesson")
	if code != exitOK || len(l.Steps) < 3 {
		t.Fatalf("exit status %d, %s\n%s", code, errs, out)
	}
	for _, s := range l.Steps {
		if s.Kind == "quiz" {
			t.Errorf("a question of a quiz without any: %v", s)
		}
	}
	if l.Steps[2].Lock != "token" || l.Steps[2].Race != "gc-pause" || l.Steps[2].Answer == nil {
		t.Errorf("%+v", l.Steps[2])
	}
}
