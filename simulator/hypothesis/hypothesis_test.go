package hypothesis

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Each hypothesis stands at its own place of the list, says what it makes one and how that is checked, and what
// refutes it leaves less of it.
func TestAll(t *testing.T) {
	all := Set{
		Symmetric: 3, Peers: true, Merging: MergeHistories, Measures: true, Counters: CountedElse, Creations: true,
		Ordered: true, Rests: true,
		Ages: Ages{Ancient: time.Second, Span: time.Second, Most: time.Second},
	}
	for id, h := range All {
		if int(h.ID) != id || h.Identifies == "" || h.Checked == "" {
			t.Errorf("%d: %+v", id, h)
		}
		if h.Weaken == nil {
			continue
		}
		weaker := all
		h.Weaken(&weaker, &Refuted{Of: h.ID, End: true})
		if weaker == all {
			t.Errorf("nothing is left out that %s", h.Identifies)
		}
	}
}

// A certificate names what holds and bears on the lock, and nothing else.
func TestLines(t *testing.T) {
	for _, test := range []struct {
		set  Set
		met  Met
		want string
	}{
		{Set{}, Met{Measures: true, Transactions: true}, ""},
		{Usual, Met{}, "rests"},
		{Set{Symmetric: 2, Merging: MergeOrders, Measures: true, Creations: true, Rests: true}, Met{},
			"symmetric orders rests"},
		{Set{Merging: MergeHistories, Measures: true, Creations: true}, Met{Measures: true, Transactions: true},
			"histories measures creations"},
		{Set{Symmetric: 1, Measures: true}, Met{Measures: true, Grain: time.Second}, "stamps"},
	} {
		if got := test.set.Lines(test.met); !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%+v, %+v: %q, want %q", test.set, test.met, got, test.want)
		}
	}
}

// Ages are doubled up to a bound; from there on the time of day counts.
func TestAges(t *testing.T) {
	s := Set{Measures: true, Ages: Ages{Ancient: time.Second, Span: 3 * time.Second, Most: 3 * time.Second}}
	for _, want := range []time.Duration{2 * time.Second, 3 * time.Second} {
		if All[Aged].Weaken(&s, &Refuted{Of: Aged}); s.Ages.Ancient != want || !s.Measures {
			t.Errorf("%+v, want %v", s, want)
		}
	}
	if All[Aged].Weaken(&s, &Refuted{Of: Aged, Span: true}); s.Measures {
		t.Errorf("%+v, though no age is left", s)
	}
}
