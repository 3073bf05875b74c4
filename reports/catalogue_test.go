package reports

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// What can be said in one language can be said in the other, about the same.
func TestCataloguesCorrespond(t *testing.T) {
	en, zh := catalogues["en"], catalogues["zh"]
	if diff := cmp.Diff(slices.Sorted(maps.Keys(en)), slices.Sorted(maps.Keys(zh))); diff != "" {
		t.Fatalf("keys (-en +zh):\n%s", diff)
	}
	for key := range en {
		want := slices.Sorted(slices.Values(placeholder.FindAllString(en[key], -1)))
		got := slices.Sorted(slices.Values(placeholder.FindAllString(zh[key], -1)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("placeholders of %s (-en +zh):\n%s", key, diff)
		}
	}
}

// No entry stands twice, and every line is an entry, a comment or blank.
func TestCataloguesAreWellFormed(t *testing.T) {
	for lang, text := range map[string]string{"en": english, "zh": chinese} {
		seen := map[string]bool{}
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			key, value, ok := strings.Cut(line, " = ")
			if !ok || value == "" || seen[key] {
				t.Errorf("%s: %q is no entry, or stands twice", lang, line)
			}
			seen[key] = true
		}
	}
}

// Every key in the code is in the catalogues, and every entry is used.
func TestCatalogueKeysAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, w := range words {
		for _, kind := range []string{"meaning.", "cure.", "found."} {
			used[kind+string(w)] = true
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`"((?:lanes|part|story|found|grid|doom|chart|par|frontier|sensitivity)\.[a-z.]+)"`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range key.FindAllStringSubmatch(string(source), -1) {
			if !strings.HasSuffix(m[1], ".") {
				used[m[1]] = true
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(catalogues["en"])), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("(-catalogue +code):\n%s", diff)
	}
}

// Some characters are one cell wide here and two there, depending on the
// terminal's locale. The catalogues avoid them.
func TestCataloguesHaveOneWidth(t *testing.T) {
	eastern := &runewidth.Condition{EastAsianWidth: true}
	for lang, entries := range catalogues {
		for key, text := range entries {
			if here, there := textWidth(text), eastern.StringWidth(text); here != there {
				t.Errorf("%s: %s is %d or %d cells wide: %s", lang, key, here, there, text)
			}
		}
	}
}

func TestMeaning(t *testing.T) {
	for _, w := range words {
		for _, lang := range []string{"en", "zh"} {
			if Meaning(w, lang) == "" || Cure(w, lang) == "" {
				t.Errorf("%s has no meaning or no cure in %s", w, lang)
			}
		}
	}
	if got := Meaning("NO SUCH WORD", "en"); got != "" {
		t.Errorf("an unknown word means %q", got)
	}
}
