package chart

import (
	"bytes"
	"image/png"
	"math"
	"testing"

	"locklab/reports/internal/samples"
)

// goldenPNG is samples.Golden for a small picture. It compares pixels, not bytes: another
// version of the encoder changes the file and not the picture.
func goldenPNG(t *testing.T, name string, got []byte) {
	t.Helper()
	if d := difference(t, samples.Wanted(t, name, got), got); d > 0.001 {
		t.Errorf("testdata/%s: %.2f %% of the colours differ: look at the picture, then -update rewrites it", name, 100*d)
	}
}

// difference is the mean difference of two pictures' pixels, from 0 to 1; 1 if their
// sizes differ.
func difference(t *testing.T, a, b []byte) float64 {
	t.Helper()
	x, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	y, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	size := x.Bounds()
	if size != y.Bounds() {
		return 1
	}
	sum := 0.0
	for i := size.Min.X; i < size.Max.X; i++ {
		for j := size.Min.Y; j < size.Max.Y; j++ {
			r1, g1, b1, _ := x.At(i, j).RGBA()
			r2, g2, b2, _ := y.At(i, j).RGBA()
			for _, c := range [][2]uint32{{r1, r2}, {g1, g2}, {b1, b2}} {
				sum += math.Abs(float64(c[0]) - float64(c[1]))
			}
		}
	}
	return sum / float64(3*0xffff*size.Dx()*size.Dy())
}
