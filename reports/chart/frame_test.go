package chart

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"locklab/reports/internal/samples"
	"locklab/reports/text"
)

// TestPrinted: a picture is as wide as it is to be printed, and no letters are smaller than 7 points; or its error says
// in which size it can be.
func TestPrinted(t *testing.T) {
	fits := map[string]bool{}
	for name, s := range charts() {
		for _, lang := range text.Languages() {
			for _, size := range []string{"column", "180x120"} {
				of, err := ParseSize(size)
				if err != nil {
					t.Fatal(err)
				}
				c := Of(s.Result, "")
				p := c.picture(Format{Lang: lang, Size: of})
				if p.err != nil {
					least := regexp.MustCompile(`\d+x\d+`).FindString(text.SayError("en", p.err))
					if of, err = ParseSize(least); err != nil {
						t.Fatal(err)
					}
					p = c.picture(Format{Lang: lang, Size: of})
				}
				fits[name] = fits[name] || p.err == nil && size == "column"
				if width := p.width * p.scale; p.err != nil || math.Abs(float64(width-of.width)) > 0.01 {
					t.Errorf("%s, %s, %s: %v wide, not %v: %v", name, lang, size, width, of.width, p.err)
				} else if least := smallest(samples.Written(t, p.svg)) * float64(p.scale); least < 6.999 {
					t.Errorf("%s, %s, %s: there are letters of %.2f pt", name, lang, size, least)
				}
			}
		}
	}
	c := Of(recoveryChart().Result, "")
	column, err := ParseSize("column")
	if err != nil {
		t.Fatal(err)
	}
	png := samples.Written(t, func(w io.Writer) error {
		return Pictures[".png"](w, c, Format{Lang: "en", Size: column})
	})
	if !strings.Contains(png[:60], "\x00\x00\x00\x09pHYs\x00\x00\x2e\x23\x00\x00\x2e\x23\x01") {
		t.Errorf("a printed PNG does not say that it has 300 dots per inch: %q", png[:60])
	}
	for name, fit := range fits {
		if !fit {
			t.Errorf("the sample of %s does not fit into a column", name)
		}
	}
}

// smallest is the size of the smallest letters of an SVG.
func smallest(svg string) float64 {
	least := math.Inf(1)
	for _, m := range regexp.MustCompile(`matrix\(([^)]*)\)" aria-label="([^"]*)"`).FindAllStringSubmatch(svg, -1) {
		perEm := 2048.0
		if inHan([]rune(m[2])[0]) {
			perEm = 1000
		}
		var size float64
		for _, n := range strings.Split(m[1], ",")[:2] { // one of them is 0: it is turned, or not
			x, _ := strconv.ParseFloat(n, 64)
			size += math.Abs(x) * perEm
		}
		least = min(least, size)
	}
	return least
}

// Sizes that are none name the value, and those that are have two numbers or a name.
func TestParseSize(t *testing.T) {
	for _, wrong := range []string{"huge", "85", "85x", "85x0", "10x90", "NaNxNaN", "85x9000", "85x60x3", "-85x60"} {
		if _, err := ParseSize(wrong); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestPDF: a picture for print has the same bytes each time, and letters, Chinese ones too, that need no font.
func TestPDF(t *testing.T) {
	c := Of(recoveryChart().Result, "")
	for _, lang := range text.Languages() {
		file := samples.Written(t, func(w io.Writer) error { return Pictures[".pdf"](w, c, Format{Lang: lang}) })
		again := samples.Written(t, func(w io.Writer) error { return Pictures[".pdf"](w, c, Format{Lang: lang}) })
		if !strings.HasPrefix(file, "%PDF-") || file != again || strings.Contains(file, "/FontFile") {
			t.Errorf("%s: %s; the same again: %t", lang, fmt.Sprintf("%.8q", file), file == again)
		}
	}
}
