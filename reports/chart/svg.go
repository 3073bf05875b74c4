package chart

import (
	"fmt"
	"hash/fnv"
	"html"
	"image"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// An svgCanvas is a canvas of gonum/plot that writes SVG. Text is outlines, so that it looks the same where the
// fonts are missing: each character of a font is written once, and used wherever it stands. Colours that differ in
// the dark are variables.
type svgCanvas struct {
	width, height vg.Length
	body          strings.Builder
	glyphs        map[string]string // outlines in units of their font, by id
	pen                             // what is drawn next
	saved         []pen             // by Push
}

// A pen is how the canvas draws, and where: (x, y) stands at (m0 x + m2 y + m4, m1 x + m3 y + m5) of the SVG.
type pen struct {
	color  color.NRGBA
	width  vg.Length
	dashes []vg.Length
	m      [6]float64
}

func newSVG(width, height vg.Length) *svgCanvas {
	upright := pen{color: black, width: 1, m: [6]float64{1, 0, 0, -1, 0, height.Points()}}
	return &svgCanvas{width: width, height: height, glyphs: map[string]string{}, pen: upright}
}

// Size is that of vg.CanvasSizer; the next ones are those of vg.Canvas.
func (c *svgCanvas) Size() (width, height vg.Length) { return c.width, c.height }

func (c *svgCanvas) SetLineWidth(w vg.Length)                    { c.pen.width = w }
func (c *svgCanvas) SetLineDash(dashes []vg.Length, _ vg.Length) { c.dashes = dashes }
func (c *svgCanvas) Push()                                       { c.saved = append(c.saved, c.pen) }
func (c *svgCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	panic("chart: no picture has an image")
}

// SetColor takes nil for black, as gonum/plot's other canvases do.
func (c *svgCanvas) SetColor(col color.Color) {
	c.color = black
	if col != nil {
		c.color = color.NRGBAModel.Convert(col).(color.NRGBA)
	}
}

func (c *svgCanvas) Pop() {
	last := len(c.saved) - 1
	c.pen, c.saved = c.saved[last], c.saved[:last]
}

func (c *svgCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	c.move([6]float64{cos, sin, -sin, cos, 0, 0})
}

func (c *svgCanvas) Translate(by vg.Point) {
	c.move([6]float64{1, 0, 0, 1, by.X.Points(), by.Y.Points()})
}
func (c *svgCanvas) Scale(x, y float64) { c.move([6]float64{x, 0, 0, y, 0, 0}) }

// move puts a transformation before those that there are.
func (c *svgCanvas) move(t [6]float64) {
	m := c.m
	for i := 0; i < 6; i += 2 {
		c.m[i], c.m[i+1] = m[0]*t[i]+m[2]*t[i+1], m[1]*t[i]+m[3]*t[i+1]
	}
	c.m[4], c.m[5] = c.m[4]+m[4], c.m[5]+m[5]
}

// at writes a point of the canvas.
func (c *svgCanvas) at(p vg.Point) string {
	x, y := p.X.Points(), p.Y.Points()
	return fmt.Sprintf("%.5g,%.5g", c.m[0]*x+c.m[2]*y+c.m[4], c.m[1]*x+c.m[3]*y+c.m[5])
}

func (c *svgCanvas) Fill(path vg.Path) {
	fmt.Fprintf(&c.body, "<path d=\"%s\" style=\"%s\"/>\n", c.path(path), c.paint("fill", false))
}

func (c *svgCanvas) Stroke(path vg.Path) {
	if c.pen.width <= 0 || len(path) < 2 {
		return
	}
	dashes := ""
	for i, d := range c.dashes {
		dashes += []string{";stroke-dasharray:", ","}[min(i, 1)] + fmt.Sprintf("%.5g", d.Points())
	}
	fmt.Fprintf(&c.body, "<path d=\"%s\" style=\"fill:none;%s;stroke-width:%.5g%s\"/>\n", c.path(path),
		c.paint("stroke", false), c.pen.width.Points(), dashes)
}

// path writes a path. What it has of circles is drawn as two halves.
func (c *svgCanvas) path(path vg.Path) string {
	var b strings.Builder
	for i, part := range path {
		switch part.Type {
		case vg.MoveComp:
			b.WriteString("M" + c.at(part.Pos))
		case vg.LineComp:
			b.WriteString("L" + c.at(part.Pos))
		case vg.CurveComp:
			b.WriteString([]string{"Q", "C"}[len(part.Control)-1])
			for _, p := range part.Control {
				b.WriteString(c.at(p) + " ")
			}
			b.WriteString(c.at(part.Pos))
		case vg.ArcComp:
			on := func(share float64) string {
				sin, cos := math.Sincos(part.Start + share*part.Angle)
				return c.at(part.Pos.Add(vg.Point{X: part.Radius * vg.Length(cos), Y: part.Radius * vg.Length(sin)}))
			}
			begin, r, sweep := "L", part.Radius.Points(), 0
			if i == 0 {
				begin = "M"
			}
			if part.Angle < 0 {
				sweep = 1
			}
			fmt.Fprintf(&b, "%s%sA%.5g,%.5g 0 0 %d %sA%.5g,%.5g 0 0 %d %s", begin, on(0), r, r, sweep, on(0.5), r, r, sweep,
				on(1))
		case vg.CloseComp:
			b.WriteString("Z")
		}
	}
	return b.String()
}

// FillString writes text as outlines, with the text itself for programs that read it.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, s string) {
	c.Push()
	defer c.Pop()
	c.Translate(at)
	size := f.Font.Size.Points() / float64(f.Face.UnitsPerEm())
	c.Scale(size, -size)
	m := c.m
	fmt.Fprintf(&c.body, `<g style="%s" transform="matrix(%.5g,%.5g,%.5g,%.5g,%.5g,%.5g)" aria-label="%s">`,
		c.paint("fill", true), m[0], m[1], m[2], m[3], m[4], m[5], html.EscapeString(s))
	for x, glyph := range glyphsOf(f.Face, s) {
		if id := c.glyph(f, glyph); id != "" {
			fmt.Fprintf(&c.body, `<use href="#%s" x="%d"/>`, id, int(x))
		}
	}
	c.body.WriteString("</g>\n")
}

