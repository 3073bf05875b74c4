package contract_test

import (
	"os"
	"strings"
	"testing"

	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
)

// FuzzContract reads any text as a contract. Every expectation that comes out is of a line
// of it.
func FuzzContract(f *testing.F) {
	for _, name := range []string{"contract.txt", "proofs.txt"} {
		own := racetest.Must(os.ReadFile(name))(f)
		for section := range strings.SplitSeq(string(own), "\n[") {
			if len(section) < 4<<10 {
				f.Add("[" + strings.TrimPrefix(section, "["))
			}
		}
	}
	f.Add("[locks]\ntoken Expires\n[gc-pause]\n")
	f.Add("[search clients=3 budget=crash=1,pause=1@5s max-states=20]\ntoken OVERLAP@1 STALE-WRITE@1 | why\n")
	f.Add("[prove attempts=once nodes=3 budget=crash=any,pause=any@2s]\nredlock HOLDS\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := contract.Parse("c.txt", text)
		if err != nil {
			return
		}
		if len(list) == 0 {
			t.Errorf("%q: accepted, and nothing is expected", text)
		}
		for _, e := range list {
			if e.Line < 1 || e.Line > strings.Count(text, "\n")+1 || len(e.Expected) == 0 {
				t.Errorf("%q: %+v", text, e)
			}
		}
	})
}
