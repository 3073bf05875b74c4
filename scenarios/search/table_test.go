package search_test

import (
	"slices"
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
)

// bounds are values of each bound: those that are read as they are written, those that are not read, and those that no
// search has.
var bounds = map[string]struct{ read, refused, outside string }{
	"clients":        {"1 6", "two any 1.5", "0 7"},
	"attempts":       {"1 9 auto any", "some -1 -2 0", "10"},
	"timing":         {"any lockstep auto", "anytime -", ""},
	"retries":        {"0 5 auto", "-1 x any", "6"},
	"nodes":          {"0 5", "x", "-1 99"},
	"ttl":            {"2ms 9s 8760h0m0s", "soon 9", "0s 1ms 9000h"},
	"fenced":         {"true false", "yes", ""},
	"work":           {"0s 3.6s", "x", "-1s 9000h"},
	"latency":        {"auto 0s 750ms", "-1s soon 5", "9000h"},
	"lateness":       {"auto 0s 750ms", "-1s soon", "9000h"},
	"uses":           {"none all auto renew check renew,check,give-up", "renw renew, none,renew", ""},
	"client-retries": {"0 5", "x", "-1 6"},
	"skew":           {"0s 3s", "x", "-1s"},
	"tokens":         {"unique thread prefix constant clock", "uniqe", ""},
	"slow":           {"0s 5s", "5", "-1s 9000h"},
	"noisy":          {"0 5", "x", "-1 10001"},
	"idle":           {"true false", "2", ""},
	"epoch":          {"1780000000000", "x", ""},
	"budget":         {"crash=1 crash=1,pause=2@5s crash=any,pause=any@2s", "crash=any,pause=1 crash=1,pause=any@2s", ""},
	"max-states":     {"0 7", "many", "-1"},
}

// TestTable: each bound is written as it was read, by itself and in a link; what it cannot be is refused with what to
// write, by its own error or by Check; and none of the words of one stands for another value.
func TestTable(t *testing.T) {
	token := racetest.Lock(t, "token")
	for _, one := range search.Table {
		values, ok := bounds[one.Name]
		if !ok {
			t.Errorf("%s: write the line\n\t%q: {\"1 2\", \"x\", \"-1\"},\nin bounds, with values that are read, that are not, and that no search has",
				one.Name, one.Name)
		}
		for value := range strings.FieldsSeq(values.read) {
			b := search.DefaultBounds()
			if err := b.Set(one.Name, value); err != nil || one.Format(b) != value {
				t.Errorf("%s=%s is read as %s, %v", one.Name, value, one.Format(b), err)
			}
			linked, err := search.ParseBounds(b.String())
			if in := one.In != search.InCommands; err != nil || in && one.Format(linked) != value || linked.String() != b.String() {
				t.Errorf("%s is read as %s, %v", b, linked, err)
			}
		}
		for value := range strings.FieldsSeq(values.refused) {
			b := search.DefaultBounds()
			if err := b.Set(one.Name, value); err == nil || !strings.Contains(text.SayError("en", err), one.Name+"="+value) {
				t.Errorf("%s=%s is read: %v", one.Name, value, err)
			} else if b.String() != search.DefaultBounds().String() && one.Name != "budget" {
				t.Errorf("%s=%s is refused, and changes %s", one.Name, value, b)
			}
		}
		for value := range strings.FieldsSeq(values.outside) {
			b := search.DefaultBounds()
			err := b.Set(one.Name, value)
			if err == nil {
				err = b.Check(token)
			}
			if err == nil || !strings.Contains(text.SayError("en", err), one.Name+"=") || !strings.Contains(text.SayError("en", err), "give ") {
				t.Errorf("%s=%s: %v", one.Name, value, err)
			}
		}
		if named := slices.Contains(search.Names(), one.Name); named == (one.In == search.InLinks) {
			t.Errorf("%s has no place", one.Name)
		}
	}
	none, plain := search.DefaultBounds(), search.DefaultBounds()
	for value, b := range map[string]*search.Bounds{"none": &none, "": &plain} {
		if err := b.Set("budget", value); err != nil || b.Budget != "" || b.Check(token) != nil || b.Faults() != "none" {
			t.Errorf("budget=%s is read as %s, %v", value, b, err)
		}
	}
}
