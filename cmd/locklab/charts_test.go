package main

import (
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/reports/report"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
)

// What people see of each chart: its text, its table, its pictures, whose letters are outlines, and its JSON.
func TestCharts(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, "one goroutine searches")
	all := map[string]struct {
		args string
		csv  bool // there is a golden of the table
		slow bool
	}{
		"tolerance": {"tolerance --locks setnx,getset,token", false, true},
		"par":       {"par --locks setnx,getset,token", false, true},
		"theorems":  {"theorems --locks setnx,001-E,token --budget=crash=any", false, true},
		"rate":      {"rate --locks setnx,token,watchdog", false, false},
		"rate-lone": {"rate --locks token --ttl 30s --work 5s --machines 500 --pause-stops-work=false " +
			"--pause 1/18months_p50=5s,p99=40s --pause 4/year_45s", false, false},
		"recovery":   {"recovery --locks setnx,setnx-expire,token,redisson-lock", true, false},
		"waiting":    {"waiting --clients 2,10 --policies fixed,jitter,pubsub,line --lang both", true, false},
		"sweep.rate": {"sweep client-rate --set work=lease --locks token,redlock --runs 9 --lang zh", true, false},
		"sweep.map": {"sweep renewal/ttl=0.3,0.9 pause/ttl=0,0.5,1 --locks redlock-extend,token --runs 9",
			true, false},
	}
	for _, f := range figures(nil) {
		name, drawn := f.command.name(), false
		for _, c := range all {
			drawn = drawn || strings.HasPrefix(c.args+" ", name+" ")
		}
		if !drawn {
			t.Errorf("chart %s is not drawn here: write the line\n"+
				"\t\t%q: {\"%s --locks setnx,token\", false, false},\n"+
				"in TestCharts, and its golden with: CI=true go test ./cmd/locklab -run TestCharts/%s -update",
				name, name, name, name)
		}
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			if c.slow {
				effort.OnlyExhaustive(t, "it takes seconds")
			}
			dir, args := t.TempDir(), []string{"chart"}
			for _, arg := range strings.Fields(c.args) {
				args = append(args, strings.ReplaceAll(arg, "_", " "))
			}
			files := []string{name + ".svg", name + ".png", name + ".csv", name + ".json"}
			drawn := slices.Clone(args)
			for _, f := range files {
				if filepath.Ext(f) != ".csv" || c.slow { // others write their table beside a picture
					drawn = append(drawn, "-o", filepath.Join(dir, f))
				}
			}
			if code, out, errs := call(t, drawn...); code != exitOK || out != "" {
				t.Fatalf("exit status %d: %s%s", code, errs, out)
			}
			allFilled(t, dir, files...)
			if c.csv {
				golden(t, name+".csv", contentOf(t, dir, name+".csv"))
			}
			if strings.Contains(contentOf(t, dir, files[0]), "<text") {
				t.Error("the SVG needs a font")
			}
			again := []string{"chart", filepath.Join(dir, name+".json")}
			if _, lang, given := strings.Cut(c.args, "--lang "); given {
				again = append(again, "--lang", lang)
			}
			_, out, _ := call(t, again...)
			golden(t, name+".txt", out)
			again = append(again, "-o", filepath.Join(dir, "again.svg"), "-o", filepath.Join(dir, "again.csv"))
			if code, _, errs := call(t, again...); code != exitOK ||
				contentOf(t, dir, "again.svg") != contentOf(t, dir, files[0]) ||
				contentOf(t, dir, "again.csv") != contentOf(t, dir, files[2]) {
				t.Errorf("drawn again from its JSON it differs: exit status %d: %s", code, errs)
			}
		})
	}
}

// TestFormat: a picture is 16:9, with notes below it if they are asked for, and --title names it.
func TestFormat(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	file, before := filepath.Join(t.TempDir(), "x.PNG"), ""
	for _, flags := range []string{"", " --title Mine", " --notes"} {
		code, _, errs := call(t, strings.Fields("chart recovery --locks setnx,token -o "+file+flags)...)
		if code != exitOK {
			t.Fatal(errs)
		}
		drawn := contentOf(t, file)
		picture, err := png.DecodeConfig(strings.NewReader(drawn))
		if err != nil || picture.Width != 1600 || (picture.Height == 900) == (flags == " --notes") || drawn == before {
			t.Errorf("%q: %d x %d, the same as before: %t; %v",
				flags, picture.Width, picture.Height, drawn == before, err)
		}
		before = drawn
	}
}

