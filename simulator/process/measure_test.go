package process_test

import (
	"testing"
	"time"

	"locklab/simulator"
	"locklab/simulator/process"
)

// TestStride: whenever a reading is, the strides bring it to every second of a minute, every
// minute of an hour, every hour of a day, every weekday and every month.
func TestStride(t *testing.T) {
	t.Parallel()
	want := [5]int{60, 60, 24, 7, 12}
	for first := time.Duration(0); first < 40*24*time.Hour; first += 7*time.Hour + 11*time.Minute + 13*time.Second +
		251*time.Millisecond {
		var met [5]map[int]bool
		for n := range time.Duration(process.Strides + 1) {
			at := simulator.Epoch.Add(first)
			if n > 0 {
				at = at.Add(process.Years + n*process.Stride)
			}
			for i, value := range []int{at.Second(), at.Minute(), at.Hour(), int(at.Weekday()), int(at.Month())} {
				if met[i] == nil {
					met[i] = map[int]bool{}
				}
				met[i][value] = true
			}
		}
		for i := range met {
			if len(met[i]) != want[i] {
				t.Errorf("a reading after %v comes to %d of %d values of unit %d", first, len(met[i]), want[i], i)
			}
		}
	}
}
