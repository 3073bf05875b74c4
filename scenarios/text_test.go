package scenarios_test

import (
	"strings"
	"testing"
	"unicode"

	"locklab/algorithms"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
)

// TestTextsAreComplete: every scenario has a title, a story and its numbers in both
// languages, and a cure if that of the verdict does not apply. Every reason for N/A has a
// text.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	wanted := map[string]bool{}
	for _, sc := range scenarios.All() {
		for _, part := range []string{"title", "story", "numbers", "cure"} {
			key := "scenario." + sc.ID + "." + part
			wanted[key] = true
			if part == "cure" && !text.In("en").Has(key) {
				continue // then that of the verdict is told
			}
			inBothLanguages(t, key)
			for _, lang := range text.Languages() {
				if s := text.In(lang).Get(key); part != "title" && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "。") {
					t.Errorf("%s in %s does not end with a full stop: %s", key, lang, s)
				}
			}
		}
	}
	var runner race.Runner
	for _, e := range algorithms.All() {
		p := racetest.Must(runner.Profile(e))(t)
		for _, sc := range scenarios.All() {
			if why := sc.WhyNotApplicable(p); why != "" && !wanted["na."+string(why)] {
				wanted["na."+string(why)] = true
				inBothLanguages(t, "na."+string(why))
			}
		}
	}
	for _, why := range race.CodeReasons() {
		wanted["na."+string(why)] = true
		inBothLanguages(t, "na."+string(why))
	}
	for _, prefix := range []string{"scenario.", "na."} {
		for _, key := range text.In("en").Keys(prefix) {
			if !wanted[key] {
				t.Errorf("%s belongs to no scenario", key)
			}
		}
	}
}

// inBothLanguages checks that a text exists in both languages, each in its own script.
func inBothLanguages(t *testing.T, key string) {
	t.Helper()
	for _, lang := range text.Languages() {
		e, ok := text.In(lang).Entry(key)
		han := strings.ContainsFunc(e.Text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
		if !ok || e.Text == "" || han != (lang == "zh") {
			t.Errorf("%s is not in the language %s: %q", key, lang, e.Text)
		}
	}
}
