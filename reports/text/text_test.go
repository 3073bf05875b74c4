package text_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator/history"
)

// lessons are the kinds of text in which {verdict LOCK RACE} and the like are filled in
// from runs. Languages use them in different places; package lessons checks them. A word is a verdict, whose
// identifier is an English word already.
var lessons = regexp.MustCompile(`^(lock|race|term|path|interview|word)\.`)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// Every language has the same keys, and the same placeholders in each text.
func TestLanguagesCorrespond(t *testing.T) {
	first := text.In(text.Languages()[0])
	for _, lang := range text.Languages()[1:] {
		other := text.In(lang)
		if diff := cmp.Diff(slices.Sorted(slices.Values(first.Keys(""))),
			slices.Sorted(slices.Values(other.Keys("")))); diff != "" {
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

// roots are the folders whose code has keys.
var roots = []string{"..", "../../cmd", "../../scenarios", "../../faults", "../../simulator"}

// A source is what the code says in quotes, and its calls.
type source struct {
	literals map[string]string // each with a place where it stands
	calls    []call
}

// A call is one that gives a key and its pairs to a function, and the place where it stands.
type call struct {
	*ast.CallExpr
	place string
}

// code reads the code of roots, once for all tests.
var code = sync.OnceValues(func() (*source, error) {
	s := &source{literals: map[string]string{}}
	quoted := regexp.MustCompile(`"([^"\n]+)"`)
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(path, "_test.go") {
				return err
			}
			switch filepath.Ext(path) {
			case ".go":
				return s.read(path)
			case ".html":
				page, err := os.ReadFile(path)
				for _, m := range quoted.FindAllSubmatch(page, -1) {
					s.literals[string(m[1])] = path
				}
				return err
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
})

func (s *source) read(path string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if imported, ok := n.(*ast.ImportSpec); ok {
			return imported == nil
		}
		if word, ok := literal(n); ok {
			s.literals[word] = set.Position(n.Pos()).String()
		}
		if c, ok := n.(*ast.CallExpr); ok {
			s.calls = append(s.calls, call{c, set.Position(n.Pos()).String()})
		}
		return true
	})
	return nil
}

// elsewhere are the kinds of text whose last part is the id of a lock, a race or a
// reason. The packages that list these check that each has its text.
var elsewhere = regexp.MustCompile(`^(lock|family|race|(title|story|numbers)\.race|why|na|term|path|interview)\.`)

// Every other text is used: its key, or the kind of its key, is a literal of the code.
func TestTextsAreUsed(t *testing.T) {
	s, err := code()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range text.In("en").Keys("") {
		if !elsewhere.MatchString(key) && !isOfEvent(key) && !s.uses(key) {
			e, _ := text.In("en").Entry(key)
			t.Errorf("no code says %s (%s)", key, e.Position)
		}
	}
}

// uses reports whether the code has the key, the key up to one of its dots (the rest is
// added), the key in two parts, or the name of a label.
func (s *source) uses(key string) bool {
	if s.has(key) || strings.HasPrefix(key, "label.") && s.has(strings.TrimPrefix(key, "label.")) {
		return true
	}
	for i, r := range key {
		if r == '.' && (s.has(key[:i+1]) || s.has(key[:i]) && s.has(key[i:])) {
			return true
		}
	}
	return false
}

func (s *source) has(word string) bool { return s.literals[word] != "" }

// A literal of the code that looks like a key, or like the part of one before or behind a dot, is in the catalogues.
func TestKeysInCodeExist(t *testing.T) {
	s, err := code()
	if err != nil {
		t.Fatal(err)
	}
	known, found := map[string]bool{}, 0
	for _, key := range text.In("en").Keys("") {
		known[key] = true
		for i, r := range key {
			if r == '.' {
				known[key[:i]], known[key[:i+1]], known[key[i+1:]] = true, true, true
			}
		}
	}
	looks := regexp.MustCompile(`^[a-z]+(\.([a-z0-9-]+|[A-Z-]+))+\.?$`)
	file := regexp.MustCompile(`\.(css|csv|html|js|md|txt)$`)
	for word, place := range s.literals {
		kind, _, _ := strings.Cut(word, ".")
		if !known[kind+"."] || !looks.MatchString(word) || file.MatchString(word) {
			continue
		}
		if found++; !known[word] {
			t.Errorf("%s: there is no text %s", place, word)
		}
	}
	if found < 500 {
		t.Errorf("only %d keys were found: the pattern no longer fits the code", found)
	}
}

// isOfEvent reports whether a key is put together from a view and a kind of event, or the
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
