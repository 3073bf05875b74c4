//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locklab/simulator/effort"
)

// fileLimit is the size in bytes beyond which the program can write no file.
const fileLimit = "LOCKLAB_TEST_FILE_LIMIT"

func limitFiles(limit string) {
	n, err := strconv.ParseUint(limit, 10, 64)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
	}
	if err != nil {
		panic(err)
	}
}

// A killable is a command that is stopped while it works.
type killable struct {
	args  string   // DIR is its directory
	state string   // what it goes on from: a file, or a folder of files; "": it begins anew
	files []string // that it writes at its end
	rare  bool     // it takes long: not in CI
	// shared is what the command merges: two shares of it, in files of the state, which may be
	// stopped in its place.
	shared string
}

// killables are those that write files.
func killables() []killable {
	return []killable{
		{args: "sweep pause/ttl=0:2:0.25 --runs 9 --strategies token,setnx -o DIR/sweep.svg", files: []string{"sweep.svg", "sweep.csv"}},
		{args: "run token R18 -o DIR/run.html -o DIR/run.json -o DIR/run.txt", files: []string{"run.html", "run.json", "run.txt"}},
		{args: "rate --strategies token -o DIR/rate.svg", files: []string{"rate.svg", "rate.csv"}},
		{args: "par --strategies setnx -o DIR/par.svg -o DIR/par.csv", files: []string{"par.svg", "par.csv"}},
		{args: "tolerance --strategies setnx -o DIR/tolerance.svg -o DIR/tolerance.csv", files: []string{"tolerance.svg", "tolerance.csv"}},
		{args: "merge DIR/state/1 DIR/state/2 -o DIR/sweep.svg", state: "state", files: []string{"sweep.svg", "sweep.csv"}, shared: "sweep pause/ttl=0:2:0.25 --runs 9 --strategies token,setnx"},
		{args: "matrix --strategies token --scenarios R18 -o DIR", files: []string{"report.html", "grid.svg", "grid.csv"}, rare: true},
	}
}

// halves is how many shares are merged.
const halves = 2

// complete is what a command comes to that nothing disturbs.
type complete struct {
	code   int
	out    string
	files  map[string]string
	shares [halves]string
	most   int // bytes of the largest file, its state included
	took   time.Duration
}

// killer disturbs commands.
type killer struct {
	*testing.T
	*rand.Rand
	killable
	dir  string
	want *complete
	// older is what the files held before; "": they were not there.
	older string
	// torn: the state was altered after it was written.
	torn bool
	// killed: a process was killed, which may leave temporary files.
	killed bool
}

// TestKilled disturbs commands at random: a signal at any moment or when they have saved
// something, files that can be written up to some size only, and state that is cut off or
// altered afterwards. Files are whole or as they were before; and then the command, which
// goes on from what is left, comes to the same bytes as one that nothing has disturbed, or
// refuses the state that was altered. ROUNDS=10000 disturbs so many; a round is the same every
// time, but for the moments of its signals.
func TestKilled(t *testing.T) {
	effort.OnlyExhaustive(t, "it kills a hundred commands; the work is done by processes of one command each")
	rounds := 16
	if effort.Exhaustive() {
		rounds = 60
	}
	many := os.Getenv("ROUNDS")
	if many != "" {
		var err error
		if rounds, err = strconv.Atoi(many); err != nil {
			t.Fatal("ROUNDS: ", err)
		}
	}
	list := slices.DeleteFunc(killables(), func(c killable) bool { return c.rare && many == "" })
	known := map[string]*complete{}
	for round := range rounds {
		c := list[round%len(list)]
		t.Run(fmt.Sprint(round, " ", c.args), func(t *testing.T) {
			if known[c.args] == nil {
				known[c.args] = undisturbed(t, c)
			}
			k := &killer{T: t, Rand: rand.New(rand.NewPCG(uint64(round), 32)), killable: c, dir: t.TempDir(), want: known[c.args]}
			k.round()
		})
	}
}

// undisturbed runs a command in a directory of its own.
func undisturbed(t *testing.T, c killable) *complete {
	k := &killer{T: t, killable: c, dir: t.TempDir()}
	began := time.Now()
	code, out, errs := k.run(1<<40, nil)
	if code != exitOK && code != exitNoAnswer {
		t.Fatalf("undisturbed: exit status %d: %s", code, errs)
	}
	want := &complete{code: code, out: out, files: map[string]string{}, took: time.Since(began)}
	for _, f := range k.present() {
		content, err := os.ReadFile(filepath.Join(k.dir, f))
		if err != nil {
			t.Fatal(err)
		}
		want.most = max(want.most, len(content))
		if n, err := strconv.Atoi(filepath.Base(f)); err == nil && c.shared != "" {
			want.shares[n-1] = string(content)
		}
		if !k.isState(f) {
			want.files[f] = strings.ReplaceAll(string(content), k.dir, "DIR")
		}
	}
	for _, f := range c.files {
		if want.files[f] == "" {
			t.Errorf("undisturbed: there is no %s", f)
		}
	}
	return want
}

