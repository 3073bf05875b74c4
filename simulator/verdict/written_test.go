package verdict

import (
	"maps"
	"strings"
	"testing"

	"locklab/simulator/history"
)

// TestWriteSafety: what judges know can be written and read, and to rename the clients in the texts is to rename them in the judges.
func TestWriteSafety(t *testing.T) {
	s := Safety{answered: true, words: 5}
	for i, set := range s.sets() {
		*set = clients(i + 1)
	}
	s.reading.made[1], s.reading.former[0], s.reading.lapse[0] = 3, 2, 17
	s.reading.grant[0] = grant{holder: holder{owner: 2, lease: 1}, left: true}
	s.reading.copied[0][1] = holder{owner: nobody}
	s.staleWrite.last = wrote{1, 1, 4}
	written := s.Write()
	if back, err := ReadSafety(written); err != nil || back != s {
		t.Errorf("%+v, %v, want %+v", back, err, s)
	}
	swap := strings.NewReplacer("c1.", "c2.", "c2.", "c1.")
	renamed := map[string]string{}
	for path, text := range written {
		renamed[swap.Replace(path)] = swap.Replace(text)
	}
	other := s
	other.Rename(history.Swap(1, 2))
	if got, err := ReadSafety(renamed); err != nil || got != other {
		t.Errorf("renamed %+v, %v, want %+v", got, err, other)
	}
	for _, wrong := range []string{"inside.c9.", "colour", "reading.colour", "owner.99"} {
		more := maps.Clone(written)
		more[wrong] = "true"
		if _, err := ReadSafety(more); err == nil {
			t.Errorf("%s is read", wrong)
		}
	}
}
