package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	ptext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/text"
	"locklab/simulator/lists"
)

// A Format is how a picture is laid out.
type Format struct {
	Lang  string // of its texts; "": English
	Title string // in place of what the chart has found
	Bare  bool   // its Caption stands elsewhere
	Notes bool   // below it stand its notes, and it is higher by that; below a run on a Slide: how it is read
	Slide bool   // of a run: its letters are as large as fit, and the title stands elsewhere
	Print bool   // of a run on a Slide: for a column of a printed page, see ColumnWidth
	Size  Size   // in which it is printed
}

// ColumnWidth is the width of a picture, in points, whose smallest letters have 7.5 points where it is printed 8.9 cm
// wide: in one of two columns on A4.
const ColumnWidth vg.Length = 300

// A Size is that of a printed picture, in points; without a width it is one of 1600x900 pixels for screens, and without
// a height it is as high as it needs to be.
type Size struct{ width, height vg.Length }

// sizes are those with a name: a column and the width of a page with two columns, and a slide.
var sizes = map[string]Size{
	"column": {85 * vg.Millimeter, 0}, "page": {180 * vg.Millimeter, 0},
	"slide": {254 * vg.Millimeter, 142.875 * vg.Millimeter},
}

// A SizeError is that a picture does not fit into its size.
type SizeError struct{ error }

// Unwrap returns what it says.
func (e SizeError) Unwrap() error { return e.error }

// SizeNames are the names of sizes.
func SizeNames() []string { return slices.Sorted(maps.Keys(sizes)) }

// ParseSize reads the name of a size, or its millimetres: 160x120.
func ParseSize(written string) (Size, error) {
	if size, known := sizes[written]; known || written == "" {
		return size, nil
	}
	var width, height float64
	_, err := fmt.Sscanf(written+" ", "%gx%g ", &width, &height)
	if err != nil || !(min(width, height) >= 20 && max(width, height) <= 2000) { // NaN is no size
		return Size{}, text.Errorf("error.chart.size", "value", written)
	}
	return Size{vg.Length(width) * vg.Millimeter, vg.Length(height) * vg.Millimeter}, nil
}

// The letters of a printed picture are between their size and so much of it, the smallest between 9 and 7 points.
const leastScale = 7 / smallSize

// A frame is a picture of 1600x900 pixels: a title in bold, below it how it is read, a body that
// gets the height that is left, and small lines at the foot.
type frame struct {
	title string
	below []string
	foot  []string
	notes []string // further lines at the foot, by which the picture is higher
	from  string   // the last line
	least vg.Point // size of the body; where it is too little all is drawn smaller
	tall  bool     // the picture has the size of its body, whatever its ratio
	bare  bool     // only its body is drawn
	large bool     // its letters are as large as fit, up to its edges
	size  Size     // in which it is printed
	body  func(draw.Canvas)
}

// source returns the last line of a picture, with the command that draws it again; "": none is known.
func source(from, lang string) string {
	if from == "" {
		return ""
	}
	file := map[bool]string{false: " -o FILE"}[strings.Contains(from, " -o ")]
	from += map[bool]string{true: " --lang=" + lang}[lang != "en"] + file
	return say(lang, "chart.source", "source", from)
}

// The measures that all pictures share, in points.
const (
	pixels              = 1600
	ratio     vg.Length = 16.0 / 9
	narrow    vg.Length = 420 // below it titles are small
	margin    vg.Length = 12
	gap       vg.Length = 8
	titleSize vg.Length = 15
	textSize  vg.Length = 10.5
	smallSize vg.Length = 9
	leading   vg.Length = 1.3 // line height in font sizes
	smallLine           = smallSize * leading
	textLine            = textSize * leading
)

// mostDPI is the resolution of a picture, unless there is much in it: the lower, the smaller the writing.
const mostDPI = 216

// The letters that all pictures share.
var (
	titles      = bold(writing(titleSize, ink))
	normal      = writing(textSize, ink)
	strong      = bold(normal)
	small       = writing(smallSize, ink)
	smallStrong = bold(small)
	faint       = writing(smallSize, faintInk)
)

