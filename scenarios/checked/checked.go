// Package checked builds and runs the tests of locks not in the list, which call locktest, and reads what they found.
package checked

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/study"
	"locklab/simulator/child"
	"locklab/simulator/i18n"
)

// Tests are the tests of a package, and what they are to find out beside their searches.
type Tests struct {
	Package string // a folder, or an import path
	Run     string // a regular expression for the names of the tests
	More    []string
	Lang    string
	// Searching is called from time to time with how much of its time a test has searched, in seconds.
	Searching func(test string, seconds, most int)
}

// Result holds the findings of tests.
type Result struct {
	Locks  []Lock
	Failed bool   // a test: a claim may be wrong
	Output string // of tests that have failed
}

// A Lock is what a test has found of one lock.
type Lock struct {
	*study.Checked
	Dir  string // of its package
	Lock lock.Entry
}

// A GoError is the go command's failure, with what it printed.
type GoError struct {
	Output string
	error
}

// Unwrap returns the error in the words of the catalogues.
func (e *GoError) Unwrap() error { return e.error }

// An InternalError is that a file of this package's own could not be written or read.
type InternalError struct{ error }

// Unwrap returns the cause.
func (e *InternalError) Unwrap() error { return e.error }

// Find builds the tests and runs them.
func (t *Tests) Find(ctx context.Context) (*Result, error) {
	dir, err := t.dir(ctx)
	if err != nil {
		return nil, err
	}
	temp, err := child.NewFolder()
	if err != nil {
		return nil, err
	}
	defer temp.Close()
	binary, data := filepath.Join(temp.Path, "binary"), filepath.Join(temp.Path, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, &InternalError{err}
	}
	if out, err := run(ctx, dir, temp.Path, "go", "test", "-c", "-o", binary, "."); err != nil {
		return nil, t.failed(ctx, "error.own.build", out, err)
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, i18n.Errorf("error.own.tests", "package", t.Package)
	}
	r := &Result{}
	var watcher sync.WaitGroup
	watched, stop := context.WithCancel(ctx)
	watcher.Go(func() { t.watch(watched, filepath.Join(data, study.ProgressName)) })
	out, err := run(ctx, dir, temp.Path, binary, "-test.run="+t.Run, "-test.timeout=0", "-locklab.report="+data,
		"-locklab.more="+strings.Join(t.More, ","), "-locklab.lang="+t.Lang)
	stop()
	watcher.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case strings.Contains(out, "flag provided but not defined: -locklab."):
		return nil, i18n.Errorf("error.own.import", "package", t.Package)
	case strings.Contains(out, "invalid regexp"):
		return nil, i18n.Errorf("error.own.run", "value", t.Run)
	case err != nil:
		r.Failed, r.Output = true, out
	}
	if r.Locks, err = readAll(dir, data); err != nil {
		return nil, &InternalError{err}
	}
	if !r.Failed && len(r.Locks) == 0 {
		return nil, i18n.Errorf("error.own.none", "package", t.Package)
	}
	return r, nil
}

// watch calls Searching with what tests write to a file, until ctx ends.
func (t *Tests) watch(ctx context.Context, file string) {
	for test, seconds, most := "", 0, 0; ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second / 4):
		}
		content, _ := os.ReadFile(file) // there is none before a search begins
		if n, _ := fmt.Sscan(string(content), &test, &seconds, &most); n == 3 {
			t.Searching(test, seconds, most)
		}
	}
}

// readAll reads what the tests of a folder have written to another.
func readAll(dir, data string) (found []Lock, err error) {
	files, _ := filepath.Glob(filepath.Join(data, "*.json")) // sorted; the pattern is right
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c, err := study.ReadChecked(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		found = append(found, Lock{c, dir, c.Entry()})
	}
	return found, nil
}

// dir returns the folder of the package.
func (t *Tests) dir(ctx context.Context) (string, error) {
	pkg := t.Package
	if info, err := os.Stat(pkg); err == nil {
		if !info.IsDir() {
			return "", i18n.Errorf("error.own.file", "name", pkg, "dir", filepath.Dir(pkg))
		}
		return filepath.Abs(pkg)
	}
	if strings.HasPrefix(pkg, ".") || filepath.IsAbs(pkg) || strings.HasPrefix(pkg, "-") {
		return "", i18n.Errorf("error.own.folder", "name", pkg)
	}
	out, err := run(ctx, "", os.TempDir(), "go", "list", "-f", "{{.Dir}}", pkg)
	if err != nil {
		return "", t.failed(ctx, "error.own.package", out, err)
	}
	return strings.TrimSpace(out), nil
}

// run runs a program, with a folder for its temporary files, and returns what it prints.
func run(ctx context.Context, dir, temp, name string, args ...string) (string, error) {
	var out bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = dir, &out, &out, time.Second
	c.Env = append(c.Environ(), "TMPDIR="+temp)
	err := child.Run(c)
	return out.String(), err
}

// failed returns the error of a go command that has failed.
func (t *Tests) failed(ctx context.Context, key, out string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return i18n.Errorf("error.own.go")
	case strings.HasPrefix(out, "# .\nno Go files"):
		return i18n.Errorf("error.own.tests", "package", t.Package)
	}
	return &GoError{out, i18n.Errorf(key, "package", t.Package)}
}
