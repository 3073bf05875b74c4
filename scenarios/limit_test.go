package scenarios

import (
	"strings"
	"testing"

	"locklab/simulator/explore"
)

// TestALimitIsNoProof: a search that the lab had no room to finish says so in its
// certificate, and the contract's answer is that it could not be told.
func TestALimitIsNoProof(t *testing.T) {
	row := ContractRows()[0]
	s := &Search{Strategy: row.Strategy, Bounds: DefaultBounds().settled(row.Strategy), Result: &explore.Result{Limit: "there is no room: give less"}}
	text := s.Certificate()
	if !strings.Contains(text, "Searched, not proved") || !strings.Contains(text, "there is no room: give less") {
		t.Errorf("the certificate is\n%s", text)
	}
	p := &Proof{Row: row, Answer: AsContracted, Search: s}
	p.compareSearch()
	if p.Answer != Untold || !strings.Contains(strings.Join(p.Reasons, "\n"), "there is no room: give less") {
		t.Errorf("the answer is %v, for %q", p.Answer, p.Reasons)
	}
	pars := parsOf(row.Strategy, s.Bounds, []*Search{s})
	for _, par := range pars.Pars {
		if par.Told {
			t.Errorf("par of %s is told", par.Verdict)
		}
	}
}