// hairlines are the lines behind data.
var hairlines = draw.LineStyle{Color: hairline, Width: 0.5}

// picture lays the frame out with the largest letters with which its body fits.
func (f frame) picture() (p picture) {
	if f.size.width > 0 {
		return f.printed()
	}
	most, margin := mostDPI, margin
	if f.large {
		most, margin = 240, 3
	}
	for dpi := most; dpi >= 96; dpi -= 4 {
		p = picture{width: vg.Length(pixels*72) / vg.Length(dpi), dpi: dpi, scale: 1}
		if f.tall {
			p.width = f.least.X + 2*margin
		}
		p.height = p.width / ratio
		if least := f.lay(&p); f.tall || p.height >= least.Y && p.width >= least.X {
			break
		}
	}
	return p
}

// printed is picture in the size in which it is printed, at 300 dpi.
func (f frame) printed() (p picture) {
	var least vg.Point
	f.tall = false
	for _, scale := range []vg.Length{1, 0.94, 0.88, 0.83, leastScale} {
		p = picture{width: f.size.width / scale, height: f.size.height / scale, dpi: int(300 * scale), scale: scale,
			printed: true}
		if least = f.lay(&p); p.height >= least.Y && p.width >= least.X {
			return p
		}
	}
	millimeters := func(l vg.Length) string { return rounded(math.Ceil(float64(l*leastScale/vg.Millimeter)), 0) }
	p.err = SizeError{text.Errorf("error.chart.small", "width", millimeters(max(least.X, p.width)), "height",
		millimeters(least.Y))}
	return p
}

// lay places what a frame has in a picture, whose height it gives it where it has none, and returns the least size.
func (f frame) lay(p *picture) (least vg.Point) {
	p.caption = lists.Pick(slices.Concat([]string{f.title}, f.below, f.foot, []string{f.from}, f.notes),
		func(said string) bool { return said != "" })
	if p.title = f.title; f.bare {
		f.title, f.below, f.foot, f.notes, f.from = "", nil, nil, nil, ""
	}
	inner, bold, plain := p.width-2*margin, titles, normal
	if p.width < narrow {
		bold, plain = strong, small
	}
	lines := append(folded(bold, inner, f.title), folded(plain, inner, f.below...)...)
	end := folded(faint, inner, slices.Concat(f.foot, f.notes, []string{f.from})...)
	notes := height(folded(faint, inner, f.notes...))
	head, foot := height(lines)+gap, height(end)+gap-notes
	around := head + foot + 2*margin
	if f.tall {
		p.height = around + f.least.Y
	} else if p.height == 0 {
		p.height = around + max(f.least.Y, inner/2)
	}
	left := p.height - around
	p.height += notes
	p.draw = func(c draw.Canvas) {
		c = draw.Crop(c, margin, -margin, margin, -margin)
		put(c, lines)
		f.body(crop(c, box(c.Min.X, c.Max.Y-head-left, c.Max.X, c.Max.Y-head)))
		put(crop(c, box(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y-head-left-gap)), end)
	}
	return vg.Point{X: f.least.X + 2*margin, Y: around + f.least.Y}
}

// A line of text has its letters.
type line struct {
	letters draw.TextStyle
	said    string
}

// folded is paragraphs, but empty ones, in lines of at most width.
func folded(letters draw.TextStyle, width vg.Length, paragraphs ...string) (all []line) {
	inLetters := func(s string) line { return line{letters, s} }
	for _, p := range paragraphs {
		if p != "" {
			all = append(all, lists.Each(foldText(letters, p, width), inLetters)...)
		}
	}
	return all
}

func height(all []line) (sum vg.Length) {
	for _, l := range all {
		sum += l.letters.Font.Size * leading
	}
	return sum
}

// put writes lines below each other.
func put(c draw.Canvas, all []line) {
	for i, l := range all {
		write(c, l.letters, c.Min.X, c.Max.Y-(height(all[:i])+height(all[:i+1]))/2, l.said)
	}
}

