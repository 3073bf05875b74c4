// Package checked builds and runs the tests of locks that are not in the list, which call
// package locktest, reads what they have found, and compares it with a contract.
package checked

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/i18n"
)

// Tests are the tests of a package, and what they are to find out beside their searches.
type Tests struct {
	Package string // a folder, or an import path
	Run     string // a regular expression for the names of the tests
	More    []string
	Rows    []contract.Expectation
	Lang    string
	Running func() // is called after the tests are built
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
	temp, err := os.MkdirTemp("", "locklab-check-")
	if err != nil {
		return nil, &InternalError{err}
	}
	defer os.RemoveAll(temp)
	binary, data := filepath.Join(temp, "binary"), filepath.Join(temp, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, &InternalError{err}
	}
	if out, err := run(ctx, dir, "go", "test", "-c", "-o", binary, "."); err != nil {
		return nil, t.failed(ctx, "error.own.build", out, err)
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, i18n.Errorf("error.own.tests", "package", t.Package)
	}
	t.Running()
	r := &Result{}
	out, err := run(ctx, dir, binary, "-test.run="+t.Run, "-test.timeout=0", "-locklab.report="+data,
		"-locklab.more="+strings.Join(t.More, ","), "-locklab.within="+t.within(), "-locklab.lang="+t.Lang)
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
	out, err := run(ctx, "", "go", "list", "-f", "{{.Dir}}", pkg)
	if err != nil {
		return "", t.failed(ctx, "error.own.package", out, err)
	}
	return strings.TrimSpace(out), nil
}

// run runs a program and returns what it prints.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	var out bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = dir, &out, &out, time.Second
	err := c.Run()
	return out.String(), err
}

// failed returns the error of a go command that has failed.
func (t *Tests) failed(ctx context.Context, key, out string, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return i18n.Errorf("error.own.go")
	}
	return &GoError{out, i18n.Errorf(key, "package", t.Package)}
}

// within returns the bounds that the rows want searched, as the tests read them.
func (t *Tests) within() string {
	all := map[string][]string{}
	for _, r := range t.Rows {
		if r.IsSearch() {
			all[r.Strategy.ID] = append(all[r.Strategy.ID], r.Bounds.String())
		}
	}
	written, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings can be written
	}
	return string(written)
}

// Rows reads the rows of a contract about locks that are not in the list.
func Rows(file, content string) ([]contract.Expectation, error) {
	rows, err := contract.ParseFor(i18n.Visible(file), content, func(name string) lock.Entry { return lock.Entry{ID: name} })
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r contract.Expectation) bool {
		_, listed := algorithms.ByName(r.Strategy.ID)
		return listed // locklab verify proves them
	})
	if len(rows) == 0 {
		return nil, i18n.Errorf("error.own.contract", "file", file)
	}
	if i := slices.IndexFunc(rows, func(r contract.Expectation) bool { return r.IsProof() }); i >= 0 {
		return nil, fmt.Errorf("%s:%d: %w", rows[i].File, rows[i].Line, i18n.Errorf("error.own.prove", "lock", rows[i].Strategy.ID))
	}
	return rows, nil
}

// Compare compares what the tests of a package have found with the rows of a contract.
func Compare(pkg string, rows []contract.Expectation, found []Lock) (kept []contract.Result, err error) {
	searched := map[string]int{} // by lock, the number of its searches that rows had already
	for _, r := range rows {
		i := slices.IndexFunc(found, func(l Lock) bool { return l.Test == r.Strategy.ID })
		if i < 0 {
			return nil, fmt.Errorf("%s:%d: %w", r.File, r.Line, i18n.Errorf("error.own.row", "lock", r.Strategy.ID, "package", pkg))
		}
		l := found[i]
		if l.Unknown != "" {
			continue
		}
		judge := l.judgeRace
		if r.IsSearch() {
			n := searched[l.Test]
			judge = func(r contract.Expectation) (*contract.Result, error) { return l.judgeSearch(r, n) }
			searched[l.Test]++
		}
		result, err := judge(r)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", r.File, r.Line, err)
		}
		kept = append(kept, *result)
	}
	return kept, nil
}

func (l *Lock) judgeRace(r contract.Expectation) (*contract.Result, error) {
	i := slices.IndexFunc(l.Races, func(run study.CheckedRun) bool { return run.Scenario == r.Scenario.ID })
	o, err := l.Races[i].Outcome(l.Lock)
	if err != nil {
		return nil, err
	}
	return r.JudgeRace(o), nil
}

// judgeSearch compares the n-th search that a contract has asked for.
func (l *Lock) judgeSearch(r contract.Expectation, n int) (*contract.Result, error) {
	if n >= len(l.Within) {
		return nil, i18n.Errorf("error.own.row.search", "lock", l.Test)
	}
	runs, err := study.OutcomesOf(l.Within[n].Runs, l.Lock)
	if err != nil {
		return nil, err
	}
	return r.JudgeSearch(l.Within[n].Search, runs), nil
}

// Outcomes are the races that the test has played.
func (l *Lock) Outcomes() ([]*race.Outcome, error) { return study.OutcomesOf(l.Races, l.Lock) }
