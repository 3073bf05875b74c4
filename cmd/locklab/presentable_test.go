package main

import (
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locklab/reports/report"
	"locklab/simulator/effort"
)

// No message repeats all of a long input.
func TestMessagesAreShort(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	long := strings.Repeat("x", 130<<10)
	spaced := strings.Repeat("x ", 65<<10)
	for _, args := range [][]string{
		{long}, {"run", long, "gc-pause"}, {"run", "token", long}, {"run", "token", "R18", "--set", long},
		{"run", "token", "R18", "--budget", long},
		{"run", "token", "R18", "--expect", long}, {"run", "token", "R18", "--view", long}, {"explain", long},
		{"explain", "glossary", spaced},
		{"run", long}, {"run", "locklab2-" + long}, {"chart", "sweep", long}, {"chart", "sweep", "pause/ttl=" + long},
		{"explore", "token", "--retries", long},
		{"run", "token", "R18", "--budget", spaced}, {"run", "token", "R18", "-o", long}, {"list", long},
		{"matrix", "--locks", long},
		{"verify", "--contract", contractFile(t, long)}, {"verify", "--contract", contractFile(t, "["+long+"]")},
		{"verify", "--contract", contractFile(t, "[gc-pause]\n"+long+" HOLDS")},
		{"verify", "--contract", contractFile(t, "[search "+spaced+"]")},
		{"verify", "--contract", contractFile(t, "[gc-pause]\ntoken "+strings.ToUpper(long))},
	} {
		code, out, errs := call(t, args...)
		if code != exitUsage || len(out) > 0 || len(errs) > 2000 {
			t.Errorf("%.40q: exit status %d, %d bytes: %.300s", args, code, len(errs), errs)
		}
	}
}

// control finds what no output may hold of what came from outside.
var control = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f]|\x{202e}`)

// What comes from outside reaches no output with its control characters.
func TestNothingControlsTheTerminal(t *testing.T) {
	dir := t.TempDir()
	evil := filepath.Join(dir, "\x1b[31mred\u202e\a")
	contract := "[gc-pause]\ntoken HOLDS | \x1b[31m\n"
	fileWith(t, contract, evil+".txt")
	for _, args := range [][]string{
		{"run", evil}, {"explain", evil}, {"run", "token\x1b", "R18"}, {"run", "token", "R18", "-o", evil + ".json"},
		{"run", "token", "R18", "-o", evil + ".pdf"}, {"matrix", "-o", "/proc/" + filepath.Base(evil)},
		{"verify", "--contract", evil},
		{"verify", "--contract", contractFile(t, "[\x1b]\n")},
		{"verify", "--contract", contractFile(t, "[search \x1b=\x1b]\n")},
		{"verify", "--contract", contractFile(t, "[gc-pause]\n\x1b HOLDS\n")},
		{"verify", "--contract", contractFile(t, "[gc-pause]\ntoken \x1b\n")},
		{"verify", "--contract", evil + ".txt", "--annotations", "github", "--junit", dir + "/j.xml", "--summary", dir +
			"/s.md"},
	} {
		_, out, errs := call(t, args...)
		if m := control.FindString(out + errs); m != "" {
			t.Errorf("%q: %q in %s%s", args, m, errs, out)
		}
	}
	for _, name := range []string{"j.xml", "s.md"} {
		text := contentOf(t, dir, name)
		if m := control.FindString(text); m != "" || !strings.Contains(text, "red") {
			t.Errorf("%s: %q", name, m)
		}
	}
}

func TestVersion(t *testing.T) {
	code, out, errs := call(t, "--version")
	says := regexp.MustCompile(`^locklab \S+, commit unknown, go1\S+, trace format 2, output format 3\n$`)
	if code != exitOK || !says.MatchString(out) {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
	_, out, _ = call(t, "--version", "--json")
	if v := dataOf[versionJSON](t, out, "version"); v.Go == "" || v.Locklab == "" {
		t.Error(out)
	}
}

// The entry for BibTeX has an author, and of version, date and address what the build knows; LaTeX sets its command as
// it was typed.
func TestCite(t *testing.T) {
	for _, test := range []struct {
		v                           versionJSON
		lang, page, module, command string
		key                         string
		want                        map[string]string
	}{
		{versionJSON{Locklab: "v1.2", Commit: "0123ab+dirty", Date: "2026-11-30", Year: "2026"}, "en", "",
			"github.com/a/locklab", "locklab run a_b --set ttl=5s --cite", "locklab-0123abdirty", map[string]string{
				"author": "{The authors of locklab}", "version": "v1.2, commit 0123ab+dirty", "date": "2026-11-30",
				"year": "2026",
				"title": "{locklab}: run, break and compare the locks that people have built on Redis, " +
					"ZooKeeper and databases",
				"url": "https://github.com/a/locklab", "note": `Command: locklab run a\_b -{}-set ttl=5s`}},
		{versionJSON{Locklab: "v0-0123ab", Commit: "0123ab"}, "en", "https://x.org/lab", "locklab", "locklab",
			"locklab-0123ab",
			map[string]string{"author": "{The authors of locklab}", "version": "v0-0123ab", "url": "https://x.org/lab",
				"title": "{locklab}: run, break and compare the locks that people have built on Redis, " +
					"ZooKeeper and databases"}},
		{versionJSON{Locklab: "(devel)"}, "zh", "", "locklab", "locklab", "locklab-devel", map[string]string{
			"author": "{locklab 的作者}", "title": "{locklab}: 运行、攻破并比较 Redis、ZooKeeper 和数据库上的分布式锁",
			"version": "(devel)"}},
	} {
		var b strings.Builder
		e := newEnv(nil, &b, io.Discard,
			func(name string) string { return map[string]string{"LOCKLAB_PAGE": test.page}[name] })
		e.Lang = test.lang
		test.v.cite(e.console, test.module, test.command)
		if key, got := bibTeX(t, b.String()); key != test.key || !maps.Equal(got, test.want) {
			t.Errorf("%s: %q, want %s: %q", key, got, test.key, test.want)
		}
	}
	for args, note := range map[string]string{"--cite": "", "chart par --cite": "Command: locklab chart par"} {
		code, out, errs := call(t, strings.Fields(args)...)
		if _, got := bibTeX(t, out); code != exitOK || got["version"] != report.Built() || got["note"] != note {
			t.Errorf("%s: exit status %d: %s%s", args, code, out, errs)
		}
	}
}

// bibTeX reads an entry: its key and fields. Braces are in pairs, as BibTeX counts them.
func bibTeX(t *testing.T, entry string) (key string, fields map[string]string) {
	t.Helper()
	whole := regexp.MustCompile(`^@software\{([0-9A-Za-z.-]+),\n((?:  [a-z]+ += ` +
		`\{.*\},\n)+)\}\n$`).FindStringSubmatch(entry)
	if whole == nil {
		t.Fatalf("no entry: %s", entry)
	}
	fields = map[string]string{}
	for line := range strings.Lines(whole[2]) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(value), "{"), "},")
		if open := strings.Count(value, "{"); open != strings.Count(value, "}") {
			t.Errorf("braces are not in pairs: %s", line)
		}
		fields[strings.TrimSpace(name)] = value
	}
	return whole[1], fields
}

// A file that was not written because nothing was found is no mystery.
func TestNothingFound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none.json")
	code, _, errs := call(t, "explore", "token", "--attempts", "1", "--budget", "crash=1", "-o", file)
	if code != exitOK || !strings.Contains(errs, file+" was not written: there is no counterexample") {
		t.Errorf("exit status %d: %s", code, errs)
	}
}