func (k *killer) round() {
	if k.IntN(2) == 0 {
		k.older = "older"
		for f := range k.want.files {
			if err := os.WriteFile(filepath.Join(k.dir, f), []byte(k.older), 0o600); err != nil {
				k.Fatal(err)
			}
		}
	}
	for range 1 + k.IntN(3) {
		k.disturb()
		if k.IntN(3) == 0 {
			k.tear()
		}
	}
	code, out, errs := k.run(1<<40, nil)
	if code == exitUsage && k.dropState(errs) {
		code, out, errs = k.run(1<<40, nil)
	}
	k.check("at last", code, out, errs)
	for f, content := range k.want.files {
		if got, err := k.read(f); err != nil || got != content {
			k.Errorf("at last: %s: %v, other content than that of an undisturbed command", f, err)
		}
	}
}

// disturb runs the command once, and disturbs it or a share of what it merges.
func (k *killer) disturb() {
	if k.shared != "" && k.IntN(2) == 0 {
		k.disturbShare()
		return
	}
	limit, signal := uint64(1<<40), syscall.Signal(0)
	var moment func(elapsed time.Duration, saves int) bool
	switch k.IntN(5) {
	case 0:
		limit = k.Uint64N(uint64(k.want.most) * 5 / 4)
	default:
		signal = signals[k.IntN(len(signals))]
		moment = k.moment()
	}
	code, out, errs := k.run(limit, func(r *running) bool {
		if moment == nil || !moment(time.Since(r.began), r.saves) {
			return false
		}
		_ = r.Process.Signal(signal) // it may have ended by now
		return true
	})
	k.killed = k.killed || code == -1
	what := fmt.Sprintf("signal %d, at most %d bytes in a file", signal, limit)
	limited := limit < 1<<40
	switch {
	case code == exitUsage && k.dropState(errs):
	case code == k.want.code && (code == exitOK || signal == 0):
		k.check(what, code, out, errs)
	case code == -1 && signal != 0, code == exitNoAnswer && signal != 0, code == exitNoAnswer && k.state != "":
	case (code == exitInternal || code == exitUsage) && limited && strings.Contains(errs, "file too large"):
	default:
		k.Errorf("%s: exit status %d: %s", what, code, errs)
	}
	k.wholeFiles(what)
}

// moment chooses when to send a signal: after a part of the time that the command takes, or
// after so many saves.
func (k *killer) moment() func(elapsed time.Duration, saves int) bool {
	if k.state != "" && k.IntN(2) == 0 {
		n := 1 + k.IntN(6)
		return func(_ time.Duration, saves int) bool { return saves >= n }
	}
	after := time.Duration(k.Float64() * 1.1 * float64(k.want.took))
	return func(elapsed time.Duration, _ int) bool { return elapsed >= after }
}

// disturbShare computes a share of what is merged anew, stops it at any moment, and keeps what
// it has printed until then.
func (k *killer) disturbShare() {
	n := 1 + k.IntN(halves)
	signal, after := signals[k.IntN(len(signals))], time.Duration(k.Float64()*float64(k.want.took))
	code, out, errs := k.command(k.share(n), 1<<40, func(r *running) bool {
		if time.Since(r.began) < after {
			return false
		}
		_ = r.Process.Signal(signal)
		return true
	})
	if whole := out == k.want.shares[n-1]; (code == exitOK) != whole || code != exitOK && code != exitNoAnswer && code != -1 {
		k.Errorf("share %d, signal %d: exit status %d: %s\n%s", n, signal, code, errs, out)
	}
	k.keepShare(n, out)
	k.torn = k.torn || code != exitOK
}

// share is the command of the n-th share of what is merged.
func (k *killer) share(n int) string { return fmt.Sprintf("%s --shard %d/%d", k.shared, n, halves) }

func (k *killer) shareFile(n int) string { return filepath.Join(k.dir, k.state, strconv.Itoa(n)) }

func (k *killer) keepShare(n int, content string) {
	err := os.MkdirAll(filepath.Join(k.dir, k.state), 0o700)
	if err == nil {
		err = os.WriteFile(k.shareFile(n), []byte(content), 0o600)
	}
	if err != nil {
		k.Fatal(err)
	}
}

// signals are sent to processes, the first two to end them on the spot.
var signals = [...]syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}

// running is a command that runs.
type running struct {
	*exec.Cmd
	began time.Time
	saves int // how often its state has changed
}

// run runs the command, with all that it needs. watch is called all the time until it returns
// true; nil: it is not.
func (k *killer) run(limit uint64, watch func(*running) bool) (code int, out, errs string) {
	k.Helper()
	for n := 1; k.shared != "" && n <= halves; n++ {
		if _, err := os.Stat(k.shareFile(n)); err == nil {
			continue
		}
		code, out, errs := k.command(k.share(n), 1<<40, nil)
		if code != exitOK {
			k.Fatalf("share %d: exit status %d: %s", n, code, errs)
		}
		k.keepShare(n, out)
	}
	return k.command(k.args, limit, watch)
}

