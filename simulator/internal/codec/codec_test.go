package codec_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"locklab/simulator/internal/codec"
)

type inner struct {
	d     time.Duration
	flags [3]bool
}

type outer struct {
	small int8
	large uint64
	Text  string
	list  []inner
	words []uint32
	none  []string
}

var sample = outer{
	small: math.MinInt8, large: math.MaxUint64, Text: "锁\x00",
	list:  []inner{{d: -time.Hour}, {d: math.MaxInt64, flags: [3]bool{true, false, true}}},
	words: []uint32{0, math.MaxUint32}, none: nil,
}

// TestPlain: what is written is read again. If the input ends early, at any byte, or does not fit, that is an error.
func TestPlain(t *testing.T) {
	whole := []byte(codec.Key(sample))
	if got, err := codec.Parse[outer](whole); err != nil || !reflect.DeepEqual(got, sample) {
		t.Errorf("%+v, %v", got, err)
	}
	for n := range whole {
		if _, err := codec.Parse[outer](whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes are enough", n, len(whole))
		}
	}
	if small, err := codec.Parse[int8]([]byte(codec.Key(1000))); err == nil {
		t.Errorf("1000 was read as the int8 %d", small)
	}
	for _, n := range []int64{-1, 1000, math.MaxInt64} {
		if list, err := codec.Parse[[]inner]([]byte(codec.Key(n))); err == nil {
			t.Errorf("a list of %d was read as %v", n, list)
		}
	}
}

func TestNotPlain(t *testing.T) {
	refused(t, map[int]int{})
	refused(t, &sample)
	refused(t, struct{ err error }{})
	refused(t, func() {})
}

func refused[V any](t *testing.T, v V) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%T was written", v)
		}
	}()
	codec.Key(v)
}

// TestDerived: a field that follows from others is neither written nor part of the key, and what
// has been replaced leaves the original as it was.
func TestDerived(t *testing.T) {
	type entry struct {
		names  []string
		inner  struct{ name string }
		length int `codec:"derived"`
	}
	e := entry{names: []string{"a", "b"}, length: 7}
	e.inner.name = "a"
	got := codec.Replace(e, func(s string) string { return s + "!" })
	want := entry{names: []string{"a!", "b!"}}
	want.inner.name = "a!"
	if !reflect.DeepEqual(got, want) || e.names[0] != "a" || e.length != 7 {
		t.Errorf("%+v, of %+v", got, e)
	}
	if e.length = 8; codec.Key(got) != codec.Key(want) || codec.Key(e) == codec.Key(want) {
		t.Error("the keys are wrong")
	}
	read, err := codec.Parse[entry]([]byte(codec.Key(e)))
	if e.length = 0; err != nil || !reflect.DeepEqual(read, e) {
		t.Errorf("read %+v, written %+v, %v", read, e, err)
	}
}

type counted struct {
	n  int64
	is bool
}

func (c *counted) Numeral() *int64 {
	if c.is {
		return &c.n
	}
	return nil
}

// TestReplaceNumerals: the digits of numerals are replaced as texts are, and other numbers are not; of the value
// itself nothing is.
func TestReplaceNumerals(t *testing.T) {
	type list struct {
		all  []counted
		text string
	}
	from := list{[]counted{{-12, true}, {12, false}, {math.MaxInt64, true}}, "a 12"}
	got := codec.ReplaceNumerals(from, func(s string) string { return strings.ReplaceAll(s, "12", "345") })
	if want := (list{[]counted{{-345, true}, {12, false}, {math.MaxInt64, true}}, "a 345"}); !reflect.DeepEqual(got,
		want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if from.all[0].n != -12 || codec.Replace(from, strings.ToUpper).all[0].n != -12 {
		t.Errorf("%+v was changed", from)
	}
}
