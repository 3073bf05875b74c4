package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/reports/text"
	"locklab/simulator/effort"
)

// TestEmptyNames: every flag of every command that names something refuses an empty name, and so
// does every argument, before anything is done.
func TestEmptyNames(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	e := newTestEnv(nil, nil)
	refused := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		path := strings.Fields(c.CommandPath())[1:]
		if len(path) == 0 || path[0] == "help" || path[0] == "completion" {
			return
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { // with those of all commands below it
			kind := f.Value.Type()
			if kind != "string" && kind != "stringArray" || slices.Contains(mayBeEmpty, f.Name) {
				return
			}
			for _, lang := range text.Languages() {
				args := append(slices.Clone(path), "--lang", lang, "--"+f.Name+"=")
				if want := text.Say(lang, "error.flag.empty", "flag", "--"+f.Name); !refuses(t, want, args) {
					t.Errorf("%q is not refused", args)
				}
			}
			refused++
		})
	}
	visit(newRoot(e))
	if refused < 40 {
		t.Errorf("%d flags were tried", refused)
	}
	for _, args := range [][]string{{"merge", ""}, {"run", "token", ""}, {"run", ""}, {"explain", ""}} {
		if !refuses(t, " is empty: write a value", args) {
			t.Errorf("%q is not refused", args)
		}
	}
}

// refuses reports whether a command line ends as wrong use with a sentence, with as many arguments
// as its command needs.
func refuses(t *testing.T, want string, args []string) bool {
	t.Helper()
	for n := range 3 {
		// what is not refused does not run for long
		code, out, errs := stopped(t, slices.Concat(args, []string{"x", "x"}[:n])...)
		if code == exitUsage && out == "" && strings.Contains(errs, want) {
			return true
		}
	}
	return false
}

// TestLongNames: a name that a file system does not take is refused before the work, also where
// only the name of the temporary file beside it would be too long.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, base := range []int{300, 255} {
		for _, command := range []string{
			"run token calm -o .html", "explore token -o .json", "chart sweep pause/ttl -o .png", "chart par -o .csv",
			"verify --junit .xml", "live matrix -o .csv",
		} {
			args := strings.Fields(command)
			last := &args[len(args)-1]
			*last = filepath.Join(dir, strings.Repeat("x", base-len(*last))+*last)
			if !refuses(t, "file name too long", args) {
				t.Errorf("%s is not refused", command)
			}
		}
	}
	if !refuses(t, "file name too long", []string{"matrix", "-o", filepath.Join(dir, strings.Repeat("x", 300))}) {
		t.Error("matrix does not refuse it")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestNoFaults: none is an empty budget, wherever one is read: nothing that is printed differs.
func TestNoFaults(t *testing.T) {
	for _, args := range [][]string{
		{"explore", "setnx", "--json", "--timing", "lockstep"},
		{"chart", "par", "--locks", "setnx", "--json"},
		{"chart", "par", "--locks", "setnx"},
		{"play", "setnx"},
	} {
		var said []string
		for _, budget := range []string{"", "none"} {
			code, out, errs := call(t, append(args, "--budget", budget)...)
			if code != exitOK {
				t.Errorf("%q with %q: exit status %d, %s", args, budget, code, errs)
			}
			said = append(said, seconds.ReplaceAllString(out, ""))
		}
		if said[0] != said[1] {
			t.Errorf("%q: %s\nwith none:\n%s", args, said[0], said[1])
		}
	}
	if code, out, errs := call(t, "run", "token", "gc-pause", "--budget", "none"); code != exitUsage || out != "" ||
		!strings.Contains(errs, "needs 1") {
		t.Errorf("a pause without a pause: exit status %d, %s%s", code, out, errs)
	}
}

// seconds are what JSON says of the time that a search took.
var seconds = regexp.MustCompile(`(?m)^.*"(seconds|[a-z_]*per_second|took_ns)":.*$`)
