package chart

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"html"
	"image/color"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"

	"locklab/simulator/lists"
)

// An outlining canvas writes SVG with text as outlines: it looks the same where the fonts
// are missing. Each character of a font is drawn once, and used wherever it stands.
type outlining struct {
	*vgsvg.Canvas
	glyphs map[string]string // outlines in units of their font, by id
	texts  []string          // in the order in which they were drawn
}

func newOutlining(width, height vg.Length) *outlining {
	return &outlining{Canvas: vgsvg.NewWith(vgsvg.UseWH(width, height)), glyphs: map[string]string{}}
}

// FillString is that of vg.Canvas. The canvas below cannot reuse outlines. So a path that only
// moves keeps the place and the colour, and svg puts the text there.
func (c *outlining) FillString(f font.Face, at vg.Point, s string) {
	var b strings.Builder
	fmt.Fprintf(&b, `scale(%.5g)" aria-label="%s">`, f.Font.Size.Points()/float64(f.Face.UnitsPerEm()), html.EscapeString(s))
	for x, glyph := range glyphsOf(f.Face, s) {
		if id := c.glyph(f, glyph); id != "" {
			fmt.Fprintf(&b, `<use href="#%s" x="%d"/>`, id, int(x))
		}
	}
	c.texts = append(c.texts, b.String())
	c.Fill(vg.Path{{Type: vg.MoveComp, Pos: at}})
}

// glyph is the id of a character's outline; "": it is blank.
func (c *outlining) glyph(f font.Face, glyph sfnt.GlyphIndex) string {
	var b strings.Builder
	for _, part := range outline(f.Face, glyph, func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: vg.Length(p.X), Y: vg.Length(-p.Y)}
	}) {
		if part.Type == vg.CloseComp {
			b.WriteString("Z")
			continue
		}
		b.WriteByte("MLQC"[min(part.Type, 1)+len(part.Control)])
		points := lists.Each(append(part.Control, part.Pos), func(p vg.Point) string {
			return fmt.Sprintf("%g %g", p.X, p.Y)
		})
		b.WriteString(strings.Join(points, " "))
	}
	if b.Len() == 0 {
		return ""
	}
	h := fnv.New64a()
	h.Write([]byte(b.String()))
	id := fmt.Sprintf("g%x", h.Sum64()) // the same in all pictures of a page
	c.glyphs[id] = b.String()
	return id
}

var (
	textPlace = regexp.MustCompile(`<path d="M([-0-9.e+]+),([-0-9.e+]+)"\s*(style="[^"]*")?\s*/>`)
	colorOf   = regexp.MustCompile(`(fill|stroke):(#[0-9A-Fa-f]{6})`)
	either    = regexp.MustCompile(textPlace.String() + "|" + colorOf.String())
	svgBegin  = regexp.MustCompile(`(?s)<svg[^>]*>\n?`)
)

// svg is the picture.
func (c *outlining) svg() (string, error) {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	n := 0
	body := either.ReplaceAllStringFunc(b.String(), func(found string) string {
		m := textPlace.FindStringSubmatch(found)
		switch {
		case m == nil:
			return variable(found, false)
		case strings.Contains(m[3], "fill:none"): // a line of one point
			return ""
		}
		if n++; n > len(c.texts) {
			return found
		}
		style := colorOf.ReplaceAllStringFunc(m[3], func(one string) string { return variable(one, true) })
		return fmt.Sprintf(`<g %s transform="translate(%s,%s) %s</g>`, style, m[1], m[2], c.texts[n-1])
	})
	if n != len(c.texts) {
		return "", fmt.Errorf("%d texts in %d places", len(c.texts), n)
	}
	var head strings.Builder
	head.WriteString("<style>@media (prefers-color-scheme: dark) { svg {")
	for _, light := range slices.SortedFunc(maps.Keys(variables), func(a, b color.NRGBA) int { return strings.Compare(variables[a], variables[b]) }) {
		fmt.Fprintf(&head, " %s: %s;", variables[light], hexOf(onDark[light]))
	}
	head.WriteString(" } }</style>\n<defs>\n")
	for _, id := range slices.Sorted(maps.Keys(c.glyphs)) {
		fmt.Fprintf(&head, "<path id=\"%s\" d=\"%s\"/>\n", id, c.glyphs[id])
	}
	head.WriteString("</defs>\n")
	return svgBegin.ReplaceAllStringFunc(body, func(begin string) string { return begin + head.String() }), nil
}

// variable is "fill:#222222" with the variable of the colour. In text white stays: it stands
// on a colour. So does black, which is no variable but for lines.
func variable(one string, text bool) string {
	property, hex, _ := strings.Cut(one, ":")
	for light, name := range variables {
		if strings.EqualFold(hex, hexOf(light)) && !(text && light == white) {
			return property + ":var(" + name + "," + hex + ")"
		}
	}
	if property == "stroke" && strings.EqualFold(hex, hexOf(black)) {
		return property + ":var(" + variables[ink] + "," + hex + ")"
	}
	return one
}

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// variables are the names of the colours that differ in the dark; the page has the same.
var variables = map[color.NRGBA]string{
	white: "--paper", ink: "--ink", faintInk: "--faint", hairline: "--line",
	paleGreen: "--chart-holds", paleGrey: "--chart-unknown", stripe: "--chart-stripe",
}

// onDark are those colours in the dark.
var onDark = map[color.NRGBA]color.NRGBA{
	white: {0x17, 0x18, 0x1b, 0xff}, ink: {0xe8, 0xe8, 0xea, 0xff}, faintInk: {0xa2, 0xa2, 0xab, 0xff}, hairline: {0x3a, 0x3b, 0x41, 0xff},
	paleGreen: {0x17, 0x2b, 0x25, 0xff}, paleGrey: {0x2a, 0x2c, 0x31, 0xff}, stripe: {0x1e, 0x20, 0x24, 0xff},
}
