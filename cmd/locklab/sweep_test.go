package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// A sweep that was stopped goes on from its file, and shows what one that was not would.
func TestSweepResumes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sweep.json")
	args := []string{"sweep", "ttl=5s:8s:1s", "--strategies", "token,setnx", "--runs", "9"}
	_, want, _ := call(t, args...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	none := func(string) string { return "" }
	if code := run(ctx, append(args, "--resume", file), nil, &out, &errs, none); code != exitNoAnswer || !strings.Contains(out.String(), "No run was finished") {
		t.Errorf("stopped: exit status %d, %s%s", code, out.String(), errs.String())
	}
	for range 2 { // the second time everything is known
		if code, got, errs := call(t, append(args, "--resume", file)...); code != exitOK || got != want {
			t.Errorf("exit status %d, %s: %s", code, errs, got)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content string
		args    []string
		says    string
	}{
		"another command": {string(content), []string{"sweep", "ttl=5s:9s:1s", "--resume", file}, `is of "locklab sweep --runs=9 --strategies=token --strategies=setnx ttl=5s:8s:1s"`},
		"damaged":         {string(content[:len(content)/2]), append(args, "--resume", file), "damaged"},
		"changed":         {strings.Replace(string(content), `"result":[`, `"result":[1`, 1), append(args, "--resume", file), "changed"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			if code, _, errs := call(t, c.args...); code != exitUsage || !strings.Contains(errs, c.says) {
				t.Errorf("exit status %d, %s", code, errs)
			}
			if after, err := os.ReadFile(file); err != nil || string(after) != c.content {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

func TestSweepPictures(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	dir := t.TempDir()
	for name, args := range map[string]string{
		"rate": "client-rate --set work=lease --strategies token,redlock --runs 9 --lang zh",
		"map":  "renewal/ttl=0.3,0.9 pause/ttl=0,0.5,1 --strategies redlock-extend,token --runs 9",
	} {
		svg := filepath.Join(dir, name+".svg")
		code, out, errs := call(t, append(append([]string{"sweep"}, strings.Fields(args)...), "-o", svg, "-o", filepath.Join(dir, name+".png"))...)
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
