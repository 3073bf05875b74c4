package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/layout"
	"locklab/reports/lessons"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/simulator/effort"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// watchedCommands is why the race detector need not see a test of commands.
const watchedCommands = "TestMergeDiffers and TestMergeRefuses show the goroutines of commands"

var update = flag.Bool("update", false, "write the golden files and the README's blocks anew")

// newTestEnv returns an environment without input, in English and without a terminal.
func newTestEnv(stdout, stderr io.Writer) *env {
	return newEnv(strings.NewReader(""), stdout, stderr, func(string) string { return "" })
}

// call runs the program as a shell would, in English and without a terminal.
func call(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return callWith(t.Context(), "", args...)
}

// stopped is call after Ctrl-C.
func stopped(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	return callWith(ctx, "", args...)
}

// callWith is call with a context and standard input.
func callWith(ctx context.Context, input string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	args = append([]string{}, args...) // of nil cobra would make those of the test
	code = run(ctx, args, strings.NewReader(input), &out, &errs, func(string) string { return "" })
	return code, out.String(), errs.String()
}

// contentOf returns the content of a file.
func contentOf(t testing.TB, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// fileWith writes a file, with the folders above it, and returns its path.
func fileWith(t testing.TB, content string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// contractFile returns the name of a file with this text.
func contractFile(t testing.TB, text string) string {
	t.Helper()
	return fileWith(t, text, t.TempDir(), "my-contract.txt")
}

// allFilled checks that files were written, and that they are not empty.
func allFilled(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if len(contentOf(t, dir, name)) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

// allCells is how many cells the whole grid has.
func allCells() int { return len(algorithms.All()) * len(scenarios.All()) }

// golden compares with testdata/name, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		fileWith(t, got, path)
	} else if contentOf(t, path) != got {
		t.Errorf("%s has changed; go test ./cmd/... -update writes it anew, then read the diff\ngot:\n%.2000s",
			path, got)
	}
}

// What people see, command by command. The files are what to read first when a
// change makes this test fail. No line is wider than the output, but for commands,
// JSON and Markdown, which stay whole.
func TestOutputs(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, watchedCommands)
	for name, args := range map[string][]string{
		"landing":           {},
		"landing.zh":        {"--lang", "zh"},
		"demo":              {"demo", "--width", "80"},
		"demo.zh":           {"demo", "--width", "80", "--lang", "zh"},
		"list":              {"list"},
		"run":               {"run", "token", "gc-pause"},
		"run.story.zh":      {"run", "setnx-expire", "R02", "--view", "story", "--lang", "zh"},
		"run.redis":         {"run", "getset", "getset-nil", "--view", "redis"},
		"run.lock":          {"run", "zk-mutex", "--lang", "both"},
		"run.na":            {"run", "redlock", "getset-nil"},
		"run.idle":          {"run", "db-for-update", "gc-pause", "--set", "idle=8h"},
		"run.narrow":        {"run", "watchdog", "failed-renewal", "--width", "80"},
		"explain.lock":      {"explain", "003-C"},
		"explain.race":      {"explain", "R18", "--lang", "both"},
		"explain.run":       {"explain", "token", "gc-pause"},
		"explain.run.zh":    {"explain", "setnx-expire", "R02", "--lang", "zh", "--width", "80"},
		"explain.path.zh":   {"explain", "path", "5", "--lang", "zh", "--width", "80"},
		"explain.interview": {"explain", "interview", "ttl"},
		"explain.term":      {"explain", "lease", "--lang", "both"},
		"explain.debate":    {"explain", "debate"},
		"explain.need":      {"explain", "need"},
		"lesson":            {"lesson", "setnx-expire", "redlock"},
		"explain.judge":     {"explain", "judge"},
		"prove":             {"prove", "token", "--budget", "restart=1"},
		"prove.views":       {"prove", "token", "--views", "--lang", "both"},
		"prove.any.zh":      {"prove", "setnx", "--budget", "crash=any,lose-request=any", "--lang", "zh"},
		"matrix.part":       {"matrix", "--locks", "token,redlock", "--races", "R21,restart", "--width", "80"},
		"sweep":             {"chart", "sweep", "pause/ttl=0:2:0.5", "--runs", "27", "--locks", "setnx,token,watchdog"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := call(t, args...)
			if code != 0 || errs != "" {
				t.Errorf("exit status %d, standard error %q", code, errs)
			}
			if name == "explain.race" { // whatever the locks are
				before, after, ok := withoutLocks(out)
				if !ok {
					t.Fatal("the page does not name the locks")
				}
				out = before + after
			}
			golden(t, name+".txt", out)
			if n := strings.Count(out, "\n"); strings.HasPrefix(name, "demo") && n > 38 { // of a screen of 40
				t.Errorf("%d lines, more than 38", n)
			}
			width := defaultWidth
			if i := slices.Index(args, "--width"); i >= 0 {
				width, _ = strconv.Atoi(args[i+1])
			}
			for line := range strings.Lines(out) {
				whole := strings.HasPrefix(line, "  locklab ") || line[0] == '{'
				if n := layout.Width(strings.TrimRight(line, "\n")); n > width && !whole {
					t.Errorf("%d columns, of %d: %s", n, width, line)
				}
			}
		})
	}
}

