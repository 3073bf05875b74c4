package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"locklab/simulator/record"
)

// judge calls the command in a folder with files, by name.
func judge(t *testing.T, files map[string]string, args ...string) (code int, out, errs string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		fileWith(t, content, name)
	}
	return call(t, append([]string{"judge"}, args...)...)
}

func init() {
	documents["judge"] = []string{"judge FILES/log.jsonl", "judge FILES/unsure.jsonl"}
	documentFiles["log.jsonl"], documentFiles["unsure.jsonl"] = record.Example, unsureLog
}

// What is UNKNOWN, with its reasons, and what is missing in a log.
const unsureLog = `{"at":1000000000,"client":"a","event":"acquired","key":"k"}
{"at":2000000000,"client":"b","event":"acquired","key":"k"}
{"at":2500000000,"client":"b","event":"wrote","key":"k"}
{"at":3000000000,"client":"b","event":"released","key":"k"}
{"at":4000000000,"client":"c","event":"acquired","key":"l"}
{"at":5000000000,"client":"d","event":"acquired","key":"l"}
{"at":5100000000,"client":"c","event":"released","key":"l","ok":true}
{"at":5200000000,"client":"d","event":"released","key":"l","ok":true,"from":5150000000}
{"at":6000000000,"client":"c","event":"acquired","key":"m"}
{"at":7000000000,"client":"c","event":"leaving","key":"m"}
{"at":7001000000,"client":"d","event":"acquired","key":"m","within":"2ms"}
{"at":7100000000,"client":"d","event":"leaving","key":"m"}
{"at":8000000000,"client":"e","event":"refused","key":"m"}
{"at":9000000000,"client":"e","event":"refused","key":"m"}
{"at":9000000000,"client":"f","event":"released","key":"m"}
{"at":9100000000,"client":"g","event":"read","key":"m","version":1,"within":"50ms"}
{"at":9090000000,"client":"g","event":"read","key":"m","version":1,"within":"50ms"}
{"at":9100000000,"client":"g","ev`

// What is printed of logs: what was found with the lines around it, what is UNKNOWN and why, what is missing,
// and which lines are wrong.
func TestJudgePrints(t *testing.T) {
	wrong := strings.Replace(record.Example, `"token":33`, `"tokn":33`, 1) + "nonsense\n" +
		strings.Repeat(`{"at":"2026-11-25T09:00:19Z","client":"z","event":"refused","key":"k"}`+"\n", 12)
	files := map[string]string{"example.jsonl": record.Example, "unsure.jsonl": unsureLog, "wrong.jsonl": wrong}
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args string
		code int
	}{
		"judge":        {"example.jsonl", exitDiffers},
		"judge.zh":     {"example.jsonl --lang zh --width 80", exitDiffers},
		"judge.unsure": {"unsure.jsonl", exitNoAnswer},
		"judge.wrong":  {"wrong.jsonl", exitUsage},
		"judge.json":   {"unsure.jsonl --json", exitNoAnswer},
	} {
		code, out, errs := judge(t, files, strings.Fields(c.args)...)
		if code != c.code || (code == exitUsage) != (out == "") || (errs == "") != (out != "") {
			t.Errorf("%s: exit status %d, %s", name, code, errs)
		}
		t.Chdir(home)
		golden(t, name+".txt", out+errs)
	}
}

