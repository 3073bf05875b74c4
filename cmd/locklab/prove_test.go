package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// TestProveCertificate: the certificate of a proof is the same to the byte each time, and is right. One that was altered proves nothing
// (exit status 1), and what is no certificate is said to be none (2).
func TestProveCertificate(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	dir := t.TempDir()
	file := filepath.Join(dir, "v.json")
	if code, _, errs := call(t, "prove", "setnx", "--budget", "none", "--certificate", file); code != exitOK {
		t.Fatalf("exit status %d, %s", code, errs)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "views.json", written)
	for what, c := range map[string]struct {
		from, to string
		code     int
		says     string
	}{
		"as it is":            {"", "", exitOK, ""},
		"a lease as it likes": {`"lease":"9s"`, `"lease":"8s"`, exitDiffers, "is missing"},
		"another work":        {`"work":"0s"`, `"work":"6s"`, exitDiffers, "is missing"},
		"more faults":         {`"budget":"none"`, `"budget":"crash=any"`, exitDiffers, "the view of the start is missing"},
		"another lock":        {`"strategy":"setnx"`, `"strategy":"token"`, exitDiffers, ""},
		"a view less":         {`{"shared":0,"client":0`, `{"shared":0,"client":1`, exitDiffers, "is missing"},
		"another owner":       {`"names":["self"]`, `"names":["other"]`, exitDiffers, "is missing"},
		"an unknown lock":     {`"strategy":"setnx"`, `"strategy":"setnix"`, exitUsage, "setnix"},
		"an unknown fault":    {`"budget":"none"`, `"budget":"flood=1"`, exitUsage, "flood"},
		"an unknown harm":     {`"OVERLAP"`, `"STARVED"`, exitUsage, "absent cannot be STARVED"},
		"no length":           {`"lease":"9s"`, `"lease":"long"`, exitUsage, "lease cannot be long"},
		"many servers":        {`"nodes":1`, `"nodes":5`, exitUsage, ""},
		"attempts":            {`"attempts":"any"`, `"attempts":"7"`, exitUsage, "attempts cannot be 7"},
		"another version":     {`"version":1`, `"version":2`, exitUsage, "version 2"},
		"another format":      {`"locklab views"`, `"views"`, exitUsage, "its format is"},
		"an unknown field":    {`"nodes":1`, `"nodes":1,"trust":"me"`, exitUsage, "trust"},
		"a number for a text": {`"nodes":1`, `"nodes":"1"`, exitUsage, "nodes"},
		"no JSON":             {`{"format"`, `"format"`, exitUsage, "no JSON"},
		"the end is missing":  {`"views":[`, "", exitUsage, "no JSON"},
	} {
		changed := strings.Replace(string(written), c.from, c.to, 1)
		if changed == string(written) && c.from != "" {
			t.Errorf("%s: there is no %s", what, c.from)
		}
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := call(t, "prove", "--check", file); code != c.code || !strings.Contains(errs, c.says) || (code == exitOK) != strings.Contains(out, "proved") {
			t.Errorf("%s: exit status %d, %s%s", what, code, out, errs)
		}
	}
	for _, args := range [][]string{{"prove", "--check", file, "token"}, {"prove", "--check", file, "--budget", "none"}, {"prove", "--check", dir}, {"prove", "--check", file + "x"}} {
		if code, _, errs := call(t, args...); code != exitUsage || errs == "" {
			t.Errorf("%q: exit status %d, %q", args, code, errs)
		}
	}
}
