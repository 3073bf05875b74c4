package chart

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A picture is a drawing of known size, in points.
type picture struct {
	width, height vg.Length
	dpi           int // of its PNG
	draw          func(draw.Canvas)
}

// A Format is how a picture is laid out. It is 16:9; those of all locks, and of a run, are as high as they need to be.
type Format struct {
	Lang  string // of its texts; "": English
	Title string // in place of what the chart has found
	Notes bool   // below it stand assumptions, bounds and sources, and it is higher by that
}

// pixels is the width of the PNG of a picture with the ratio. dpis are its resolutions: the lower, the
// smaller the writing.
const (
	pixels           = 1600
	ratio  vg.Length = 16.0 / 9
)

var dpis = []int{192, 184, 176, 168, 160, 152, 144, 136, 128, 120, 112, 104, 96}

// fitted is a picture of the ratio: the title, below it as many sentences as two lines hold, and blocks of a width.
// Blocks that grow share the height that is left. Where it is too little all is drawn wider, and so smaller.
// They are at least as wide as needs.
func (f Format) fitted(c Chart, below []string, needs vg.Length, blocks func(width vg.Length) []block) (p picture) {
	title := f.Title
	if title == "" {
		title = strings.TrimRight(c.Finding(f.Lang), ".。")
	}
	for _, dpi := range dpis {
		width := vg.Length(pixels*72) / vg.Length(dpi)
		inner := width - 2*margin
		all := append([]block{titled(title, twoLines(below, inner), inner)}, blocks(inner)...)
		left, growing := width/ratio-2*margin, 0
		for _, b := range all {
			left -= b.height
			if b.grows {
				growing++
			}
		}
		if (left < 0 || needs > inner) && dpi != dpis[len(dpis)-1] {
			continue
		}
		for i := range all {
			if all[i].grows {
				all[i].height += max(left, 0) / vg.Length(growing)
			}
		}
		if growing == 0 {
			all = append(all, space(max(left, 0)))
		}
		if f.Notes {
			all = append(all, space(12), notes(faint, inner, append([]string{c.Takeaway(f.Lang)}, c.Notes(f.Lang)...)...))
		}
		p = stacked(width, all...)
		p.dpi = dpi
		break
	}
	return p
}

// twoLines is as many sentences as two lines hold, folded.
func twoLines(paragraphs []string, width vg.Length) (lines []string) {
	var sentences []string
	for _, p := range paragraphs {
		for _, s := range strings.SplitAfter(strings.ReplaceAll(p, "。", "。 "), "。 ") {
			for _, s := range strings.SplitAfter(s, ". ") {
				if s = strings.TrimSpace(s); s != "" {
					sentences = append(sentences, s)
				}
			}
		}
	}
	for i := range sentences {
		folded := foldText(normal, strings.Join(sentences[:i+1], " "), width)
		if len(folded) > 2 {
			break
		}
		lines = folded
	}
	return lines
}

// The measures that all pictures share, in points.
const (
	margin     vg.Length = 18
	titleSize  vg.Length = 14
	textSize   vg.Length = 10.5
	smallSize  vg.Length = 8.5
	leading    vg.Length = 1.35 // line height in font sizes
	headingGap vg.Length = 10   // below a heading
	smallLine            = smallSize * leading
	textLine             = textSize * leading
)

// The letters that all pictures share.
var (
	normal      = writing(textSize, ink)
	strong      = bold(normal)
	small       = writing(smallSize, ink)
	smallStrong = bold(small)
	faint       = writing(smallSize, faintInk)
)

// hairlines are the lines behind data.
var hairlines = draw.LineStyle{Color: hairline, Width: 0.5}

// A block is one part of a picture, as wide as all of it between the margins; it is drawn on its place.
type block struct {
	height vg.Length
	draw   func(place draw.Canvas)
	grows  bool // its height is the least; it takes what is left
}

