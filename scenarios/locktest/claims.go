package locktest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/faults"
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
	causes []cause
	others bool // of all verdicts without a claim: they do not come about
}

// Claims are those of Breaks, of which By says more.
type Claims []Claim

// cause is a fault on the way to a verdict, and its victim: one of these; none: whoever it is.
type cause struct {
	fault   string
	victims []Victim
}

// A Victim is where a process was in its use of the lock when a fault struck it.
type Victim = explore.Victim

// The victims of By.
const (
	Waiter = explore.Waiter // it had asked for the lock and had no answer
	Holder = explore.Holder // it was in Client.Critical, or gave the lock back
)

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
func Breaks(word string, par int) Claims {
	return Claims{{word: verdict.Word(word), breaks: true, par: par}}
}

// By claims besides that it can come about so by this fault of the budget, which strikes one of these victims; none:
// whoever it strikes. Each call of By is about another one of the faults. It takes a search of its own.
//
//	locktest.Breaks("OVERLAP", 1).By("expire-session", locktest.Waiter)
func (c Claims) By(fault string, victims ...Victim) Claims {
	c = slices.Clone(c)
	for i := range c {
		c[i].causes = append(slices.Clone(c[i].causes), cause{fault, victims})
	}
	return c
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

// withoutCauses is check where no search looks for causes.
func withoutCauses(claims []Claim, words []verdict.Word) error {
	if slices.ContainsFunc(claims, func(c Claim) bool { return c.causes != nil }) {
		return text.Errorf("locktest.by.check")
	}
	return check(claims, words)
}

// checkClaims returns what is wrong with claims about p: a verdict that is looked for only within a bound which p
// does not have, or a cause that p does not allow.
func (p *plan) checkClaims(claims []Claim) error {
	if p.any {
		return withoutCauses(claims, p.claimable())
	}
	for _, c := range claims {
		if c.word == verdict.Slow && p.bounds.Slow == 0 || c.word == verdict.Noisy && p.bounds.Noisy == 0 {
			return text.Errorf("locktest.claim.bound", "verdict", c.word)
		}
		if err := c.checkCauses(p); err != nil {
			return err
		}
	}
	return check(claims, p.claimable())
}

// checkCauses returns what is wrong with the causes of a claim about p.
func (c Claim) checkCauses(p *plan) error {
	for _, by := range c.causes {
		fault, err := faults.ByName(by.fault)
		switch {
		case err != nil:
			return text.Errorf("locktest.by.fault", "verdict", c.word, "cause", err)
		case !p.study.Allows(fault):
			return text.Errorf("locktest.by.budget", "fault", by.fault, "budget", p.bounds.Budget)
		}
		for _, v := range by.victims {
			if v != Waiter && v != Holder {
				return text.Errorf("locktest.by.victim", "fault", by.fault, "victim", fmt.Sprintf("%q", string(v)))
			}
		}
	}
	if len(c.causes) > c.par {
		return text.Errorf("locktest.by.many", "verdict", c.word, "par", c.par, "n", len(c.causes))
	}
	return nil
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
	search  *search.Search  // that found it
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
	if why == "" && c.causes != nil {
		if why = contradictedByCauses(t.Context(), p, a.search, c); why != "" {
			why = p.broken(*a.witness, why)
		}
	} else if why != "" && a.witness != nil {
		why = p.broken(*a.witness, why)
		defer keep(t, p.t.Name(), *a.witness)
	}
	if why != "" {
		t.Error(why)
	}
}

// contradictedByCauses returns why the causes by which a verdict comes about, with as many faults as the claim says,
// contradict it, or do not decide it; "": they bear it out.
func contradictedByCauses(ctx context.Context, p *plan, s *search.Search, c Claim) string {
	ctx, cancel := within(ctx, p.bounds.MaxTime)
	defer cancel()
	ways, all, err := causesWithin(ctx, p, s.Bounds, c)
	switch {
	case slices.ContainsFunc(ways, func(way []explore.Cause) bool { return borneOut(c.causes, way) }):
		return ""
	case err != nil && ctx.Err() == nil:
		return explain(err)
	case !all:
		return tell("locktest.by.cut", "claim", written(c))
	}
	found := lists.Each(ways, func(way []explore.Cause) string {
		other := c
		other.causes = lists.Each(way, func(one explore.Cause) cause {
			return cause{one.Fault, slices.DeleteFunc([]Victim{one.Victim}, func(v Victim) bool { return v == "" })}
		})
		return written(other)
	})
	return tell("locktest.by.others", "claim", written(c), "par", fmt.Sprint(c.par), "found", strings.Join(found, "; "))
}

// causesWithin searches the code for the causes of a claim's verdict.
func causesWithin(ctx context.Context, p *plan, bounds search.Bounds, c Claim) (ways [][]explore.Cause, all bool, err error) {
	err = p.run.untilKnown(func() error {
		m, err := p.within(bounds)
		if err == nil {
			ways, all, err = explore.CausesOf(ctx, m, c.word, c.par)
		}
		return err
	})
	return ways, all, err
}

// borneOut reports whether each cause of a claim is another one of a way.
func borneOut(claimed []cause, way []explore.Cause) bool {
	if len(claimed) == 0 {
		return true
	}
	for i, one := range way {
		first := claimed[0]
		is := one.Fault == first.fault && (len(first.victims) == 0 || slices.Contains(first.victims, one.Victim))
		if is && borneOut(claimed[1:], slices.Delete(slices.Clone(way), i, i+1)) {
			return true
		}
	}
	return false
}

// written returns a claim as a test writes it.
func written(c Claim) string {
	out := fmt.Sprintf("Breaks(%q, %d)", c.word, c.par)
	for _, by := range c.causes {
		out += fmt.Sprintf(".By(%q", by.fault)
		for _, v := range by.victims {
			out += map[Victim]string{Waiter: ", locktest.Waiter", Holder: ", locktest.Holder"}[v]
		}
		out += ")"
	}
	return out
}
