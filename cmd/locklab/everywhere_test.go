//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locklab/simulator/effort"
)

// TestSameEverywhere: texts, tables, pictures and pages are equal to the byte on any number
// of processors, in any time zone and locale, and on any machine: they were recorded on one. Only PNG differs between kinds of processors, by how they round where a picture
// is drawn in dots. TestDemoIsShort shows the demo with the race detector.
func TestSameEverywhere(t *testing.T) {
	effort.OnlyExhaustive(t, "it draws everything three times")
	for _, machine := range []struct {
		page bool // the report as well, which takes the longest
		env  []string
	}{
		{true, []string{"GOMAXPROCS=2", "TZ=UTC", "LANG=C", "LC_ALL="}},
		{false, []string{"GOMAXPROCS=1", "TZ=Asia/Kathmandu", "LANG=de_DE.UTF-8", "LC_ALL="}},
		{false, []string{"GOMAXPROCS=8", "TZ=America/St_Johns", "LANG=tr_TR.UTF-8", "LC_ALL=fr_FR"}},
	} {
		dir := t.TempDir()
		commands := []string{
			"demo", "list", "matrix --strategies setnx,token,redlock", "par --strategies setnx",
			"explore token --budget pause=1 -o DIR/pause.png -o DIR/pause.svg",
			"explore watchdog --timing lockstep --uses none --attempts 1 -o DIR/trace.html",
			"tolerance --strategies setnx -o DIR/tolerance.png -o DIR/tolerance.svg -o DIR/tolerance.csv",
			"sweep pause/ttl=0:2:0.5 --runs 27 --strategies setnx,token,watchdog -o DIR/sweep.png -o DIR/sweep.svg -o DIR/sweep.csv",
		}
		if machine.page {
			commands = append(commands, "matrix --strategies setnx,token --scenarios R18,R21 -o DIR/page",
				"rate --strategies setnx,token -o DIR/page/rate.png -o DIR/page/rate.svg")
		}
		for i, command := range commands {
			c := program(t, strings.Fields(strings.ReplaceAll(command, "DIR", dir))...)
			c.Env = append(c.Env, machine.env...)
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d-%s.txt", i, strings.Fields(command)[0])), out, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		compareOutputs(t, strings.Join(machine.env, " "), machine.page, outputs(t, dir))
	}
}

// outputs are the files below dir, each with its name before it: texts and tables as they are,
// of other files the sum, as sha256sum writes it.
func outputs(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		content = bytes.ReplaceAll(content, []byte(dir), []byte("DIR"))
		if ext := filepath.Ext(name); ext != ".txt" && ext != ".csv" {
			content = fmt.Appendf(nil, "%x\n", sha256.Sum256(content))
		}
		files = append(files, fileMark+name+"\n"+string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// fileMark begins a file in what is recorded.
const fileMark = "-- file "

// compareOutputs compares with those of the machine where they were recorded, or records them.
func compareOutputs(t *testing.T, machine string, all bool, files []string) {
	t.Helper()
	const recorded = "everywhere.txt"
	if *update && all {
		golden(t, recorded, []byte(strings.Join(files, "")))
	}
	content, err := os.ReadFile(filepath.Join("testdata", recorded))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, file := range strings.Split(string(content), fileMark)[1:] {
		name, _, _ := strings.Cut(file, "\n")
		want[name] = fileMark + file
	}
	if all && len(files) != len(want) {
		t.Errorf("%s: %d outputs, %d were recorded", machine, len(files), len(want))
	}
	for _, file := range files {
		name, _, _ := strings.Cut(strings.TrimPrefix(file, fileMark), "\n")
		if runtime.GOARCH != "amd64" && filepath.Ext(name) == ".png" { // the others were recorded there
			continue
		}
		if diff := cmp.Diff(want[name], file); diff != "" {
			t.Errorf("%s: %s (-recorded +now):\n%.3000s", machine, name, diff)
		}
	}
}
