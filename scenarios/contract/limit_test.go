package contract_test

import (
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// TestALimitIsNoProof: if a search reached a limit of the simulator, its certificate says
// so, and the result for the contract is Inconclusive.
func TestALimitIsNoProof(t *testing.T) {
	row := contract.Own()[0]
	s := &study.Search{Strategy: row.Strategy, Bounds: study.DefaultBounds().Settled(row.Strategy), Result: &explore.Result{Limit: text.NewPhrase("limit.choices", "n", 5)}}
	text := s.Certificate()
	if !strings.Contains(text, "Searched, not proved") || !strings.Contains(text, "numbers for 5 kinds of choice and no more") {
		t.Errorf("the certificate is\n%s", text)
	}
	p := &contract.Result{Expectation: row, Status: contract.Met, Search: s}
	p.CompareSearch()
	if p.Status != contract.Inconclusive || !strings.Contains(p.Why("en"), "numbers for 5 kinds of choice and no more") {
		t.Errorf("the answer is %v, for %q", p.Status, p.Why("en"))
	}
	for _, par := range study.ParsOf(row.Strategy, []*study.Search{s}) {
		if par.Complete {
			t.Errorf("par of %s is told", par.Verdict)
		}
	}
}
