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

	"locklab/reports/internal/samples"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
)

// rateSample has a lock without a lease, one with, one that renews it, and one of which nothing is known.
func rateSample(t testing.TB) *Rate {
	t.Helper()
	limited := func(falls float64) study.Limit {
		return study.Limit{Answer: study.Limited, Holds: falls - 0.05, Falls: falls}
	}
	none := study.Limit{Answer: study.NoLimit, Holds: study.MaxLeases}
	subject := func(id string, limit study.Limit, spans ...cost.Span) cost.Subject {
		return cost.Subject{Lock: id, Lease: cost.Lease{Spans: spans}, Limit: limit}
	}
	o := cost.UsualRateOrder()
	o.Sources = o.Sources[:3]
	own, err := cost.ParseSource("4/year p50=2s,p100=20s")
	if err != nil {
		t.Fatal(err)
	}
	o.Sources = append(o.Sources, own)
	return &Rate{Rates: *o.Of([]cost.Subject{
		subject("setnx", none, cost.Span{Left: math.Inf(1)}),
		subject("token", limited(0.6), cost.Span{Left: 1}),
		subject("delex", limited(0.6), cost.Span{Left: 1}),
		subject("watchdog", limited(0.7), cost.Span{Left: 1}, cost.Span{From: 0.3335, Left: 1}, cost.Span{From: 0.6665, Left: 1}, cost.Span{From: 1, Left: 1}),
		subject("redlock", limited(0.6), cost.Span{Left: 1}),
		subject("mutex", none),
	})}
}

// someTTLs writes the head of a table and its lines for three lengths of a lease.
func someTTLs(r *Rate) func(w io.Writer) error {
	return func(w io.Writer) error {
		var all bytes.Buffer
		if err := r.Table().CSV(&all); err != nil {
			return err
		}
		for line := range strings.Lines(all.String()) {
			if ttl := strings.Split(line, ",")[2]; ttl == "ttl_ns" || ttl == "1000000000" || ttl == "10000000000" || ttl == "120000000000" {
				io.WriteString(w, line)
			}
		}
		return nil
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

// TestNanoseconds: a duration has three digits that count.
func TestNanoseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 461_234: "461µs", 12_456_000: "12.5ms", 999_960_000: "1s",
		8_610_555_000: "8.61s", 95 * time.Second: "1m35s", cost.Forever: "∞"} {
		if got := nanoseconds(float64(d)); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}

// TestRateCSV: a lock that was not measured has no number and no 0, and says so.
func TestRateCSV(t *testing.T) { samples.Golden(t, "rate.csv", someTTLs(rateSample(t))) }
