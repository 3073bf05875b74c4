package locktest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/simulator/explore"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Claim is what a test says of its lock.
type Claim struct {
	word   verdict.Word
	breaks bool
	par    int
	others bool // of all verdicts without a claim: they do not come about
}

// Holds claims that none of the verdicts comes about, whatever happens within the
// bounds.
func Holds(words ...string) []Claim {
	var claims []Claim
	for _, w := range words {
		claims = append(claims, Claim{word: verdict.Word(w)})
	}
	return claims
}

// Breaks claims that the verdict comes about with so many faults, and not with fewer.
func Breaks(word string, par int) []Claim {
	return []Claim{{word: verdict.Word(word), breaks: true, par: par}}
}

// Finds claims that these verdicts come about, each with one fault, or with as many as stand behind an @, and not
// with fewer; and that no other does.
//
//	locktest.Finds("OVERLAP STALE-WRITE LIE@0")
func Finds(verdicts string) []Claim {
	claims := []Claim{{others: true}}
	for _, v := range strings.Fields(verdicts) {
		word, number, counted := strings.Cut(v, "@")
		par, err := strconv.Atoi(number)
		switch {
		case !counted:
			par = 1
		case err != nil:
			word = v // which is refused
		}
		claims = append(claims, Breaks(word, par)...)
	}
	return claims
}

// check returns what is wrong with claims, each about one of words.
func check(claims []Claim, words []verdict.Word) error {
	for i, c := range claims {
		switch {
		case !c.others && !slices.Contains(words, c.word):
			all := strings.Join(lists.Each(words, func(w verdict.Word) string { return string(w) }), ", ")
			return text.Errorf("locktest.claim.word", "verdict", fmt.Sprintf("%q", c.word), "verdicts", all)
		case c.breaks && c.par < 0:
			return text.Errorf("locktest.claim.par", "verdict", c.word, "par", c.par)
		case slices.ContainsFunc(claims[:i], func(d Claim) bool { return d.word == c.word }):
			return text.Errorf("locktest.claim.twice", "verdict", c.word)
		}
	}
	return nil
}

// checkClaims returns what is wrong with claims about p: a verdict that is looked for only within a bound which p
// does not have.
func (p *plan) checkClaims(claims []Claim) error {
	for _, c := range claims {
		if !p.any && (c.word == verdict.Slow && p.bounds.Slow == 0 || c.word == verdict.Noisy && p.bounds.Noisy == 0) {
			return text.Errorf("locktest.claim.bound", "verdict", c.word)
		}
	}
	return check(claims, p.claimable())
}

// claimable are the verdicts that claims about a plan are about.
func (p *plan) claimable() []verdict.Word {
	if p.any {
		return explore.Provable
	}
	return p.study.Words()
}

// withOthers returns claims, with one about each of words that has none if the others are claimed not to come about.
func withOthers(claims []Claim, words []verdict.Word) []Claim {
	all := slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.others })
	if len(all) == len(claims) {
		return claims
	}
	for _, w := range words {
		if !slices.ContainsFunc(all, func(c Claim) bool { return c.word == w }) {
			all = append(all, Claim{word: w})
		}
	}
	return all
}

// An answer is what was found out about a verdict.
type answer struct {
	witness *search.Witness // nil: it was not found
	open    string          // why it is not known whether it comes about; "": it is known
}

// contradicted returns why an answer contradicts the claim, or does not decide it; "": it bears it out.
func (c Claim) contradicted(a answer) string {
	switch {
	case a.witness == nil && a.open != "":
		return a.open
	case a.witness == nil && c.breaks:
		return tell("locktest.judge.holds", "verdict", string(c.word), "par", fmt.Sprint(c.par))
	case a.witness == nil:
		return ""
	case !c.breaks:
		return tell("locktest.judge.breaks")
	case a.witness.Par != c.par:
		return tell("locktest.judge.par", "claim", fmt.Sprint(c.par), "verdict", string(c.word), "par", fmt.Sprint(a.witness.Par))
	}
	return ""
}

// judge compares an answer with a claim.
func (p *plan) judge(t *testing.T, a answer, c Claim) {
	why := c.contradicted(a)
	if why != "" && a.witness != nil {
		why = p.broken(*a.witness, why)
		defer keep(t, p.t.Name(), *a.witness)
	}
	if why != "" {
		t.Error(why)
	}
}
