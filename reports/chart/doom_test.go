package chart

import (
	"io"
	"strings"
	"testing"
	"time"

	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/scenarios/study"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// doomSample has a fault that settles nothing, a silent passing of time, a share
// that falls, and one that looks like nothing and like everything.
func doomSample() *Doom {
	s := samples.New("token", "search", 2, 1, 9*time.Second)
	d := &Doom{Doom: &study.Doom{Harm: verdict.Overlap, History: s.H, States: 12345, Steps: []study.DoomStep{{}}, NoReturn: 6}}
	step := func(share float64) {
		d.Steps = append(d.Steps, study.DoomStep{At: s.Now, Events: len(s.H.Events), Share: share})
	}
	s.Client(1, history.Acquire).Add(history.Event{Kind: history.Send, Client: 1, Node: 1, Cmd: strings.Fields("SET lock c1-1 NX PX 9000")})
	step(0.00004)
	s.Command(1, 1, "SET lock c1-1 NX PX 9000", "OK", samples.Change("", "c1-1", 9*time.Second)).Client(1, history.Enter)
	step(0.0003)
	s.Add(history.Event{Kind: history.Pause, Client: 1})
	step(0.5)
	d.Steps[len(d.Steps)-1].Fault = true
	s.Now += 2 * time.Second
	step(0.25)
	s.Add(history.Event{Kind: history.Send, Client: 2, Node: history.Resource})
	step(0.9999)
	s.At(9001*ms).Expire(1, "c1-1")
	step(1)
	s.Command(2, 1, "SET lock c2-1 NX PX 9000", "OK", samples.Change("", "c2-1", 18*time.Second)).Client(2, history.Enter)
	step(1)
	return d
}

func TestDoomCSV(t *testing.T) { samples.Golden(t, "doom.csv", csvOf(doomSample())) }
func TestDoomText(t *testing.T) {
	d := doomSample()
	samples.Golden(t, "doom.txt", func(w io.Writer) error { return Text(w, d, reports.Look{Width: reports.NarrowWidth, Lang: "both"}) })
	for _, width := range []int{16, 30, 60} {
		for _, lang := range []string{"en", "zh", "both"} {
			o := reports.Look{Width: width, Lang: lang}
			samples.CheckWidth(t, "doom", o.Width, func(w io.Writer) error { return Text(w, d, o) })
		}
	}
}

// The point of no return stands beside its own step, and where that step wrote
// nothing, beside the next one; in a row that may have been folded.
func TestDoomInLanes(t *testing.T) {
	d := doomSample()
	for _, c := range []struct {
		noReturn int
		line     string
	}{{6, "EXPIRED"}, {4, "EXPIRED"}, {3, "PAUSE"}, {7, "c2"}, {0, "SET NX PX"}} {
		d.NoReturn = c.noReturn
		var b strings.Builder
		if err := reports.Lanes(&b, d.History, verdict.Judgement{}, reports.Look{Width: reports.NarrowWidth, NoReturn: d.NoReturnEvent()}); err != nil {
			t.Fatal(err)
		}
		found := 0
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "point of no return") {
				found++
				if !strings.Contains(line, c.line) {
					t.Errorf("after step %d: the mark stands beside %s, not beside %s", c.noReturn, line, c.line)
				}
			}
		}
		if found != 1 {
			t.Errorf("after step %d: %d marks in\n%s", c.noReturn, found, b.String())
		}
	}
}

func TestDoomTakeaway(t *testing.T) {
	d := doomSample()
	check := func(want string) {
		t.Helper()
		if got := d.Takeaway("en"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	check("Before the fault < 0.1 % of all continuations end in OVERLAP, after it 50 %. Point of no return: step 6 of 7 (7.001s pass: the key EXPIRES).")
	d.NoReturn, d.Steps[3].Share = 3, 1
	check("Before the fault < 0.1 % of all continuations end in OVERLAP, after it 100 %. The fault itself is the point of no return: step 3 of 7 (c1 PAUSE).")
	d.NoReturn, d.Steps[3].Share, d.Steps[5].Fault = 6, 0.5, true
	check("Before the first of 2 faults < 0.1 % of all continuations end in OVERLAP, after the last one > 99.9 %. Point of no return: step 6 of 7 (7.001s pass: the key EXPIRES).")
	d.Steps[3].Fault, d.Steps[5].Fault = false, false
	check("With no fault at all, 0 % of all continuations end in OVERLAP. Point of no return: step 6 of 7 (7.001s pass: the key EXPIRES).")
}

// A curve of nothing is drawn all the same.
func TestDoomOddSizes(t *testing.T) {
	for _, d := range []Doom{{Doom: &study.Doom{History: &history.History{}}}, {Doom: &study.Doom{History: &history.History{}, Steps: []study.DoomStep{{Share: 1}}}}} {
		if err := PNG(io.Discard, &d, Format{}); err != nil {
			t.Error(err)
		}
		if err := Text(io.Discard, &d, reports.Look{}); err != nil {
			t.Error(err)
		}
		if err := CSV(io.Discard, &d); err != nil {
			t.Error(err)
		}
	}
}

const ms = time.Millisecond
