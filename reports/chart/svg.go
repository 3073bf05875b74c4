package chart

import (
	"cmp"
	"fmt"
	"hash/crc64"
	"html"
	"image/color"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// An svgCanvas is that of gonum/plot with text as outlines, so that it looks the same where the fonts are missing: each
// character of a font is written once, and used wherever it stands. Colours that differ in the dark are variables.
type svgCanvas struct {
	*vgsvg.Canvas
	glyphs map[string]string // outlines in units of their font, by id
	color  color.NRGBA
}

// SetColor takes nil for black, as gonum/plot's other canvases do.
func (c *svgCanvas) SetColor(col color.Color) {
	c.color = color.NRGBAModel.Convert(cmp.Or(col, color.Color(black))).(color.NRGBA)
	c.Canvas.SetColor(exact(c.color))
}

// An exact colour is in the middle of its step: gonum/plot rounds it down.
type exact color.NRGBA

// RGBA is that of color.Color but for that.
func (e exact) RGBA() (r, g, b, a uint32) {
	a = 0x101 * uint32(e.A)
	of := func(v uint8) uint32 { return uint32(v)*a/0xff + a/0x200 }
	return of(e.R), of(e.G), of(e.B), a
}

// FillString writes text as outlines, with the text itself for programs that read it. As the text of gonum/plot it
// comes to its place, where file finds it.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, s string) {
	fill := hexOf(c.color)
	if c.color != white { // which stands on a colour: it is none of file's
		fill = strings.ToUpper(fill)
	}
	var b strings.Builder
	scale := f.Font.Size / vg.Length(f.Face.UnitsPerEm())
	fmt.Fprintf(&b, `scale(%.5g)" style="fill:%s" aria-label="%s">`, scale, fill, html.EscapeString(s))
	for x, glyph := range glyphsOf(f, s) {
		if id := c.glyph(f.Face, glyph); id != "" {
			fmt.Fprintf(&b, `<use href="#%s" x="%d"/>`, id, int(x/scale+0.5))
		}
	}
	c.Canvas.FillString(f, at, b.String())
}

// glyph returns the id of a character's outline; "": it is blank.
func (c *svgCanvas) glyph(face *sfnt.Font, glyph sfnt.GlyphIndex) string {
	var d strings.Builder
	for _, s := range segmentsOf(face, glyph) {
		d.WriteByte("MLQC"[s.Op])
		for _, p := range s.Args[:max(1, s.Op)] {
			fmt.Fprintf(&d, "%d,%d ", p.X, p.Y)
		}
	}
	if d.Len() == 0 {
		return ""
	}
	sum := crc64.Checksum([]byte(d.String()), crc64.MakeTable(crc64.ECMA))
	id := fmt.Sprintf("g%x", sum>>24) // the same in all pictures of a page, which has some hundred
	c.glyphs[id] = d.String()
	return id
}

// nameSpace is that of SVG, which a file needs and an element of a page does not.
const nameSpace = ` xmlns="http://www.w3.org/2000/svg"`

// A Letters is the outlines of letters that a page has already: they serve its other pictures, too.
type Letters map[string]bool

// altText matches what a file has for those who do not see it.
var altText = regexp.MustCompile(`>\s*<title>.*?</title>`)

// outlines match those of the letters of a picture.
var outlines = regexp.MustCompile(`<path id="g[0-9a-f]+" d="[^"]*"/>\n`)

// Inline returns an SVG as an element of a page with a label.
func (l Letters) Inline(svg, label string) string {
	rest := strings.TrimPrefix(altText.ReplaceAllString(strings.Replace(svg, nameSpace, "", 1), ">"), `<svg role="img"`)
	rest = outlines.ReplaceAllStringFunc(rest, func(o string) string {
		if l[o] {
			return ""
		}
		l[o] = true
		return o
	})
	return `<svg role="img" aria-label="` + html.EscapeString(label) + `"` + rest
}

