package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

func TestPrice(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	file := filepath.Join(t.TempDir(), "price.svg")
	code, out, errs := call(t, "price", "--strategies", "setnx,token,redlock-parallel", "-o", file)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "price.txt", []byte(out))
	for _, f := range []string{file, strings.TrimSuffix(file, ".svg") + ".csv"} {
		if b, err := os.ReadFile(f); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", f, len(b), err)
		}
	}
	code, out, errs = call(t, "price", "--strategies", "token", "--json")
	var v struct {
		Version  int
		Takeaway string
		Prices   []struct {
			Commands float64
			Races    int
		}
	}
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil || v.Version != schema || v.Takeaway == "" || len(v.Prices) != 1 || v.Prices[0].Commands != 2 || v.Prices[0].Races == 0 {
		t.Errorf("exit status %d, %v: %s%s", code, err, out, errs)
	}
	for _, c := range [][2]string{{"price token", "token"}, {"price --strategies tokn", "did you mean token"}, {"price -o x.gif", ".png, .svg or .csv"}} {
		if code, out, errs := call(t, strings.Fields(c[0])...); code != exitUsage || out != "" || !strings.Contains(errs, c[1]) {
			t.Errorf("%s: exit status %d, %s", c[0], code, errs)
		}
	}
}
