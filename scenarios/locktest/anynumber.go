package locktest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// forAnyNumber makes p a plan for any number of clients, b the bounds of its single runs: two clients, each fault once.
func (p *plan) forAnyNumber(b *Bounds) error {
	if b.Attempts > 1 || b.Fenced || b.Holder != nil || b.Slow != 0 || b.Noisy != 0 {
		return text.Errorf("locktest.bounds.any")
	}
	budget, endless, err := search.ParseBudget(b.Budget)
	if err != nil {
		return text.Errorf("locktest.bounds.budget", "cause", err)
	}
	b.Clients, b.Attempts, b.AnyTiming, b.Budget = 2, 1, true, string(budget)
	p.any, p.endless = true, endless
	return nil
}

// findForAny proves the code for any number of clients.
func (p *plan) findForAny(ctx context.Context) (*findings, error) {
	proof, err := p.prove(ctx)
	if err != nil {
		return nil, err
	}
	proof.Search.NoClaims = !p.says.Load()
	if why := p.unproved(proof); why != "" {
		p.report(&study.Checked{Unknown: tell("locktest.unknown.unproved")})
		p.t.Fatal("locktest: " + tell("locktest.any.refused", "why", why))
	}
	return &findings{
		data: &study.Checked{Proof: proof}, of: func(w verdict.Word) answer { return answerOf(proof, w) },
		headline: func(lang string) string {
			if strings.Contains(p.bounds.Budget, "pause") {
				return certificate.ProofInLine(proof, lang)
			}
			return certificate.ProofInLine(proof, lang) + " " + text.Say(lang, "locktest.any.nopause")
		},
		certificate: func(lang string) string {
			head, covered, _ := strings.Cut(certificate.OfProof(proof, lang), "\n")
			assumed, _ := p.assumed(proof.Search, lang)
			return head + assumed + "\n" + covered + "\n" + p.apart.said(lang)
		},
		assumed: func(lang string) string { _, few := p.assumed(proof.Search, lang); return few },
	}, nil
}

// answerOf returns the answer of a proof on a verdict.
func answerOf(proof *search.Proof, word verdict.Word) (a answer) {
	if _, a.witness = proof.BrokenBy(word); a.witness == nil {
		a.open = slices.Contains(proof.Open, word)
	}
	return a
}

// prove proves what it can of the code.
func (p *plan) prove(ctx context.Context) (proof *search.Proof, err error) {
	code := &search.Code{Model: p.within, Search: p.searchWithin, Once: i18n.New("prove.once.memory")}
	err = p.run.untilKnown(func() error {
		b := settled(p.study, p.Timed, p.Dated)
		b.Endless = p.endless
		proof, err = search.ProveCode(ctx, p.entry, b, code)
		return err
	})
	if why := (*explore.NotProvableError)(nil); errors.As(err, &why) {
		return &search.Proof{Proof: &explore.Proof{Refused: why}}, nil
	}
	return proof, err
}

// unproved returns why there is no proof; "": there is one.
func (p *plan) unproved(proof *search.Proof) string {
	why := (*explore.NotProvableError)(nil)
	switch {
	case p.numbered.Load():
		return tell("locktest.any.numbered")
	case p.unread.Load():
		return tell("locktest.any.unread")
	case errors.As(proof.Refused, &why):
		return language().Message(why.Why)
	}
	return ""
}
