//go:build unix

package explore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"locklab/simulator/checkpoint"
)

// FuzzCheckpoint goes on from a checkpoint with any values in it and a checksum that fits:
// the search comes to its end, or the file is refused.
func FuzzCheckpoint(f *testing.F) {
	const lock, bounds = "token", "clients=2,attempts=1,ttl=9s,budget=crash=1"
	var u unpacked
	for _, stop := range []int{1, 40, 0} {
		file := filepath.Join(f.TempDir(), "search")
		search(f, f.Context(), lock, bounds, false, file, stop)
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		u = unpack(f, content)
		f.Add(u.body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := goOn(t, u.pack(t, body), lock, bounds)
		if unfit := (*checkpoint.Error)(nil); err != nil && !errors.As(err, &unfit) {
			t.Error(err)
		}
	})
}
