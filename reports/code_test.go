package reports

import (
	"testing"
)

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"1": {1}, "1-3,7": {1, 2, 3, 7}, "2,4-5": {2, 4, 5}, "1-2": {1, 1, 2}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: %s, want %s", numbers, got, want)
		}
	}
}