// Logs side by side and standard input are judged as one file is, and what was found is a page.
func TestJudgeFiles(t *testing.T) {
	var a, b strings.Builder
	for l := range strings.Lines(record.Example) {
		if strings.Contains(l, `"b-9-1"`) {
			b.WriteString(l)
		} else {
			a.WriteString(l)
		}
	}
	code, out, errs := judge(t, map[string]string{"a.jsonl": a.String(), "b.jsonl": b.String()}, "a.jsonl", "b.jsonl",
		"--json", "-o", "log.html")
	if v := dataOf[judgedJSON](t, out, "judge"); code != exitDiffers || v.Lines != 11 ||
		fmt.Sprint(v.Verdicts) != "[OVERLAP STALE-WRITE]" {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
	page := contentOf(t, "log.html")
	if !strings.Contains(page, "order:42") || strings.Count(page, "<script") != 1 ||
		strings.Contains(page, `"k":null`) {
		t.Errorf("%d bytes", len(page))
	}
	if code, out, errs := callWith(t.Context(), record.Example, "judge", "-"); code != exitDiffers ||
		!strings.Contains(out, "(-:7)") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	long := strings.Repeat(`{"at":1,"client":"a","event":"refused","key":"k"}`+"\n", 2*betweenLooks)
	if code, _, errs := callWith(stopped, long, "judge", "-"); code != exitNoAnswer {
		t.Errorf("stopped: exit status %d, %s", code, errs)
	}
}

// Wrong use ends with status 2 and a sentence; a page is not written of nothing.
func TestJudgeRefuses(t *testing.T) {
	good := `{"at":1,"client":"a","event":"refused","key":"k"}` + "\n"
	for args, want := range map[string]string{
		"":                    "needs a log, for example: locklab judge events.jsonl",
		"nothing.jsonl":       "nothing.jsonl: no such file",
		".":                   ". is a folder",
		"empty":               "the log has no lines",
		"good good":           "good is given twice",
		"good ./good":         "./good is given twice",
		"cut":                 "the log has no whole line: cut:1 was cut off",
		"good -o x.txt":       "-o x.txt: give a name that ends in .html",
		"good -o good/x.html": "good is a file",
		"good --within -1s":   "--within -1s: give 0s to 24h",
		"good --within soon":  "soon",
		"good --findings 0":   "--findings 0: give 1 to 1000",
		"binary": "wrong lines: 1, and nothing is judged ('locklab explain judge' has the format). " +
			"The first:\n  binary:1: it is no JSON object",
		"blank":            "the log has no lines",
		"--schema a.jsonl": "a.jsonl",
		"packed":           "packed:1: the file is compressed: unpack it, with gzip -dc FILE | locklab judge -",
	} {
		code, out, errs := judge(t, map[string]string{"good": good, "cut": good[:20], "empty": "", "blank": "\n\n",
			"binary": "\x00\x1b[31m\xff\n", "packed": "\x1f\x8b\x08\x00"}, strings.Fields(args)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || control.MatchString(errs) {
			t.Errorf("%s: exit status %d, %s%s", args, code, out, errs)
		}
	}
	code, out, errs := judge(t, map[string]string{"good": good}, "good", "-o", "x.html")
	if _, err := os.Stat("x.html"); code != exitOK || !strings.Contains(out, "HOLDS") ||
		!strings.Contains(errs, "x.html is not written") || err == nil {
		t.Errorf("exit status %d, %v: %s%s", code, err, out, errs)
	}
	if code, out, _ := call(t, "judge", "--schema"); code != exitOK || out != record.Schema {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// Of a crowd only the least number of overlaps is reported.
func TestJudgeCrowd(t *testing.T) {
	crowd := ""
	for i, event := range []string{"acquired", "leaving"} {
		for c := range 12 {
			crowd += fmt.Sprintf(`{"at":%d,"client":"c%d","event":"%s","key":"key"}`, 10*i*12+c+1, c, event) + "\n"
		}
	}
	for args, want := range map[string]string{"log": "OVERLAP      At least 66.",
		"log --json": `"overlap_at_least": true`} {
		_, out, _ := judge(t, map[string]string{"log": crowd}, strings.Fields(args)...)
		if !strings.Contains(out, want) {
			t.Errorf("%s does not say %q: %s", args, want, out)
		}
	}
}

// Names in a log control neither a terminal nor a page.
func TestJudgeNames(t *testing.T) {
	evil := `\u001b[31m</script><script>alert(1)//\u202e`
	log := strings.NewReplacer("a-7-1", evil, "order:42", evil+"k").Replace(record.Example)
	code, out, errs := judge(t, map[string]string{"log": log}, "log", "-o", "x.html")
	page := contentOf(t, "x.html")
	if code != exitDiffers || control.MatchString(out+errs+page) || strings.Count(page, "<script") != 1 {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}
