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

func TestRate(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "rate.png"), filepath.Join(dir, "rate.svg")}
	code, out, errs := call(t, "chart", "rate", "--strategies", "setnx,token,watchdog", "-o", files[0], "-o", files[1])
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "rate.txt", []byte(out))
	for _, f := range append(files, filepath.Join(dir, "rate.csv")) {
		if b, err := os.ReadFile(f); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", f, len(b), err)
		}
	}
	code, out, errs = call(t, "chart", "rate", "--explain", "token", "--environments", "azure", "--ttl", "30s",
		"--hold", "p50=1s,p99=5s,p100=20s", "--fault", "failover=2/year lag=500ms", "--fault", "lose-reply=0.000001")
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "rate-explain.txt", []byte(out))
}

func TestRateWrongUse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"chart", "rate", "--strategies", "tokn"}, "did you mean token"},
		{[]string{"chart", "rate", "--explain", "tokn"}, "did you mean token"},
		{[]string{"chart", "rate", "--explain", "token", "-o", "x.gif"}, ".png, .svg or .csv"},
		{[]string{"chart", "rate", "token"}, "token"},
		{[]string{"chart", "rate", "-o", "x.gif"}, ".png, .svg or .csv"},
		{[]string{"chart", "rate", "--ttl", "soon"}, `--ttl: "soon"`},
		{[]string{"chart", "rate", "--ttls", "10s"}, `--ttls: "10s" is one TTL`},
		{[]string{"chart", "rate", "--machines", "-1"}, `--machines: "-1"`},
		{[]string{"chart", "rate", "--fault", "pause"}, "how often and how long"},
		{[]string{"chart", "rate", "--fault", "pause=-1/year 3s"}, "-1/year"},
		{[]string{"chart", "rate", "--fault", "pause=1/year soon"}, `"soon" is no length`},
		{[]string{"chart", "rate", "--environments", "azur"}, "did you mean azure"},
		{[]string{"chart", "rate", "--machines", "3"}, "100 holds"},
	} {
		if code, out, errs := call(t, c.args...); code != exitUsage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit status %d, %q, want it to say %q; standard output %q", c.args, code, errs, c.want, out)
		}
	}
}

// Every field of the JSON: numbers, what has none, and environments from a source and from flags.
func TestRateAllJSON(t *testing.T) {
	args := []string{"chart", "rate", "--strategies", "setnx,token", "--environments", "cfs,github-2018", "--ttls", "5s,1m",
		"--fault", "failover=2/year lag=500ms", "--fault", "lose-reply=0.000001", "--json"}
	code, out, errs := call(t, args...)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "rate.json", []byte(out))
}

// What explains one lock is written to files too, and printed as JSON.
func TestRateExplainFiles(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	dir := t.TempDir()
	explain := []string{"chart", "rate", "--environments", "azure", "--ttls", "5s,1m", "--explain", "token"}
	code, out, errs := call(t, append(explain, "-o", filepath.Join(dir, "rate.svg"))...)
	if code != 0 || !strings.Contains(out, "66.7") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
	for _, f := range []string{"rate.svg", "rate.csv"} {
		if b, err := os.ReadFile(filepath.Join(dir, f)); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", f, len(b), err)
		}
	}
	code, out, errs = call(t, append(explain, "--json")...)
	if code != 0 || !json.Valid([]byte(out)) || strings.Contains(out, `"setnx"`) {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}

// A lock that excludes no client once its holder has crashed has no number, and no exit status of success.
func TestRateWithoutNumber(t *testing.T) {
	code, out, errs := call(t, "chart", "rate", "--strategies", "mutex", "--environments", "azure", "--json")
	var v struct {
		Series []struct {
			Points []struct {
				Hi *float64 `json:"overlaps_a_year_hi"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &v); code != exitNoAnswer || err != nil || len(v.Series) != 1 || len(v.Series[0].Points) == 0 {
		t.Fatalf("exit status %d, %v: %s%s", code, err, out, errs)
	}
	for _, p := range v.Series[0].Points {
		if p.Hi != nil {
			t.Errorf("%v overlaps a year, want no number", *p.Hi)
		}
	}
}

// Ctrl-C ends with 3: nothing is printed or written.
func TestRateStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, more := range [][]string{{}, {"--explain", "token"}, {"--json"}} {
		file := filepath.Join(t.TempDir(), "x.csv")
		var out, errs bytes.Buffer
		args := append([]string{"chart", "rate", "--strategies", "token", "-o", file}, more...)
		code := run(ctx, args, strings.NewReader(""), &out, &errs, func(string) string { return "" })
		if _, err := os.Stat(file); code != exitNoAnswer || out.Len() > 0 || err == nil || !strings.Contains(errs.String(), "stopped") {
			t.Errorf("%v: exit status %d, %s%s", more, code, out.String(), errs.String())
		}
	}
}
