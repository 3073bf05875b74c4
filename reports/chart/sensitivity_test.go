package chart

import (
	"image/color"
	"io"
	"math"
	"strings"
	"testing"

	"locklab/reports/internal/samples"
	"locklab/scenarios/study"
)

func TestSensitivityCSV(t *testing.T) {
	s := sensitivitySample()
	samples.Golden(t, "sensitivity.csv", s.CSV)
}

func TestSensitivityPNG(t *testing.T) {
	s := sensitivitySample()
	p, err := s.picture()
	if err != nil {
		t.Fatal(err)
	}
	checkPNG(t, s.PNG, p)
}

func TestSensitivityTakeaway(t *testing.T) {
	s := Sensitivity{study.Sensitivity{Series: []study.Series{
		{Strategy: "setnx", Points: []study.Point{{X: 0.5, K: 0, N: 1000}, {X: 1.5, K: 0, N: 1000}}},
		{Strategy: "token", Points: []study.Point{{X: 0.5, K: 0, N: 1000}, {X: 1, K: 3, N: 1000}, {X: 1.5, K: 520, N: 1000}}},
	}}}
	want := "Seen: token from 1 on, up to 52 % (49-55). Never seen: setnx 0/1,000 -> < 0.4 %."
	if got := s.Takeaway("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Charts that are empty, or have one point, or more panels than columns, are
// drawn all the same.
func TestSensitivityOddSizes(t *testing.T) {
	for _, series := range [][]study.Series{
		nil,
		{{Strategy: "setnx"}},
		{{Strategy: "setnx", Points: []study.Point{{X: 1, K: 1, N: 1}}}},
		{{Strategy: "setnx", Points: []study.Point{{X: 1, K: 1, N: 0}}}},
		sensitivitySample().Series[:4],
	} {
		s := Sensitivity{study.Sensitivity{Series: series}}
		if err := s.PNG(io.Discard); err != nil {
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

// The SVG asks for fonts of the same measures, and its bands are translucent.
func TestSVGDetails(t *testing.T) {
	s := sensitivitySample()
	var b strings.Builder
	if err := s.SVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"font-family:Liberation Sans,Arial,", "fill-opacity:0.28"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the SVG", want)
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
