package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"locklab/simulator/realserver/servertest"
)

// A hundred clients on a real server: the table, the files and the JSON hold what is no measured time.
func TestLiveContend(t *testing.T) {
	servertest.NeedRedis(t)
	file := filepath.Join(t.TempDir(), "contend.svg")
	args := []string{"live", "contend", "--clients", "100", "--requests", "200", "--policies", "jitter", "--poll", "5ms", "--hold", "100us", "--patience", "1m"}
	log := filepath.Join(t.TempDir(), "contend.jsonl")
	code, out, errs := call(t, append(args, "-o", file, "--record", log)...)
	if code != exitOK {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	for _, want := range []string{"jitter token", "real", "lab", "del 200, eval 200", "100 clients, 200 requests"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if code, out, errs := call(t, "judge", log); code != exitOK || !strings.Contains(out, " 200 leases") || !strings.Contains(out, "Verdict: HOLDS") {
		t.Errorf("its log: exit status %d, %s%s", code, out, errs)
	}
	csv, err := os.ReadFile(strings.TrimSuffix(file, ".svg") + ".csv")
	if rows := strings.Count(string(csv), "\n"); err != nil || rows != 3 || !regexp.MustCompile(`(?m)^jitter,token,real,100,200,200,0,0,0,.*,del=200 eval=200 get=400 set=`).Match(csv) {
		t.Errorf("%v\n%s", err, csv)
	}
	if b, err := os.ReadFile(file); err != nil || len(b) == 0 || strings.Contains(string(b), "<text") {
		t.Errorf("%d bytes, %v, or its text is not outlined", len(b), err)
	}
	code, out, errs = call(t, append(args, "--json", "--lang", "zh")...)
	var v struct {
		Version  int
		Clients  int
		Takeaway string
		Results  []struct {
			Real, Lab struct {
				Acquired int
				Commands map[string]int
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &v); code != exitOK || err != nil || v.Version != schema || v.Clients != 100 || v.Takeaway == "" || len(v.Results) != 1 ||
		v.Results[0].Real.Acquired != 200 || v.Results[0].Lab.Acquired != 200 || v.Results[0].Real.Commands["eval"] != 200 || v.Results[0].Lab.Commands["eval"] != 200 {
		t.Errorf("exit status %d, %v: %s%s", code, err, out, errs)
	}
	for args, want := range map[string]string{
		"--clients 0":                        "--clients 0: give 1 to 1000",
		"--requests 2000000":                 "--requests 2000000",
		"--hold 1h":                          "--hold 1h0m0s: give 0s to 10s",
		"--patience 0s":                      "--patience 0s",
		"--policies line":                    "--policies line",
		"--policies fxed":                    "did you mean fixed",
		"--strategies redlock":               "redlock",
		"--strategies token-wait":            "token-wait",
		"--strategies constant --ttl 1500ms": "--ttl 1.5s",
		"--strategies nolock":                "nolock",
		"--strategies delifeq --policies fixed --requests 1": "delifeq",
		"-o contend.gif": ".png, .svg or .csv",
		"extra":          "extra",
	} {
		if code, out, errs := call(t, append([]string{"live", "contend"}, strings.Fields(args)...)...); code != exitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d, %s%s", args, code, out, errs)
		}
	}
}

// Asked to stop, a contention ends at once, and leaves nothing.
func TestLiveContendLeavesNothing(t *testing.T) {
	servertest.NeedRedis(t)
	tmp := t.TempDir()
	p := program(t, "live", "contend", "--policies", "pttl", "--hold", "10s", "--ttl", "1m")
	p.Env = append(p.Env, "TMPDIR="+tmp)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "a server runs", func() bool { return len(serversIn(tmp)) > 0 })
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status := statusOf(t, p.Wait()); status != exitNoAnswer || len(serversIn(tmp))+len(left(tmp)) > 0 {
		t.Errorf("exit status %d, and %v and %v are left", status, serversIn(tmp), left(tmp))
	}
}
