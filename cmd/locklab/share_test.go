package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"locklab/scenarios/share"
	"locklab/simulator/effort"
)

// shares computes the n shares of a command and returns their files.
func shares(t *testing.T, n int, args ...string) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for k := 1; k <= n; k++ {
		code, out, errs := call(t, append(args, "--shard", fmt.Sprintf("%d/%d", k, n))...)
		if code != exitOK || errs != "" {
			t.Fatalf("%v, share %d/%d: exit status %d, %s", args, k, n, code, errs)
		}
		files = append(files, fileWith(t, out, dir, fmt.Sprintf("%d.json", k)))
	}
	return files
}

// smallContract has races, searches and proofs, and all is as contracted.
const smallContract = `
[gc-pause]
token    OVERLAP STALE-WRITE
[search clients=2 budget=pause=1]
token    OVERLAP@1 STALE-WRITE@1 ORPHAN@1
[search clients=2 budget=crash=1]
setnx    DEADLOCK@1
token    HOLDS
[prove budget=crash=any]
setnx    DEADLOCK@1
token    HOLDS
`

// TestMerge: what the shares of a command come to is what one machine gives, byte for
// byte: the text, the JSON, the exit status, what is said of deviations, and every file.
func TestMerge(t *testing.T) {
	effort.Unwatched(t, "TestMergeDiffers merges")
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	// a row differs
	contract := contractFile(t, strings.Replace(smallContract, "[gc-pause]", "[gc-pause]\nsetnx OVERLAP", 1))
	for _, c := range []struct {
		n     int
		files []string // that the command writes, with the flag for each
		args  []string
	}{
		{2, []string{"--out=s.csv", "--out=s.png"},
			[]string{"chart", "sweep", "pause/ttl=0.5:1.5:0.5", "--locks", "setnx,token", "--runs", "27"}},
		{3, []string{"--junit=v.xml", "--summary=v.md", "--annotations=github"},
			[]string{"verify", "--contract", contract}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			files := shares(t, c.n, c.args...)
			os.Rename(contract, contract+".gone") // the shares have what they read
			mine, theirs := t.TempDir(), t.TempDir()
			var one, merged [][]byte
			for _, asJSON := range []string{"--json=false", "--json=true"} {
				code, out, errs := call(t,
					append([]string{"merge", asJSON}, append(filesIn(theirs, c.files), files...)...)...)
				merged = append(merged, []byte(out), []byte(fmt.Sprint(code)),
					[]byte(strings.ReplaceAll(errs, theirs, "DIR")))
			}
			os.Rename(contract+".gone", contract)
			for _, asJSON := range []string{"--json=false", "--json=true"} {
				code, out, errs := call(t, append(append(c.args, asJSON), filesIn(mine, c.files)...)...)
				one = append(one, []byte(out), []byte(fmt.Sprint(code)), []byte(strings.ReplaceAll(errs, mine, "DIR")))
			}
			for i := range one {
				if !bytes.Equal(one[i], merged[i]) {
					t.Errorf("one machine:\n%.3000s\nmerged:\n%.3000s", one[i], merged[i])
				}
			}
			written, err := os.ReadDir(mine)
			want := len(filesIn(mine, c.files))
			if err != nil || len(written) < want-1 || c.files != nil && len(written) == 0 {
				t.Fatalf("%d files were written: %v", len(written), err)
			}
			for _, f := range written {
				a, _ := os.ReadFile(filepath.Join(mine, f.Name()))
				b, err := os.ReadFile(filepath.Join(theirs, f.Name()))
				if err != nil || !bytes.Equal(a, b) {
					t.Errorf("%s differs: %v", f.Name(), err)
				}
			}
		})
	}
}

// filesIn puts the files that flags name into a directory.
func filesIn(dir string, flags []string) (in []string) {
	for _, f := range flags {
		if name, file, _ := strings.Cut(f, "="); strings.Contains(file, ".") {
			f = name + "=" + filepath.Join(dir, file)
		}
		in = append(in, f)
	}
	return in
}

