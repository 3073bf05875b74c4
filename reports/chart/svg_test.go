package chart

import (
	"bytes"
	"compress/zlib"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lettered has text in both fonts, white and black on colours, and a black line.
var lettered = picture{width: 120, height: 60, dpi: 72, draw: func(c draw.Canvas) {
	fillBox(c, box(10, 30, 60, 50), blue)
	c.FillText(writing(10, white), vg.Point{X: 12, Y: 40}, `white <&">`)
	c.FillText(bold(writing(10, ink)), vg.Point{X: 12, Y: 15}, "ink 锁锁 ink")
	c.StrokeLine2(draw.LineStyle{Color: black, Width: 1}, 0, 5, 120, 5)
	c.StrokeLines(draw.LineStyle{Color: blue, Width: 1}, []vg.Point{{X: 3, Y: 3}}) // a line of one point is no text
}}

// Every outline that is used is there, once, and none that is not; the text can be read by
// programs.
func TestOutlines(t *testing.T) {
	var b bytes.Buffer
	if err := lettered.svg(&b); err != nil {
		t.Fatal(err)
	}
	there, used, labels := map[string]int{}, map[string]int{}, ""
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch {
			case e.Name.Local == "text":
				t.Error("there is text that needs a font")
			case e.Name.Local == "path" && a.Name.Local == "id":
				there[a.Value]++
			case e.Name.Local == "use" && a.Name.Local == "href":
				used[strings.TrimPrefix(a.Value, "#")]++
			case a.Name.Local == "aria-label":
				labels += a.Value + "|"
			}
		}
	}
	for id, n := range there {
		if n != 1 || used[id] == 0 {
			t.Errorf("outline %s is there %d times and is used %d times", id, n, used[id])
		}
	}
	for id := range used {
		if there[id] == 0 {
			t.Errorf("outline %s is missing", id)
		}
	}
	if len(there) < 8 || !strings.Contains(labels, `white <&">|`) || !strings.Contains(labels, "锁锁") {
		t.Errorf("%d outlines, labels %q", len(there), labels)
	}
	for _, want := range []string{"fill:var(--paper,#ffffff)", "fill:#ffffff", "fill:var(--ink,#222222)",
		"stroke:var(--ink,#000000)", "prefers-color-scheme: dark"} {
		if !strings.Contains(strings.ToLower(b.String()), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// A PDF has the colours of the picture, and their alpha beside them, not in them.
func TestColoursOfPDF(t *testing.T) {
	for _, c := range []color.NRGBA{vermillion, faded(vermillion, 0x30), faded(clientColor(2), 0x80)} {
		var b bytes.Buffer
		p := picture{width: 9, height: 9, scale: 1, draw: func(to draw.Canvas) { fillBox(to, box(0, 0, 9, 9), c) }}
		if err := p.pdf(&b); err != nil {
			t.Fatal(err)
		}
		_, stream, _ := bytes.Cut(b.Bytes(), []byte("stream\n"))
		r, err := zlib.NewReader(bytes.NewReader(stream))
		if err != nil {
			t.Fatal(err)
		}
		drawn, _ := io.ReadAll(r) // up to the end of the stream
		share := func(x uint8) float64 { return float64(x) / 0xff }
		for in, want := range map[string]string{
			string(drawn): fmt.Sprintf("%.3f %.3f %.3f rg", share(c.R), share(c.G), share(c.B)),
			b.String():    fmt.Sprintf("/ca %.3f", share(c.A)),
		} {
			if !strings.Contains(in, want) {
				t.Errorf("%v: no %q in %.300q", c, want, in)
			}
		}
	}
}
