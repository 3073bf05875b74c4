//go:build linux

package main

import (
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
)

// TestSameEverywhere: texts, tables, pictures and pages are equal to the byte on any number of processors, in any time
// zone and locale, and on any machine: their sums were recorded on one, as sha256sum writes them. Only PNG differs
// between kinds of processors, by how they round where a picture is drawn in dots. What the outputs say stands in the
// goldens.
func TestSameEverywhere(t *testing.T) {
	effort.OnlyExhaustive(t, "it draws everything three times")
	commands := []string{
		"demo", "list", "matrix --locks setnx,token,redlock", "chart par --locks setnx",
		"explore token --budget pause=1 -o DIR/pause.png -o DIR/pause.svg",
		"explore watchdog --timing lockstep --uses none --attempts 1 -o DIR/trace.html",
		"chart tolerance --locks setnx -o DIR/tolerance.png -o DIR/tolerance.svg -o DIR/tolerance.csv",
		"chart sweep pause/ttl=0:2:0.5 --runs 27 --locks setnx,token,watchdog " +
			"-o DIR/sweep.png -o DIR/sweep.svg -o DIR/sweep.csv",
		"matrix --locks setnx,token --races R18,R21 -o DIR/page", // these two take the longest
		"chart rate --locks setnx,token -o DIR/page/rate.png -o DIR/page/rate.svg",
	}
	const recorded = "everywhere.txt"
	for n, machine := range []string{
		"GOMAXPROCS=2 TZ=UTC LANG=C LC_ALL=", "GOMAXPROCS=1 TZ=Asia/Kathmandu LANG=de_DE.UTF-8 LC_ALL=",
		"GOMAXPROCS=8 TZ=America/St_Johns LANG=tr_TR.UTF-8 LC_ALL=fr_FR",
	} {
		if n > 0 {
			commands = commands[:8]
		}
		dir := t.TempDir()
		for i, command := range commands {
			c := program(t, strings.Fields(strings.ReplaceAll(command, "DIR", dir))...)
			c.Env = append(c.Env, strings.Fields(machine)...)
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			fileWith(t, string(out), dir, fmt.Sprintf("%02d-%s.txt", i, strings.Fields(command)[0]))
		}
		files := printed(t, dir)
		var sums strings.Builder
		for _, name := range slices.Sorted(maps.Keys(files)) {
			sum := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(files[name])), name)
			sums.WriteString(sum)
			if runtime.GOARCH != "amd64" && filepath.Ext(name) == ".png" { // the others were recorded there
				continue
			}
			if !*update && !strings.Contains(contentOf(t, "testdata", recorded), sum) {
				t.Errorf("%s: %s is not what was recorded:\n%.3000s",
					machine, name, strings.ToValidUTF8(files[name], "?"))
			}
		}
		if n == 0 && *update {
			golden(t, recorded, sums.String())
		}
		if n == 0 && len(files) != strings.Count(contentOf(t, "testdata", recorded), "\n") {
			t.Errorf("%d outputs; others were recorded", len(files))
		}
	}
}

// printed are the files below dir, by name.
func printed(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name] = strings.ReplaceAll(contentOf(t, dir, name), dir, "DIR")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