// growing is a block of at least a height.
func growing(least vg.Length, draw func(place draw.Canvas)) block { return block{least, draw, true} }

// stacked is a picture of blocks, one below the other.
func stacked(width vg.Length, blocks ...block) picture {
	height := 2 * margin
	for _, b := range blocks {
		height += b.height
	}
	return picture{width, height, pngDPI, func(c draw.Canvas) {
		top := c.Max.Y - margin
		for _, b := range blocks {
			if b.draw != nil {
				b.draw(crop(c, box(c.Min.X+margin, top-b.height, c.Max.X-margin, top)))
			}
			top -= b.height
		}
	}}
}

// space is an empty block.
func space(height vg.Length) block { return block{height: height} }

// titled is a title over lines that say what to see.
func titled(title string, lines []string, width vg.Length) block {
	letters := bold(writing(titleSize, ink))
	titles := foldText(letters, title, width)
	top := titleSize * leading * vg.Length(len(titles))
	return block{height: top + textLine*vg.Length(len(lines)) + headingGap, draw: func(c draw.Canvas) {
		for i, line := range titles {
			write(c, letters, c.Min.X, c.Max.Y-titleSize*leading*(vg.Length(i)+0.5), line)
		}
		for i, line := range lines {
			write(c, normal, c.Min.X, c.Max.Y-top-textLine*(vg.Length(i)+0.5), line)
		}
	}}
}

// notes are paragraphs of small text, in lines of a width; empty ones are left out.
func notes(style draw.TextStyle, width vg.Length, paragraphs ...string) block {
	var lines []string
	for _, p := range paragraphs {
		if p != "" {
			lines = append(lines, foldText(style, p, width)...)
		}
	}
	return listed(style, smallLine, lines)
}

// listed is lines of text, each as high as given.
func listed(style draw.TextStyle, height vg.Length, lines []string) block {
	return rows(len(lines), height, func(c draw.Canvas, i int, y vg.Length) { write(c, style, c.Min.X, y, lines[i]) })
}

// rows are n drawings of one height, one below the other; y is the middle of the i-th.
func rows(n int, height vg.Length, row func(c draw.Canvas, i int, y vg.Length)) block {
	return block{height: height * vg.Length(n), draw: func(c draw.Canvas) {
		height := c.Size().Y / vg.Length(max(n, 1))
		for i := range n {
			row(c, i, c.Max.Y-height*(vg.Length(i)+0.5))
		}
	}}
}

// legend is names beside each other, each behind its sign, with a gap between them.
func legend(names []string, sign, gap vg.Length, draws func(c draw.Canvas, i int, x, y vg.Length)) block {
	return block{height: 2 * smallLine, draw: func(c draw.Canvas) {
		x, y := c.Min.X, c.Max.Y-smallLine/2
		for i, name := range names {
			draws(c, i, x, y)
			write(c, small, x+sign, y, name)
			x += sign + small.Width(name) + gap
		}
	}}
}

// panels are n drawings of one height, at least that, in columns from left to right.
func panels(n, columns int, least vg.Length, panel func(c draw.Canvas, i int)) block {
	lines := vg.Length((n + columns - 1) / columns)
	return growing(least*lines, func(c draw.Canvas) {
		width, height := c.Size().X/vg.Length(columns), c.Size().Y/lines
		for i := range n {
			left, top := c.Min.X+width*vg.Length(i%columns), c.Max.Y-height*vg.Length(i/columns)
			panel(crop(c, box(left, top-height, left+width, top)), i)
		}
	})
}

// write writes a line of text whose middle is at the height y.
func write(c draw.Canvas, style draw.TextStyle, x, y vg.Length, s string) {
	if s != "" {
		c.FillText(style, vg.Point{X: x, Y: y}, s)
	}
}

// crop is the part of a canvas within a rectangle: Canvas.X and Canvas.Y are positions in it.
func crop(c draw.Canvas, r vg.Rectangle) draw.Canvas {
	return draw.Canvas{Canvas: c.Canvas, Rectangle: r}
}

