package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

func TestRecovery(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	file := filepath.Join(t.TempDir(), "recovery.svg")
	code, out, errs := call(t, "chart", "recovery", "--ttls", "2s,10s", "--strategies", "setnx,setnx-expire,token,redisson-lock", "-o", file)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "recovery.txt", []byte(out))
	csv, err := os.ReadFile(strings.TrimSuffix(file, ".svg") + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "recovery.csv", csv)
	if b, err := os.ReadFile(file); err != nil || len(b) == 0 || strings.Contains(string(b), "<text") {
		t.Errorf("%d bytes, %v, or its text is not outlined", len(b), err)
	}
	code, out, errs = call(t, "chart", "recovery", "--ttls", "10s", "--strategies", "setnx", "--json")
	var v struct {
		Version    int
		Takeaway   string
		Recoveries []struct {
			Ever float64  `json:"share_forever"`
			Mean *float64 `json:"blocked_mean_s"`
		}
	}
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v.Version != schema || v.Takeaway == "" || len(v.Recoveries) != 1 || v.Recoveries[0].Mean != nil || v.Recoveries[0].Ever < 0.9 {
		t.Errorf("exit status %d, %v: %s%s", code, err, out, errs)
	}
	for _, c := range [][2]string{{"chart recovery token", "token"}, {"chart recovery --ttls 10s,5s", "5s"}, {"chart recovery --ttls x", `"x"`}, {"chart recovery --ttls 1500ms", "1s"},
		{"chart recovery --work -1s", "-1s"}, {"chart recovery --strategies tokn", "did you mean token"}, {"chart recovery -o x.gif", ".png, .svg or .csv"}} {
		if code, out, errs := call(t, strings.Fields(c[0])...); code != exitUsage || out != "" || !strings.Contains(errs, c[1]) {
			t.Errorf("%s: exit status %d, %s", c[0], code, errs)
		}
	}
}
