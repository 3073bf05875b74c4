package chart

import (
	"bytes"
	"html"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// All charts of what a lock survives take the same work for granted, and say so below their titles.
func TestOneWork(t *testing.T) {
	sweep := sweepSample()
	for _, lang := range text.Languages() {
		usual := say(lang, "work.usual")
		for name, below := range map[string]string{
			"sweep": sweep.Assumptions(lang),
			"par":   (&Par{}).Assumptions(lang), "tolerance": (&Tolerance{}).Assumptions(lang),
		} {
			if part, _, _ := strings.Cut(usual, " "); !strings.Contains(below, part) {
				t.Errorf("%s, %s: no work of %s: %s", name, lang, usual, below)
			}
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

// contrast is the ratio of two colours' luminance, from 1 to 21 (WCAG 2).
func contrast(a, b color.NRGBA) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func timelineOf(t *testing.T, lock, raceID string) *Timeline {
	t.Helper()
	e, _ := algorithms.ByName(lock)
	sc, err := scenarios.ByName(raceID)
	if err != nil {
		t.Fatal(err)
	}
	o, err := race.Play(e, sc, sc.Settings)
	if err != nil {
		t.Fatal(err)
	}
	return &Timeline{History: o.History, Judgement: o.Judgement, Verdicts: o.Verdicts}
}

// written are the texts of an SVG.
func written(t *testing.T, p Picture, f Format) (all []string) {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, p, f); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`aria-label="([^"]*)"`).FindAllStringSubmatch(b.String(), -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return append(all, strings.ReplaceAll(strings.Join(all, ""), " ", "")) // letters of another font are a text of their own
}

// The picture says what it has found, and has each fault and each verdict, whatever the language. Attempts
// that come to the same are counted.
func TestTimelineSaysWhatHappened(t *testing.T) {
	for _, c := range []struct {
		lock, race, lang string
		want             []string
	}{
		{"token", "gc-pause", "en", []string{"token lets c1 and c2 in together for 4.5 s, and an update is lost", "PAUSE 12.5s c1", "OVERLAP c1+c2", "STALE-WRITE by c1", "SET NX PX → nil x9", "paused"}},
		{"token", "gc-pause", "zh", []string{"token让c1和c2同时持锁4.5秒，并丢失了一次更新", "停顿"}},
		{"token", "gc-pause-fenced", "en", []string{"token lets c1 and c2 in together for 4.5 s, and the resource refuses the late write"}},
		{"setnx-expire", "crash-before-expire", "en", []string{"With setnx-expire, no client ever acquires the lock again", "DEADLOCK c1,c2 for ever", "dead"}},
		{"redlock", "failover", "en", []string{"redlock survives this race", "n2-5"}},
	} {
		got := written(t, timelineOf(t, c.lock, c.race), Format{Lang: c.lang})
		for _, want := range c.want {
			if !slices.Contains(got, want) && !(c.lang == "zh" && strings.Contains(got[len(got)-1], want)) {
				t.Errorf("%s in %s, %s: no %q in %q", c.lock, c.race, c.lang, want, got)
			}
		}
	}
}

// Each race of a lock can be drawn, as 16:9, and no place is outside the picture. Every verdict has a finding.
func TestEveryRunIsDrawn(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine draws")
	for _, id := range []string{"mutex", "token", "redlock", "zk-recheck"} {
		for _, sc := range scenarios.All() {
			r := timelineOf(t, id, sc.ID)
			if r.History == nil || len(r.History.Events) == 0 {
				continue
			}
			p := r.picture(Format{Lang: "en"})
			if ratio := p.width / p.height; ratio < 1.77 || ratio > 1.78 {
				t.Errorf("%s in %s: %v to 1", id, sc.ID, ratio)
			}
			var b bytes.Buffer
			if err := p.svg(&b); err != nil || bytes.Contains(b.Bytes(), []byte("NaN")) {
				t.Errorf("%s in %s: %v, or a place that is no number", id, sc.ID, err)
			}
		}
	}
	for _, w := range words {
		for _, lang := range []string{"en", "zh"} {
			r := timelineOf(t, "token", "calm")
			if r.Verdicts = []verdict.Word{w}; strings.HasPrefix(r.finding(lang), "timeline.") {
				t.Errorf("%s has no finding in %s", w, lang)
			}
		}
	}
}
