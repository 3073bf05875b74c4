package samples

import (
	"bytes"
	"flag"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"locklab/reports/layout"
)

var update = flag.Bool("update", false, "rewrite the files in testdata; read the difference before you commit it")

// Golden compares what write produces with testdata/name of the package under test.
func Golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	got := Written(t, write)
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: go test -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
	}
}

// GoldenPNG is Golden for a small picture. It compares pixels, not bytes: another
// version of the encoder changes the file and not the picture.
func GoldenPNG(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: go test -update writes it", err)
	}
	if d := difference(t, want, got); d > 0.001 {
		t.Errorf("%s: %.2f %% of the colours differ: look at the picture, then -update rewrites it", path, 100*d)
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

// Written returns the output of write.
func Written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// CheckWidth fails if a line of what write produces is wider than width.
func CheckWidth(t *testing.T, what string, width int, write func(io.Writer) error) {
	t.Helper()
	for line := range strings.Lines(Written(t, write)) {
		if n := layout.Width(strings.TrimSuffix(line, "\n")); n > width {
			t.Fatalf("%s at width %d: %d cells in %q", what, width, n, line)
		}
	}
}
