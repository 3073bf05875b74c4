package contract_test

import (
	"strings"
	"testing"

	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
)

// TestALimitIsNoProof: if a search reached a limit of the simulator, its certificate says
// so, and the result for the contract is Inconclusive.
func TestALimitIsNoProof(t *testing.T) {
	row := contract.Own()[0]
	s := &study.Search{Strategy: row.Strategy, Bounds: study.DefaultBounds().Settled(row.Strategy), Result: &explore.Result{Limit: i18n.New("limit.choices", "n", 5)}}
	certificate := certificate.Of(s, "en")
	if !strings.Contains(certificate, "Searched, not proved") || !strings.Contains(certificate, "numbers for 5 kinds of choice and no more") {
		t.Errorf("the certificate is\n%s", certificate)
	}
	p := &contract.Result{Expectation: row, Status: contract.Met, Search: s}
	p.CompareSearch()
	if p.Status != contract.Inconclusive || !strings.Contains(text.SayMessages("en", p.Reasons), "numbers for 5 kinds of choice and no more") {
		t.Errorf("the answer is %v, for %q", p.Status, text.SayMessages("en", p.Reasons))
	}
	for _, par := range study.ParsOf(row.Strategy, []*study.Search{s}) {
		if par.Complete {
			t.Errorf("par of %s is told", par.Verdict)
		}
	}
}