// command runs one command.
func (k *killer) command(args string, limit uint64, watch func(*running) bool) (code int, out, errs string) {
	k.Helper()
	secrets := k.TempDir()
	r := &running{Cmd: program(k.T, strings.Fields(strings.ReplaceAll(args, "DIR", k.dir))...)}
	r.Env = append(r.Env, fmt.Sprint(fileLimit, "=", limit), "TMPDIR="+secrets)
	var stdout, stderr overheard
	r.Stdout, r.Stderr = &stdout, &stderr
	if err := r.Start(); err != nil {
		k.Fatal(err)
	}
	r.began = time.Now()
	ended := make(chan error, 1)
	go func() { ended <- r.Wait() }()
	look := time.NewTicker(200 * time.Microsecond)
	defer look.Stop()
	last := k.stateNow()
	for {
		select {
		case err := <-ended:
			code := statusOf(k.T, err)
			if left, err := os.ReadDir(secrets); code != -1 && (err != nil || len(left) > 0) {
				k.Errorf("exit status %d: %v is left among temporary files, %v", code, left, err)
			}
			return code, strings.ReplaceAll(stdout.String(), k.dir, "DIR"), stderr.String()
		case <-look.C:
			if now := k.stateNow(); now != last {
				last = now
				r.saves++
			}
			if watch != nil && watch(r) {
				watch = nil
			}
		}
	}
}

// overheard is what a process has printed, read while it prints.
type overheard struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (o *overheard) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(b)
}

func (o *overheard) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.String()
}

// stateNow is something that changes with the state.
func (k *killer) stateNow() (sum int64) {
	if k.state == "" {
		return 0
	}
	for _, f := range k.present() {
		if info, err := os.Stat(filepath.Join(k.dir, f)); err == nil && k.isState(f) {
			sum = 31*sum + info.Size() + info.ModTime().UnixNano()
		}
	}
	return sum
}

func (k *killer) isState(file string) bool {
	return k.state != "" && (file == k.state || strings.HasPrefix(file, k.state+"/"))
}

// present are the files that are there, without temporary ones.
func (k *killer) present() (files []string) {
	err := filepath.WalkDir(k.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return nil // it was there a moment ago
		}
		name, err := filepath.Rel(k.dir, path)
		files = append(files, name)
		return err
	})
	if err != nil {
		k.Fatal(err)
	}
	return files
}

// tear alters a file of the state: its end is missing, a bit is another, or something follows.
func (k *killer) tear() {
	files := slices.DeleteFunc(k.present(), func(f string) bool { return !k.isState(f) })
	if len(files) == 0 {
		return
	}
	file := filepath.Join(k.dir, files[k.IntN(len(files))])
	content, err := os.ReadFile(file)
	if err != nil {
		k.Fatal(err)
	}
	if len(content) == 0 {
		return
	}
	switch at := k.IntN(len(content)); k.IntN(3) {
	case 0:
		content = content[:at]
	case 1:
		content[at] ^= 1 << k.IntN(8)
	case 2:
		content = append(content, content[at:]...)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		k.Fatal(err)
	}
	k.torn = true
}

// dropState removes state that was refused, and reports whether that was right: it was
// torn, and the error names it.
func (k *killer) dropState(errs string) bool {
	if !k.torn || !strings.Contains(errs, filepath.Join(k.dir, k.state)) {
		return false
	}
	k.torn = false
	if err := os.RemoveAll(filepath.Join(k.dir, k.state)); err != nil {
		k.Fatal(err)
	}
	return true
}

// check compares what a command has printed that came to its end.
func (k *killer) check(what string, code int, out, errs string) {
	k.Helper()
	if code != k.want.code || out != k.want.out {
		k.Errorf("%s: exit status %d, want %d: %s\n%s\nundisturbed:\n%s", what, code, k.want.code, errs, out, k.want.out)
	}
}

// read returns what is in a file, wherever the directory is.
func (k *killer) read(file string) (string, error) {
	content, err := os.ReadFile(filepath.Join(k.dir, file))
	return strings.ReplaceAll(string(content), k.dir, "DIR"), err
}

// wholeFiles checks that every file is as it was before or as it is to be, and that no
// temporary one is left.
func (k *killer) wholeFiles(what string) {
	k.Helper()
	for f, content := range k.want.files {
		got, err := k.read(f)
		if absent := os.IsNotExist(err) && k.older == ""; !absent && (err != nil || got != content && got != k.older) {
			k.Errorf("%s: %s: %.40q, %v", what, f, got, err)
		}
	}
	there, err := os.ReadDir(k.dir)
	if err != nil {
		k.Fatal(err)
	}
	for _, f := range there {
		if strings.HasPrefix(f.Name(), ".") && !k.killed {
			k.Errorf("%s: %s remains", what, f.Name())
		}
	}
}
