package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

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
		file := filepath.Join(dir, fmt.Sprintf("%d.json", k))
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

const smallContract = `
[gc-pause]
token    OVERLAP STALE-WRITE
setnx    OVERLAP
[search clients=2 budget=pause=1]
token    OVERLAP@1 STALE-WRITE@1 ORPHAN@1
setnx    OVERLAP@1
[search clients=2 budget=crash=1]
setnx    DEADLOCK@1
token    HOLDS
[prove budget=crash=any]
setnx    DEADLOCK@1
token    LIE@1
[prove attempts=once]
redisson-lease HOLDS
[prove budget=expire-session=1]
setnx    HOLDS
`

// TestMerge: what the shares of a command come to is what one machine gives, byte for
// byte: the text, the JSON, the exit status, what is said of deviations, and every file.
func TestMerge(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; TestMergeRefuses reads shares as well")
	t.Parallel()
	dir := t.TempDir()
	contract, order := filepath.Join(dir, "my-contract.txt"), filepath.Join(dir, "order.txt")
	for file, content := range map[string]string{contract: smallContract, order: "machines = 100\n[ours]\npause = 4/year 45s\n"} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		n     int
		files []string // that the command writes, with the flag for each
		args  []string
	}{
		{3, []string{"--out=par.csv", "--out=par.svg"}, []string{"par", "--strategies", "setnx,token", "--budget", "crash=1", "--budget", "pause=1", "--attempts", "1"}},
		{2, []string{"--out=s.csv", "--out=s.png"}, []string{"sweep", "pause/ttl=0.5:1.5:0.5", "--strategies", "setnx,token", "--runs", "27"}},
		{4, []string{"--out=t.csv"}, []string{"tolerance", "--strategies", "setnx,token"}},
		{2, nil, []string{"matrix", "--strategies", "token,watchdog,zk-protected", "--scenarios", "R18,R21,getset-nil", "--runs", "5"}},
		{2, []string{"--out=r.csv"}, []string{"rate", "--strategies", "setnx,token", "--file", order}},
		{3, []string{"--junit=v.xml", "--summary=v.md", "--annotations=github"}, []string{"verify", "--contract", contract}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			files := shares(t, c.n, c.args...)
			os.Rename(dir, dir+".gone") // the shares have what they read
			mine, theirs := t.TempDir(), t.TempDir()
			var one, merged [][]byte
			for _, asJSON := range []string{"--json=false", "--json=true"} {
				code, out, errs := call(t, append([]string{"merge", asJSON}, append(filesIn(theirs, c.files), files...)...)...)
				merged = append(merged, []byte(out), []byte(fmt.Sprint(code)), []byte(strings.ReplaceAll(errs, theirs, "DIR")))
			}
			os.Rename(dir+".gone", dir)
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
			if want := len(filesIn(mine, c.files)); err != nil || len(written) < want-1 || c.files != nil && len(written) == 0 {
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

// Every race, of one family of locks.
func TestMergeAll(t *testing.T) {
	effort.OnlyExhaustive(t, "plays a part of the grid twice")
	t.Parallel()
	_, one, _ := call(t, "matrix", "--strategies", "line", "--json")
	_, merged, errs := call(t, append([]string{"merge", "--json"}, shares(t, 2, "matrix", "--strategies", "line")...)...)
	if one != merged {
		t.Errorf("the grid of two shares is another: %s", errs)
	}
}

// edited returns a copy of a share's file, changed, with a checksum that fits.
func edited(t *testing.T, file string, edit func(*share.Share)) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := share.Read(file, content)
	if err != nil {
		t.Fatal(err)
	}
	edit(s)
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return rawCopy(t, file, b.Bytes())
}

func rawCopy(t *testing.T, file string, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestMergeRefuses: shares that do not make up a command are refused, with the file or the
// share that is wrong, and what to do.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	f := shares(t, 3, "sweep", "ttl=5s:10s:1s", "--strategies", "setnx", "--runs", "9")
	others := shares(t, 3, "sweep", "ttl=5s:10s:1s", "--strategies", "token", "--runs", "9")
	halves := shares(t, 2, "sweep", "ttl=5s:10s:1s", "--strategies", "setnx", "--runs", "9")
	content, err := os.ReadFile(f[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files []string
		says  string
	}{
		"missing":      {[]string{f[0], f[2]}, "missing: share 2/3. Compute what is missing with locklab sweep --runs=9 --strategies=setnx ttl=5s:10s:1s --shard K/N"},
		"all missing":  {nil, "needs the files of all shares"},
		"no file":      {[]string{f[0], "absent.json"}, "absent.json: no such file"},
		"twice":        {[]string{f[0], f[1], f[1], f[2]}, "share 2/3 is there twice"},
		"cut off":      {[]string{f[0], rawCopy(t, f[1], content[:len(content)/2]), f[2]}, "2.json: this is no share, or a damaged one"},
		"changed":      {[]string{f[0], rawCopy(t, f[1], bytes.Replace(content, []byte(`"result":[`), []byte(`"result":[1`), 1)), f[2]}, "2.json: cut off or changed"},
		"doubled":      {[]string{f[0], rawCopy(t, f[1], append(content, content...)), f[2]}, "2.json: cut off or changed"},
		"no share":     {[]string{f[0], rawCopy(t, f[1], []byte(`{"version": 2}`)), f[2]}, "2.json: this is no share of locklab"},
		"empty":        {[]string{f[0], rawCopy(t, f[1], nil), f[2]}, "2.json: this is no share, or a damaged one: EOF"},
		"other build":  {[]string{f[0], edited(t, f[1], func(s *share.Share) { s.Build = "revision 12" }), f[2]}, "2.json: from another build (revision 12; this is build "},
		"command":      {[]string{f[0], others[1], f[2]}, `2.json: a share of "locklab sweep --runs=9 --strategies=token ttl=5s:10s:1s"`},
		"number":       {[]string{f[0], halves[1], f[2]}, "2.json: share 2/2, and "},
		"stopped":      {[]string{f[0], edited(t, f[1], func(s *share.Share) { s.Stopped = true }), f[2]}, "2.json: share 2/3 was stopped before its end"},
		"contract":     {[]string{f[0], edited(t, f[1], func(s *share.Share) { s.Inputs = map[string]string{"c.txt": "x"} }), f[2]}, "2.json: made with another c.txt than "},
		"task absent":  {[]string{f[0], edited(t, f[1], func(s *share.Share) { s.Results = s.Results[1:] }), f[2]}, `no share has a result of "sweep setnx/ttl=`},
		"task added":   {[]string{f[0], edited(t, f[1], func(s *share.Share) { s.Results[0].Task = "sweep x" }), f[2]}, `"sweep`},
		"task twice":   {[]string{f[0], edited(t, f[1], func(s *share.Share) { s.Results[0].Task = s.Results[1].Task }), f[2]}, "Compute both shares again"},
		"nonsense":     {[]string{f[0], edited(t, f[1], func(s *share.Share) { s.Results[0].Result = json.RawMessage(`"x"`) }), f[2]}, "wanted: what this task writes (json: "},
		"foreign flag": {[]string{f[0], f[1], f[2], "--junit=x.xml"}, "--junit"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := call(t, append([]string{"merge"}, c.files...)...)
			if code != exitUsage || out != "" || !strings.Contains(errs, c.says) {
				t.Errorf("exit status %d, %q, %s", code, out, errs)
			}
		})
	}
}

// TestShareRefuses: a share that cannot be computed, or that would show what it does not
// have, is refused before anything is computed.
func TestShareRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says string }{
		{"par --shard 0/3", `--shard "0/3": write K/N`},
		{"par --shard 4/3", `--shard "4/3": write K/N`},
		{"par --shard 3", `--shard "3": write K/N`},
		{"par --shard 1/99999", "up to 10000"},
		{"par --shard=", `--shard is empty`},
		{"par --shard 1/2 -o par.png", "--out with --shard"},
		{"verify --shard 1/2 --junit v.xml", "--junit with --shard"},
		{"verify --shard 1/2 --contract absent.txt", "absent.txt: no such file"},
		{"explain token --shard 1/2", "--shard"},
	} {
		code, out, errs := call(t, strings.Fields(c.args)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit status %d, %q, %s", c.args, code, out, errs)
		}
	}
}

