//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"locklab/simulator/effort"
)

// A writer is a command that writes files, into DIR.
type writer struct {
	args  string
	files []string
	slow  bool
}

func writers(t *testing.T) []writer {
	trace := link(t)
	promise := contractFile(t, promise)
	return []writer{
		{"run token R18 -o DIR/run.html -o DIR/run.json -o DIR/run.txt", []string{"run.html", "run.json", "run.txt"}, false},
		{"run " + trace + " -o DIR/replay.html", []string{"replay.html"}, false},
		{"explore token --budget pause=1 -o DIR/run.json -o DIR/pause.svg", []string{"run.json", "pause.svg"}, false},
		{"chart sweep pause/ttl=0:2:1 --runs 9 --strategies token -o DIR/sweep.png -o DIR/sweep.csv", []string{"sweep.png", "sweep.csv"}, false},
		{"verify --contract " + promise + " --junit DIR/verify.xml --summary DIR/verify.md", []string{"verify.xml", "verify.md"}, false},
		{"chart par --strategies setnx -o DIR/par.svg -o DIR/par.csv", []string{"par.svg", "par.csv"}, true},
		{"chart tolerance --strategies setnx -o DIR/tolerance.svg -o DIR/tolerance.csv", []string{"tolerance.svg", "tolerance.csv"}, true},
		{"matrix --strategies token --scenarios R18 -o DIR", []string{"report.html", "grid.png", "grid.svg", "grid.csv"}, true},
	}
}

// eachWriter calls test with every command, ready to start, and the directory into which
// it writes.
func eachWriter(t *testing.T, test func(t *testing.T, w writer, c *exec.Cmd, dir string)) {
	for _, w := range writers(t) {
		if w.slow && !effort.Exhaustive() {
			continue
		}
		t.Run(strings.Fields(w.args)[0], func(t *testing.T) {
			dir := t.TempDir()
			test(t, w, program(t, strings.Fields(strings.ReplaceAll(w.args, "DIR", dir))...), dir)
		})
	}
}

// whole checks that these files, and no others, are in a directory.
func whole(t *testing.T, dir string, files []string) {
	t.Helper()
	there, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range there {
		if strings.HasPrefix(f.Name(), ".") {
			t.Errorf("%s remains", f.Name())
		}
	}
	for _, f := range files {
		if info, err := os.Stat(filepath.Join(dir, f)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// Standard output that is full, or that nobody reads, does not keep any command from
// writing its files.
func TestWritersDespiteLostOutput(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; the work is done by processes of one command each")
	eachWriter(t, func(t *testing.T, w writer, c *exec.Cmd, dir string) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		effort.Need(t, err) // only Linux has /dev/full
		defer full.Close()
		again := program(t, c.Args[1:]...)
		var errs bytes.Buffer
		c.Stdout, c.Stderr = full, &errs
		if code := statusOf(t, c.Run()); code != exitInternal || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("full: exit status %d: %s", code, errs.String())
		}
		whole(t, dir, w.files)
		if w.slow {
			return
		}
		r, closed, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer closed.Close()
		r.Close()
		errs.Reset()
		again.Stdout, again.Stderr = closed, &errs
		if code := statusOf(t, again.Run()); code != exitOK || strings.Contains(errs.String(), "pipe") {
			t.Errorf("closed: exit status %d: %s", code, errs.String())
		}
		whole(t, dir, w.files)
	})
}

// A disk that becomes full leaves what was there: the older files, whole, and nothing
// half-written. What was found is printed.
func TestWritersOnFullDisk(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; the work is done by processes of one command each")
	const older = "what was there before"
	for _, disk := range []struct {
		what, says string
		limit      func(t *testing.T, c *exec.Cmd, dir string) *exec.Cmd
	}{
		{"a disk of one page", "no space left on device", func(t *testing.T, c *exec.Cmd, dir string) *exec.Cmd {
			if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
				effort.Need(t, fmt.Errorf("a small disk is mounted, which only root may do: %w", err))
			}
			t.Cleanup(func() {
				if err := syscall.Unmount(dir, 0); err != nil {
					t.Error(err)
				}
			})
			return c
		}},
		{"no file may be larger than nothing", "file too large", func(t *testing.T, c *exec.Cmd, _ string) *exec.Cmd {
			limited := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -f 0; exec "$0" "$@"`}, c.Args...)...)
			limited.Env = c.Env
			return limited
		}},
	} {
		t.Run(disk.what, func(t *testing.T) {
			eachWriter(t, func(t *testing.T, w writer, c *exec.Cmd, dir string) {
				if w.slow {
					t.Skip("it writes files as the others do")
				}
				c = disk.limit(t, c, dir)
				for _, f := range w.files {
					if err := os.WriteFile(filepath.Join(dir, f), []byte(older[:1]), 0o600); err != nil && !errors.Is(err, syscall.ENOSPC) {
						t.Fatal(err)
					}
				}
				var out, errs bytes.Buffer
				c.Stdout, c.Stderr = &out, &errs
				if code := statusOf(t, c.Run()); code != exitInternal && code != exitUsage || !strings.Contains(errs.String(), disk.says) {
					t.Errorf("exit status %d: %s", code, errs.String())
				} else if code == exitInternal && out.Len() == 0 {
					t.Errorf("nothing was printed: %s", errs.String())
				}
				there, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range there {
					content, err := os.ReadFile(filepath.Join(dir, f.Name()))
					if err != nil || strings.HasPrefix(f.Name(), ".") || disk.says == "file too large" && string(content) != older[:1] {
						t.Errorf("%s: %.40q, %v", f.Name(), content, err)
					}
				}
			})
		})
	}
}
