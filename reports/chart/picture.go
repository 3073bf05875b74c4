package chart

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image/color"
	"image/png"
	"io"
	"slices"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"locklab/reports/text"
)

// A picture is a drawing of known size, in points of its letters; printed, it is smaller by scale.
type picture struct {
	width, height vg.Length
	dpi           int // of its PNG
	scale         vg.Length
	printed       bool // it is for print, and always light
	draw          func(draw.Canvas)
	title         string
	caption       []string
	err           error // why it cannot be drawn in its size
}

// A Picture can be drawn.
type Picture interface{ picture(f Format) picture }

// Pictures are the formats of pictures, by the ending of the file.
var Pictures = map[string]func(w io.Writer, p Picture, f Format) error{
	".png": drawn("a PNG", picture.png), ".svg": drawn("an SVG", picture.svg), ".pdf": drawn("a PDF", picture.pdf),
}

func drawn(what string, write func(picture, io.Writer) error) func(w io.Writer, p Picture, f Format) error {
	return func(w io.Writer, of Picture, f Format) error {
		f.Lang = pictured(f.Lang)
		p := of.picture(f)
		if p.err != nil {
			if f.Bare = true; of.picture(f).err == nil {
				return SizeError{text.Errorf("error.chart.small.bare", "cause", p.err)}
			}
			return p.err
		}
		if err := write(p, w); err != nil {
			return fmt.Errorf("chart: writing %s: %w", what, err)
		}
		return nil
	}
}

// Caption returns the texts above and below a picture: title, subtitle, assumptions and source, a paragraph each.
func Caption(of Picture, f Format) []string {
	f.Lang = pictured(f.Lang)
	return of.picture(f).caption
}

// SVG draws a picture as an element of a page; see Pictures.
func SVG(w io.Writer, p Picture, f Format) error { return Pictures[".svg"](w, p, f) }

// png draws it, light. One for print says that it has 300 dots per inch, in a chunk behind its header.
func (p picture) png(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(p.dpi), vgimg.UseBackgroundColor(white))
	p.draw(draw.New(c))
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, c.Image())
	const header, perMeter = 8 + 25, 11811
	if chunk := []byte("pHYs"); err == nil && p.printed {
		for range 2 {
			chunk = binary.BigEndian.AppendUint32(chunk, perMeter)
		}
		chunk = append(chunk, 1) // the unit is a metre
		chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk))
		_, err = w.Write(slices.Concat(b.Next(header), []byte{0, 0, 0, 9}, chunk))
	}
	_, last := b.WriteTo(w)
	return cmp.Or(err, last)
}

// svg draws the same as png, with text as outlines, so that it needs no font, and the colours of paper and ink as
// variables, so that it is light or dark as its reader is, unless it is for print.
func (p picture) svg(w io.Writer) error {
	c := &svgCanvas{Canvas: vgsvg.New(p.width, p.height), glyphs: map[string]string{}}
	canvas := draw.New(c)
	fillBox(canvas, canvas.Rectangle, white)
	p.draw(canvas)
	_, err := io.WriteString(w, text.InMarkup(c.file(&p)))
	return err
}

// pdf draws the same as png for print, with text as outlines.
func (p picture) pdf(w io.Writer) error {
	fpdf.SetDefaultCreationDate(time.Unix(0, 0)) // the same bytes at any time
	fpdf.SetDefaultModificationDate(time.Unix(0, 0))
	c := vgpdf.New(p.width*p.scale, p.height*p.scale)
	c.Scale(float64(p.scale), float64(p.scale))
	p.draw(draw.NewCanvas(outlined{c}, p.width, p.height))
	_, err := c.WriteTo(w)
	return err
}

// An outlined canvas draws letters as outlines: Noto Sans SC cannot be embedded in a PDF by vgpdf.
type outlined struct{ *vgpdf.Canvas }

func (c outlined) FillString(f font.Face, at vg.Point, s string) { c.Fill(outlineOf(f, s, at)) }
func (c outlined) SetColor(col color.Color) {
	c.Canvas.SetColor(straight(color.NRGBAModel.Convert(cmp.Or(col, color.Color(black))).(color.NRGBA)))
}

// A straight colour is not darkened by its alpha, which a PDF applies itself.
type straight color.NRGBA

// RGBA is that of color.Color but for that.
func (s straight) RGBA() (r, g, b, a uint32) {
	return 0x101 * uint32(s.R), 0x101 * uint32(s.G), 0x101 * uint32(s.B), 0x101 * uint32(s.A)
}
