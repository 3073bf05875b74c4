package chart

import (
	"image/color"
	"math"
	"testing"

	"locklab/simulator/verdict"
)

// Glyphs tell words apart without colour, and writing stands out from its
// ground by 4.5 to 1, as the accessibility guidelines ask.
func TestLooks(t *testing.T) {
	owner := map[string]verdict.Word{}
	for _, w := range words {
		l := LookOf(w)
		if other, taken := owner[l.Glyph]; taken {
			t.Errorf("%s and %s share the glyph %s", w, other, l.Glyph)
		}
		owner[l.Glyph] = w
		p := paints[l.Class]
		if c := contrast(p.ground, p.writing); c < 4.5 {
			t.Errorf("%s: contrast %.1f", w, c)
		}
	}
}

// In the dark, paper is dark and writing is light, and both can be told apart.
func TestDark(t *testing.T) {
	dark := map[color.NRGBA]color.NRGBA{}
	for _, v := range variables {
		dark[v.light] = v.dark
	}
	for _, pair := range [][2]color.NRGBA{{ink, white}, {faintInk, white}, {faintInk, paleGreen}, {ink, paleGrey}} {
		if got := contrast(dark[pair[0]], dark[pair[1]]); got < 4.5 {
			t.Errorf("%v on %v: a contrast of %.1f", pair[0], pair[1], got)
		}
	}
}

// contrast is the ratio of two colours' luminance, from 1 to 21 (WCAG 2).
func contrast(a, b color.NRGBA) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
