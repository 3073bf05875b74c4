package chart

import (
	_ "embed"
	"image/color"
	"iter"
	"math"
	"regexp"
	"strings"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/layout"
	"locklab/simulator/lists"
)

// A lettering takes from Noto Sans SC what Liberation does not have.
type lettering struct{ text.Plain }

var letters = lettering{text.Plain{Fonts: font.DefaultCache}}

//go:embed font/NotoSansSC-subset.otf
var hanFont []byte

var han = func() *opentype.Font {
	f, err := opentype.Parse(hanFont)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return f
}()

// inHan reports whether a character is drawn from Noto Sans SC.
func inHan(r rune) bool { return r > 0x2e80 || strings.ContainsRune("—“”…‘’·✓", r) }

// A stretch is a piece of text in one font.
type stretch struct {
	text string
	han  bool
}

func stretches(s string) (all []stretch) {
	for _, r := range s {
		if n := len(all); n > 0 && all[n-1].han == inHan(r) {
			all[n-1].text += string(r)
			continue
		}
		all = append(all, stretch{string(r), inHan(r)})
	}
	return all
}

func (h lettering) face(f font.Font, of stretch) font.Face {
	face := h.Fonts.Lookup(f, f.Size)
	if of.han {
		face.Face = han
	}
	return face
}

func (h lettering) width(s string, f font.Font) (width vg.Length) {
	for _, r := range stretches(s) {
		face := h.face(f, r)
		width += face.Width(r.text)
	}
	return width
}

// Box is that of text.Handler.
func (h lettering) Box(s string, f font.Font) (width, height, depth vg.Length) {
	ext := h.Extents(f)
	return h.width(s, f), ext.Ascent, ext.Descent
}

// Draw is that of text.Handler.
func (h lettering) Draw(c vg.Canvas, s string, sty text.Style, pt vg.Point) {
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(sty.Rotation)
	}
	sin64, cos64 := math.Sincos(sty.Rotation)
	cos, sin := vg.Length(cos64), vg.Length(sin64)
	pt.X, pt.Y = pt.Y*sin+pt.X*cos, pt.Y*cos-pt.X*sin
	lines := h.Lines(s)
	pt.Y += sty.Height(s)*vg.Length(sty.YAlign) - h.Extents(sty.Font).Ascent
	for i, line := range lines {
		at := pt.Add(vg.Point{X: vg.Length(sty.XAlign) * h.width(line, sty.Font),
			Y: vg.Length(len(lines)-i) * sty.Font.Size})
		for _, r := range stretches(line) {
			face := h.face(sty.Font, r)
			c.FillString(face, at, r.text)
			if r.han && sty.Font.Weight == xfont.WeightBold { // there is no bold of it
				c.SetLineWidth(sty.Font.Size / 32)
				c.SetLineDash(nil, 0)
				c.Stroke(outlineOf(face, r.text, at))
			}
			at.X += face.Width(r.text)
		}
	}
}

// outlineOf is a text as a path that begins at pt.
func outlineOf(face font.Face, s string, pt vg.Point) (path vg.Path) {
	scale := face.Font.Size / vg.Length(face.Face.UnitsPerEm())
	for x, glyph := range glyphsOf(face, s) {
		at := func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: pt.X + x + vg.Length(p.X)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
		}
		for _, s := range segmentsOf(face.Face, glyph) {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				if len(path) > 0 {
					path.Close()
				}
				path.Move(at(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(at(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(at(s.Args[0]), at(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
			}
		}
	}
	if len(path) > 0 {
		path.Close()
	}
	return path
}

// segmentsOf is the outline of a character, in units of its font; none if it is blank.
func segmentsOf(f *opentype.Font, glyph sfnt.GlyphIndex) sfnt.Segments {
	segments, err := f.LoadGlyph(new(sfnt.Buffer), glyph, fixed.Int26_6(f.UnitsPerEm()), nil)
	if err != nil {
		panic(err) // a font that was read before
	}
	return segments
}

// glyphsOf yields the characters of a text by where they begin.
func glyphsOf(f font.Face, s string) iter.Seq2[vg.Length, sfnt.GlyphIndex] {
	return func(yield func(vg.Length, sfnt.GlyphIndex) bool) {
		for i, r := range s {
			glyph, err := f.Face.GlyphIndex(nil, r)
			if err != nil {
				panic(err) // a font that was read before
			}
			if !yield(f.Width(s[:i+len(string(r))])-f.Width(string(r)), glyph) {
				return
			}
		}
	}
}

// writing is text of a size in points; draw's y is the middle of the line.
func writing(size vg.Length, c color.Color) draw.TextStyle {
	return draw.TextStyle{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign:  draw.XLeft,
		YAlign:  draw.YCenter,
		Handler: letters,
	}
}

func bold(s draw.TextStyle) draw.TextStyle {
	s.Font.Weight = xfont.WeightBold
	return s
}

func aligned(s draw.TextStyle, x draw.XAlignment) draw.TextStyle {
	s.XAlign = x
	return s
}

// fitText shortens text to a width, with ".." where something is missing.
func fitText(s draw.TextStyle, text string, width vg.Length) string {
	shown := text
	for runes := []rune(text); s.Width(shown) > width && len(runes) > 0; {
		runes = runes[:len(runes)-1]
		shown = strings.TrimRight(string(runes), " ") + ".."
	}
	if s.Width(shown) > width {
		return ""
	}
	return shown
}

// foldText breaks text into lines of at most width, but not between a number and its unit, or a sign and what it is;
// they may end after a comma of a list.
func foldText(s draw.TextStyle, text string, width vg.Length) []string {
	text = afterSign.ReplaceAllString(text, "$1"+glue)
	text = afterComma.ReplaceAllString(beforeUnit.ReplaceAllString(text, "$1"+glue+"$2"), ","+end+"$1")
	shown := strings.NewReplacer(glue, " ", end, "").Replace
	return lists.Each(layout.Fold(text, func(line string) bool { return s.Width(shown(line)) <= width }), shown)
}

const (
	glue = "\x1f" // in place of a blank at which no line ends
	end  = "〓"    // where a line may end, as it may at a Chinese character
)

var afterComma = regexp.MustCompile(`,([a-zA-Z])`)
var afterSign = regexp.MustCompile(`((?:^|; |；)[^ ]{1,2}) `) // which a legend explains
var beforeUnit = regexp.MustCompile(`(\d) (%|TTL|[mnµ]?s\b)`)