// withoutLocks is the page of a race before and after the list of the locks, in both languages.
func withoutLocks(page string) (before, after string, ok bool) {
	before, rest, ok := strings.Cut(page, "Which locks fail")
	_, after, found := strings.Cut(rest, "\n\n")
	return before, after, ok && found
}

// The page of a race has every lock to which it applies once, below what the contract says of it.
func TestRaceNamesLocks(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	_, page, _ := call(t, "explain", "R18", "--lang", "both")
	before, after, _ := withoutLocks(page)
	list := strings.TrimSuffix(strings.TrimPrefix(page, before), after)
	_, list, _ = strings.Cut(list, "\n")
	got, words := map[string]string{}, ""
	for line := range strings.Lines(strings.TrimRight(list, "\n")) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutSuffix(line, ":"); ok {
			words, _, _ = strings.Cut(head, " (")
			continue
		}
		for id := range strings.FieldsSeq(strings.ReplaceAll(line, ",", " ")) {
			if got[id] != "" {
				t.Errorf("%s is there twice", id)
			}
			got[id] = words
		}
	}
	applies := 0
	for _, e := range algorithms.All() {
		want := ""
		for _, x := range contract.Own() {
			if x.Lock.ID == e.ID && !x.IsSearch() && x.Race.ID == "gc-pause" {
				want = contract.FormatVerdicts(x.Expected, x.Instants)
			}
		}
		if want == "N/A" {
			want = ""
		} else if want != "" {
			applies++
		}
		if got[e.ID] != want {
			t.Errorf("%s stands below %q, and the contract says %q", e.ID, got[e.ID], want)
		}
	}
	if len(got) != applies || applies == 0 {
		t.Errorf("there are %d locks, want %d", len(got), applies)
	}
}

// link is a trace of the token lock in gc-pause.
func link(t testing.TB) string {
	t.Helper()
	code, out, errs := call(t, "run", "token", "gc-pause", "--seed", "3", "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	return dataOf[runJSON](t, out, runKind).Trace
}

// A link plays the same run: the same JSON, byte for byte. So does the file that -o wrote, and the JSON itself.
func TestReplayIsTheSameRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.json")
	_, first, _ := call(t, "run", "redlock", "restart", "--seed", "5", "--json", "-o", file)
	trace := dataOf[runJSON](t, first, runKind).Trace
	for _, arg := range []string{trace, file, fileWith(t, trace+"\n", t.TempDir(), "trace.txt")} {
		if code, again, errs := call(t, "run", arg, "--json"); code != 0 || again != first {
			t.Errorf("run %.20s…: exit status %d, same %t, %s", arg, code, again == first, errs)
		}
	}
}

// A run is a picture for a slide too, in the language of the command.
func TestRunAsPicture(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	dir := t.TempDir()
	for _, args := range []string{"-o DIR/run.png -o DIR/run.svg", "-o DIR/zh.svg --lang zh"} {
		command := "run token gc-pause " + strings.ReplaceAll(args, "DIR", dir)
		if code, _, errs := call(t, strings.Fields(command)...); code != exitOK {
			t.Fatal(errs)
		}
	}
	if picture, err := png.DecodeConfig(strings.NewReader(contentOf(t, dir, "run.png"))); err != nil ||
		picture.Width != 1600 {
		t.Errorf("%v, %v", picture, err)
	}
	en, zh := contentOf(t, dir, "run.svg"), contentOf(t, dir, "zh.svg")
	if en == zh || strings.Contains(en+zh, "<text") {
		t.Error("an SVG needs a font, or both languages are the same")
	}
}

