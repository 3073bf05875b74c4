package lists

import (
	"reflect"
	"strconv"
	"testing"
)

// TestLists: the order is that of the list, and of nothing comes nil.
func TestLists(t *testing.T) {
	all, even := []int{3, 4, 5, 6}, func(n int) bool { return n%2 == 0 }
	for name, is := range map[string][2]any{
		"Each":    {Each(all, strconv.Itoa), []string{"3", "4", "5", "6"}},
		"Pick":    {Pick(all, even), []int{4, 6}},
		"Indices": {Indices(all), []int{0, 1, 2, 3}},
		"Gather":  {Gather(all, func(a, b int) bool { return a%2 == b%2 }), [][]int{{3, 5}, {4, 6}}},
		"nothing": {Pick(all, func(n int) bool { return n > 6 }), []int(nil)},
		"no list": {Each(nil, strconv.Itoa), []string(nil)},
	} {
		if !reflect.DeepEqual(is[0], is[1]) {
			t.Errorf("%s: %v, want %v", name, is[0], is[1])
		}
	}
}
