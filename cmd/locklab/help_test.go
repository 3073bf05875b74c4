package main

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"

	"locklab/simulator/effort"
)

// The help of every command is in the reader's language, fits the width, and has no key
// or place that was not filled.
func TestHelp(t *testing.T) {
	effort.Unwatched(t, "one goroutine prints")
	unfilled := regexp.MustCompile(`help\.[a-z]|\{[a-z]+\}`)
	for _, command := range []string{"", "demo", "list", "run", "explain", "replay", "matrix", "sweep", "explore", "verify", "par", "tolerance", "check", "rate", "price", "recovery", "waiting", "help", "merge", "fleet", "fleet run", "fleet worker", "live", "live run", "live replay", "live matrix", "live verify", "second-opinion"} {
		for _, lang := range []string{"en", "zh"} {
			args := append(strings.Fields(command), "--help", "--lang", lang, "--width", "100")
			code, out, errs := call(t, args...)
			if code != exitOK || errs != "" {
				t.Errorf("%v: exit status %d, %s", args, code, errs)
			}
			han := strings.ContainsFunc(out, func(r rune) bool { return unicode.Is(unicode.Han, r) })
			if found := unfilled.FindString(out); found != "" || han != (lang == "zh") {
				t.Errorf("%v: %q, Chinese %t:\n%s", args, found, han, out)
			}
			for line := range strings.Lines(out) {
				if runewidth.StringWidth(strings.TrimRight(line, "\n")) > 100 && !strings.HasPrefix(line, "  locklab ") {
					t.Errorf("%v: too wide: %s", args, line)
				}
			}
		}
	}
}

// The language is known from the environment too.
func TestHelpByEnvironment(t *testing.T) {
	for name, value := range map[string]string{"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_TW.UTF-8"} {
		e := newEnv(nil, nil, nil, func(n string) string {
			if n == name {
				return value
			}
			return ""
		})
		if e.guessLanguage(nil); e.Lang != "zh" {
			t.Errorf("%s=%s: %s", name, value, e.Lang)
		}
		if e.guessLanguage([]string{"--lang", "en"}); e.Lang != "en" {
			t.Errorf("--lang en beside %s=%s: %s", name, value, e.Lang)
		}
	}
}
