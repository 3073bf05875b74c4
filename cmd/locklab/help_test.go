package main

import (
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"unicode"

	"locklab/reports/layout"
	"locklab/reports/lessons"
	"locklab/scenarios"
	"locklab/simulator/effort"
)

// The help of every command is in the reader's language, has no key or place that was not filled, and fits the width
// and, but for that of explore, which has all bounds, a screen.
func TestHelp(t *testing.T) {
	// The h may be cut.
	missing, unfilled := regexp.MustCompile(`\bh?(elp\.[a-z0-9.-]+)`), regexp.MustCompile(`\{[a-z]+\}`)
	for _, command := range allCommands() {
		for _, lang := range []string{"en", "zh"} {
			args := append(strings.Fields(command), "--help", "--lang", lang)
			code, out, errs := call(t, args...)
			if code != exitOK || errs != "" {
				t.Errorf("%v: exit status %d, %s", args, code, errs)
			}
			han := strings.ContainsFunc(out, func(r rune) bool { return unicode.Is(unicode.Han, r) })
			for _, m := range missing.FindAllStringSubmatch(out, -1) {
				t.Errorf("%v: write the line %q in reports/text/%s", args, "h"+m[1]+" = …", lang)
			}
			if found := unfilled.FindString(out); found != "" || han != (lang == "zh") {
				t.Errorf("%v: %q, Chinese %t:\n%s", args, found, han, out)
			}
			for line := range strings.Lines(out) {
				if layout.Width(strings.TrimRight(line, "\n")) > defaultWidth &&
					!strings.HasPrefix(line, "  locklab ") {
					t.Errorf("%v: too wide: %s", args, line)
				}
			}
			if n := strings.Count(out, "\n"); n > 45 && command != "explore" {
				t.Errorf("%v: %d lines, want at most 45", args, n)
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

// The help of all lists every command once, in a group; charts stand in the line of chart, and what is below live in
// its help.
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
		"", "--help", "run token gc-pause", "run redlock getset-nil", "explain R18", "explain token gc-pause",
		"explain lease", "demo", "list",
		"play", "play quiz --seed 1 --questions 1", "matrix --locks token --races R18", "explore mutex --attempts 1",
	} {
		for _, lang := range []string{"en", "zh"} {
			_, out, errs := call(t, append(strings.Fields(command), "--width", "60", "--lang", lang)...)
			first, _, _ := strings.Cut(strings.TrimLeft(out, "\n"), "\n")
			if n := layout.Width(first); n > 60 || n == 0 {
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
		at := debug.BuildSetting{Key: "vcs.time", Value: "2031-01-02T03:04:05Z"}
		if got, date := commitOf(append(test.settings, at)); got != test.want || date != "2031-01-02" {
			t.Errorf("%v: %q of %q, want %q", test.settings, got, date, test.want)
		}
		if _, date := commitOf(test.settings); date != "" {
			t.Errorf("a date is invented: %q", date)
		}
	}
}

// A completion is a line as it was typed, whose last word is completed, with some of what is offered, and what is not.
type completion struct{ line, has, not string }

// completions are those of commands with tests of their own.
var completions []completion

// A shell completes the names that a command takes at this place, and no others.
func TestCompletion(t *testing.T) {
	for _, test := range slices.Concat(completions, []completion{
		{"", "demo chart completion", "token"},
		{"chart ", "par sweep", "demo"},
		{"chart par ", "", "token"},
		{"play ", "quiz token 002-C", "gc-pause"},
		{"run ", "token 002-C 003-A redlock", "gc-pause"},
		{"run 002-", "002-C", "token"},
		{"run token ", "gc-pause R18", "redlock"},
		{"run token gc-pause ", "", "gc-pause"},
		{"run token gc-pause --expect ", "OVERLAP HOLDS N/A", "token"},
		{"run token gc-pause --view ", "lanes story", "token"},
		{"run LINK --against red", "redlock", "token"},
		{"explain ", "path interview lease token R18 003-C", "LINK"},
		{"explain token ", "gc-pause R18", "token"},
		{"explain interview ", "ttl", "token"},
		{"explore ", "token", "gc-pause"},
		{"list ", "faults", "token"},
		{"matrix --locks ", "token 002-C", "gc-pause"},
		{"matrix --locks token,redl", "token,redlock", "token"},
		{"matrix --races R18,R2", "R18,R20 R18,R21", "R18"},
		{"play token --harm ", "DEADLOCK", "HOLDS"},
		{"chart sweep pause/ttl --verdict ", "OVERLAP", "HOLDS"},
		{"play quiz --lesson ", "10 token gc-pause", "redis"},
		{"completion ", "bash fish", "token"},
		{"demo --lang ", "zh both", "token"},
	}) {
		offered := offers(t, strings.Split(test.line, " ")...)
		for _, name := range strings.Fields(test.has) {
			if !slices.Contains(offered, name) {
				t.Errorf("%q does not offer %s", test.line, name)
			}
		}
		if slices.Contains(offered, test.not) || test.has == "" && len(offered) > 0 {
			t.Errorf("%q offers %s, or too much: %v", test.line, test.not, offered)
		}
	}
}

// offers returns what a shell offers for the last word.
func offers(t *testing.T, words ...string) (names []string) {
	t.Helper()
	code, out, _ := call(t, append([]string{"__complete"}, words...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := lines[len(lines)-1]; code != exitOK || last != ":4" { // without files
		t.Errorf("%q: exit status %d, directive %s", words, code, last)
	}
	for _, line := range lines[:len(lines)-1] {
		name, _, _ := strings.Cut(line, "\t")
		names = append(names, name)
	}
	return names
}

// Files are offered where they are taken, and beside a name stands what it is, in the reader's language.
func TestCompletionSays(t *testing.T) {
	for _, line := range []string{"merge ", "check "} {
		if _, out, _ := call(t, append([]string{"__complete"}, strings.Split(line, " ")...)...); !strings.HasSuffix(out,
			":0\n") {
			t.Errorf("%q: %s", line, out)
		}
	}
	race, err := scenarios.ByName("R18")
	if err != nil {
		t.Fatal(err)
	}
	_, out, _ := call(t, "__complete", "--lang", "zh", "run", "token", "R18")
	if want := "R18\t" + lessons.Story("zh", race, "title") + "\n"; !strings.Contains(out, want) {
		t.Errorf("%q, want %q", out, want)
	}
}

// Every shell gets a script that asks locklab.
func TestCompletionScripts(t *testing.T) {
	for _, shell := range shellNames {
		if code, script, errs := call(t, "completion", shell); code != exitOK || errs != "" ||
			!strings.Contains(script, "__complete") {
			t.Errorf("%s: exit status %d, %s%.200s", shell, code, errs, script)
		}
	}
}
