package chart

import (
	"image/color"
	"math"
	"strings"
	"testing"
	"time"

	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
)

// All charts of what a lock survives take the same work for granted, and say so below their titles.
func TestOneWork(t *testing.T) {
	const ttl = 10 * time.Second
	recovery := &RecoveryChart{[]cost.Recovery{{Strategy: "token", TTL: ttl, Hold: study.UsualWork(ttl)}}}
	sweep := sweepSample()
	for _, lang := range text.Languages() {
		usual := say(lang, "work.usual")
		for name, below := range map[string]string{
			"recovery": recovery.legend(lang), "sweep": sweep.Assumptions(lang),
			"par": say(lang, "par.below"), "tolerance": say(lang, "tolerance.below"),
		} {
			if part, _, _ := strings.Cut(usual, " "); !strings.Contains(below, part) {
				t.Errorf("%s, %s: no work of %s: %s", name, lang, usual, below)
			}
		}
	}
	recovery.Recoveries[0].Hold = time.Second
	if got := recovery.legend("en"); !strings.Contains(got, "Work takes 1s.") {
		t.Errorf("another work: %s", got)
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
