package reports

import (
	"testing"

	"locklab/simulator/verdict"
)

func TestMeaning(t *testing.T) {
	for _, w := range []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie,
		verdict.Orphan, verdict.Deadlock, verdict.Blocked, verdict.Starved, verdict.Holds, verdict.Unknown,
		verdict.Vacuous, verdict.NA} {
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

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"1": {1}, "1-3,7": {1, 2, 3, 7}, "2,4-5": {2, 4, 5}, "1-2": {1, 1, 2}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: %s, want %s", numbers, got, want)
		}
	}
}