// panel is an empty plot in the letters and colours of all charts.
func panel(title string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor, p.TextHandler = nil, letters
	letter := func(of *ptext.Style, like draw.TextStyle) {
		of.Color, of.Font, of.Handler = like.Color, like.Font, letters
	}
	p.Title.Text, p.Title.Padding = title, 4
	letter(&p.Title.TextStyle, strong)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		letter(&axis.Label.TextStyle, faint)
		letter(&axis.Tick.Label, small)
		axis.LineStyle, axis.Tick.LineStyle, axis.Tick.Length, axis.Padding = hairlines, hairlines, 3, 0
	}
	p.Y.Tick.Label.YAlign -= 0.1 // gonum lifts it by what is below a line, which is more than lift
	return p
}

// rowed is a panel with a line for each name, which only the first of several panels has, and rules behind it.
func rowed(title string, names []string, first bool) *plot.Plot {
	p := panel(title)
	if !first {
		names = make([]string, len(names))
	}
	name(&p.Y, -1, names)
	return ruled(p, hairlines)
}

// axes is a panel for curves, with its axes named and level rules behind them.
func axes(x, y string) *plot.Plot {
	p := panel("")
	p.X.Label.Text, p.Y.Label.Text = x, y
	return ruled(p, draw.LineStyle{Color: hairline})
}

// ruled draws rules behind all that is added later, level ones and upright ones.
func ruled(p *plot.Plot, upright draw.LineStyle) *plot.Plot {
	p.Add(&plotter.Grid{Vertical: upright, Horizontal: hairlines})
	return p
}

// widest is the width of the widest of some names, or of the words of them.
func widest(letters draw.TextStyle, names []string) vg.Length {
	return slices.Max(append(lists.Each(names, letters.Width), 0))
}

// boxes is a frame with a cell for each line and column of names, and what its verdicts mean at the foot. Where it is
// narrow cells have their glyphs only, and all words stand there.
func (c *Chart) boxes(lang string, lines, columns []string, at func(line, column int) cell) (f frame) {
	p := panel("")
	name(&p.Y, -1, lines)
	width, room, words := vg.Length(22), 0.7, slices.Clone(columns)
	var glyphs, signs []string
	most := slices.Max(append(lists.Each(lines, func(l string) int { return strings.Count(l, "\n") + 1 }), 0))
	high := max(16, smallLine*vg.Length(most))
	if c.narrow {
		room = 0.5 + float64(widest(smallStrong, columns)/high)
	}
	headed(p, columns, room, c.narrow)
	p.Add(cells(lists.Each(lists.Indices(make([]int, len(lines)*len(columns))), func(i int) cell {
		l, k := i/len(columns), i%len(columns)
		one := at(l, k)
		glyphs = append(glyphs, one.glyph)
		words = append(words, strings.Fields(strings.ReplaceAll(one.words, "+", " +"))...)
		word := ofNumbers.ReplaceAllString(one.words, "")
		sign := cmp.Or(one.means, one.glyph+" "+word)
		if word != "" && (c.narrow || one.means != "") && !slices.Contains(signs, sign) {
			signs = append(signs, sign)
		}
		if one.x, one.y = float64(k), -float64(l); c.narrow {
			one.words = ""
		}
		return one
	})))
	width = max(width, widest(smallStrong, glyphs)+6)
	if !c.narrow { // no name, nor words behind a glyph, run into the next one
		width, high = max(widest(smallStrong, words)+behind(glyphs)+4, 60), max(high, 2*smallLine)
	}
	if !c.narrow && slices.ContainsFunc(words, func(w string) bool { return moreVerdicts.MatchString(w) }) {
		signs = append(signs, "+n: "+say(lang, "grid.legend.more"))
	}
	if signs != nil {
		f.foot = []string{say(lang, "grid.stop", "text", text.Join(lang, "grid.join", signs))}
	}
	named := strings.Split(strings.Join(lines, "\n"), "\n")
	f.least.X = widest(small, named) + 6 + width*vg.Length(len(columns))
	f.least.Y = (vg.Length(len(lines)) + vg.Length(room)) * high
	f.body = panels(1, p)
	return f
}