// edited returns a copy of a share's file, changed, with a checksum that fits.
func edited(t *testing.T, file string, edit func(s *share.Share, results []share.Result) []share.Result) string {
	t.Helper()
	s, err := share.Read(file, []byte(contentOf(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	var results []share.Result
	if err := json.Unmarshal(s.Results, &results); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	results = edit(s, results)
	if err := s.Write(&b, results); err != nil {
		t.Fatal(err)
	}
	return fileWith(t, b.String(), t.TempDir(), filepath.Base(file))
}

// TestMergeRefuses: shares that do not make up a command are refused, with the file or the
// share that is wrong, and what to do.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	f := shares(t, 3, "chart", "sweep", "ttl=5s:10s:1s", "--locks", "setnx", "--runs", "9")
	others := shares(t, 3, "chart", "sweep", "ttl=5s:10s:1s", "--locks", "token", "--runs", "9")
	halves := shares(t, 2, "chart", "sweep", "ttl=5s:10s:1s", "--locks", "setnx", "--runs", "9")
	content := contentOf(t, f[1])
	instead := func(second string) []string { return []string{f[0], second, f[2]} }
	raw := func(content string) []string { return instead(fileWith(t, content, t.TempDir(), "2.json")) }
	replaced := func(old, by string) []string { return raw(strings.Replace(content, old, by, 1)) }
	head := func(edit func(s *share.Share)) []string {
		return instead(edited(t, f[1], func(s *share.Share, r []share.Result) []share.Result { edit(s); return r }))
	}
	results := func(edit func(r []share.Result) []share.Result) []string {
		return instead(edited(t, f[1], func(_ *share.Share, r []share.Result) []share.Result { return edit(r) }))
	}
	command := func(words ...string) []string {
		return []string{edited(t, f[0], func(s *share.Share, r []share.Result) []share.Result {
			s.Part, s.Command = "1/1", words
			return r
		})}
	}
	const misses = "is missing, or not where share 2/3 has it"
	for name, c := range map[string]struct {
		files []string
		says  string
	}{
		"missing": {[]string{f[0], f[2]}, "missing: share 2/3. Compute what is missing with " +
			"locklab chart sweep --locks=setnx --runs=9 ttl=5s:10s:1s --shard K/N"},
		"all missing": {nil, "needs the files of all shares"},
		"no file":     {[]string{f[0], "absent.json"}, "absent.json: no such file"},
		"twice":       {[]string{f[0], f[1], f[1], f[2]}, "share 2/3 is there twice"},
		"cut off":     {raw(content[:len(content)/2]), "2.json: this is no share, or a damaged one"},
		"changed":     {replaced(`"result":[`, `"result":[1`), "2.json: cut off or changed"},
		"doubled":     {raw(content + content), "2.json: this is no share, or a damaged one"},
		"no share":    {raw(`{"version": 2}`), "2.json: this is no share of locklab"},
		"no object":   {raw(`[]`), "2.json: this is no share, or a damaged one"},
		"empty":       {raw(""), "2.json: this is no share, or a damaged one: unexpected end"},
		"no list":     {replaced(`"results":[`, `"results":"",[`), "2.json: this is no share, or a damaged one"},
		"other build": {head(func(s *share.Share) { s.Build = "revision 12" }),
			"from another build (revision 12; this is build "},
		"command": {instead(others[1]),
			`2.json: a share of "locklab chart sweep --locks=token --runs=9 ttl=5s:10s:1s"`},
		"number":  {instead(halves[1]), "2.json: share 2/2, and "},
		"stopped": {head(func(s *share.Share) { s.Stopped = true }), "2.json: share 2/3 was stopped before its end"},
		"contract": {head(func(s *share.Share) { s.Inputs = map[string]string{"c.txt": "x"} }),
			"made with another c.txt than "},
		"task absent":  {results(func(r []share.Result) []share.Result { return r[1:] }), misses},
		"last absent":  {results(func(r []share.Result) []share.Result { return r[:len(r)-1] }), misses},
		"task renamed": {results(func(r []share.Result) []share.Result { r[0].Task = "sweep x"; return r }), misses},
		"task twice": {results(func(r []share.Result) []share.Result { return append(r, r[0]) }),
			"2.json: more results than the "},
		"foreign flag": {[]string{f[0], f[1], f[2], "--junit=x.xml"}, "--junit"},
		"not divided":  {command("explain", "token"), `of "locklab explain token", which cannot be divided`},
		"writes":       {command("chart", "sweep", "--out=written.csv", "ttl=5s"), "which cannot be divided"},
		"help":         {command("chart", "sweep", "--help"), "which cannot be divided"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := call(t, append([]string{"merge"}, c.files...)...)
			if code != exitUsage || out != "" || !strings.Contains(errs, c.says) {
				t.Errorf("exit status %d, %q, %s", code, out, errs)
			}
		})
	}
}

var differing = regexp.MustCompile(
	`^locklab: "(\S+) [^"]+" was computed again here, .* than in \S+/([12]).json: (?s:.*)Compute share ([12])/2 again`)

// TestMergeDiffers: a result that computing its task again does not come to is found, and nothing is shown.
func TestMergeDiffers(t *testing.T) {
	t.Parallel()
	for command, c := range map[string]struct {
		args     []string
		from, to string // in every result
	}{
		"sweep":  {[]string{"chart", "sweep", "ttl=5s:7s:1s", "--locks", "setnx", "--runs", "9"}, "[", "[9"},
		"verify": {[]string{"verify", "--contract", contractFile(t, smallContract)}, `"status":1`, `"status":3`},
	} {
		files := shares(t, 2, c.args...)
		for i, file := range files {
			files[i] = edited(t, file, func(_ *share.Share, results []share.Result) []share.Result {
				for i := range results {
					results[i].Result = bytes.Replace(results[i].Result, []byte(c.from), []byte(c.to), 1)
				}
				return results
			})
		}
		code, out, errs := call(t, append([]string{"merge"}, files...)...)
		found := differing.FindStringSubmatch(errs)
		if code != exitNoAnswer || out != "" || found == nil || found[1] != command || found[2] != found[3] {
			t.Errorf("%s: exit status %d, %q, %s", command, code, out, errs)
		}
	}
}

// TestMergeTooMuch: a file without an end, with more than any share has, or with more results than tasks is refused
// before it is read.
func TestMergeTooMuch(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, watchedCommands)
	file := shares(t, 1, "chart", "sweep", "ttl=5s", "--locks", "setnx", "--runs", "9")[0]
	with := func(n int, result string) string {
		return edited(t, file, func(_ *share.Share, r []share.Result) []share.Result {
			return append(r, slices.Repeat([]share.Result{{Task: "x", Result: json.RawMessage(result)}}, n)...)
		})
	}
	large := fileWith(t, "", t.TempDir(), "large.json")
	if err := os.Truncate(large, maxShare+1); err != nil {
		t.Fatal(err)
	}
	const results = ": more results than the 1 of share 1/1"
	for _, c := range []struct {
		file, says string
		most       uint64 // MB that may be allocated
	}{
		{"/dev/zero", " is no regular file", 8},
		{large, " has more than 64 MB", 8},
		{with(40, "\""+strings.Repeat("x", 1<<20)+"\""), results, 256},
		{with(400_000, "0"), results, 256},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		code, out, errs := call(t, "merge", c.file)
		runtime.ReadMemStats(&after)
		if code != exitUsage || out != "" || !strings.Contains(errs, c.file+c.says) {
			t.Errorf("exit status %d, %q, %s", code, out, errs)
		}
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > c.most {
			t.Errorf("%s: %d MB were allocated", c.file, got)
		}
	}
}

