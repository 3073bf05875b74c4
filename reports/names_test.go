package reports

import (
	"locklab/simulator/verdict"
	"testing"
)

func TestMeaning(t *testing.T) {
	for _, w := range []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock, verdict.Blocked, verdict.Starved, verdict.Holds, verdict.Unknown, verdict.Vacuous, verdict.NA} {
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