// A share that is stopped keeps what it has, and says that it was stopped; one whose output
// is lost says so.
func TestShareStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"sweep", "ttl=5s:10s:1s", "--shard", "1/2"}, nil, &out, &errs, func(string) string { return "" })
	s, err := share.Read("", out.Bytes())
	if code != exitNoAnswer || err != nil || !s.Stopped {
		t.Errorf("exit status %d, %v, %s: %s", code, err, out.String(), errs.String())
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	effort.Need(t, err) // only Linux has /dev/full
	defer full.Close()
	errs.Reset()
	code = run(t.Context(), []string{"sweep", "ttl=5s:10s:1s", "--strategies", "token", "--runs", "9", "--shard", "1/2"}, nil, full, &errs, func(string) string { return "" })
	if code != exitInternal || !strings.Contains(errs.String(), "no space left") {
		t.Errorf("a full disk: exit status %d, %s", code, errs.String())
	}
}

var costs = flag.Bool("costs", false, "measure the costs of tasks and write scenarios/share/costs.txt")

// measured computes one task after the other and notes how long each takes.
type measured map[string]float64

func (m measured) Compute(ctx context.Context, p share.Plan) ([]json.RawMessage, error) {
	results := make([]json.RawMessage, len(p.Tasks))
	for i, t := range p.Tasks {
		before := processorTime()
		var err error
		if results[i], err = p.Do(ctx, i); err != nil {
			return results, err
		}
		m[t.ID] = (processorTime() - before).Seconds()
	}
	return results, nil
}

// processorTime is what this process has used so far. Others on the machine do not matter.
func processorTime() time.Duration {
	u := syscall.Rusage{}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestCosts measures what is recorded; make costs calls it.
func TestCosts(t *testing.T) {
	if !*costs {
		t.Skip("measures for minutes: make costs")
	}
	all := measured{}
	for _, args := range [][]string{{"par"}, {"tolerance"}, {"verify"}} {
		e := newTestEnv(io.Discard, io.Discard)
		if err := runElsewhere(e, args, &elsewhere{computer: all, inputs: map[string]string{}}); err != nil {
			t.Log(err) // of the command
		}
		var b bytes.Buffer
		for _, id := range slices.Sorted(maps.Keys(all)) {
			if all[id] >= 0.05 { // cheaper tasks balance by themselves
				fmt.Fprintf(&b, "%.2g %s\n", all[id], id)
			}
		}
		if err := os.WriteFile("../../scenarios/share/costs.txt", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
