package chart

import (
	"image/color"
	"io"
	"math"
	"strings"
	"testing"

	"locklab/reports/internal/samples"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

func TestSensitivityCSV(t *testing.T) {
	s := sensitivitySample()
	samples.Golden(t, "sensitivity.csv", csvOf(&s))
}

func TestSensitivityPNG(t *testing.T) {
	s := sensitivitySample()
	checkPNG(t, &s)
}

func TestSensitivityTakeaway(t *testing.T) {
	s := Sensitivity{Sensitivity: study.Sensitivity{Series: []study.Series{
		{Strategy: "setnx", Points: []study.Point{{X: 0.5, K: 0, N: 1000}, {X: 1.5, K: 0, N: 1000}}},
		{Strategy: "token", Points: []study.Point{{X: 0.5, K: 0, N: 1000}, {X: 1, K: 3, N: 1000}, {X: 1.5, K: 520, N: 1000}}},
	}}}
	want := "Seen: token from 1 on, up to 52 % (49-55). Never seen: setnx 0/1,000 -> < 0.4 %, which has no TTL and stays locked after a crash."
	if got := s.Takeaway("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The title says the finding, and curves that cannot be told apart have one label.
func TestSensitivityTitle(t *testing.T) {
	points := func(ks ...int) (all []study.Point) {
		for i, k := range ks {
			all = append(all, study.Point{X: float64(i) / 2, K: k, N: 1000})
		}
		return all
	}
	s := Sensitivity{Sensitivity: study.Sensitivity{Series: []study.Series{
		{Strategy: "token", Points: points(0, 500, 1000)}, {Strategy: "watchdog", Points: points(0, 0, 900)},
		{Strategy: "redlock", Points: points(0, 505, 1000)}, {Strategy: "setnx", Points: points(0, 0, 0)},
	}}}
	if got, want := s.Title("en"), "A pause of 0.5 TTL can let two clients in; with watchdog it takes 1 TTL"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := lists.Gather(s.Series, overlapping); len(got) != 3 || len(got[0]) != 2 {
		t.Errorf("alike: %v", got)
	}
	if !endless("setnx") || endless("token") {
		t.Error("setnx has no TTL, and token has one")
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
		s := Sensitivity{Sensitivity: study.Sensitivity{Series: series}}
		if err := PNG(io.Discard, &s, Format{}); err != nil {
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
func TestSVGDetails(t *testing.T) {
	s := sensitivitySample()
	var b strings.Builder
	if err := SVG(&b, &s, Format{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fill-opacity:0.188"} {
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
