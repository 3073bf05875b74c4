//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locklab/simulator/effort"
)

// fileLimit is the size in bytes beyond which the program can write no file.
const fileLimit = "LOCKLAB_TEST_FILE_LIMIT"

// tellsReady has the program close its third file when it waits for signals.
const tellsReady = "LOCKLAB_TEST_TELLS_READY"

func limitFiles(limit string) {
	n, err := strconv.ParseUint(limit, 10, 64)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
	}
	if err != nil {
		panic(err)
	}
}

// A writer is a command that writes files; DIR is their folder.
type writer struct {
	args  string
	files []string
	slow  bool
}

func writers() []writer {
	all := []writer{
		{"chart sweep pause/ttl=0:2:0.25 --runs 9 --locks token,setnx -o DIR/x.svg", []string{"x.svg", "x.csv"}, false},
		{"run token R18 -o DIR/run.html -o DIR/run.json -o DIR/x.txt",
			[]string{"run.html", "run.json", "x.txt"}, false},
		{"explore token --budget pause=1 --timing any --attempts 1 -o DIR/pause.svg", []string{"pause.svg"}, false},
		{"chart par --locks setnx -o DIR/par.svg -o DIR/par.csv", []string{"par.svg", "par.csv"}, true},
		{"chart tolerance --locks setnx -o DIR/x.svg -o DIR/x.csv", []string{"x.svg", "x.csv"}, true},
		{"matrix --locks token --races R18 -o DIR", []string{"report.html", "grid.svg", "grid.csv"}, true},
	}
	return slices.DeleteFunc(all, func(w writer) bool { return w.slow && !effort.Exhaustive() })
}

// TestWritersDespiteLostOutput: standard output that is full, or that nobody reads, keeps no command from writing
// files. Only a command that prints something finds out that it is full.
func TestWritersDespiteLostOutput(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; the work is done by processes of one command each")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	r, closed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	r.Close()
	verify := writer{"verify --contract " + contractFile(t, promise) + " --junit DIR/x.xml --summary DIR/x.md",
		[]string{"x.xml", "x.md"}, false}
	for _, w := range append(writers(), verify) {
		var printed bytes.Buffer
		c := program(t, strings.Fields(strings.ReplaceAll(w.args, "DIR", t.TempDir()))...)
		c.Stdout = &printed
		statusOf(t, c.Run())
		type lost struct {
			out  *os.File
			code int
			says string
		}
		unwritten := lost{full, exitInternal, "no space left on device"}
		if printed.Len() == 0 {
			unwritten = lost{full, exitOK, ""}
		}
		for _, lost := range []lost{unwritten, {closed, exitOK, ""}} {
			dir := t.TempDir()
			c := program(t, strings.Fields(strings.ReplaceAll(w.args, "DIR", dir))...)
			var errs bytes.Buffer
			c.Stdout, c.Stderr = lost.out, &errs
			code := statusOf(t, c.Run())
			if code != lost.code || !strings.Contains(errs.String(), lost.says) ||
				strings.Contains(errs.String(), "pipe") {
				t.Errorf("%s: exit status %d: %s", w.args, code, errs.String())
			}
			allFilled(t, dir, w.files...)
			if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); len(hidden) > 0 {
				t.Errorf("%s: %v remain", w.args, hidden)
			}
		}
	}
}

// TestKilled disturbs commands, first by a disk without any room, then at random, by a signal at any moment or by a
// full disk: each file is whole, or what it was before (a picture may show what was found until then), only SIGKILL
// leaves a temporary one, and what was found is printed.
// ROUNDS is the number of rounds.
func TestKilled(t *testing.T) {
	effort.OnlyPushed(t, "it runs commands for seconds")
	effort.Unwatched(t, "the work is done by processes of one command each")
	rounds := 4
	if many := os.Getenv("ROUNDS"); many != "" {
		var err error
		if rounds, err = strconv.Atoi(many); err != nil {
			t.Fatal("ROUNDS: ", err)
		}
	}
	for _, k := range writers() {
		dir, whole := t.TempDir(), map[string]string{}
		took, code, _, errs := disturbed(t, k.args, dir, 0, 0, 1<<40)
		if code != exitOK {
			t.Fatalf("%s: exit status %d: %s", k.args, code, errs)
		}
		for _, f := range k.files {
			whole[f] = fileIn(t, dir, f)
		}
		draw := rand.New(rand.NewPCG(1, 32))
		for round := range rounds {
			dir, older := t.TempDir(), ""
			if draw.IntN(2) == 0 || round == 0 {
				older = "older"
			}
			for _, f := range k.files {
				if older != "" && os.WriteFile(filepath.Join(dir, f), []byte(older), 0o600) != nil {
					t.Fatal(f)
				}
			}
			signal := []syscall.Signal{0, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM}[draw.IntN(4)]
			limit := uint64(1 << 40)
			if signal == 0 {
				limit = draw.Uint64N(uint64(len(whole[k.files[0]])) * 5 / 4)
			}
			if round == 0 {
				signal, limit = 0, 0
			}
			_, code, out, errs := disturbed(t, k.args, dir, signal,
				time.Duration(draw.Float64()*1.1*float64(took)), limit)
			what := fmt.Sprintf("%s, signal %d, at most %d bytes in a file", k.args, signal, limit)
			if full := strings.Contains(errs, "file too large"); code != exitOK && signal == 0 && !full || code == -1 &&
				signal != syscall.SIGKILL {
				t.Errorf("%s: exit status %d: %s", what, code, errs)
			}
			if round == 0 && (code != exitInternal || out == "") {
				t.Errorf("%s: exit status %d: %s%s", what, code, errs, out)
			}
			for _, f := range k.files {
				got := fileIn(t, dir, f)
				drawn := strings.HasPrefix(got, "<svg") && strings.HasSuffix(got, "</svg>\n")
				if drawn && code == exitNoAnswer {
					continue // of what was found until then
				}
				if got != older && got != whole[f] || code == exitOK && got != whole[f] {
					t.Errorf("%s: exit status %d, %s: %.40q", what, code, f, got)
				}
			}
			if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); code != -1 && len(hidden) > 0 {
				t.Errorf("%s: exit status %d, and %v remain", what, code, hidden)
			}
		}
	}
}

// fileIn returns the content of a file of a folder, with DIR for the folder; "": there is none.
func fileIn(t *testing.T, dir, file string) string {
	content, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(content), dir, "DIR")
}

// disturbed runs a command in a folder, and sends it a signal after some time; 0: none.
func disturbed(t *testing.T, args, dir string, signal syscall.Signal, after time.Duration,
	limit uint64) (took time.Duration, code int, out, errs string) {
	t.Helper()
	p := program(t, strings.Fields(strings.ReplaceAll(args, "DIR", dir))...)
	p.Env = append(p.Env, fmt.Sprint(fileLimit, "=", limit))
	var stdout, stderr bytes.Buffer
	p.Stdout, p.Stderr = &stdout, &stderr
	ready, begins, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	p.Env, p.ExtraFiles = append(p.Env, tellsReady+"=1"), []*os.File{begins}
	if err := errors.Join(p.Start(), begins.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Read(make([]byte, 1)); err != io.EOF { // a signal before that kills any program
		t.Fatal(err)
	}
	began := time.Now()
	if signal != 0 {
		defer time.AfterFunc(after, func() { _ = p.Process.Signal(signal) }).Stop() // it may have ended by now
	}
	code = statusOf(t, p.Wait())
	return time.Since(began), code, stdout.String(), stderr.String()
}
