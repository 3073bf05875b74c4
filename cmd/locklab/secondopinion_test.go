package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locklab/simulator/effort"
	"locklab/simulator/promela"
)

// What people see of a second opinion, in both languages: of two locks, and of locks of which
// two cannot be asked about.
func TestSecondOpinion(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	effort.Need(t, promela.Installed())
	code, out, errs := call(t, "second-opinion", "setnx", "--histories")
	if code != exitOK || errs != "" {
		t.Errorf("exit status %d, %s", code, errs)
	}
	golden(t, "second-opinion.txt", []byte(out))
	if _, timed, _ := call(t, "second-opinion", "setnx", "--histories", "--time"); len(regexp.MustCompile(`(?m)^setnx .*$`).FindAllString(timed, -1)) != 1 || len(regexp.MustCompile(`\d\.\d\d\b`).FindAllString(timed, -1)) != 4 || !strings.Contains(timed, "States and seconds:") {
		t.Errorf("--time: %s", timed)
	}
	code, out, errs = call(t, strings.Fields("second-opinion zk-semaphore token-wait token --budget crash=1 --lang zh")...)
	if code != exitNoAnswer {
		t.Errorf("exit status %d, %s", code, errs)
	}
	golden(t, "second-opinion.zh.txt", []byte(out))

	folder := filepath.Join(t.TempDir(), "models")
	code, out, errs = call(t, "second-opinion", "token", "--budget", "", "--json", "-o", folder)
	var j struct {
		Opinions []struct {
			Strategy string
			Agrees   bool
			Plain    []int
			Spin     []int `json:"spin_plain"`
		}
	}
	if err := json.Unmarshal([]byte(out), &j); err != nil || code != exitOK || len(j.Opinions) != 1 || !j.Opinions[0].Agrees || len(j.Opinions[0].Plain) != 2 || j.Opinions[0].Plain[0] != j.Opinions[0].Spin[0] {
		t.Errorf("%v, exit status %d: %s%s", err, code, out, errs)
	}
	for _, file := range []string{"token.pml", "automata.c", "tables.h"} {
		if _, err := os.Stat(filepath.Join(folder, "token", file)); err != nil {
			t.Error(err)
		}
	}
}

// Wrong use, and a machine without SPIN, end with status 2 and say what to do.
func TestSecondOpinionRefuses(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for args, want := range map[string]string{
		"second-opinion nolock":                     "nolock",
		"second-opinion token token":                "token",
		"second-opinion token --timing auto":        "--timing auto: give lockstep or any",
		"second-opinion token --timing sometime":    "sometime",
		"second-opinion token --budget meteor=1":    "meteor",
		"second-opinion token --uses auto":          "--uses auto: give none, all, or a list",
		"second-opinion token --uses wait":          "wait",
		"second-opinion token --clients 0":          "0",
		"second-opinion token --nodes -1":           "-1",
		"second-opinion token --max-states -1":      "-1",
		"second-opinion token -o /dev/null/nowhere": "/dev/null/nowhere",
	} {
		if code, out, errs := call(t, strings.Fields(args)...); code != exitUsage && !strings.Contains(errs, "install the package") || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d, %s%s", args, code, out, errs)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if code, out, errs := call(t, "second-opinion"); code != exitUsage || out != "" || !strings.Contains(errs, "install the package spin") {
		t.Errorf("exit status %d, %s%s", code, out, errs)
	}
}
