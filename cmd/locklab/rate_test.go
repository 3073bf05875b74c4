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

// knownLimits are the tolerances of setnx, token and watchdog, as "locklab tolerance
// --json" prints them.
const knownLimits = "testdata/rate-limits.json"

func TestRate(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "rate.png"), filepath.Join(dir, "rate.svg")}
	code, out, errs := call(t, "rate", "--limits", knownLimits, "--strategies", "setnx,token,watchdog", "-o", files[0], "-o", files[1])
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "rate.txt", []byte(out))
	for _, f := range append(files, filepath.Join(dir, "rate.csv")) {
		if b, err := os.ReadFile(f); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", f, len(b), err)
		}
	}
	code, out, errs = call(t, "rate", "--limits", knownLimits, "--explain", "token", "--environments", "azure", "--ttl", "30s",
		"--hold", "p50=1s,p99=5s,p100=20s", "--fault", "failover=2/year lag=500ms", "--fault", "lose-reply=0.000001")
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "rate-explain.txt", []byte(out))
}

func TestRateJSON(t *testing.T) {
	code, out, errs := call(t, "rate", "--limits", knownLimits, "--strategies", "setnx,token", "--json")
	var v struct {
		Version int
		Terms   []struct {
			Strategy, Environment string
			Expected              struct{ Lo, Hi float64 } `json:"expected_a_year"`
		}
		Crashes []struct {
			Mean *float64 `json:"blocked_mean_s"`
		} `json:"after_a_crash"`
		Series []struct{ Points []struct{ Hi *float64 } }
	}
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v.Version != schema || len(v.Crashes) != 2 || len(v.Series) != 10 {
		t.Fatalf("exit status %d, %v: %s%s", code, err, out, errs)
	}
	if v.Crashes[0].Mean != nil || v.Crashes[1].Mean == nil {
		t.Errorf("setnx comes back, or token does not: %+v", v.Crashes)
	}
	for _, term := range v.Terms {
		if term.Strategy == "token" && term.Environment == "azure" && (term.Expected.Lo < 66.6 || term.Expected.Hi > 66.7) {
			t.Errorf("%+v, want 66.67", term)
		}
	}
}

func TestRateFile(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "gc.log")
	if err := os.WriteFile(log, []byte("10ms\n20s\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "shop.rate")
	if err := os.WriteFile(file, []byte("machines = 500\n[gc]\npause = 10/year "+log+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, "rate", "--limits", knownLimits, "--strategies", "token", "--file", file, "--ttl", "12s")
	if code != 0 || !strings.Contains(out, "500 machines") || !strings.Contains(out, "gc: pause") || strings.Contains(out, "azure") || !strings.Contains(out, "TTL of 12s") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}

func TestRateWrongUse(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.rate")
	if err := os.WriteFile(bad, []byte("machines = 500\nttls = 10s\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rate", "--strategies", "tokn"}, "did you mean token"},
		{[]string{"rate", "--explain", "tokn"}, "did you mean token"},
		{[]string{"rate", "--explain", "token", "-o", "x.gif"}, ".png, .svg or .csv"},
		{[]string{"rate", "token"}, "token"},
		{[]string{"rate", "-o", "x.gif"}, ".png, .svg or .csv"},
		{[]string{"rate", "--file", bad}, bad + `:2: ttls = 10s`},
		{[]string{"rate", "--file", filepath.Join(dir, "none")}, "none"},
		{[]string{"rate", "--ttl", "soon"}, `--ttl: "soon"`},
		{[]string{"rate", "--ttls", "10s"}, `--ttls: "10s" is one TTL`},
		{[]string{"rate", "--machines", "-1"}, `--machines: "-1"`},
		{[]string{"rate", "--fault", "pause"}, "how often and how long"},
		{[]string{"rate", "--fault", "pause=-1/year 3s"}, "-1/year"},
		{[]string{"rate", "--fault", "pause=1/year " + filepath.Join(dir, "none.log")}, "none.log"},
		{[]string{"rate", "--environments", "azur"}, "did you mean azure"},
		{[]string{"rate", "--machines", "3"}, "100 holds"},
		{[]string{"rate", "--limits", bad}, "no tolerances in it"},
		{[]string{"rate", "--limits", knownLimits, "--strategies", "redlock"}, "nothing about pause of redlock"},
	} {
		if code, out, errs := call(t, c.args...); code != exitUsage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit status %d, %q, want it to say %q; standard output %q", c.args, code, errs, c.want, out)
		}
	}
}

// Limits that contradict the runs give no number, and no exit status of success.
func TestRateWithoutAgreement(t *testing.T) {
	known, err := os.ReadFile(knownLimits)
	if err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Limits []map[string]any `json:"limits"`
	}
	if err := json.Unmarshal(known, &saved); err != nil {
		t.Fatal(err)
	}
	for _, l := range saved.Limits {
		if l["strategy"] == "token" && l["fault"] == "pause" {
			l["holds_up_to"], l["falls_at"] = 1, 1.05
		}
	}
	changed, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "limits.json")
	if err := os.WriteFile(file, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, "rate", "--limits", file, "--strategies", "token", "--environments", "azure", "--json")
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

// Every field of the JSON: numbers, what has none, and environments from a source and from flags.
func TestRateAllJSON(t *testing.T) {
	args := []string{"rate", "--limits", knownLimits, "--strategies", "setnx,token", "--environments", "cfs,github-2018", "--ttls", "5s,1m",
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
	explain := []string{"rate", "--limits", knownLimits, "--environments", "azure", "--ttls", "5s,1m", "--explain", "token"}
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

// Ctrl-C ends with 3, before the tolerances are known and after: nothing is printed or written.
func TestRateStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, more := range [][]string{{"--limits", knownLimits}, {}, {"--explain", "token"}, {"--json"}} {
		file := filepath.Join(t.TempDir(), "x.csv")
		var out, errs bytes.Buffer
		args := append([]string{"rate", "--strategies", "token", "-o", file}, more...)
		code := run(ctx, args, strings.NewReader(""), &out, &errs, func(string) string { return "" })
		if _, err := os.Stat(file); code != exitNoAnswer || out.Len() > 0 || err == nil || !strings.Contains(errs.String(), "stopped") {
			t.Errorf("%v: exit status %d, %s%s", more, code, out.String(), errs.String())
		}
	}
}
