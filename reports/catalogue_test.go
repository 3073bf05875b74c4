package reports

import "testing"

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
