package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

func TestSweepPictures(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	dir := t.TempDir()
	for name, args := range map[string]string{
		"rate": "client-rate --set work=lease --strategies token,redlock --runs 9 --lang zh",
		"map":  "renewal/ttl=0.3,0.9 pause/ttl=0,0.5,1 --strategies redlock-extend,token --runs 9",
	} {
		svg := filepath.Join(dir, name+".svg")
		code, out, errs := call(t, append(append([]string{"chart", "sweep"}, strings.Fields(args)...), "-o", svg, "-o", filepath.Join(dir, name+".png"))...)
		if code != exitOK {
			t.Fatalf("exit status %d: %s", code, errs)
		}
		golden(t, "sweep."+name+".txt", []byte(out))
		b, err := os.ReadFile(svg)
		if err != nil || strings.Contains(string(b), "<text") {
			t.Errorf("%v, or its text is not outlined", err)
		}
		csv, err := os.ReadFile(filepath.Join(dir, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "sweep."+name+".csv", csv)
	}
}
