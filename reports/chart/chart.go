// Package chart draws what many runs and searches found: as a picture, as text in columns and as CSV.
//
// A [Chart] is one type that holds the results that it draws, in one file with three parts: its sentences
// (title, finding, takeaway and notes, in every language), its rows (text and CSV), and its picture. A [Table]
// has no picture. All else is done here, once for all: [Text], [CSV], [PNG] and [SVG] write any of them.
//
// A picture is a stack of blocks (frame.go) in the shape of its [Format]: the finding over at most two lines, a
// legend and panels, which share the height that is left. A panel is a rectangle of a canvas of gonum/plot with
// a scale along each side. Charts share colours, markers and dashes (palette.go) and letters (lettering.go). A PNG is light; an SVG is as
// dark as its reader, and has its letters as outlines (svg.go).
//
// The same results give the same bytes.
package chart

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/png"
	"io"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/lists"
)

// A Table is results with the sentences and rows that show them.
type Table interface {
	Title(lang string) string    // what it asks
	Takeaway(lang string) string // what it answers, in a sentence or two
	Notes(lang string) []string  // assumptions, bounds and sources; empty ones say nothing

	text(out *layout.Lines)
	records() [][]any // of the CSV, the names of its columns first: see field
}

// A Chart is a table that can be drawn.
type Chart interface {
	Table
	Picture
	Finding(lang string) string // what it shows, as the title of its picture
}

// A Result is a table that has JSON: what was found, and what it says of that in English.
type Result interface {
	Table
	data() object
}

// JSON returns a chart for an encoder of JSON. It is incomplete if the user has stopped the search for it.
func JSON(c Result, incomplete bool) any {
	out := object{"version", reports.Schema}
	if incomplete {
		out = append(out, "incomplete", true)
	}
	return append(out, c.data()...)
}

// An object is one of JSON: names, and each name's value after it.
type object []any

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the encoder of the whole does, if it is to be
	for i, v := range o {
		b.WriteByte("{:,:"[min(i, 2+i%2)])
		if err := e.Encode(v); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// A Picture can be drawn.
type Picture interface{ picture(f Format) picture }

// Text writes a table as sentences and columns.
func Text(w io.Writer, c Table, o reports.Look) error {
	out := o.Lines(w)
	c.text(out)
	return out.Err()
}

// CSV writes the numbers of a table.
func CSV(w io.Writer, c Table) error {
	rows := lists.Each(c.records(), func(row []any) []string { return lists.Each(row, field) })
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("chart: writing a CSV: %w", err)
	}
	return nil
}

// Formats are the formats of a chart, by the ending of the file.
var Formats = map[string]func(w io.Writer, c Chart, f Format) error{
	".png": func(w io.Writer, c Chart, f Format) error { return PNG(w, c, f) },
	".svg": func(w io.Writer, c Chart, f Format) error { return SVG(w, c, f) },
	".csv": func(w io.Writer, c Chart, _ Format) error { return CSV(w, c) },
}

// pngDPI, of a picture without a ratio, makes small writing legible on paper and on dense screens.
const pngDPI = 144

// PNG draws a picture.
func PNG(w io.Writer, p Picture, f Format) error {
	f.Lang = pictured(f.Lang)
	return p.picture(f).png(w)
}

func (p picture) png(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(p.dpi), vgimg.UseBackgroundColor(white))
	p.draw(draw.New(c))
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, c.Image()); err != nil {
		return fmt.Errorf("chart: writing a PNG: %w", err)
	}
	return nil
}

// SVG draws the same as PNG, with text as outlines, so that it needs no font, and the colours of paper and
// ink as variables, so that it is light or dark as its reader is.
func SVG(w io.Writer, p Picture, f Format) error {
	f.Lang = pictured(f.Lang)
	return p.picture(f).svg(w)
}

func (p picture) svg(w io.Writer) error {
	c := newSVG(p.width, p.height)
	canvas := draw.New(c)
	canvas.SetColor(white)
	canvas.Fill(canvas.Rectangle.Path())
	p.draw(canvas)
	if _, err := io.WriteString(w, text.InMarkup(c.String())); err != nil {
		return fmt.Errorf("chart: writing an SVG: %w", err)
	}
	return nil
}