// glyph returns the id of a character's outline; "": it is blank.
func (c *svgCanvas) glyph(f font.Face, glyph sfnt.GlyphIndex) string {
	plain := &svgCanvas{pen: pen{m: [6]float64{1, 0, 0, 1, 0, 0}}}
	d := plain.path(outline(f.Face, glyph, func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: vg.Length(p.X), Y: vg.Length(p.Y)}
	}))
	if d == "" {
		return ""
	}
	h := fnv.New64a()
	h.Write([]byte(d))
	id := fmt.Sprintf("g%x", h.Sum64()>>24) // the same in all pictures of a page, which has some hundred
	c.glyphs[id] = d
	return id
}

// paint writes the colour as a property. In text white stays: it stands on a colour. So does black, which is no
// variable but for lines.
func (c *svgCanvas) paint(property string, text bool) string {
	hex := hexOf(c.color)
	opaque := c.color
	opaque.A = 0xff
	name := variables[opaque]
	switch {
	case property == "stroke" && opaque == black:
		name = variables[ink]
	case text && opaque == white:
		name = ""
	}
	if name != "" {
		hex = "var(" + name + "," + hex + ")"
	}
	if c.color.A < 0xff {
		hex += fmt.Sprintf(";%s-opacity:%.3g", property, float64(c.color.A)/0xff)
	}
	return property + ":" + hex
}

// nameSpace is that of SVG, which a file needs and an element of a page does not.
const nameSpace = ` xmlns="http://www.w3.org/2000/svg"`

// Inline returns an SVG as an element of a page with a label.
func Inline(svg, label string) string {
	rest := strings.TrimPrefix(strings.Replace(svg, nameSpace, "", 1), "<svg")
	return `<svg role="img" aria-label="` + html.EscapeString(label) + `"` + rest
}

// file returns the picture as a file; printed, it is smaller by scale.
func (c *svgCanvas) file(scale vg.Length) string {
	var b strings.Builder
	w, h, s := c.width.Points(), c.height.Points(), float64(scale)
	fmt.Fprintf(&b, "<svg width=\"%.6gpt\" height=\"%.6gpt\" viewBox=\"0 0 %.6g %.6g\"%s>\n", w*s, h*s, w, h, nameSpace)
	b.WriteString("<style>@media (prefers-color-scheme: dark) { svg {")
	byName := func(a, b color.NRGBA) int { return strings.Compare(variables[a], variables[b]) }
	for _, light := range slices.SortedFunc(maps.Keys(variables), byName) {
		fmt.Fprintf(&b, " %s: %s;", variables[light], hexOf(onDark[light]))
	}
	b.WriteString(" } }</style>\n<defs>\n")
	for _, id := range slices.Sorted(maps.Keys(c.glyphs)) {
		fmt.Fprintf(&b, "<path id=\"%s\" d=\"%s\"/>\n", id, c.glyphs[id])
	}
	return b.String() + "</defs>\n" + c.body.String() + "</svg>\n"
}

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// variables are the names of the colours that differ in the dark; the page has the same.
var variables = map[color.NRGBA]string{
	white: "--paper", ink: "--ink", faintInk: "--faint", hairline: "--line",
	paleGreen: "--chart-holds", paleGrey: "--chart-unknown", stripe: "--chart-stripe",
}

// onDark are those colours in the dark.
var onDark = map[color.NRGBA]color.NRGBA{
	white: {0x17, 0x18, 0x1b, 0xff}, ink: {0xe8, 0xe8, 0xea, 0xff}, faintInk: {0xa2, 0xa2, 0xab, 0xff},
	hairline: {0x3a, 0x3b, 0x41, 0xff}, paleGreen: {0x17, 0x2b, 0x25, 0xff}, paleGrey: {0x2a, 0x2c, 0x31, 0xff},
	stripe: {0x1e, 0x20, 0x24, 0xff},
}
