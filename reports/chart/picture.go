package chart

import (
	"fmt"
	"image/color"
	"image/png"
	"io"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"locklab/reports/text"
)

// A picture is a drawing of known size, in points.
type picture struct {
	width, height vg.Length
	draw          func(draw.Canvas)
}

// pngDPI makes small writing legible on paper and on dense screens.
const pngDPI = 144

func (p picture) png(w io.Writer) error { return p.pngAt(w, pngDPI) }

func (p picture) pngAt(w io.Writer, dpi int) error {
	_, isDark := w.(Dark)
	ground := white
	if isDark {
		ground = onDark[white]
	}
	c := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(ground))
	canvas := draw.New(c)
	if isDark {
		canvas = draw.NewCanvas(&darkened{Canvas: c}, p.width, p.height)
	}
	p.draw(canvas)
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, c.Image()); err != nil {
		return fmt.Errorf("chart: writing a PNG: %w", err)
	}
	return nil
}

// svg writes text as outlines, so that it needs no font, and the colours of paper and ink as
// variables, so that it is light or dark as its reader is.
func (p picture) svg(w io.Writer) error {
	c := newOutlining(p.width, p.height)
	canvas := draw.NewCanvas(c, p.width, p.height)
	canvas.SetColor(white)
	canvas.Fill(canvas.Rectangle.Path())
	p.draw(canvas)
	drawn, err := c.svg()
	if err != nil {
		return fmt.Errorf("chart: drawing an SVG: %w", err)
	}
	if _, err := io.WriteString(w, text.InMarkup(drawn)); err != nil {
		return fmt.Errorf("chart: writing an SVG: %w", err)
	}
	return nil
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
	if s.Width(text) <= width {
		return text
	}
	for runes := []rune(text); len(runes) > 0; {
		runes = runes[:len(runes)-1]
		if cut := strings.TrimRight(string(runes), " ") + ".."; s.Width(cut) <= width {
			return cut
		}
	}
	return ""
}

// foldText breaks text at blanks, and between Chinese characters, into lines of at most
// width.
func foldText(s draw.TextStyle, text string, width vg.Length) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		for i, piece := range pieces(word) {
			blank := ""
			if i == 0 && line != "" {
				blank = " "
			}
			if line != "" && s.Width(line+blank+piece) > width {
				out = append(out, line)
				line, blank = "", ""
			}
			line += blank + piece
		}
	}
	return append(out, line)
}

// pieces are the parts of a word between which a line may break.
func pieces(word string) (all []string) {
	if !strings.ContainsFunc(word, inHan) {
		return []string{word}
	}
	last := rune(0)
	for _, r := range word {
		glued := !inHan(r) && !inHan(last) || strings.ContainsRune("，。；：、）」”？！", r) || strings.ContainsRune("（「“", last)
		if len(all) > 0 && glued {
			all[len(all)-1] += string(r)
		} else {
			all = append(all, string(r))
		}
		last = r
	}
	return all
}

// A heading is a title with one sentence under it that says what to see.
type heading struct {
	title, takeaway string
	axes            string // what is drawn against what, "": needs no saying
	width           vg.Length
}

const (
	margin    vg.Length = 18
	titleSize vg.Length = 16
	textSize  vg.Length = 10.5
	smallSize vg.Length = 8.5
	leading   vg.Length = 1.35 // line height in font sizes
)

func (h heading) lines() []string { return foldText(writing(textSize, ink), h.takeaway, h.width) }

func (h heading) height() vg.Length {
	height := titleSize*leading + textSize*leading*vg.Length(len(h.lines())) + 10
	if h.axes != "" {
		height += textSize * leading
	}
	return height
}

// draw writes the heading below top and returns where it ends.
func (h heading) draw(c draw.Canvas, left, top vg.Length) vg.Length {
	c.FillText(bold(writing(titleSize, ink)), vg.Point{X: left, Y: top - titleSize*leading/2}, h.title)
	y := top - titleSize*leading
	for _, line := range h.lines() {
		c.FillText(writing(textSize, ink), vg.Point{X: left, Y: y - textSize*leading/2}, line)
		y -= textSize * leading
	}
	if h.axes != "" {
		c.FillText(writing(smallSize, faintInk), vg.Point{X: left, Y: y - textSize*leading/2}, h.axes)
		y -= textSize * leading
	}
	return y - 10
}

// box is the rectangle with the given edges.
func box(left, bottom, right, top vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: right, Y: top}}
}

func fillBox(c draw.Canvas, r vg.Rectangle, col color.Color) {
	c.SetColor(col)
	c.Fill(r.Path())
}

func strokeBox(c draw.Canvas, r vg.Rectangle, col color.Color, width vg.Length) {
	c.SetColor(col)
	c.SetLineWidth(width)
	c.SetLineDash(nil, 0)
	c.Stroke(r.Path())
}

func dashBox(c draw.Canvas, r vg.Rectangle, col color.Color, width vg.Length) {
	c.SetColor(col)
	c.SetLineWidth(width)
	c.SetLineDash([]vg.Length{3, 2}, 0)
	c.Stroke(r.Path())
	c.SetLineDash(nil, 0) // what is drawn next is not to inherit it
}