// TestShareREADME: what the README has a CI and Kubernetes run is, side by side, what one machine gives.
func TestShareREADME(t *testing.T) {
	effort.OnlyPushed(t, "it runs commands for seconds")
	effort.Unwatched(t, "the work is done by processes of one command each")
	t.Parallel()
	var snippets [2][]string
	for i, name := range []string{"README.md", "README.zh.md"} {
		readme := contentOf(t, "../../scenarios/share", name)
		snippets[i] = regexp.MustCompile("(?s)```[a-z]+\n.*?```").FindAllString(readme, -1)
	}
	if !slices.Equal(snippets[0], snippets[1]) || len(snippets[0]) != 2 {
		t.Fatalf("the snippets of the two languages differ:\n%s\n%s", snippets[0], snippets[1])
	}
	for _, snippet := range snippets[0] {
		commands := regexp.MustCompile(`locklab (verify --shard|merge) .*`).FindAllString(snippet, -1)
		if len(commands) != 2 || !strings.HasPrefix(commands[1], "locklab merge") {
			t.Fatalf("%q: want a share and a merge, of\n%s", commands, snippet)
		}
		dir := filepath.Dir(fileWith(t, smallContract, t.TempDir(), "contract.txt"))
		shell := func(k int, command string) (out string, err error) { // as the k-th of the machines
			c := program(t)
			c.Path, c.Dir = "/bin/sh", dir
			c.Args = []string{"sh", "-ec", strings.NewReplacer(
				"locklab verify", `"$LOCKLAB" verify --contract contract.txt`, "locklab merge", `"$LOCKLAB" merge`,
				"/results/", "", "${{ matrix.k }}", fmt.Sprint(k)).Replace(command)}
			c.Env = append(c.Env, "LOCKLAB="+os.Args[0], "GITHUB_STEP_SUMMARY=summary.md",
				fmt.Sprint("JOB_COMPLETION_INDEX=", k-1))
			said, err := c.Output()
			return string(said), err
		}
		var machines sync.WaitGroup
		for k := 1; k <= 4; k++ {
			machines.Go(func() {
				if out, err := shell(k, commands[0]); err != nil || out != "" {
					t.Errorf("share %d: %v, %s", k, err, out)
				}
			})
		}
		machines.Wait()
		merged, err := shell(0, commands[1])
		if err != nil {
			t.Errorf("%v: %s", err, merged)
		}
		_, flags, _ := strings.Cut(commands[1], ".json")
		one, err := shell(0, "locklab verify"+flags)
		if err != nil || one != merged || !strings.Contains(one, "as contracted") {
			t.Errorf("%v\none machine:\n%s\nmerged:\n%s", err, one, merged)
		}
	}
}
