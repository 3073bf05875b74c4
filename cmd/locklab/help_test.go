package main

import (
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"

	"locklab/simulator/effort"
)

// The help of every command is in the reader's language, fits the width, and has no key
// or place that was not filled.
func TestHelp(t *testing.T) {
	unfilled := regexp.MustCompile(`help\.[a-z]|\{[a-z]+\}`)
	for _, command := range allCommands() {
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

// allCommands are the words of all commands: "", "demo", "chart par".
func allCommands() []string {
	all := []string{""}
	for _, c := range withChildren(newRoot(newTestEnv(nil, nil)).Commands()) {
		all = append(all, strings.TrimPrefix(c.CommandPath(), "locklab "))
	}
	return all
}

// A newcomer sees five commands first, which all work, and the names of all others, on half a screen.
func TestLanding(t *testing.T) {
	_, page, _ := call(t)
	if n := strings.Count(page, "\n"); n < 12 || n > 16 {
		t.Errorf("%d lines, want 12 to 16:\n%s", n, page)
	}
	if n := strings.Count(page, "\n  locklab "); n != 5 || len(landingCommands) != 5 {
		t.Errorf("%d commands to try, want 5:\n%s", n, page)
	}
	for _, c := range landingCommands {
		if code, _, errs := call(t, strings.Fields(c.line+" --help")...); code != exitOK {
			t.Errorf("%s: %s", c.line, errs)
		}
	}
	for _, g := range groups() {
		for _, c := range g.commands {
			if !strings.Contains(page, c.brief()) && g.name != "start" {
				t.Errorf("the page does not name %q:\n%s", c.brief(), page)
			}
		}
	}
}

// The help of all lists every command once, in a group; charts stand in the line of chart, and what is below live in its help.
func TestHelpListsEveryCommand(t *testing.T) {
	_, page, _ := call(t, "--help")
	for _, command := range allCommands() {
		name, sub, below := strings.Cut(command, " ")
		if command == "" || command == "help" || name == "live" && below {
			continue
		}
		if name == "chart" && below {
			_, page, _ := strings.Cut(page, "one chart: ")
			if line, _, _ := strings.Cut(page, "\n"); !slices.Contains(strings.Split(line, ", "), sub) {
				t.Errorf("the line of chart does not name %s: %s", sub, line)
			}
			continue
		}
		if n := strings.Count(page, "\n  "+command+"  "); n != 1 {
			t.Errorf("%s is listed %d times, want once:\n%s", command, n, page)
		}
	}
	if n := strings.Count(page, "\n"); n > 45 {
		t.Errorf("%d lines, want at most 45", n)
	}
}

// The first line of an output fits the width, as all others do.
func TestFirstLineFits(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	for _, command := range []string{
		"", "--help", "run token gc-pause", "run redlock getset-nil", "explain R18", "explain token gc-pause", "explain lease", "demo", "list",
		"play --levels", "play quiz --seed 1 --count 1", "matrix --strategies token --scenarios R18 --runs 1", "explore mutex --attempts 1",
	} {
		for _, lang := range []string{"en", "zh"} {
			_, out, errs := call(t, append(strings.Fields(command), "--width", "60", "--lang", lang)...)
			first, _, _ := strings.Cut(strings.TrimLeft(out, "\n"), "\n")
			if n := runewidth.StringWidth(first); n > 60 || n == 0 {
				t.Errorf("%s: the first line has %d columns, want 1 to 60: %s%s", command, n, first, errs)
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

// The version names the commit and whether files had changed since, where the build knows them.
func TestCommit(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for _, test := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{revision}, "0123456789ab"},
		{[]debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}, "0123456789ab"},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, revision}, "0123456789ab+dirty"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "12"}}, "12"},
	} {
		if got := commitOf(test.settings); got != test.want {
			t.Errorf("%v: %q, want %q", test.settings, got, test.want)
		}
	}
}
