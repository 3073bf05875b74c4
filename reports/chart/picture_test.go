package chart

import (
	"bytes"
	"testing"

	"locklab/scenarios/study"
)

// A few small pictures are compared as such. All charts are compared as the data from
// which they are drawn: their CSV and text.
func TestSmallPictures(t *testing.T) {
	sweep := sweepSample()
	sweep.Series = sweep.Series[1:3]
	grid := gridSample()
	grid.Strategies, grid.Scenarios = grid.Strategies[2:5], grid.Scenarios[:4]
	grid.Cells = grid.Cells[2:5]
	overview := manySample()
	overview.Scenarios = overview.Scenarios[:4]
	par, tolerance := parSample(), toleranceSample()
	par.Locks, par.Pars = par.Locks[:3], par.Pars[:3*len(par.Verdicts)]
	var limits []study.Limit
	for i := range tolerance.Locks {
		limits = append(limits, *tolerance.At(i, 0), *tolerance.At(i, 1))
	}
	tolerance.Hazards, tolerance.Limits = tolerance.Hazards[:2], limits
	for name, p := range map[string]picture{
		"grid": grid.picture(Format{Lang: "en"}), "overview": overview.picture(Format{Lang: "en"}), "par": par.picture(Format{Lang: "en"}),
		"tolerance": tolerance.picture(Format{Lang: "en"}), "sweep": sweep.picture(Format{Lang: "en"}),
	} {
		var b bytes.Buffer
		p.dpi = 14
		if err := p.png(&b); err != nil {
			t.Fatal(err)
		}
		goldenPNG(t, name+".png", b.Bytes())
	}
}
