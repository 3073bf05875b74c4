package chart

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"

	"locklab/algorithms/lock"
	"locklab/reports/internal/samples"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

// rateSample has a lock without a lease, one with, one that renews it, one on several
// servers, and one of which nothing is known.
func rateSample(t testing.TB) *Rate {
	t.Helper()
	limited := func(fault string, falls float64) study.Limit {
		return study.Limit{Fault: fault, Answer: study.Limited, Holds: falls - 0.05, Falls: falls}
	}
	none := func(fault string) study.Limit {
		return study.Limit{Fault: fault, Answer: study.NoLimit, Holds: study.MaxLeases}
	}
	falls := []study.Limit{{Fault: "failover", Answer: study.FallsOnce}, {Fault: "restart", Answer: study.FallsOnce}}
	limits := func(pause, client, node study.Limit) []study.Limit {
		return append([]study.Limit{pause, client, node}, falls...)
	}
	once := []cost.Span{{From: 0, Left: 1}}
	renewed := []cost.Span{{From: 0, Left: 1}, {From: 0.3335, Left: 1}, {From: 0.6665, Left: 1}, {From: 1, Left: 1}}
	subject := func(id string, nodes int, spans []cost.Span, limits []study.Limit) *cost.Subject {
		return &cost.Subject{Entry: lock.Entry{ID: id, Server: lock.OnRedis(nodes)}, Lease: &cost.Lease{Lock: id, Spans: spans}, Limits: limits, Orphaned: verdict.Orphan}
	}
	all := []*cost.Subject{
		subject("setnx", 1, []cost.Span{{Left: math.Inf(1)}}, limits(none("pause"), none("client-clock"), none("node-clock"))),
		subject("token", 1, once, limits(limited("pause", 0.6), none("client-clock"), limited("node-clock", 0.6))),
		subject("delex", 1, once, limits(limited("pause", 0.6), none("client-clock"), limited("node-clock", 0.6))),
		subject("watchdog", 1, renewed, limits(limited("pause", 0.7), none("client-clock"), limited("node-clock", 0.7))),
		subject("redlock", 5, once, limits(limited("pause", 0.6), none("client-clock"), limited("node-clock", 0.6))),
		subject("mutex", 1, nil, limits(none("pause"), none("client-clock"), none("node-clock"))),
	}
	o := cost.UsualRateOrder()
	o.Environments = o.Environments[:3]
	for _, own := range [][2]string{{"restart", "4/year loses=1s"}, {"crash", "1/month"}} {
		if err := o.AddFault("mine", own[0], own[1]); err != nil {
			t.Fatal(err)
		}
	}
	return &Rate{Rates: *cost.Tabulate(o, all)}
}

// someTTLs writes the head of a table and its lines for three lengths of a lease.
func someTTLs(r *Rate) func(w io.Writer) error {
	return func(w io.Writer) error {
		var all bytes.Buffer
		if err := r.Table().CSV(&all); err != nil {
			return err
		}
		for line := range strings.Lines(all.String()) {
			if ttl := strings.Split(line, ",")[2]; ttl == "ttl_s" || ttl == "1" || ttl == "10" || ttl == "120" {
				io.WriteString(w, line)
			}
		}
		return nil
	}
}

// The title of the picture names every lock that breaks as often as the one that breaks most often, of whatever panel.
func TestRateFindingNamesAll(t *testing.T) {
	r := rateSample(t)
	r.Environments = r.Environments[:1] // in the others they differ
	got := r.Finding("en")
	for _, id := range []string{"token", "delex", "watchdog", "redlock"} {
		if !strings.Contains(got, id) {
			t.Errorf("%q does not name %s", got, id)
		}
	}
}

// said are the texts that pictures have: those of charts and of runs, and titles, meanings and names in them.
var said = regexp.MustCompile(`^(chart|grid|par|tolerance|sweep|recovery|waiting|rate|theorems|policy|work|na|environment|family|meaning|` +
	`timeline|motion|part|title|explain\.head|fault|term\.ttl\.name)(\.|$)`)

// Every Chinese character that pictures say is in the font.
func TestHanFont(t *testing.T) {
	for _, key := range text.In("zh").Keys("") {
		if !said.MatchString(key) {
			continue
		}
		for _, r := range text.In("zh").Get(key) {
			if inHan(r) {
				if glyph, err := han.GlyphIndex(nil, r); err != nil || glyph == 0 {
					t.Errorf("%s: the font has no %q: see font/README.md", key, r)
				}
			}
		}
	}
}

func TestFoldChinese(t *testing.T) {
	style := writing(10, ink)
	for _, width := range []float64{30, 55, 80} {
		all := "锁多久失效一次，TTL 的代价是什么？（watchdog）"
		var whole string
		for _, line := range foldText(style, all, vg.Length(width)) {
			if strings.HasPrefix(line, "，") || strings.HasPrefix(line, "？") || strings.HasSuffix(line, "（") {
				t.Errorf("%g: a line is %q", width, line)
			}
			whole += line
		}
		if strings.ReplaceAll(whole, " ", "") != strings.ReplaceAll(all, " ", "") {
			t.Errorf("folded to %q", whole)
		}
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.6667: "0.667", 66.67: "66.7", 1234: "1,234", 31536000: "31,536,000", 1e-6: "1.0e-06", math.Inf(1): "∞"} {
		if got := number(x); got != want {
			t.Errorf("%g is %q, want %q", x, got, want)
		}
	}
	for d, want := range map[time.Duration]string{90 * time.Second: "1m30s", time.Minute: "1m", 2 * time.Hour: "2h", 9500 * time.Millisecond: "9.5s", cost.Forever: "∞"} {
		if got := length(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}

// TestRateCSVOfFigures: an environment with figures only, from which no rate follows, has no line, and
// moves no lock's time of recovery to another.
func TestRateCSVOfFigures(t *testing.T) {
	r := rateSample(t)
	r.Environments = append([]cost.Environment{{ID: "figures"}, {ID: "more"}}, r.Environments...)
	samples.Golden(t, "rate.csv", someTTLs(r))
}