// --expect turns a verdict into an exit status; without it a lock that falls is what one came to see. A link plays
// the same attack on another lock.
func TestExpect(t *testing.T) {
	link := link(t)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"token gc-pause", exitOK, ""},
		{"token gc-pause --expect overlap,stale-write", exitOK, ""},
		{"token gc-pause --expect holds", exitDiffers, ""},
		{"redlock getset-nil --expect n/a", exitOK, ""},
		{"token gc-pause --set pause=0s", exitNoAnswer, ""},
		{link + " --against setnx --expect holds", exitOK, "setnx (003-A) in gc-pause"},
	} {
		code, out, errs := call(t, strings.Fields("run "+c.args)...)
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%s: exit status %d, want %d: %s%s", c.args, code, c.code, errs, out)
		}
	}
}

// A page is a file of Markdown or HTML too.
func TestExplainAsFile(t *testing.T) {
	dir := t.TempDir()
	for file, begins := range map[string]string{"debate.md": "# ", "debate.html": "<!DOCTYPE html>"} {
		code, out, errs := call(t, "explain", "debate", "--lang", "zh", "-o", filepath.Join(dir, file))
		if code != exitOK || out != "" || !strings.Contains(errs, file) ||
			!strings.HasPrefix(contentOf(t, dir, file), begins) {
			t.Errorf("%s: exit status %d: %s%s", file, code, out, errs)
		}
	}
	golden(t, "explain.debate.md.txt", contentOf(t, dir, "debate.md"))
	if _, out, _ := call(t, "explain", "lease", "--json", "-o", filepath.Join(dir, "lease.md")); !strings.HasPrefix(out,
		"{") ||
		!strings.HasPrefix(contentOf(t, dir, "lease.md"), "# ") {
		t.Errorf("--json beside -o prints %.40q", out)
	}
}

// A lock and a race without a command are run, and so is a link.
func TestRunWithoutItsName(t *testing.T) {
	link := link(t)
	for _, args := range [][]string{{"token", "gc-pause", "--seed", "3"},
		{"002-C", "R18", "--expect", "overlap,stale-write"}, {link}} {
		_, want, _ := call(t, append([]string{"run"}, args...)...)
		if code, out, errs := call(t, args...); code != exitOK || out != want || errs != "" {
			t.Errorf("%v: exit status %d: %s%s", args, code, errs, out)
		}
	}
}

