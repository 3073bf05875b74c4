package chart

import (
	"image/color"
	"io"
	"locklab/reports/internal/samples"
	"math"
	"strings"
	"testing"
)

// R. G. Newcombe, "Two-sided confidence intervals for the single proportion",
// Statistics in Medicine 17 (1998), table I, method 3.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{0, 1000, 0, 0.0038},
		{1000, 1000, 0.9962, 1},
		{0, 0, 0, 1},
		{9, 3, 0.4385, 1}, // no more than all
	} {
		lo, hi := Wilson(c.k, c.n)
		if math.Abs(lo-c.lo) > 5e-5 || math.Abs(hi-c.hi) > 5e-5 {
			t.Errorf("Wilson(%d, %d) = %.4f, %.4f, want %.4f, %.4f", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
}

// The interval holds the share, and lies between 0 and 1.
func TestWilsonHoldsShare(t *testing.T) {
	for n := 1; n <= 60; n++ {
		for k := range n + 1 {
			lo, hi := Wilson(k, n)
			if share := float64(k) / float64(n); lo < 0 || lo > share || share > hi || hi > 1 {
				t.Fatalf("Wilson(%d, %d) = %v, %v", k, n, lo, hi)
			}
		}
	}
}

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
	s := Sensitivity{Series: []Series{
		{"setnx", []Point{{0.5, 0, 1000}, {1.5, 0, 1000}}},
		{"token", []Point{{0.5, 0, 1000}, {1, 3, 1000}, {1.5, 520, 1000}}},
	}}
	want := "Seen: token from 1 on, up to 52 % (49-55). Never seen: setnx 0/1,000 -> < 0.4 %."
	if got := s.Takeaway("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Charts that are empty, or have one point, or more panels than columns, are
// drawn all the same.
func TestSensitivityOddSizes(t *testing.T) {
	for _, s := range []Sensitivity{
		{},
		{Series: []Series{{Strategy: "setnx"}}},
		{Series: []Series{{"setnx", []Point{{1, 1, 1}}}}},
		{Series: []Series{{"setnx", []Point{{1, 1, 0}}}}},
		{Series: sensitivitySample().Series[:4]},
	} {
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
