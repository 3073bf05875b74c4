package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// A curve is what the tests read of one.
type curve struct {
	Harm     verdict.Word `json:"harm"`
	NoReturn int          `json:"no_return"`
	Takeaway string       `json:"takeaway"`
	Steps    []struct {
		Share float64 `json:"share"`
	} `json:"steps"`
}

// What people see of a doom curve: the same from the search that finds the run,
// and from the link of the run, in text, as JSON and in files.
func TestDoom(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	search := []string{"explore", "token", "--budget", "pause=1", "--doom"}
	code, out, errs := call(t, append(search, "--json")...)
	var found struct {
		exploreJSON
		Doom *curve `json:"doom"`
	}
	if err := json.Unmarshal([]byte(out), &found); code != 0 || err != nil || found.Doom == nil {
		t.Fatalf("exit status %d, %v: %s%s", code, err, out, errs)
	}
	d := found.Doom
	if len(d.Steps) != found.Verdicts[0].Steps+1 || d.Harm != found.Verdicts[0].Verdict || d.Steps[d.NoReturn].Share != 1 || d.Steps[d.NoReturn-1].Share == 1 || d.Takeaway == "" {
		t.Errorf("%+v", d)
	}
	dir := t.TempDir()
	again := []string{"replay", found.Verdicts[0].Trace, "--doom"}
	code, out, errs = call(t, append(again, "-o", filepath.Join(dir, "doom.png"), "-o", filepath.Join(dir, "doom.svg"), "-o", filepath.Join(dir, "run.txt"))...)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "doom.txt", []byte(out))
	for _, name := range []string{"doom.png", "doom.svg", "doom.csv", "run.txt"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	_, drawn, _ := strings.Cut(out, "When does the failure become inevitable?")
	drawn, _, _ = strings.Cut(drawn, "\n\nVerdict")
	if _, out, _ := call(t, search...); !strings.Contains(out, drawn) || strings.Count(out, "point of no return") != 2 {
		t.Errorf("the search tells another curve:\n%s", out)
	}
	code, out, _ = call(t, append(again, "--json")...)
	var j struct {
		Doom *curve `json:"doom"`
	}
	if err := json.Unmarshal([]byte(out), &j); code != 0 || err != nil || j.Doom == nil || len(j.Doom.Steps) != len(d.Steps) {
		t.Errorf("exit status %d, %v: %s", code, err, out)
	}
}

func TestDoomWrongUse(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"explore", "token", "-o", "x.png"}, "add --doom"},
		{[]string{"replay", link(t), "-o", "x.csv"}, "add --doom"},
		{[]string{"explore", "token", "--doom", "-o", "x.gif"}, ".png, .svg or .csv"},
		{[]string{"replay", link(t), "--doom"}, "locklab explore token"},
	} {
		if code, out, errs := call(t, c.args...); code != exitUsage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit status %d, %q, want it to say %q; standard output %q", c.args, code, errs, c.want, out)
		}
	}
}