// Output that cannot be written is no success.
func TestLostOutput(t *testing.T) {
	for _, line := range []string{"list", "explain R18", "run token R18",
		"chart sweep pause/ttl=1:1:1 --runs 9 --shard 1/1"} {
		var errs bytes.Buffer
		code := run(t.Context(), strings.Fields(line), nil, full{}, &errs, func(string) string { return "" })
		if code != exitInternal || !strings.Contains(errs.String(), "no room") {
			t.Errorf("%s: exit status %d: %s", line, code, errs.String())
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// The numbers of a report are those of testdata. Package chart tests how pictures are
// drawn; -update draws those of the two READMEs.
func TestReport(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine writes")
	dir := t.TempDir()
	write := func(locks []string, more ...string) {
		code, _, errs := call(t, append([]string{"matrix", "--locks", strings.Join(locks, ","), "--races",
			strings.Join(report.KnownRaces, ","), "-o", dir}, more...)...)
		if code != 0 {
			t.Fatal(errs)
		}
	}
	if *update {
		for lang, name := range map[string]string{"en": "grid.png", "zh": "grid.zh.png"} {
			write(milestones(), "--lang", lang)
			golden(t, name, contentOf(t, dir, "grid.png"))
		}
	}
	locks := []string{"setnx", "token"} // the searches of the others take most of a minute
	write(locks)
	golden(t, "grid.csv", contentOf(t, dir, "grid.csv"))
	namedBy(t, dir, "run")
	write(locks, "--all")
	namedBy(t, dir, "charts")
	page := contentOf(t, dir, "report.html")
	if len(page) > 6<<20 || regexp.MustCompile(`(?i)(src|href)="https?:`).MatchString(page) {
		t.Errorf("the page has %d bytes, or wants the network", len(page))
	}
	for _, lang := range text.Languages() { // as make run makes it, with all races
		code, _, errs := call(t, "matrix", "--locks", strings.Join(milestones(), ","), "-o", dir, "--lang", lang)
		if page := contentOf(t, dir, "report.html"); code != 0 || len(page) >= 950_000 {
			t.Errorf("%s: six locks have %d bytes, exit status %d: %s", lang, len(page), code, errs)
		}
		drawn, source := contentOf(t, dir, "grid.svg"), regexp.MustCompile(`"source": ".*locklab (matrix .*) -o out"`)
		again := source.FindStringSubmatch(contentOf(t, dir, "grid.json"))[1] + " --lang " + lang + " -o " + dir
		if code, _, errs := call(t, strings.Fields(again)...); code != 0 || contentOf(t, dir, "grid.svg") != drawn {
			t.Errorf("%s draws another grid: exit status %d: %s", again, code, errs)
		}
	}
}

// namedBy checks that the last line about a target's report names every picture and table there.
func namedBy(t *testing.T, dir, target string) {
	t.Helper()
	_, recipe, _ := strings.Cut(contentOf(t, "..", "..", "Makefile"), "\n"+target+": ##")
	_, last, _ := strings.Cut(recipe, "/report.html;")
	last, _, _ = strings.Cut(last, "\n")
	tables, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	for _, table := range tables {
		name := strings.TrimSuffix(filepath.Base(table), ".csv")
		if !slices.Contains(strings.FieldsFunc(last, notLetter), name) {
			t.Errorf("the last line of make %s does not name %s: %s", target, name, last)
		}
	}
	if err != nil || len(tables) < 3 {
		t.Errorf("%d tables, %v", len(tables), err)
	}
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// milestones are their ids.
func milestones() []string {
	return lists.Each(algorithms.Milestones(), func(e lock.Entry) string { return e.ID })
}

// The locks of make run are those of the demo.
func TestMakeRun(t *testing.T) {
	if want := "\nSIX = " + strings.Join(milestones(), ",") +
		"\n"; !strings.Contains(contentOf(t, "..", "..", "Makefile"), want) {
		t.Errorf("the Makefile has no line %q", want)
	}
}

// Of any two locks of the demo one fails in a race of the demo that the other one survives.
func TestDemoTellsApart(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	_, out, _ := call(t, "demo", "--json")
	fails := map[string]map[string]bool{}
	for _, c := range dataOf[matrixJSON](t, out, "demo").Cells {
		if fails[c.Lock] == nil {
			fails[c.Lock] = map[string]bool{}
		}
		fails[c.Lock][c.Race] = verdict.Fails(c.Verdicts)
	}
	for i, a := range milestones() {
		for _, b := range milestones()[:i] {
			if maps.Equal(fails[a], fails[b]) || len(fails[a]) != len(lessons.DemoRaces) {
				t.Errorf("%s and %s both come to %v", a, b, fails[a])
			}
		}
	}
}

// Families choose locks: all of theirs, in historical order, and no others. A family comes before a lock of its name.
func TestFamilies(t *testing.T) {
	var want []string
	for _, family := range []lock.Family{lock.OneProcess, lock.Majority, lock.Reentrant} {
		for _, e := range algorithms.All() {
			if e.Family == family {
				want = append(want, e.ID)
			}
		}
	}
	want = append(want, "token")
	_, out, _ := call(t, "list", "--locks", "one-process,majority,reentrant,token", "--json")
	var got []string
	for _, m := range regexp.MustCompile(`"id": "(.*)"`).FindAllStringSubmatch(out, -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, want) || len(got) < 4 {
		t.Errorf("%v, want %v", got, want)
	}
}

// A README shows what the program prints, on three screens. A block that begins with a command is that command's
// output, without the commands that it names at the end. It names commands and flags that there are, and the run of a
// published bug comes to the verdict at the end of its line.
func TestREADME(t *testing.T) {
	for _, path := range []string{"../../README.md", "../../reports/text/zh/README.md"} {
		text, blocks := contentOf(t, path), 0
		fresh := regexp.MustCompile("(?s)```\n\\$ locklab ([^\n]*)\n(.*?)```").ReplaceAllStringFunc(text,
			func(block string) string {
				blocks++
				command, _, _ := strings.Cut(strings.TrimPrefix(block, "```\n$ locklab "), "\n")
				code, out, errs := call(t, strings.Fields(command)...)
				if code != 0 {
					t.Errorf("%s: %s", command, errs)
				}
				out = regexp.MustCompile(`(?s)\n(Next:|接下来：)\n.*`).ReplaceAllString(out, "")
				return "```\n$ locklab " + command + "\n" + out + "```"
			})
		if n := strings.Count(fresh, "\n"); blocks == 0 || n > 120 {
			t.Errorf("%s: %d sessions, want at least 1; %d lines, want at most 120", path, blocks, n)
		}
		if *update {
			fileWith(t, fresh, path)
		} else if fresh != text {
			t.Errorf("%s shows something else than the program prints; go test ./cmd/... -update writes it anew", path)
		}
		lines := regexp.MustCompile("`locklab ([^`]+)`").FindAllStringSubmatch(text, -1)
		if len(lines) < 10 {
			t.Errorf("%s: %d commands, want 10 or more", path, len(lines))
		}
		for _, m := range lines {
			if code, _, errs := call(t, append(strings.Fields(m[1]), "--help")...); code != exitOK {
				t.Errorf("%s: locklab %s: %s", path, m[1], errs)
			}
		}
		bugs := regexp.MustCompile("`locklab run (\\S+ \\S+)`[:：] ?([A-Z-]+)").FindAllStringSubmatch(text, -1)
		if len(bugs) < 7 {
			t.Errorf("%s: %d runs of published bugs, want 7 or more", path, len(bugs))
		}
		for _, m := range bugs {
			_, out, _ := call(t, append([]string{"run"}, strings.Fields(m[1])...)...)
			if !strings.Contains(out, "\n  "+m[2]+": ") {
				t.Errorf("%s: locklab run %s does not show %s:\n%s", path, m[1], m[2], out)
			}
		}
	}
}

// TestREADMECounts: a README that says how many locks, families or races there are has the right number, which -update
// writes: those without a lock, and the race without a fault, are not counted.
func TestREADMECounts(t *testing.T) {
	locks := lists.Pick(algorithms.All(), func(e lock.Entry) bool { return e.Guard == "" })
	families := len(algorithms.Families()) - 1
	counts := map[*regexp.Regexp]int{}
	for of, n := range map[string]int{"locks": len(locks), "families": families, "races": len(scenarios.All()) - 1} {
		counts[regexp.MustCompile(`\b\d+ `+of+`\b`)] = n
		counts[regexp.MustCompile(`\d+ `+map[string]string{"locks": "把锁", "families": "个家族", "races": "个竞争场景"}[of])] = n
	}
	found := 0
	forEachREADME(t, func(path, text string) {
		fresh := text
		for count, n := range counts {
			fresh = count.ReplaceAllStringFunc(fresh, func(was string) string {
				_, of, _ := strings.Cut(was, " ")
				is := fmt.Sprintf("%d %s", n, of)
				if found++; was != is && !*update {
					t.Errorf("%s says %q: write %q", path, was, is)
				}
				return is
			})
		}
		if *update && fresh != text {
			fileWith(t, fresh, path)
		}
	})
	if found < 8 {
		t.Errorf("%d counts were found in READMEs", found)
	}
}

// forEachREADME calls do with each README of the repository.
func forEachREADME(t *testing.T, do func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "README.") {
			do(path, contentOf(t, path))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestREADMELinks: what a README in any folder names by a link is there.
func TestREADMELinks(t *testing.T) {
	link, links := regexp.MustCompile(`\]\(([^)#]+)`), 0
	forEachREADME(t, func(path, text string) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
	if links == 0 {
		t.Error("no README has a link")
	}
}