// logarithmic is the positions of values along a side of a panel; what is below the scale stands at its beginning.
func logarithmic(side func(share float64) vg.Length, low, high float64) func(v float64) vg.Length {
	return func(v float64) vg.Length { return side(plot.LogScale{}.Normalize(low, high, max(v, low))) }
}

// rulesX draws a line from top to bottom at each tick, and its label a bit below.
func rulesX(c draw.Canvas, style draw.TextStyle, below vg.Length, x func(v float64) vg.Length, ticks []plot.Tick) {
	for _, t := range ticks {
		c.StrokeLine2(hairlines, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		write(c, aligned(style, draw.XCenter), x(t.Value), c.Min.Y-below, t.Label)
	}
}

// marksX draws a mark below at each tick, and its label below that.
func marksX(c draw.Canvas, style draw.TextStyle, below vg.Length, x func(v float64) vg.Length, ticks []plot.Tick) {
	for _, t := range ticks {
		c.StrokeLine2(draw.LineStyle{Color: faintInk, Width: 0.5}, x(t.Value), c.Min.Y, x(t.Value), c.Min.Y-3)
		write(c, aligned(style, draw.XCenter), x(t.Value), c.Min.Y-below, t.Label)
	}
}

// rulesY draws a line from side to side at each tick, and its label on the left.
func rulesY(c draw.Canvas, style draw.TextStyle, y func(v float64) vg.Length, ticks []plot.Tick) {
	for _, t := range ticks {
		c.StrokeLine2(hairlines, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		write(c, aligned(style, draw.XRight), c.Min.X-4, y(t.Value), t.Label)
	}
}

// sample draws the line and the marker of a style.
func sample(c draw.Canvas, st style, left, right, y vg.Length) {
	c.StrokeLine2(st.line(1.8), left, y, right, y)
	c.DrawGlyph(st.glyph(2.6), vg.Point{X: (left + right) / 2, Y: y})
}

// curve draws points, and the line through them.
func curve(c draw.Canvas, st style, width, radius vg.Length, points []vg.Point) {
	c.StrokeLines(st.line(width), points)
	for _, at := range points {
		c.DrawGlyph(st.glyph(radius), at)
	}
}

// box is the rectangle with the given edges.
func box(left, bottom, right, top vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: right, Y: top}}
}

func inset(r vg.Rectangle, by vg.Length) vg.Rectangle {
	return box(r.Min.X+by, r.Min.Y+by, r.Max.X-by, r.Max.Y-by)
}

func fillBox(c draw.Canvas, r vg.Rectangle, col color.Color) {
	c.SetColor(col)
	c.Fill(r.Path())
}

// strokeBox draws the border of a rectangle, in dashes if there are any.
func strokeBox(c draw.Canvas, r vg.Rectangle, col color.Color, width vg.Length, dashes ...vg.Length) {
	c.SetColor(col)
	c.SetLineWidth(width)
	c.SetLineDash(dashes, 0)
	c.Stroke(r.Path())
	c.SetLineDash(nil, 0) // what is drawn next is not to inherit them
}

// decades are the powers of ten from low to high, a label at every n-th.
func decades(low, high float64, n int, label func(v float64) string) (ticks []plot.Tick) {
	first, last := math.Round(math.Log10(low)), math.Round(math.Log10(high))
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Pow(10, e)}
		if int(e-first)%n == 0 {
			t.Label = label(t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// withinDecades are the powers of ten around positive values; 1 to 10 around none.
func withinDecades(values []float64) (low, high float64) {
	if len(values) == 0 {
		return 1, 10
	}
	first, last := math.Floor(math.Log10(slices.Min(values))), math.Ceil(math.Log10(slices.Max(values))+1e-9)
	return math.Pow(10, first), math.Pow(10, last)
}
