package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lesson is printed as a plan whose minutes add up, as JSON, and written as one file in the language of the
// command, which says how it is made again. What cannot be a lesson is refused, and an older file stays.
func TestLesson(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "deck.html")
	code, out, errs := call(t, "lesson", "path", "3", "--minutes", "20", "--lang", "zh", "-o", file, "--open", "worksheet")
	if code != exitOK || !strings.Contains(out, "20 分钟") {
		t.Fatalf("exit status %d, %s\n%s", code, errs, out)
	}
	content := contentOf(t, file)
	for _, want := range []string{`<html lang="zh-Hans">`, "locklab lesson path 3 --minutes 20", `"view":"worksheet"`, "setnx-expire"} {
		if !strings.Contains(content, want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v: want only the file", left, err)
	}
	for _, wrong := range []string{"tokn", "gcpause"} {
		code, _, errs := call(t, "lesson", wrong, "-o", file)
		if code != exitUsage || !strings.Contains(errs, "did you mean") || contentOf(t, file) != content {
			t.Errorf("%s: exit status %d, %s", wrong, code, errs)
		}
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

// TestInit: the template is copied, as a module of its own or into another one, and no file is overwritten.
func TestInit(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "my-lock")
	code, out, errs := call(t, "init", own)
	if code != exitOK || !strings.Contains(out, "go.mod, go.sum, mylock_test.go") {
		t.Fatalf("exit status %d, %s%s", code, out, errs)
	}
	module := contentOf(t, own, "go.mod")
	for _, want := range []string{"module example.com/mylock\n\ngo 1.", "godebug randseednop=0", "\nreplace " + modulePath() + " => \"/"} {
		if !strings.Contains(module, want) {
			t.Errorf("%q is missing in\n%s", want, module)
		}
	}
	if is, want := contentOf(t, own, "mylock_test.go"), contentOf(t, template, "mylock_test.go"); is != want {
		t.Error("the test is not that of the template")
	}
	if err := os.Remove(filepath.Join(own, "go.mod")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "init", own); code != exitUsage || !strings.Contains(errs, "go.sum is there already") {
		t.Errorf("exit status %d, %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join(own, "go.mod")); err == nil {
		t.Error("it wrote go.mod, although it refused")
	}

	for name, text := range map[string]string{"go.mod": "module example.com/shop\n", "cart/cart.go": "package basket\n"} {
		fileWith(t, text, dir, name)
	}
	code, out, errs = call(t, "init", filepath.Join(dir, "cart"))
	if code != exitOK || !strings.Contains(out, "require "+modulePath()+" v0.0.0\nreplace "+modulePath()+" => ") {
		t.Errorf("exit status %d, %s%s", code, out, errs)
	}
	if test := contentOf(t, dir, "cart/mylock_test.go"); !strings.HasPrefix(test, "package basket\n") {
		t.Errorf("it begins with %.30q", test)
	}
	if code, _, errs := call(t, "init", filepath.Join(dir, "x"), "--lab", dir); code != exitUsage || !strings.Contains(errs, "with --lab") {
		t.Errorf("exit status %d, %s", code, errs)
	}
}
