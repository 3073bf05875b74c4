package chart

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"

	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// priceSample has locks at one place, one that another beats, and one that does not exclude.
func priceSample() *PriceChart {
	return &PriceChart{Prices: []cost.Price{
		{Strategy: "mutex", Family: "one-process"},
		{Strategy: "setnx", Family: "two-steps", Excludes: true, Commands: 2, RoundTrips: 2, Contended: 3, Handover: 500 * time.Millisecond, Survived: 20, Races: 40},
		{Strategy: "delex", Family: "one-step", Excludes: true, Commands: 2, RoundTrips: 2, Contended: 3, Handover: 500 * time.Millisecond, Survived: 24, Races: 40},
		{Strategy: "token", Family: "one-step", Excludes: true, Commands: 2, RoundTrips: 2, Contended: 3, Handover: 500 * time.Millisecond, Survived: 24, Races: 40},
		{Strategy: "zk-recheck", Family: "line", Excludes: true, Commands: 4, RoundTrips: 4, Contended: 5, Handover: 6 * time.Millisecond, Survived: 18, Races: 36},
		{Strategy: "redlock", Family: "majority", Excludes: true, Commands: 10, RoundTrips: 10, Contended: 20, Handover: 536 * time.Millisecond, Survived: 30, Races: 40},
		{Strategy: "redlock-parallel", Family: "majority", Excludes: true, Commands: 10, RoundTrips: 2, Contended: 20, Handover: 504 * time.Millisecond, Survived: 30, Races: 40},
	}}
}

func TestPriceCSV(t *testing.T) { samples.Golden(t, "price.csv", csvOf(priceSample())) }

func TestPriceText(t *testing.T) {
	c := priceSample()
	for _, lang := range text.Languages() {
		samples.Golden(t, "price."+lang+".txt", func(w io.Writer) error { return Text(w, c, reports.Look{Width: 120, Lang: lang}) })
	}
	for _, width := range []int{40, 81} {
		samples.CheckWidth(t, "price", width, func(w io.Writer) error { return Text(w, c, reports.Look{Width: width}) })
	}
}

func TestPricePictures(t *testing.T) {
	c := priceSample()
	var b bytes.Buffer
	small := c.picture(Format{Lang: "en"})
	small.dpi = 14
	if err := small.png(&b); err != nil {
		t.Fatal(err)
	}
	goldenPNG(t, "price.png", b.Bytes())
	var hovered bytes.Buffer
	if err := SVG(&hovered, c, Format{}); err != nil || !strings.Contains(hovered.String(), "<title>token, delex: 60 %, 2</title>") {
		t.Errorf("%v, or no words for the pointer", err)
	}
	for _, c := range []*PriceChart{c, {}, {Prices: c.Prices[:1]}, {Prices: c.Prices[:2]}} {
		var svg bytes.Buffer
		if err := SVG(&svg, c, Format{}); err != nil || strings.Contains(svg.String(), "<text") {
			t.Errorf("%v, or its text is not outlined", err)
		}
	}
}

// No other lock is as cheap as an efficient one and survives as much.
func TestEfficient(t *testing.T) {
	var ids []string
	for _, s := range priceSample().spots(byCommands) {
		if s.efficient {
			for _, p := range s.prices {
				ids = append(ids, p.Strategy)
			}
		}
	}
	if want := []string{"token", "delex", "redlock", "redlock-parallel"}; !slices.Equal(ids, want) {
		t.Errorf("efficient by commands are %v, want %v", ids, want)
	}
	if border := priceSample().efficient(); border["setnx"] || border["mutex"] || !border["redlock-parallel"] {
		t.Errorf("%v", border)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct{ at, want []vg.Length }{
		{[]vg.Length{50, 30, 10}, []vg.Length{50, 30, 10}},
		{[]vg.Length{50, 50}, []vg.Length{55, 45}},
		{[]vg.Length{50, 49, 48, 20}, []vg.Length{59, 49, 39, 20}},
		{[]vg.Length{1, 1}, []vg.Length{10, 0}},
	} {
		if got := spread(c.at, 10, 0, 100); !slices.Equal(got, c.want) {
			t.Errorf("%v become %v, want %v", c.at, got, c.want)
		}
	}
}
