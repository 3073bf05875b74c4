package codec_test

import (
	"maps"
	"reflect"
	"testing"

	"locklab/simulator/internal/codec"
)

type leaf struct {
	name  string
	sizes []int16
	inner [2]struct {
		on   bool
		seen uint64
	}
	hidden string `codec:"derived"`
}

// TestLeaves: the leaves of a value give the value back, and what is no value of its type gives none.
func TestLeaves(t *testing.T) {
	v := leaf{name: "lock", sizes: []int16{0, -7}, hidden: "x"}
	v.inner[1].on, v.inner[1].seen = true, 1<<63
	all := codec.Leaves(v)
	want := map[string]string{"name": "lock", "sizes.len": "2", "sizes.1": "-7", "inner.1.on": "true",
		"inner.1.seen": "9223372036854775808"}
	if !maps.Equal(all, want) {
		t.Errorf("leaves %v, want %v", all, want)
	}
	v.hidden = ""
	if back, err := codec.FromLeaves[leaf](all); err != nil || !reflect.DeepEqual(back, v) {
		t.Errorf("%+v, %v, want %+v", back, err, v)
	}
	for path, text := range map[string]string{"colour": "red", "sizes.1": "40000", "sizes.2": "1",
		"sizes.len": "4000000000", "inner.1.on": "maybe", "inner.1.seen": "-1", "hidden": "x"} {
		wrong := maps.Clone(all)
		wrong[path] = text
		if back, err := codec.FromLeaves[leaf](wrong); err == nil {
			t.Errorf("%s = %s is read as %+v", path, text, back)
		}
	}
}
