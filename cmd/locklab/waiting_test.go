package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

func TestWaiting(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	file := filepath.Join(t.TempDir(), "waiting.svg")
	code, out, errs := call(t, "chart", "waiting", "--clients", "2,10", "--policies", "fixed,jitter,pubsub,line", "--lang", "both", "-o", file)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "waiting.txt", []byte(out))
	csv, err := os.ReadFile(strings.TrimSuffix(file, ".svg") + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "waiting.csv", csv)
	if b, err := os.ReadFile(file); err != nil || len(b) == 0 || strings.Contains(string(b), "<text") {
		t.Errorf("%d bytes, %v, or its text is not outlined", len(b), err)
	}
	code, out, errs = call(t, "chart", "waiting", "--clients", "2", "--policies", "fixed", "--json")
	var v struct {
		Version  int
		Takeaway string
		Results  []struct {
			Jain *float64 `json:"jain_index"`
		}
	}
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v.Version != schema || v.Takeaway == "" || len(v.Results) != 1 || v.Results[0].Jain == nil {
		t.Errorf("exit status %d, %v: %s%s", code, err, out, errs)
	}
	for _, c := range [][2]string{{"chart waiting token", "token"}, {"chart waiting --clients 1", `"1"`}, {"chart waiting --clients 5,2", "2"}, {"chart waiting --clients 5000", "2000"},
		{"chart waiting --policies fixd", "did you mean fixed"}, {"chart waiting --poll 0s", "--poll 0s"}, {"chart waiting -o x.gif", ".png, .svg or .csv"}} {
		if code, out, errs := call(t, strings.Fields(c[0])...); code != exitUsage || out != "" || !strings.Contains(errs, c[1]) {
			t.Errorf("%s: exit status %d, %s", c[0], code, errs)
		}
	}
}
