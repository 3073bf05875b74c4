package study_test

import (
	"encoding/json"
	"math"
	"regexp"
	"testing"

	"locklab/scenarios/study"
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
		lo, hi := study.Wilson(c.k, c.n)
		if math.Abs(lo-c.lo) > 5e-5 || math.Abs(hi-c.hi) > 5e-5 {
			t.Errorf("Wilson(%d, %d) = %.4f, %.4f, want %.4f, %.4f", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
}

// The interval holds the share, and lies between 0 and 1.
func TestWilsonHoldsShare(t *testing.T) {
	for n := 1; n <= 60; n++ {
		for k := range n + 1 {
			lo, hi := study.Wilson(k, n)
			if share := float64(k) / float64(n); lo < 0 || lo > share || share > hi || hi > 1 {
				t.Fatalf("Wilson(%d, %d) = %v, %v", k, n, lo, hi)
			}
		}
	}
}

// The JSON of a point has its interval.
func TestPointJSON(t *testing.T) {
	got, err := json.Marshal(study.SweepSeries{Strategy: "token", Points: []study.SweepPoint{{At: []float64{0.5}, K: 7, N: 7}, {At: []float64{1}}}})
	want := `{"strategy":"token","points":[{"at":[0.5],"k":7,"n":7,"wilson_lo":0.6456,"wilson_hi":1},{"at":[1],"k":0,"n":0,"wilson_lo":0,"wilson_hi":1}]}`
	if err != nil || regexp.MustCompile(`(\.\d{4})\d+`).ReplaceAllString(string(got), "$1") != want {
		t.Errorf("%v:\n%s\n%s", err, got, want)
	}
}
