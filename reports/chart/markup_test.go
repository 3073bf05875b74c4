package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"
)

// Names in SVG are text: they add no element, and leave the picture well-formed.
func TestMarkupInNames(t *testing.T) {
	const name = `]]></text><script>alert("x")</script>&amp;'` + "\x1b\x00"
	grid, overview, sweep, par, tolerance := gridSample(), manySample(), sweepSample(), parSample(), toleranceSample()
	for _, g := range []*Grid{&grid, &overview} {
		g.Strategies[0].ID, g.Scenarios[0].ID = name, name
	}
	sweep.Series[0].Strategy, par.Locks[0].ID, tolerance.Locks[0].ID = name, name, name
	for chart, c := range map[string]Picture{
		"grid": &grid, "overview": &overview, "sweep": sweep, "par": &par, "tolerance": &tolerance,
	} {
		var b bytes.Buffer
		if err := SVG(&b, c, Format{}); err != nil {
			t.Fatal(chart, err)
		}
		for d := xml.NewDecoder(&b); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s: %v", chart, err)
				break
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "script" {
				t.Errorf("%s: a name has become an element", chart)
			}
		}
	}
}
