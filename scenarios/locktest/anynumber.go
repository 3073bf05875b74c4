package locktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// anyNumber is a plan for any number of clients.
type anyNumber struct {
	plan    *plan
	endless bool // no fault of its budget is used up
}

// newAnyNumber reads bounds of any number of clients, and makes b those of single runs: of two clients, with each fault once.
func newAnyNumber(p *plan, b *Bounds) (*anyNumber, error) {
	if b.Attempts > 1 || b.Fenced || b.Slow != 0 || b.Noisy != 0 {
		return nil, text.Errorf("locktest.bounds.any")
	}
	budget, endless, err := study.EndlessBudget(b.Budget)
	if err != nil {
		return nil, text.Errorf("locktest.bounds.budget", "cause", err)
	}
	b.Clients, b.Attempts, b.AnyTiming, b.Budget = 2, 1, true, string(budget)
	return &anyNumber{p, endless}, nil
}

// claimable are the verdicts that claims about a plan are about.
func claimable(p *plan) []verdict.Word {
	if p.any != nil {
		return explore.Provable
	}
	return p.study.Words()
}

// isOfFew reports whether a trace is of one of the searches for a witness.
func (a *anyNumber) isOfFew(trace simulator.Trace) bool {
	b, err := study.ParseBounds(trace.Settings)
	if err != nil {
		return false
	}
	own := settled(a.plan.study, a.plan.timed, a.plan.dated)
	b.Clients, b.Attempts, b.Budget, b.Epoch = own.Clients, own.Attempts, own.Budget, 0
	return b.String() == own.String()
}

// check proves the code for any number of clients, and compares with the claims.
func (a *anyNumber) check(claims []Claim) {
	p := a.plan
	p.t.Helper()
	proof, err := a.prove(p.t.Context())
	if different := (*process.NondeterministicError)(nil); errors.As(err, &different) {
		p.unknown("locktest.unknown.sampled")
		p.t.Fatalf("%s", p.sampled(err, claims))
	}
	if err != nil {
		p.unknown("locktest.unknown.error")
		p.t.Fatal(explain(err))
	}
	proof.Search.NoClaims = !p.says.Load()
	if why := a.unproved(proof); why != "" {
		p.unknown("locktest.unknown.unproved")
		p.t.Fatal("locktest: " + tell("locktest.any.refused", "why", why))
	}
	for _, c := range claims {
		p.t.Run(string(c.word), func(t *testing.T) { a.judge(t, proof, c) })
	}
	p.t.Log(brief(func(lang string) string {
		head, rest, _ := strings.Cut(certificate.OfProof(proof, lang), "\n")
		return head + " " + assumed(p, proof.Measures, lang) + "\n" + rest + "\n" + p.apart.said(lang)
	}))
	if *reportFlag != "" {
		p.report(&study.Checked{Proof: proof})
	}
	p.reportLeaks()
}

// prove proves what it can of the code.
func (a *anyNumber) prove(ctx context.Context) (proof *study.Proof, err error) {
	p := a.plan
	code := &study.Code{Model: p.within, Search: p.searchWithin, Once: i18n.New("prove.once.memory")}
	err = p.untilTimed(func() error {
		proof, err = study.ProveCode(ctx, p.entry, settled(p.study, p.timed, p.dated), a.endless, code)
		return err
	})
	if why := (*explore.NotProvableError)(nil); errors.As(err, &why) {
		return &study.Proof{Proof: &explore.Proof{Refused: why}}, nil
	}
	return proof, err
}

// unproved returns why there is no proof; "": there is one.
func (a *anyNumber) unproved(proof *study.Proof) string {
	why := (*explore.NotProvableError)(nil)
	switch {
	case a.plan.numbered.Load():
		return tell("locktest.any.numbered")
	case errors.As(proof.Refused, &why):
		return language().Message(why.Why)
	}
	return ""
}

// judge compares a proof with one claim.
func (a *anyNumber) judge(t *testing.T, proof *study.Proof, c Claim) {
	why := c.contradicted(proof)
	if why == "" {
		return
	}
	if s, w := proof.BrokenBy(c.word); s != nil {
		keep(t, a.plan.t.Name(), *w)
		why = a.plan.broken(*w, why)
	}
	t.Error(why)
}

// contradicted returns why a proof contradicts the claim, or does not decide it; "": it bears it out.
func (c Claim) contradicted(proof *study.Proof) string {
	s, w := proof.BrokenBy(c.word)
	switch {
	case s == nil && slices.Contains(proof.Open, c.word):
		return tell("locktest.any.open", "verdict", string(c.word))
	case s == nil && c.breaks:
		return tell("locktest.judge.holds", "verdict", string(c.word), "par", fmt.Sprint(c.par))
	case s == nil:
		return ""
	case !c.breaks:
		return tell("locktest.judge.breaks")
	case w.Par != c.par:
		return tell("locktest.judge.par", "claim", fmt.Sprint(c.par), "verdict", string(c.word), "par", fmt.Sprint(w.Par))
	}
	return ""
}
