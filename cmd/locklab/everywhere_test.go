//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"locklab/simulator/effort"
	"locklab/simulator/lists"
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
			"demo", "list", "matrix --strategies setnx,token,redlock", "chart par --strategies setnx",
			"explore token --budget pause=1 -o DIR/pause.png -o DIR/pause.svg",
			"explore watchdog --timing lockstep --uses none --attempts 1 -o DIR/trace.html",
			"chart tolerance --strategies setnx -o DIR/tolerance.png -o DIR/tolerance.svg -o DIR/tolerance.csv",
			"chart sweep pause/ttl=0:2:0.5 --runs 27 --strategies setnx,token,watchdog -o DIR/sweep.png -o DIR/sweep.svg -o DIR/sweep.csv",
		}
		if machine.page {
			commands = append(commands, "matrix --strategies setnx,token --scenarios R18,R21 -o DIR/page",
				"chart rate --strategies setnx,token -o DIR/page/rate.png -o DIR/page/rate.svg")
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

// outputs are the files below dir, by name.
func outputs(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = bytes.ReplaceAll(content, []byte(dir), []byte("DIR"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compareOutputs compares with the sums of those of the machine where they were recorded, as sha256sum writes them, or
// records them. What the outputs say stands in the goldens of their commands.
func compareOutputs(t *testing.T, machine string, all bool, files map[string][]byte) {
	t.Helper()
	const recorded = "everywhere.txt"
	sum := func(name string) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256(files[name]), name) }
	names := slices.Sorted(maps.Keys(files))
	if *update && all {
		golden(t, recorded, []byte(strings.Join(lists.Each(names, sum), "")))
	}
	content, err := os.ReadFile(filepath.Join("testdata", recorded))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(content), "\n"); all && len(files) != n {
		t.Errorf("%s: %d outputs, %d were recorded", machine, len(files), n)
	}
	for _, name := range names {
		if runtime.GOARCH != "amd64" && filepath.Ext(name) == ".png" { // the others were recorded there
			continue
		}
		if !strings.Contains(string(content), sum(name)) {
			t.Errorf("%s: %s is not what was recorded:\n%.3000s", machine, name, strings.ToValidUTF8(string(files[name]), "?"))
		}
	}
}
