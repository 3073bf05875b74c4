package explore

import "testing"

func TestProperSubset(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want bool
	}{
		{nil, []string{"x"}, true}, {[]string{"x"}, []string{"x"}, false}, {[]string{"x"}, []string{"w", "x"}, true},
		{[]string{"x", "x"}, []string{"w", "x", "y"}, false}, {[]string{"x", "y"}, []string{"x"}, false},
	} {
		if got := properSubset(c.a, c.b); got != c.want {
			t.Errorf("properSubset(%q, %q) = %t", c.a, c.b, got)
		}
	}
}
