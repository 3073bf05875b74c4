package text_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator/history"
)

// lessons are the kinds of text in which {verdict LOCK RACE} and the like are filled in
// from runs. Languages use them in different places; package lessons checks them.
var lessons = regexp.MustCompile(`^(lock|race|term|path|interview)\.`)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// Every language has the same keys, and the same placeholders in each text.
func TestLanguagesCorrespond(t *testing.T) {
	first := text.In(text.Languages()[0])
	for _, lang := range text.Languages()[1:] {
		other := text.In(lang)
		if diff := cmp.Diff(slices.Sorted(slices.Values(first.Keys(""))), slices.Sorted(slices.Values(other.Keys("")))); diff != "" {
			t.Errorf("keys (-%s +%s):\n%s", text.Languages()[0], lang, diff)
		}
		for _, key := range first.Keys("") {
			if lessons.MatchString(key) || !other.Has(key) {
				continue
			}
			want, got := placeholder.FindAllString(first.Get(key), -1), placeholder.FindAllString(other.Get(key), -1)
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("placeholders of %s (-%s +%s):\n%s", key, text.Languages()[0], lang, diff)
			}
		}
	}
}

// The width of some characters depends on the terminal's locale. What is laid out in
// columns avoids them.
func TestTextsHaveOneWidth(t *testing.T) {
	narrow, eastern := &runewidth.Condition{}, &runewidth.Condition{EastAsianWidth: true}
	for _, lang := range text.Languages() {
		c := text.In(lang)
		for _, key := range c.Keys("") {
			said, _ := c.Entry(key)
			if n, e := narrow.StringWidth(said.Text), eastern.StringWidth(said.Text); n != e {
				t.Errorf("%s: %s is %d or %d cells wide: %s", said.Position, key, n, e, said.Text)
			}
		}
	}
}

// roots are the folders whose code has keys; the first two say them with Say.
var roots = []string{"..", "../../cmd", "../../scenarios", "../../faults", "../../simulator"}

// A key that stands in the code as a literal is in the catalogues.
func TestKeysInCodeExist(t *testing.T) {
	call := regexp.MustCompile(`\b(?:[sS]ay|sayAll|Join|tell|head|i18n\.New|Errorf|noAnswer)\((?:[^()"]*, )?"([a-z]+(?:\.[a-zA-Z-]+)+)"`)
	catalogue, found := text.In("en"), 0
	for _, root := range roots[:2] {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, m := range call.FindAllStringSubmatch(string(source), -1) {
				found++
				if !catalogue.Has(m[1]) {
					t.Errorf("%s: there is no text %s", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if found < 50 {
		t.Errorf("only %d keys were found: the pattern no longer fits the code", found)
	}
}

// elsewhere are the kinds of text whose last part is the id of a lock, a race or a
// reason. The packages that list these check that each has its text.
var elsewhere = regexp.MustCompile(`^(lock|family|race|scenario|why|na|term|path|interview)\.`)

// Every other text is used: its key, or the kind of its key, stands in the code.
func TestTextsAreUsed(t *testing.T) {
	var code strings.Builder
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".html") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			code.Write(source)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, key := range text.In("en").Keys("") {
		if !elsewhere.MatchString(key) && !isOfEvent(key) && !isUsed(code.String(), key) {
			e, _ := text.In("en").Entry(key)
			t.Errorf("no code says %s (%s)", key, e.Position)
		}
	}
}

// isOfEvent says whether a key is put together from a view and a kind of event, or the
// name of a fault.
func isOfEvent(key string) bool {
	m := regexp.MustCompile(`^(?:lane|server|cli|fault|brief\.resource|brief)\.([a-z-]+)`).FindStringSubmatch(key)
	if m == nil {
		return false
	}
	kind := history.EventKind(0)
	_, err := faults.ByName(m[1])
	return err == nil || kind.UnmarshalText([]byte(m[1])) == nil
}

// isUsed says whether the code has the key, the key up to one of its dots (the rest is
// added), or the name of a label.
func isUsed(code, key string) bool {
	if strings.Contains(code, `"`+key+`"`) {
		return true
	}
	for i, r := range key {
		if r == '.' && strings.Contains(code, `"`+key[:i+1]+`"`) {
			return true
		}
	}
	label, isLabel := strings.CutPrefix(key, "label.")
	return isLabel && strings.Contains(code, `"`+label+`"`)
}

// A key that does not exist is printed with its values, so that nothing is lost.
func TestMissingKey(t *testing.T) {
	if got, want := text.Say("en", "no.such.key", "client", "c1"), "no.such.key client c1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := text.Reason("zh", "why", "no such reason"); got != "no such reason" {
		t.Errorf("%q", got)
	}
	if got := text.LockTitle("no-such-lock", "en"); got != "no-such-lock" {
		t.Errorf("%q", got)
	}
}

func TestJoin(t *testing.T) {
	for want, parts := range map[string][]string{"": nil, "a": {"a"}, "a, b, c": {"a", "b", "c"}} {
		if got := text.Join("en", "chart.list", parts); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
