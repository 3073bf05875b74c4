package contract

import (
	"errors"
	"slices"

	"locklab/scenarios/search"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// AnyNumber says what a row of a [prove] section is about: any number of clients, each of which takes the lock any number of times.
type AnyNumber struct {
	Endless bool // no fault of the budget is ever used up
	Once    bool // each client takes the lock once
}

// once is the value of attempts in place of search.AnyTimes.
const once = "once"

// proofBounds are those that a [prove] section may have, beside attempts.
var proofBoundNames = []string{"nodes", "ttl", "work", "budget"}

// ProofBoundNames are the names of all bounds that a [prove] header may have.
func ProofBoundNames() []string { return append([]string{"attempts"}, proofBoundNames...) }

// proofBounds reads the bounds of "[prove budget=crash=any]".
func proofBounds(items string) (b search.Bounds, of *AnyNumber, err error) {
	b, of = search.ProofBounds(), &AnyNumber{}
	err = eachBound(items, func(name, value string) error { return named(of.set(&b, name, value), ProofBoundNames()) })
	return b, of, err
}

// set sets one bound.
func (a *AnyNumber) set(b *search.Bounds, name, value string) (err error) {
	wrong := func(cause any) error { return i18n.Errorf("error.bound", "item", name+"="+value, "cause", cause) }
	switch {
	case name == "attempts" && value != once && value != search.AnyTimes:
		return wrong(i18n.Errorf("error.contract.attempts"))
	case name == "attempts":
		a.Once = value == once
		return nil
	case name == "budget":
		b.Budget, a.Endless, err = search.EndlessBudget(value)
		b.Budget = b.Budget.Canonical()
		return err
	case !slices.Contains(proofBoundNames, name):
		return wrong(i18n.Errorf("error.bound.unknown"))
	}
	return b.Set(name, value)
}

// subject is Expectation.Subject.
func (a *AnyNumber) subject(b search.Bounds) string {
	text := "clients=any,attempts=" + search.AnyTimes
	if a.Once {
		text = "clients=any,attempts=" + once
	}
	for _, u := range b.Unlike(search.ProofBounds(), "nodes", "ttl", "work") {
		text += "," + u.Name + "=" + u.Value
	}
	return text + ",budget=" + search.FormatBudget(b.Budget, a.Endless)
}

// flags are those of locklab prove.
func (a *AnyNumber) flags(b search.Bounds) (line string) {
	for _, u := range b.Unlike(search.ProofBounds(), "nodes", "ttl", "work") {
		line += " --" + u.Name + " " + u.Value
	}
	return line + " --budget '" + search.FormatBudget(b.Budget, a.Endless) + "'"
}

// compareProof compares r.Proof with what is expected, and sets Status, Got, Reasons and Outcome. What a row does not name is to be
// proved impossible, and what it names is to have a witness.
func (r *Result) compareProof() {
	for i := range r.Witnesses() {
		r.compareWitness(i)
	}
	why := (*explore.NotProvableError)(nil)
	if errors.As(r.Proof.Refused, &why) {
		r.note(Inconclusive, "unmet.prove.refused", "why", why.Why)
		return
	}
	proved := r.Proof.Proved()
	r.compareScope()
	for _, word := range explore.Provable {
		switch want := r.find(word); {
		case slices.Contains(proved, word) && want != nil:
			r.note(Differs, "unmet.prove.impossible", "verdict", word, "want", want)
		case slices.Contains(r.Proof.Open, word):
			r.note(Inconclusive, "unmet.prove.open", "verdict", word)
		}
	}
	if len(proved) == len(explore.Provable) {
		r.Got = []ExpectedVerdict{{verdict.Holds, noPar}}
	}
	switch first := r.Proof.Once; {
	case len(proved) == 0:
	case !first.IsZero() && !r.AnyNumber.Once:
		r.note(Inconclusive, "unmet.prove.once", "why", first)
	case first.IsZero() && r.AnyNumber.Once:
		r.note(Differs, "unmet.prove.any")
	}
}