// texts match those of gonum/plot.
var texts = regexp.MustCompile(`<text x="(.*?)" y="(.*?)" transform="scale\(1, -1\)"\s+style="[^"]*">([^<]*)</text>`)

// file returns what is drawn of a picture as a file.
func (c *svgCanvas) file(p *picture) string {
	var b, drawn strings.Builder
	width, height := c.Size()
	w, h, s := width.Points(), height.Points(), float64(p.scale)
	fmt.Fprintf(&b, `<svg role="img" width="%.6gpt" height="%.6gpt" viewBox="0 0 %.6g %.6g"%s>`+"\n<title>%s</title>\n",
		w*s, h*s, w, h, nameSpace, html.EscapeString(p.title))
	dark := "<style>@media (prefers-color-scheme: dark) { svg {"
	colours := []string{"stroke:#000000", "stroke:var(--ink,#000000)"} // black is no variable but for lines
	for _, v := range variables {
		dark += fmt.Sprintf(" %s: %s;", v.name, hexOf(v.dark))
		for _, of := range []string{"stroke:", "fill:"}[:map[bool]int{true: 1, false: 2}[v.lines]] {
			colours = append(colours, of+strings.ToUpper(hexOf(v.light)), of+"var("+v.name+","+hexOf(v.light)+")")
		}
	}
	if p.printed {
		dark, colours = "", nil
	} else {
		dark += " } }</style>\n"
	}
	b.WriteString(dark + "<defs>\n")
	for _, id := range slices.Sorted(maps.Keys(c.glyphs)) {
		fmt.Fprintf(&b, "<path id=\"%s\" d=\"%s\"/>\n", id, c.glyphs[id])
	}
	b.WriteString("</defs>\n")
	c.WriteTo(&drawn) // to where no write fails
	_, body, _ := strings.Cut(drawn.String(), "<g ")
	body = strings.NewReplacer(colours...).Replace("<g " + body)
	return b.String() + texts.ReplaceAllStringFunc(body, func(t string) string {
		m := texts.FindStringSubmatch(t)
		return `<g transform="scale(1,-1) translate(` + m[1] + "," + m[2] + ") " + html.UnescapeString(m[3]) + "</g>"
	})
}

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// variables are the colours that differ in the dark, by names that the page has, too.
var variables = []struct {
	name        string
	light, dark color.NRGBA
	lines       bool // it is no ground, on which white letters stand
}{
	{"--chart-broken", vermillion, color.NRGBA{0xf0, 0x7a, 0x1e, 0xff}, false},
	{"--chart-c1", clientColor(1), color.NRGBA{0x4f, 0xa8, 0xdf, 0xff}, true},
	{"--chart-c2", clientColor(2), color.NRGBA{0x2f, 0xb9, 0x8a, 0xff}, true},
	{"--chart-c3", clientColor(3), color.NRGBA{0xd0, 0x86, 0xb7, 0xff}, true},
	{"--chart-c4", clientColor(4), color.NRGBA{0xc4, 0xa2, 0x2e, 0xff}, true},
	{"--chart-fault", faultInk, color.NRGBA{0xd8, 0x8c, 0x1f, 0xff}, false},
	{"--chart-holds", paleGreen, color.NRGBA{0x17, 0x2b, 0x25, 0xff}, false},
	{"--chart-unknown", paleGrey, color.NRGBA{0x2a, 0x2c, 0x31, 0xff}, false},
	{"--faint", faintInk, color.NRGBA{0xa2, 0xa2, 0xab, 0xff}, false},
	{"--ink", ink, color.NRGBA{0xe8, 0xe8, 0xea, 0xff}, false},
	{"--line", hairline, color.NRGBA{0x3a, 0x3b, 0x41, 0xff}, false},
	{"--paper", white, color.NRGBA{0x17, 0x18, 0x1b, 0xff}, false},
}
