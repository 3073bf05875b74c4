package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// What people see of the charts from search.
func TestSearchCharts(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; TestSearchOnTwoCores and TestFindParsGivenUp search side by side as well")
	for name, args := range map[string][]string{
		"tolerance": {"chart", "tolerance", "--strategies", "setnx,getset,token"},
		"par":       {"chart", "par", "--strategies", "setnx,getset,token"},
		"theorems":  {"chart", "theorems", "--strategies", "setnx,001-E,token", "--budget=crash=any"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := []string{filepath.Join(dir, name+".csv"), filepath.Join(dir, name+".svg"), filepath.Join(dir, name+".png")}
			if name == "theorems" { // which is a table
				files = files[:1]
			}
			for _, f := range files {
				args = append(args, "-o", f)
			}
			code, out, errs := call(t, args...)
			if code != 0 {
				t.Fatalf("exit status %d, standard error %q", code, errs)
			}
			golden(t, name+".txt", []byte(out))
			for _, f := range files {
				if b, err := os.ReadFile(f); err != nil || len(b) == 0 {
					t.Errorf("%s: %d bytes, %v", f, len(b), err)
				}
			}
			code, out, errs = call(t, append(args[:len(args)-2*len(files):len(args)-2*len(files)], "--json")...)
			var v struct {
				Version                int
				Incomplete             bool
				Takeaway               string
				Limits, Pars, Theorems []json.RawMessage
			}
			if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v.Version != schema || v.Takeaway == "" || len(v.Limits)+len(v.Pars) != 15 && len(v.Theorems) != 18 {
				t.Errorf("exit status %d, %v: %s%s", code, err, out, errs)
			}
		})
	}
}

func TestSearchChartsWrongUse(t *testing.T) {
	effort.Unwatched(t, "TestSearchOnTwoCores and TestFindParsGivenUp search side by side as well")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"chart", "tolerance", "--strategies", "tokn"}, "did you mean token"},
		{[]string{"chart", "tolerance", "-o", "x.gif"}, ".png, .svg or .csv"},
		{[]string{"chart", "tolerance", "token"}, "token"},
		{[]string{"chart", "par", "--strategies", "tokn"}, "did you mean token"},
		{[]string{"chart", "par", "-o", "x.gif"}, ".png, .svg or .csv"},
		{[]string{"chart", "par", "--budget", "pauze=1"}, "did you mean pause"},
		{[]string{"chart", "par", "--clients", "9"}, "clients=9"},
		{[]string{"chart", "theorems", "-o", "x.png"}, "written as .csv"},
		{[]string{"chart", "theorems", "--budget", "pauze=1"}, "did you mean pause"},
		{[]string{"chart", "theorems", "--budget", "crash=any,pause=1"}, "pause=1"},
	} {
		if code, out, errs := call(t, c.args...); code != exitUsage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit status %d, %q, want it to say %q; standard output %q", c.args, code, errs, c.want, out)
		}
	}
}

// A search that is interrupted or given up ends with 3, and what it did not
// reach is unknown; only files of what is whole are written.
func TestSearchChartsCutShort(t *testing.T) {
	effort.Unwatched(t, "TestSearchOnTwoCores and TestFindParsGivenUp search side by side as well")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, command := range []string{"tolerance", "par"} {
		file := filepath.Join(t.TempDir(), "x.csv")
		var out, errs bytes.Buffer
		code := run(ctx, []string{"chart", command, "--strategies", "token", "--json", "-o", file}, strings.NewReader(""), &out, &errs, func(string) string { return "" })
		var v struct{ Incomplete bool }
		if err := json.Unmarshal(out.Bytes(), &v); code != exitNoAnswer || err != nil || !v.Incomplete || !strings.Contains(errs.String(), "incomplete") {
			t.Errorf("%s: exit status %d, %v: %s", command, code, err, errs.String())
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: wrote a file of half a search", command)
		}
	}
	code, out, errs := call(t, "chart", "par", "--strategies", "token", "--max-states", "50", "--budget", "crash=1")
	if code != exitNoAnswer || !strings.Contains(out, "without an answer") || !strings.Contains(errs, "cut short") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}