var moreVerdicts = regexp.MustCompile(`^\+\d`)

// ofNumbers match what a cell has behind its verdict.
var ofNumbers = regexp.MustCompile(`[ +(≤]*\d.*`)

// lockLines adds a curve for each lock, or for all that have the same in a column, with their names at its end.
func (c *Chart) lockLines(p *plot.Plot, lang string, all []record, column string,
	line func(of []record) curve) (labels dots) {
	same := func(a, b record) bool { return a.text(column) == b.text(column) }
	groups := lists.Gather(by("lock", all), func(a, b []record) bool { return slices.EqualFunc(a, b, same) })
	for i, g := range groups {
		m := line(g[0])
		m.color, m.dashes = inColor(m.stands), nil
		if c.narrow { // what stands out is solid
			m.dashes = dashes[map[bool]int{false: 1 + i%(len(dashes)-1)}[m.stands]]
		}
		p.Add(m)
		names := lists.Each(g, func(of []record) string { return of[0].text("lock") })
		labels = append(labels, c.labels(lang, m, names, "")...)
	}
	return labels
}

// curves is a frame with a plot of curves and their names: at their ends, or below it where it is narrow.
func (c *Chart) curves(below string, p *plot.Plot, labels dots) frame {
	f := frame{below: []string{below}, body: panels(1, p), least: vg.Point{Y: vg.Length(c.aside(150, 165))}}
	if !c.narrow {
		p.Add(labels)
		return f
	}
	height, drawn := smallLine*vg.Length(len(labels)), f.body
	f.least.Y += height
	f.body = func(c draw.Canvas) {
		for i, d := range labels {
			y := c.Min.Y + smallLine*(vg.Length(i)+0.5)
			d.write(c, vg.Point{X: c.Min.X, Y: y}, y)
		}
		drawn(draw.Crop(c, 0, 0, height+gap, 0))
	}
	return f
}

// labels are names of a curve, and words behind the last one.
func (c *Chart) labels(lang string, m curve, names []string, words string) (labels dots) {
	width := vg.Length(c.aside(130, 180))
	for _, line := range foldText(smallStrong, firstNames(lang, names, titleLocks)+words, width) {
		labels = append(labels, dot{x: m.points[len(m.points)-1].x, y: m.points[len(m.points)-1].y, color: m.color,
			bold: m.stands, behind: m.dashes != nil, label: "  " + line})
	}
	labels[0].line = m.dashes
	slices.Reverse(labels) // they stand above each other
	return labels
}

// name writes words in place of numbers along an axis: at 0, 1, 2 and so on of x, and at 0, -1, -2 of y.
func name(axis *plot.Axis, step float64, words []string) {
	var ticks plot.ConstantTicks
	for i, word := range words {
		ticks = append(ticks, plot.Tick{Value: step * float64(i), Label: word})
	}
	axis.Tick.Marker, axis.Tick.Length, axis.LineStyle.Width = ticks, 0, 0
	last := step * float64(len(words)-1)
	axis.Min, axis.Max = min(last, 0)-0.5, max(last, 0)+0.5
}

// logarithmic gives an axis a scale from a power of ten to another, around positive values; 1 to 10 around none.
func logarithmic(axis *plot.Axis, all []float64, label func(v float64) string) {
	all = lists.Pick(all, func(v float64) bool { return v > 0 && !math.IsInf(v, 0) })
	first, last := 0.0, 1.0
	if len(all) > 0 {
		first, last = math.Floor(math.Log10(slices.Min(all))), math.Ceil(math.Log10(slices.Max(all))+1e-9)
	}
	var ticks plot.ConstantTicks
	for e := first; e <= last; e++ {
		v := math.Pow(10, e)
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
	}
	axis.Scale, axis.Tick.Marker, axis.Min, axis.Max = plot.LogScale{}, ticks, math.Pow(10, first), math.Pow(10, last)
}

