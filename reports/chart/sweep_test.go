package chart

import (
	"image/color"
	"io"
	"math"
	"strings"
	"testing"

	"locklab/scenarios/study"
)

func TestSweepPNG(t *testing.T) { checkPNG(t, sweepSample()) }

func TestSweepTakeaway(t *testing.T) {
	s := sweepSample()
	s.Series = s.Series[:2]
	want := "Seen: setnx-expire from 0.7 on, up to 93 % (92-95). Never seen: setnx 0/1,000 -> < 0.4 %."
	if got := s.Takeaway("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Charts that are empty, or have one point, are drawn all the same.
func TestSweepOddSizes(t *testing.T) {
	for _, series := range [][]study.SweepSeries{
		nil,
		{{Strategy: "setnx"}},
		{{Strategy: "setnx", Points: []study.SweepPoint{{At: []float64{1}, K: 1, N: 1}}}},
		{{Strategy: "setnx", Points: []study.SweepPoint{{At: []float64{1}, K: 1, N: 0}}}},
		sweepSample().Series[:4],
	} {
		s := sweepSample()
		s.Series = series
		if err := PNG(io.Discard, s, Format{}); err != nil {
			t.Error(err)
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

// The bands of an SVG are translucent.
func TestTranslucentBands(t *testing.T) {
	var b strings.Builder
	if err := SVG(&b, sweepSample(), Format{}); err != nil || !strings.Contains(b.String(), "fill-opacity:0.282") {
		t.Errorf("no translucent band in the SVG: %v", err)
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
