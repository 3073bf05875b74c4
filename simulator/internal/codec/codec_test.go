package codec_test

import (
	"bytes"
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

func put(t *testing.T, values ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	w := codec.NewWriter(&b)
	w.Put(values...)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlain(t *testing.T) {
	r := codec.NewReader(bytes.NewReader(put(t, sample, []uint32{1, 2, 3}, []uint16{7}, "end")))
	var (
		got   outer
		words = make([]uint32, 0, 8)
		short []uint16
		end   string
	)
	roomy := &words[:1][0]
	r.Get(&got, &words, &short, &end)
	if r.Err() != nil || !reflect.DeepEqual(got, sample) || end != "end" {
		t.Errorf("%+v, %q, %v", got, end, r.Err())
	}
	if !reflect.DeepEqual(words, []uint32{1, 2, 3}) || !reflect.DeepEqual(short, []uint16{7}) {
		t.Errorf("%v %v", words, short)
	}
	if &words[0] != roomy {
		t.Error("a list that had room was moved")
	}
}

// If the input ends early, at any byte, the reader returns an error.
func TestPlainCutOff(t *testing.T) {
	whole := put(t, sample, []uint32{1, 2, 3})
	for n := range whole {
		var (
			got   outer
			words []uint32
		)
		r := codec.NewReader(bytes.NewReader(whole[:n]))
		if r.Get(&got, &words); r.Err() == nil {
			t.Fatalf("%d of %d bytes are enough", n, len(whole))
		}
	}
}

func TestPlainDoesNotFit(t *testing.T) {
	var small int8
	r := codec.NewReader(bytes.NewReader(put(t, 1000)))
	if r.Get(&small); r.Err() == nil {
		t.Errorf("1000 was read as the int8 %d", small)
	}
}

func TestNotPlain(t *testing.T) {
	for _, v := range []any{map[int]int{}, &sample, struct{ err error }{}, func() {}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T was written", v)
				}
			}()
			put(t, v)
		}()
	}
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
	var read entry
	codec.NewReader(bytes.NewReader(put(t, e))).Get(&read)
	if e.length = 0; !reflect.DeepEqual(read, e) {
		t.Errorf("read %+v, written %+v", read, e)
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

// TestReplaceNumerals: the digits of numerals are replaced as texts are, and other numbers are not; of the value itself nothing is.
func TestReplaceNumerals(t *testing.T) {
	type list struct {
		all  []counted
		text string
	}
	from := list{[]counted{{-12, true}, {12, false}, {math.MaxInt64, true}}, "a 12"}
	got := codec.ReplaceNumerals(from, func(s string) string { return strings.ReplaceAll(s, "12", "345") })
	if want := (list{[]counted{{-345, true}, {12, false}, {math.MaxInt64, true}}, "a 345"}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if from.all[0].n != -12 || codec.Replace(from, strings.ToUpper).all[0].n != -12 {
		t.Errorf("%+v was changed", from)
	}
}