// TestSize: a picture for a column of 85 mm has 300 dpi; a size that is none is refused, and of a picture that does not
// fit what was computed is kept, and drawn from that in a size that is large enough.
func TestSize(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	dir := t.TempDir()
	for size, want := range map[string]struct {
		code int
		says string
	}{"column": {exitOK, ""}, "wide": {exitUsage, "--size wide"}, "40x40": {exitUsage, "--size 40x1"},
		"85x75": {exitUsage, `--title ""`}} {
		file := filepath.Join(dir, size)
		command := "chart recovery --locks setnx,token -o " + file + ".png --size " + size
		code, out, errs := call(t, strings.Fields(command)...)
		_, table := os.Stat(file + ".csv")
		_, picture := os.Stat(file + ".png")
		if (table == nil) != (want.code == exitOK) || (picture == nil) != (want.code == exitOK) || out != "" {
			t.Errorf("%s: table %v, picture %v, printed %q", size, table, picture, out)
		}
		if code != want.code || !strings.Contains(errs, want.says) {
			t.Errorf("%s: exit status %d, %s", size, code, errs)
		}
	}
	again := "chart " + filepath.Join(dir, "40x40.json") + " --size column -o " + filepath.Join(dir, "again.png")
	if code, _, errs := call(t, strings.Fields(again)...); code != exitOK ||
		contentOf(t, dir, "again.png") != contentOf(t, dir, "column.png") {
		t.Errorf("drawn from what was kept: exit status %d, another picture, or %s", code, errs)
	}
	drawn, err := png.DecodeConfig(strings.NewReader(contentOf(t, filepath.Join(dir, "column.png"))))
	if err != nil || drawn.Width != 1004 {
		t.Errorf("%d wide: %v", drawn.Width, err)
	}
}

// A figure for a paper has its caption and its source in the SVG, as text for programs, and its table, or the events of
// its run, in the JSON beside it. The source names no files.
func TestFigure(t *testing.T) {
	effort.Unwatched(t, "one goroutine draws")
	for command, want := range map[string][3]string{
		"chart recovery --locks setnx,token": {
			"A crash during the work keeps setnx locked for ever", "chart recovery --locks=setnx,token",
			`"blocked_mean_ns": `,
		},
		"run token gc-pause": {"token lets c1 and c2 in together for 4.5 s", "run token gc-pause", `"kind": "expire"`},
	} {
		dir := t.TempDir()
		files := []string{"-o", filepath.Join(dir, "fig.svg"), "-o", filepath.Join(dir, "fig.json")}
		code, _, errs := call(t, append(strings.Fields(command), files...)...)
		said := regexp.MustCompile(`aria-label="([^"]*)"`).FindAllStringSubmatch(contentOf(t, dir, "fig.svg"), -1)
		source := "source: " + report.Source("locklab "+want[1]) + " -o FILE"
		if code != exitOK || !strings.HasPrefix(said[0][1], want[0]) || said[len(said)-1][1] != source {
			t.Errorf("%s: exit status %d, %q, %s", command, code, said, errs)
		}
		if !strings.Contains(contentOf(t, dir, "fig.json"), want[2]) {
			t.Errorf("%s: the JSON has no %s", command, want[2])
		}
	}
}

// Every field of the JSON: numbers, what has none, and pauses from a source and from flags.
func TestRateJSON(t *testing.T) {
	code, out, errs := call(t, "chart", "rate", "--locks", "setnx,token", "--pause", "2/year 30s", "--json")
	if code != exitOK {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	golden(t, "rate.json", out)
}

// A lock that lets a second client in has no number, and no exit status of success; what a crash costs was not
// measured.
func TestRateWithoutNumber(t *testing.T) {
	code, out, errs := call(t, "chart", "rate", "--locks", "mutex", "--pause", "1/year 30s", "--json")
	n := strings.Count(out, `"overlaps_a_year_at_most": `)
	if code != exitNoAnswer || n == 0 || strings.Count(out, `"overlaps_a_year_at_most": null`) != n ||
		strings.Count(out, `"blocked_mean_ns": "not measured"`) != n {
		t.Errorf("exit status %d, %d points: %s%s", code, n, out, errs)
	}
}

// A search that is given up ends with 3, and what it did not reach is unknown.
func TestParCutShort(t *testing.T) {
	code, out, errs := call(t, "chart", "par", "--locks", "token", "--max-states", "50", "--budget", "crash=1")
	if code != exitNoAnswer || !strings.Contains(out, "without an answer") || !strings.Contains(errs, "cut short") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}

// The certificate of a search names what clients do with a lock besides, what their library
// sends again, and what was left out.
func TestCertificateOfUses(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, "one goroutine searches")
	var told strings.Builder
	for _, line := range []string{
		"explore naive-wake --timing lockstep --attempts 2 --budget delay=1@2s --uses wait",
		"explore takeover-del --attempts 1 --budget= --timing lockstep --skew 6s",
		"explore token --attempts 1 --budget crash=1 --tokens prefix --skew 750ms",
		"explore redisson-lease --timing any --attempts 1 --budget lose-reply=1 --uses renew,give-up " +
			"--client-retries 3 --work 4500ms",
		"explore redisson-lease --timing any --clients 1 --attempts 1 --budget crash=1,return=1 --uses none " +
			"--tokens thread",
	} {
		code, out, errs := call(t, strings.Fields(line+" --json")...)
		found := dataOf[search.Search](t, out, "explore")
		if code != exitOK && code != exitNoAnswer {
			t.Fatalf("%s: exit status %d: %s", line, code, errs)
		}
		for _, item := range found.Said.MayHappen {
			if !strings.Contains(found.Said.Certificate, item) {
				t.Errorf("%s: %q is not in the certificate", line, item)
			}
		}
		told.WriteString("$ locklab " + line + "\nuses " + strings.Join(found.Bounds.Uses.Names(), ", ") + "\n" +
			found.Said.Certificate + "\n\n")
	}
	golden(t, "explore.uses.txt", told.String())
}
