package scenarios_test

import (
	"strings"
	"testing"
	"unicode"

	"locklab/algorithms"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

// TestTextsAreComplete: what is said in one language is said in the other, and
// each is that language.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	for _, e := range algorithms.All() {
		twoLanguages(t, e.ID+": title", e.Title)
	}
	for _, e := range algorithms.All() {
		twoLanguages(t, e.ID+": family "+string(e.Family), e.Family.Title())
	}
	for _, sc := range scenarios.All() {
		twoLanguages(t, sc.ID+": title", sc.Title)
		for name, text := range map[string]race.Text{"story": sc.Story, "numbers": sc.Numbers, "cure": sc.Cure} {
			if name == "cure" && text == (race.Reason("")) { // then that of the verdict is told
				continue
			}
			twoLanguages(t, sc.ID+": "+name, text)
			if !strings.HasSuffix(text.ZH, "。") || !strings.HasSuffix(text.EN, ".") {
				t.Errorf("%s: the %s does not end with a full stop", sc.ID, name)
			}
		}
	}
	company := new(race.Runner)
	for _, e := range algorithms.All() {
		p, err := company.Profile(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, sc := range scenarios.All() {
			if why := sc.WhyNotApplicable(p); why != (race.Reason("")) {
				twoLanguages(t, e.ID+" in "+sc.ID+": reason", why)
			}
		}
	}
	twoLanguages(t, "search", study.Bounds{}.Scenario().Title)
}

func twoLanguages(t *testing.T, what string, text race.Text) {
	t.Helper()
	han := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	if text.EN == "" || han(text.EN) || !han(text.ZH) {
		t.Errorf("%s is not in both languages: %+v", what, text)
	}
}