// labelled are ticks at values.
func labelled(at []float64, label func(v float64) string) (ticks plot.ConstantTicks) {
	for _, v := range at {
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
	}
	return ticks
}

// aside is one of two numbers: of a wide chart or of a narrow one, such as panels that stand side by side.
func (c *Chart) aside(wide, narrow int) int {
	if c.narrow {
		return narrow
	}
	return wide
}

// tiles is a frame with plots of some least size, so many side by side.
func (c *Chart) tiles(below string, aside int, each vg.Point, all ...*plot.Plot) frame {
	aside = max(1, min(aside, len(all)))
	least := vg.Point{X: each.X * vg.Length(aside), Y: each.Y * vg.Length((len(all)+aside-1)/aside)}
	return frame{below: []string{below}, body: panels(aside, all...), least: least}
}

// panels draws plots in columns, with their axes in line.
func panels(columns int, all ...*plot.Plot) func(draw.Canvas) {
	return func(c draw.Canvas) {
		if len(all) == 0 {
			return
		}
		columns = min(columns, len(all))
		tiles := draw.Tiles{Cols: columns, Rows: (len(all) + columns - 1) / columns, PadX: 14, PadY: 8}
		grid := make([][]*plot.Plot, tiles.Rows)
		for i := range tiles.Rows * columns {
			var p *plot.Plot
			if i < len(all) {
				p = all[i]
			}
			grid[i/columns] = append(grid[i/columns], p)
		}
		aligned, least := plot.Align(grid, tiles, c), c.Size().X
		for i, p := range all {
			least = min(least, p.DataCanvas(aligned[i/columns][i%columns]).Size().X)
		}
		for row, canvases := range aligned {
			for column, place := range canvases {
				if p := grid[row][column]; p != nil {
					for range 3 { // Align leaves those with more beside them narrower
						place.Max.X -= p.DataCanvas(place).Size().X - least
					}
					data := p.DataCanvas(place)
					thin(p.X, data.Size().X, small.Width)
					thin(p.Y, data.Size().Y, func(string) vg.Length { return smallSize - 3 })
					if title := p.Title.TextStyle.Width(p.Title.Text); title > 0 { // above the middle of its data
						aside := (data.Center().X - place.Center().X) / title
						p.Title.TextStyle.XAlign = draw.XCenter + draw.XAlignment(aside)
					}
					p.Draw(place)
				}
			}
		}
	}
}

// thin takes labels away from an axis of some length that would run into the one before, on the side of 0; each has the
// same room where there are more than two.
func thin(axis plot.Axis, length vg.Length, size func(label string) vg.Length) {
	ticks, _ := axis.Tick.Marker.(plot.ConstantTicks)
	widths := lists.Each(ticks, func(t plot.Tick) vg.Length { return size(t.Label) })
	lines := func(t plot.Tick) bool { return strings.Contains(t.Label, "\n") }
	if len(ticks) == 0 || slices.ContainsFunc(ticks, lines) && axis.Max > 0 {
		return
	}
	room := slices.Max(widths)
	if len(ticks) == 2 {
		room = (widths[0] + widths[1]) / 2
	}
	zero := max(slices.IndexFunc(ticks, func(t plot.Tick) bool { return t.Value == 0 }), 0)
	keep := func(i int, last float64) float64 {
		at := float64(length) * axis.Norm(ticks[i].Value)
		if math.Abs(at-last) < float64(room+4) {
			ticks[i].Label = ""
		} else if ticks[i].Label != "" {
			return at
		}
		return last
	}
	last := math.Inf(-1)
	for i := zero; i < len(ticks); i++ {
		last = keep(i, last)
	}
	for i, last := zero-1, float64(length)*axis.Norm(ticks[zero].Value); i >= 0; i-- {
		last = keep(i, last)
	}
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
	c.SetLineStyle(draw.LineStyle{Color: col, Width: width, Dashes: dashes})
	c.Stroke(r.Path())
	c.SetLineDash(nil, 0) // what is drawn next is not to inherit them
}
