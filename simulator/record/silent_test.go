package record_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"locklab/simulator/effort"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// jobs writes the log of so many jobs that take one lock in turn, once a minute, and let it expire; more is further
// fields.
func jobs(w io.Writer, n int, more string) {
	for i := range n {
		at := int64(1e18) + int64(i)*60e9
		fmt.Fprintf(w, `{"at":%d,"client":"job-%d","event":"acquired","key":"nightly"`, at, i)
		if more != "" {
			fmt.Fprintf(w, more, at+59e9)
		}
		fmt.Fprintln(w, "}")
	}
}

// after is lines of jobs after all of these.
func after(event string, jobs ...int) string {
	var b strings.Builder
	for i, job := range jobs {
		fmt.Fprintf(&b, `{"at":%d,"client":"job-%d","event":"%s"`, int64(2e18)+int64(i), job, event)
		if event != "ended" {
			b.WriteString(`,"key":"nightly"`)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// A lease without an end is UNKNOWN once, however many others there are; with until it is over by itself. A later line
// of it is judged, whether it is kept whole or not.
func TestSilentLeases(t *testing.T) {
	effort.OnlyPushed(t, "it reads many lines")
	t.Parallel()
	const n = 6_000
	var all []int
	for i := range n {
		all = append(all, i)
	}
	const until = `,"until":%d`
	for name, c := range map[string]struct {
		more, after   string
		first         verdict.Word
		unknown, open int
		overlaps      int
		least         bool
	}{
		"nothing": {first: verdict.Unknown, unknown: n - 1, open: n},
		"until":   {more: until, first: verdict.Holds},
		"leaves": {after: after("leaving", 0), first: verdict.Overlap, unknown: n - 2, open: n - 1, overlaps: 1,
			least: true},
		"recent leaves": {after: after("leaving", n-2), first: verdict.Overlap, unknown: n - 2, open: n - 1,
			overlaps: 1},
		"leaves too late": {more: until, after: after("leaving", 5), first: verdict.Overlap, overlaps: 1, least: true},
		"released":        {more: until, after: after("released", 5), first: verdict.Unknown, unknown: 1},
		"all end":         {after: after("ended", all...), first: verdict.Unknown, unknown: n - 1},
		"all end in time": {more: until, after: after("ended", all...), first: verdict.Holds},
		"all leave":       {after: after("leaving", all...), first: verdict.Overlap, overlaps: n, least: true},
		"again":           {more: until, after: after("acquired", 7, 7), first: verdict.Holds, open: 1},
	} {
		var b strings.Builder
		jobs(&b, n, c.more)
		r := judged(t, b.String()+c.after)
		if r.Verdicts[0] != c.first || r.Counts[verdict.Unknown] != c.unknown || r.Open != c.open {
			t.Errorf("%s: %v %v, %d open", name, r.Verdicts, r.Counts, r.Open)
		}
		if got := r.Counts[verdict.Overlap]; got < c.overlaps || got > c.overlaps && !c.least || r.AtLeast != c.least {
			t.Errorf("%s: %d overlaps, at least: %v", name, got, r.AtLeast)
		}
		if len(r.Findings) == 0 && c.first != verdict.Holds {
			t.Errorf("%s: %v and nothing is shown", name, r.Verdicts)
		}
		if name == "nothing" &&
			fmt.Sprint(r.Findings[0].Clients, r.Findings[1].Clients) != "[job-0 job-1] [job-1 job-2]" {
			t.Errorf("%+v", r.Findings[:2])
		}
	}
}

// A lease is kept whole though many others have come: that it overlaps one whose until has passed is certain. And of
// those that come after the first eight only what no clock can refute is counted.
func TestManyLater(t *testing.T) {
	turns := ""
	for i := range 10 {
		turns += fmt.Sprintf("| %d c%d acquired | %d c%d leaving ", 11+2*i, i, 12+2*i, i)
	}
	for log, want := range map[string]string{
		"1 x acquired within=2 | 2 y acquired until=5 " + turns +
			"| 40 y leaving | 41 x leaving": "21 overlaps, 0 unknown: true",
		// The last one is entered after the others, and may have ended before x entered.
		"10 x acquired " + turns +
			"| 100 y acquired within=95 | 101 y leaving within=95 | 300 x leaving": "8 overlaps, 10 unknown: true",
	} {
		r := judged(t, logged(log))
		overlaps, unknown := r.Counts[verdict.Overlap], r.Counts[verdict.Unknown]
		if got := fmt.Sprintf("%d overlaps, %d unknown: %t", overlaps, unknown, r.AtLeast); got != want {
			t.Errorf("%s: %s, want %s", log, got, want)
		}
	}
}

// Memory depends on the open leases, and not on the lines: neither on the keys nor on the clients that there were. An
// open lease takes about a kilobyte, however many there are.
func TestMemory(t *testing.T) {
	effort.OnlyPushed(t, "it reads 10^6 lines")
	const silent = 100_000
	turns := func(w io.Writer, n int) {
		for i := range n {
			for j, event := range []string{"acquired", "leaving"} {
				fmt.Fprintf(w, `{"at":%d,"client":"c%d","event":"%s","key":"k%d"}`+"\n", 2*i+j, i, event, i)
			}
		}
	}
	const turned = 4 * (1<<14 - 1) // at the half and at the end as many keys and clients are remembered
	for _, c := range []struct {
		leases, lines, most int // most: bytes for each lease of the second half
		write               func(w io.Writer, n int)
		unknown             int
	}{
		{turned, 2 * turned, 10, turns, 0},
		{silent, silent, 1200, func(w io.Writer, n int) { jobs(w, n, "") }, silent - 1},
	} {
		in, out := io.Pipe()
		go func() { c.write(out, c.leases); out.Close() }()
		r, j := NewReader(0, Source{Name: "log", From: in}), NewJudge(3)
		var first, last runtime.MemStats
		n := 0
		err := observe(r, j, func() {
			if n++; n == c.lines/2 {
				runtime.GC()
				runtime.ReadMemStats(&first)
			}
		})
		runtime.GC()
		runtime.ReadMemStats(&last)
		runtime.KeepAlive(r)
		each, got := (int(last.HeapAlloc)-int(first.HeapAlloc))/(c.leases/2), j.Finish()
		if err != nil || each > c.most || got.Acquired != c.leases || got.Counts[verdict.Unknown] != c.unknown {
			t.Errorf("%d bytes for each of %d leases; %v", each, got.Acquired, got.Counts)
		}
		t.Log(each, "bytes each,", last.HeapAlloc>>20, "MiB,", got.Forgotten, "keys were forgotten")
	}
}
